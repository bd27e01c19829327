"""A System One server on 127.0.0.1 for tests: it counts what it receives by exact bytes, answers by a pure function of them,
and misbehaves when told to. A behaviour is `behave(n, body) -> Action | None` for the n-th request (from 1)."""

from __future__ import annotations

import hashlib
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson


@dataclass(frozen=True)
class Action:
    """What to do instead of an ordinary answer. `raw` replaces the whole response; `before` and `after` are hooks."""

    status: int = 200
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "answer"  # answer, reset, stall, drip, cut, raw
    seconds: float = 0.0
    model: str | None = None
    usage: Any = "default"


Behave = Callable[[int, bytes], "Action | None"]


def right(body: Mapping[str, Any]) -> dict[str, Any]:
    """Answers by SHA-256 of state and question: about as good as chance, the same for the same bytes."""
    answers = {}
    for name, question in body["questions"].items():
        options = list(question["criteria"])
        digest = hashlib.sha256(orjson.dumps([body["state"], question])).digest()
        choice = options[digest[0] % len(options)]
        rest = round(0.4 / max(1, len(options) - 1), 4)
        answers[name] = {
            "type": "choice",
            "choice": choice,
            "confidence": 0.6,
            "probabilities": {o: 0.6 if o == choice else rest for o in options},
        }
    return answers


class Server:
    """`with Server() as server:` serves on `server.url`; `received` counts bodies, `total` requests whose body came whole."""

    def __init__(
        self,
        behave: Behave | None = None,
        *,
        model: str = "jev-1.13.0",
        tls: ssl.SSLContext | None = None,
        handshake_delay: float = 0.0,
        delay: float = 0.0,
    ) -> None:
        self.behave, self.model, self.tls, self.handshake_delay, self.delay = behave, model, tls, handshake_delay, delay
        self.received: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.times: list[float] = []
        self.heads: list[bytes] = []
        self.total = 0
        self.most_at_once = 0
        self._now = 0
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._socket.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._socket.close()

    def processed(self) -> Counter[str]:
        """Bodies that the server took up: received, less what it provably refused."""
        return self.received - self.refused

    def _accept(self) -> None:
        while not self._closing.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls is not None:
                time.sleep(self.handshake_delay)
                connection = self.tls.wrap_socket(connection, server_side=True)
            with connection:
                buffer = b""
                while not self._closing.is_set():
                    while b"\r\n\r\n" not in buffer:
                        data = connection.recv(65536)
                        if not data:
                            return
                        buffer += data
                    head, _, buffer = buffer.partition(b"\r\n\r\n")
                    length = next(
                        (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
                    )
                    while len(buffer) < length:
                        data = connection.recv(65536)
                        if not data:
                            return
                        buffer += data
                    body, buffer = buffer[:length], buffer[length:]
                    if not self._answer(connection, head, body):
                        return
        except (OSError, ssl.SSLError):
            return

    def _answer(self, connection: socket.socket, head: bytes, body: bytes) -> bool:
        if head.startswith(b"GET"):
            models = orjson.dumps({"models": [{"name": self.model}]})
            connection.sendall(response(200, models, {}))
            return True
        digest = hashlib.sha256(body).hexdigest()
        with self._lock:
            self.total += 1
            n = self.total
            self.received[digest] += 1
            self.times.append(time.monotonic())
            self.heads.append(head)
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            action = (self.behave(n, body) if self.behave else None) or Action()
            if action.status in (401, 402, 403, 429) or (
                action.status in (503, 529) and "retry-after" in {k.lower() for k in action.headers}
            ):
                with self._lock:
                    self.refused[digest] += 1
            if self.delay:
                time.sleep(self.delay)
            return self._act(connection, action, body)
        finally:
            with self._lock:
                self._now -= 1

    def _act(self, connection: socket.socket, action: Action, body: bytes) -> bool:
        if action.seconds and action.kind == "answer":
            time.sleep(action.seconds)
        if action.kind == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if action.kind == "stall":
            self._closing.wait(action.seconds)
            return False
        payload = action.body
        if payload is None:
            request = orjson.loads(body)
            document: dict[str, Any] = {"model": action.model or self.model, "answers": right(request)}
            usage = {"input_tokens": 100, "output_tokens": 2} if action.usage == "default" else action.usage
            if usage is not None:
                document["usage"] = usage
            payload = orjson.dumps(document)
        if action.kind == "raw":
            connection.sendall(payload)
            return False
        whole = response(action.status, payload, action.headers)
        if action.kind == "drip":
            for i in range(len(whole)):
                connection.sendall(whole[i : i + 1])
                if self._closing.wait(action.seconds):
                    return False
            return True
        if action.kind == "cut":
            connection.sendall(whole[: -len(payload) // 2])
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        connection.sendall(whole)
        return True


def response(status: int, body: bytes, headers: Mapping[str, str]) -> bytes:
    fields = {"content-type": "application/json", "x-typesafe-request-id": "req_test", "content-length": str(len(body))} | dict(headers)
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Test\r\n{lines}\r\n".encode() + body
