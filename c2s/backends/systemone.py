"""Any server that speaks `POST {base}/v1/systemone`, over httpx with our own bytes.

One attempt per call. Only what the protocol says was not taken up may be sent again: a connection that was never made,
429, 503 and 529. Anything that breaks after the bytes left is lost, never an answer.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import orjson

from c2s import __version__
from c2s.backends.base import Call, Exchange
from c2s.backends.registry import take
from c2s.errors import UsageError

DEFAULT_BASE_URL = "https://api.typesafe.ai"
MAX_RESPONSE_BYTES = 16 * 2**20
HEADERS_OF_INTEREST = ("x-typesafe-request-id", "x-request-id", "retry-after", "retry-after-ms", "date", "server", "content-type")
NOT_PROCESSED = (429, 503, 529)


class SystemOneServer:
    dialect = "systemone"
    resend = "paid"
    exact = False
    max_batch = 1

    def __init__(self, name: str, model: str, *, base_url: str, key: str | None, timeout: float, concurrency: int) -> None:
        self.name, self.model = name, model
        self.workers = concurrency
        self.fingerprint: Mapping[str, Any] = {"base_url": base_url}
        self._url = base_url.rstrip("/") + "/v1/systemone"
        self._headers = {"content-type": "application/json", "user-agent": f"c2s/{__version__}"}
        if key:
            self._headers["authorization"] = f"Bearer {key}"
        self._timeout = timeout
        self._local = threading.local()
        self._clients: list[httpx.Client] = []

    @classmethod
    def open(cls, name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> SystemOneServer:
        take(name, options, {})
        base_url = common.get("base_url") or os.environ.get("TYPESAFE_BASE_URL") or DEFAULT_BASE_URL
        variable = common.get("key_env") or "TYPESAFE_API_KEY"
        key = os.environ.get(variable)
        try:
            url = httpx.URL(base_url)
            sound = url.scheme in ("http", "https") and bool(url.host) and not url.userinfo and not url.query and not url.fragment
        except httpx.InvalidURL:
            sound = False
        if not sound:
            raise UsageError(f"model {name!r}: --base-url must be http(s)://HOST[:PORT][/PATH], without a name, password or query in it")
        local = url.host in ("localhost", "127.0.0.1", "::1")
        if not key and not local:
            raise UsageError(f"model {name!r}: no API key for {url.host}; put it in the environment variable {variable} (or name another with --key-env)")
        if key and url.scheme == "http" and not local:
            raise UsageError(f"model {name!r}: refusing to send the key in {variable} over plain http to {url.host}; use https")
        if key and not (key.isascii() and key.isprintable() and key == key.strip()):
            raise UsageError(f"model {name!r}: the key in {variable} holds blanks or characters that no key has")
        return cls(
            name, detail, base_url=base_url, key=key, timeout=float(common.get("timeout") or 60), concurrency=int(common.get("concurrency") or 8)
        )

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            yield self._send(call.body)

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def _client(self) -> httpx.Client:
        """One client, so one connection, per worker thread: cheaper than a shared pool."""
        client = getattr(self._local, "client", None)
        if client is None:
            client = self._local.client = httpx.Client(
                headers=self._headers, timeout=httpx.Timeout(self._timeout, connect=min(10.0, self._timeout)), follow_redirects=False
            )
            self._clients.append(client)
        return client

    def _send(self, body: bytes) -> Exchange:
        deadline = time.monotonic() + self._timeout
        try:
            with self._client().stream("POST", self._url, content=body) as response:
                data = bytearray()
                for chunk in response.iter_bytes():
                    data += chunk
                    if len(data) > MAX_RESPONSE_BYTES:
                        return Exchange("error", message=f"the response is larger than {MAX_RESPONSE_BYTES} bytes", http_status=response.status_code)
                    if time.monotonic() > deadline:
                        return Exchange("lost", message=f"no whole response within {self._timeout:g} s")
                return self._read(response, bytes(data))
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            return Exchange("not_processed", message=f"no connection: {_plain(error)}")
        except httpx.HTTPError as error:
            return Exchange("lost", message=f"no whole response: {type(error).__name__} {_plain(error)}".rstrip())

    def _read(self, response: httpx.Response, data: bytes) -> Exchange:
        status = response.status_code
        headers = {name: response.headers[name] for name in HEADERS_OF_INTEREST if name in response.headers}
        if status == 200:
            return Exchange("ok", data, http_status=status, headers=headers)
        message = f"HTTP {status}: {error_message(data)}"
        if status in NOT_PROCESSED:
            return Exchange("not_processed", data, message, status, headers, retry_after(headers, time.time()))
        return Exchange("error", data, message, status, headers)


def _plain(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


def error_message(data: bytes) -> str:
    """What a server said, in any of the forms that compatible servers use, cut to 300 characters."""
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
    """Seconds to wait from `retry-after-ms` or `Retry-After` (seconds or an HTTP date); None where it says nothing usable."""
    milliseconds = headers.get("retry-after-ms")
    text = headers.get("retry-after")
    try:
        wait = float(milliseconds) / 1000 if milliseconds is not None else float(text) if text is not None else None
    except ValueError:
        try:
            wait = parsedate_to_datetime(text).timestamp() - now
        except (TypeError, ValueError):
            return None
    if wait is None or not wait >= 0 or wait == float("inf"):
        return None
    return wait
