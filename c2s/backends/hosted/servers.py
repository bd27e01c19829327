"""Models behind an HTTP server: `systemone:`, `openai:` and `chat:`. They differ in dialect, path and default profile alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import httpx

from c2s.backends.base import DECIDES, Call, Exchange
from c2s.backends.hosted.http import Endpoint
from c2s.backends.hosted.keys import read_key
from c2s.backends.hosted.profiles import Profile, choose_profile
from c2s.backends.registry import take
from c2s.backends.writing import WRITES, chosen_contract
from c2s.errors import UsageError

LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class Hosted:
    """One attempt per call over `workers` threads. Paid unless the model's name says `?resend=safe`."""

    dialect = "systemone"
    path = "/v1/systemone"
    models_path = "/v1/models"
    default_profile = "typesafe"
    spec: ClassVar[Mapping[str, type]] = {"resend": str}
    exact = False
    max_batch = 1
    lacks: Mapping[str, str] = DECIDES

    def __init__(
        self,
        name: str,
        model: str,
        options: Mapping[str, Any],
        profile: Profile,
        base_url: str,
        key: str | None,
        *,
        timeout: float,
        workers: int,
    ) -> None:
        self.name, self.model, self.profile = name, model, profile
        self.resend: Literal["safe", "paid"] = options.get("resend", "paid")
        if self.resend not in ("safe", "paid"):
            raise UsageError(f"model {name!r}: resend is `safe` or `paid`")
        self.workers = workers
        self.base_url = base_url.rstrip("/")
        self._endpoint_options: dict[str, Any] = {"key": key, "timeout": timeout, "headers": profile.headers}
        self._endpoint = self.endpoint(self.path)
        self.fingerprint: Mapping[str, Any] = {"base_url": base_url} | {k: v for k, v in options.items() if k != "resend"}

    @classmethod
    def open(cls, name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Self:
        values = take(name, options, cls.spec)
        profile = choose_profile(common.get("profile"), cls.default_profile, base_url=common.get("base_url"), file=common.get("profiles"))
        base_url = common.get("base_url") or os.environ.get(profile.base_url_env or "") or profile.base_url
        if not base_url:
            raise UsageError(f"model {name!r}: name its server with --base-url, or take a --profile that does")
        url = _checked(name, base_url)
        own = (common.get("key_env"), common.get("key_command"), common.get("key_file"))
        variable, command, file = own if any(own) else (profile.key_env, profile.key_command, profile.key_file)
        key, source = read_key(name, variable=variable, command=command, file=file)
        local = url.host in LOCAL_HOSTS
        if not key and not local and not common.get("sends_nothing"):
            raise UsageError(f"model {name!r}: no API key for {url.host} in {source}; see --key-env, --key-command and --key-file")
        if key and url.scheme == "http" and not local:
            raise UsageError(f"model {name!r}: refusing to send a key over plain http to {url.host}; use https")
        workers = common.get("concurrency") or profile.workers or 8
        return cls(name, detail, values, profile, base_url, key, timeout=float(common.get("timeout") or 60), workers=int(workers))

    def endpoint(self, path: str) -> Endpoint:
        """Another path of the same server, with the same key."""
        return Endpoint(self.base_url + path, **self._endpoint_options)

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            yield self._endpoint.post(call.body)

    def close(self) -> None:
        self._endpoint.close()


class SystemOneServer(Hosted):
    """`POST {base}/v1/systemone`: Jev and every server that speaks its protocol."""


class Responses(Hosted):
    """OpenAI's Responses API: one categorical verdict by a strict schema, no probabilities; text where a request demands a contract."""

    dialect = "responses"
    path = "/v1/responses"
    default_profile = "openai"
    lacks: Mapping[str, str] = {
        "probabilities": "the Responses API reports none",
        "singletons": "a categorical schema needs two options",
        "tokenizer": "the server's tokenizer is not at hand",
        "continuation": "the Responses API goes on from no beginning of an answer",
    }


class Chat(Hosted):
    """OpenAI-compatible chat completions. `contract`: direct (text), code-readout (next-token distribution over choice codes; `code` for
    short) or code-generated.

    `thinking=off` asks the server's chat template to leave thinking out, where the server takes that.
    """

    path = "/v1/chat/completions"
    default_profile = "chat"
    spec: ClassVar[Mapping[str, type]] = {"resend": str, "contract": str, "thinking": str}

    def __init__(self, name: str, model: str, options: Mapping[str, Any], *rest: Any, **named: Any) -> None:
        contract, thinking = chosen_contract(name, options)
        super().__init__(name, model, dict(options) | {"contract": contract}, *rest, **named)
        self.lacks = {**WRITES[contract], "tokenizer": "the server's tokenizer is not at hand; local weights have theirs"}
        self.dialect = f"chat-{contract}" + ("" if thinking else ":nothink")


def _checked(name: str, base_url: str) -> httpx.URL:
    try:
        url = httpx.URL(base_url)
        sound = url.scheme in ("http", "https") and bool(url.host) and not url.userinfo and not url.query and not url.fragment
    except httpx.InvalidURL:
        sound = False
    if not sound:
        raise UsageError(f"model {name!r}: --base-url must be http(s)://HOST[:PORT][/PATH], without a name, password or query in it")
    return url
