"""One HTTP attempt with our own bytes, over httpcore, the engine under httpx: no redirects, no retries, no decompression.

The result of an attempt depends on one fact that the network layer notes: whether a byte of the request had been written.
Before that the request was not processed; after it, anything but a whole response is lost, never an answer.
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore
import httpx
import orjson

from c2s import __version__
from c2s.backends.base import Exchange
from c2s.backends.hosted.keys import keyless, without_key

MAX_RESPONSE_BYTES = 16 * 2**20
CONNECT_SECONDS = 10.0
KEEPALIVE_SECONDS = 2.0
"""Shorter than servers' own (5 s is common): a connection that the server is about to close is not used again."""

HEADERS_OF_INTEREST = (
    "x-typesafe-request-id", "x-request-id", "openai-processing-ms", "retry-after", "retry-after-ms", "date", "server",
    "content-type", "x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-remaining-tokens",
)  # fmt: skip
BUSY = (429, 503, 529)
QUOTA_WORDS = (
    "insufficient_quota",
    "quota_exceeded",
    "billing_hard_limit_reached",
    "billing_not_active",
    "insufficient_credits",
    "credit_limit",
)


class Endpoint:
    """A URL and what goes with every request to it. Thread-safe: each thread keeps one connection of its own."""

    def __init__(self, url: str, *, key: str | None = None, timeout: float = 60.0, headers: Mapping[str, str] | None = None) -> None:
        self.url = httpcore.URL(url)
        self.timeout = timeout
        self._key = key
        host = self.url.host.decode()
        port = self.url.port
        own = {"host": host if port is None else f"{host}:{port}", "user-agent": f"c2s/{__version__}", "accept-encoding": "identity"}
        own |= {name.lower(): value for name, value in (headers or {}).items()}
        if key:
            own["authorization"] = f"Bearer {key}"
        self._headers = [(name.encode(), value.encode()) for name, value in own.items()]
        self._tls = httpx.create_ssl_context() if self.url.scheme == b"https" else None
        self._keep_alive = True
        self._local = threading.local()
        self._pools: list[httpcore.ConnectionPool] = []

    def post(self, body: bytes) -> Exchange:
        """Send one request. Never raises for what a server or a network does."""
        headers = [*self._headers, (b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        return self._attempt("POST", headers, body)

    def get(self) -> Exchange:
        return self._attempt("GET", self._headers, None)

    def close(self) -> None:
        for pool in self._pools:
            pool.close()

    def _attempt(self, method: str, headers: list[tuple[bytes, bytes]], body: bytes | None) -> Exchange:
        wire = self._wire()
        wire.begin(self.timeout)
        if not self._keep_alive:
            headers = [*headers, (b"connection", b"close")]
        began = time.time()
        try:
            with self._local.pool.stream(method, self.url, headers=headers, content=body) as response:
                data = bytearray()
                for chunk in response.iter_stream():
                    data += chunk
                    if len(data) > MAX_RESPONSE_BYTES:
                        return Exchange(
                            "error", message=f"the response is larger than {MAX_RESPONSE_BYTES} bytes",
                            http_status=response.status, began=began, ended=time.time(),
                        )  # fmt: skip
            return self._read(response.status, response.headers, bytes(data), began, time.time())
        except Exception as error:  # httpcore and ssl have many; only whether bytes had left matters
            ended = time.time()
            what = f"{type(error).__name__} {plain(error)}".rstrip()
            if not wire.wrote:
                return Exchange("not_processed", message=f"no connection: {what}", cause="connect", began=began, ended=ended)
            if wire.reused and not wire.heard and not wire.expired():
                # The server closed a kept connection just as we wrote: one request is lost by that, and
                # from now on every request gets a connection of its own.
                self._keep_alive = False
            if wire.expired():
                what = f"not complete within {self.timeout:g} s"
            return Exchange("lost", message=f"no whole response: {what}", began=began, ended=ended)

    def _wire(self) -> _Wire:
        """This thread's connection: cheaper than a shared pool, and its writes can be told from other threads' writes."""
        wire = getattr(self._local, "wire", None)
        if wire is None:
            wire = self._local.wire = _Wire()
            self._local.pool = httpcore.ConnectionPool(
                ssl_context=self._tls, max_connections=1, keepalive_expiry=KEEPALIVE_SECONDS, network_backend=wire
            )
            self._pools.append(self._local.pool)
        return wire

    def _read(self, status: int, raw_headers: Iterable[tuple[bytes, bytes]], data: bytes, began: float, ended: float) -> Exchange:
        every = {name.decode("latin-1").lower(): value.decode("latin-1")[:500] for name, value in raw_headers}
        headers = keyless({name: every[name] for name in HEADERS_OF_INTEREST if name in every}, self._key)
        data = without_key(data, self._key)
        common: dict[str, Any] = {"raw": data, "http_status": status, "headers": headers, "began": began, "ended": ended}
        encoding = every.get("content-encoding", "identity")
        if encoding.lower() != "identity":
            return Exchange(
                "error", **common, message=f"HTTP {status}: a body in {encoding[:40]!r}, which was not asked for, is not unpacked"
            )
        if status == 200:
            return Exchange("ok", **common)
        if 300 <= status < 400:
            target = keyless({"location": every.get("location", "nowhere")}, self._key)["location"]
            return Exchange(
                "error", **common, message=f"HTTP {status}: a redirect to {target[:200]} is not followed; name the right --base-url"
            )
        message = f"HTTP {status}: {error_message(data)}"
        wait = retry_after(every, ended)
        if status == 402 or (status == 429 and any(word.encode() in data for word in QUOTA_WORDS)):
            return Exchange("not_processed", **common, message=message, cause="quota")
        if status in (401, 403):
            return Exchange("error", **common, message=message, cause="refused")
        if status == 429 or (status in BUSY and wait is not None):
            return Exchange("not_processed", **common, message=message, wait=wait, cause="busy")
        return Exchange("error", **common, message=message)


class _Wire(httpcore.SyncBackend):
    """Connects, holds one deadline over a whole attempt, and notes what happened on the wire in it.

    `wrote`: a byte of the request was written; `heard`: a byte came back; `reused`: on a connection from before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.wrote = self.heard = False
        self.reused = True
        self._deadline = 0.0
        self._connect = 0.0

    def begin(self, seconds: float) -> None:
        now = time.monotonic()
        self.wrote = self.heard = False
        self.reused = True
        self._deadline = now + seconds
        self._connect = now + min(seconds, CONNECT_SECONDS)

    def expired(self) -> bool:
        return time.monotonic() >= self._deadline

    def left(self, *, connecting: bool = False) -> float:
        return max(0.001, (self._connect if connecting else self._deadline) - time.monotonic())

    def connect_tcp(self, host: str, port: int, timeout: Any = None, local_address: Any = None, socket_options: Any = None) -> Any:
        self.reused = False
        stream = super().connect_tcp(host, port, self.left(connecting=True), local_address, socket_options)
        return _Stream(stream, self)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, wire: _Wire) -> None:
        self._stream, self._wire = stream, wire

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        if self._wire.expired():
            raise httpcore.ReadTimeout("the time for the whole response is over")
        data = self._stream.read(max_bytes, self._wire.left())
        self._wire.heard = self._wire.heard or bool(data)
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._wire.wrote = True
        self._stream.write(buffer, self._wire.left())

    def close(self) -> None:
        self._stream.close()

    def start_tls(self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, self._wire.left(connecting=True)), self._wire)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def plain(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def error_message(data: bytes) -> str:
    """The error message in a response, in any of the forms that compatible servers use, cut to 300 characters."""
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError:
        return data[:300].decode("utf-8", "replace") or "no body"
    for key in ("detail", "error"):
        value = body.get(key) if isinstance(body, dict) else None
        if isinstance(value, list) and value and isinstance(value[0], dict):
            value = value[0].get("msg") or value[0]
        if isinstance(value, dict):
            value = value.get("message") or value
        if value:
            return str(value)[:300]
    return str(body)[:300]


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds to wait from `retry-after-ms` or `Retry-After` (seconds or an HTTP date); None where neither is usable.

    A date is taken relative to the server's own `Date` where there is one, since the clocks may differ.
    """
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    wait = _seconds(text)
    if wait is None and text is not None and any(letter.isalpha() for letter in text):
        date = http_date(text)
        reference = http_date(headers.get("date"))
        if date is not None:
            wait = max(0.0, date - (now if reference is None else reference))
    return wait


def _seconds(text: str | None) -> float | None:
    try:
        value = float(text) if text is not None else None
    except ValueError:
        return None
    return value if value is not None and 0 <= value < float("inf") else None


def http_date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except (TypeError, ValueError, OverflowError):
        return None
