"""A model made of your own Python function: `script:FILE.py`, described in `docs/script-models.md`."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Literal

import orjson

from c2s.backends.base import DECIDES, Call, Exchange
from c2s.backends.registry import take
from c2s.backends.writing import WRITES, chosen_contract
from c2s.errors import UsageError
from c2s.records import Ask, Parent, Question
from c2s.stdout import TO_STDERR

Answered = str | Mapping[str, str | Mapping[str, float]] | Exchange
"""What a script returns for one call."""

RIGHT = "right are an option, {question: option}, {question: {option: probability}} or an Exchange"
RIGHT_TEXT = "right are a text (this file declares a contract) or an Exchange"

MOST_TOGETHER = 4096
"""The largest batch, and the most threads, that a file may declare."""


DECLARED = ("answer", "answers", "concurrency", "batch", "resend", "exact", "contract", "uses_truth")
"""What a file may define at its top level for c2s."""


class Fault(Exception):
    """What a script did wrong with one call: `kind` is the same for every request it meets, the sentence may name what this one asked."""

    def __init__(self, kind: str, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


class Scripted:
    """Calls `answer(call)` for every call, or `answers(calls)` for a batch, and makes an exchange of what it returns.

    Without `uses_truth` the calls that it gets hold no truth, and their parents no payload. A fault of the function is an exchange with the
    verdict `error`, whose message names the file, the function and the line.
    """

    model = "script"

    def __init__(
        self,
        name: str,
        answer: Callable[[Call], Answered] | None = None,
        *,
        answers: Callable[[list[Call]], Iterable[Answered]] | None = None,
        fingerprint: str = "",
        uses_truth: bool = False,
        exact: bool = False,
        resend: Literal["safe", "paid"] = "safe",
        workers: int = 0,
        max_batch: int | None = None,
        dialect: str = "systemone",
        lacks: Mapping[str, str] = DECIDES,
    ) -> None:
        self.name, self.dialect, self.resend, self.exact, self.lacks = name, dialect, resend, exact, lacks
        self.workers = 0 if workers < 2 else workers  # one call at a time needs no thread
        self.max_batch = 1 if answers is None else max_batch or 16  # the runner pauses and stops between two batches
        self.simulation = uses_truth
        self.fingerprint: Mapping[str, Any] = {"script": fingerprint or name}
        self._answer, self._answers, self._uses_truth = answer, answers, uses_truth
        self._result = self._text if dialect.startswith("chat") else self._choices

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        shown = [deepcopy(call) if self._uses_truth else without_truth(call) for call in batch]
        if self._answers is not None:
            yield from self._together(self._answers, batch, shown)
            return
        assert self._answer is not None
        for call, seen in zip(batch, shown, strict=True):
            began = time.time()
            try:
                with TO_STDERR:
                    result = self._answer(seen)
                exchange = self._exchange(call, result)
            except (Exception, SystemExit) as error:
                exchange = self._failed(self._answer, error)
            yield _timed(exchange, began, time.time())

    def _together(
        self, answers: Callable[[list[Call]], Iterable[Answered]], batch: Sequence[Call], shown: list[Call]
    ) -> Iterator[Exchange]:
        """One answer for each call. The time of the batch is divided among its calls in equal parts, one after the other."""
        began = time.time()
        exchanges = self._batch(answers, batch, shown)
        each = (time.time() - began) / max(1, len(batch))
        for n, exchange in enumerate(exchanges):
            yield _timed(exchange, began + n * each, began + (n + 1) * each)

    def _batch(self, answers: Callable[[list[Call]], Iterable[Answered]], batch: Sequence[Call], shown: list[Call]) -> list[Exchange]:
        try:
            with TO_STDERR:
                returned: Any = answers(shown)
                if isinstance(returned, str | Mapping | Exchange) or not isinstance(returned, Iterable):
                    raise Fault("no list", f"it returned {_kind(returned)}; right is a list with one answer for each call")
                results = list(returned)
            if len(results) != len(batch):
                raise Fault("another number of answers", f"it returned {len(results)} answers to {len(batch)} calls")
        except (Exception, SystemExit) as error:
            return [self._failed(answers, error)] * len(batch)
        exchanges = []
        for call, result in zip(batch, results, strict=True):
            try:
                exchanges.append(self._exchange(call, result))
            except Fault as error:
                exchanges.append(self._failed(answers, error))
        return exchanges

    def _exchange(self, call: Call, result: Any) -> Exchange:
        """What came of a call. Raises Fault for a result that is none."""
        if isinstance(result, Exchange):
            if result.verdict == "ok" and not isinstance(result.raw, bytes):
                raise Fault(
                    "no bytes",
                    f"it returned an Exchange that is ok and whose raw is {_kind(result.raw)}; right are the bytes of a response",
                )
            return result
        try:
            return Exchange("ok", orjson.dumps(self._result(call, result)))
        except TypeError as error:  # a text that is not Unicode, such as half a surrogate pair
            raise Fault("not Unicode", f"it returned what cannot be written as JSON: {error}") from None

    def _choices(self, call: Call, result: Any) -> dict[str, Any]:
        questions = call.ask.request.questions
        if isinstance(result, str):
            return {"model": self.model, "answers": {name: {"type": "choice", "choice": result} for name in questions}}
        if not isinstance(result, Mapping):
            raise Fault("no answer", f"it returned {_kind(result)}; {RIGHT}")
        if result.keys() != questions.keys():
            raise Fault("other questions", f"it answers the questions {_names(result)}; the call asks {_names(questions)}")
        return {"model": self.model, "answers": {name: _decided(name, questions[name], value) for name, value in result.items()}}

    def _text(self, call: Call, result: Any) -> dict[str, Any]:
        if not isinstance(result, str):
            raise Fault("no text", f"it returned {_kind(result)}; {RIGHT_TEXT}")
        return completion(self.model, result)

    def _failed(self, function: Callable[..., Any], error: BaseException) -> Exchange:
        """What went wrong, with file, function and line; these and the kind of fault make it the same fault."""
        what = str(error) if isinstance(error, Fault) else " ".join(f"{type(error).__name__}: {error}".split())[:500]
        if isinstance(error, KeyError) and not self._uses_truth:
            what += " (the calls hold no truth, because the file does not say uses_truth = True)"
        place = _place(function, error)
        kind = error.kind if isinstance(error, Fault) else type(error).__name__
        return Exchange("error", message=f"{place}: {what}", fault=f"{place}: {kind}")

    def close(self) -> None:
        """Nothing is held open."""


def _timed(exchange: Exchange, began: float, ended: float) -> Exchange:
    """The exchange with the time of its call, where the script gave none of its own."""
    return exchange if exchange.began is not None else replace(exchange, began=began, ended=ended)


def without_truth(call: Call) -> Call:
    """The call as a model may see it: the right options are gone, and so is the payload of its parent, which holds the target. It is a
    copy, so that nothing that a script does to it reaches the request that is recorded and scored."""
    ask, parent = call.ask, call.parent
    seen = Ask(ask.step, deepcopy(ask.request), {}, ask.presentation, deepcopy(ask.matches))
    return Call(call.slot, Parent(parent.id, parent.domain, parent.length, {}, parent.pair), seen, call.body)


def _decided(name: str, question: Question, value: Any) -> dict[str, Any]:
    """The answer to one question: an option, or the most probable one of {option: probability}, the first displayed on a tie."""
    if isinstance(value, str):
        return {"type": "choice", "choice": value}
    if not isinstance(value, Mapping):
        raise Fault("no option", f"it answers the question {name!r} with {_kind(value)}; {RIGHT}")
    unknown = [option for option in value if option not in question.options]
    if unknown or not value:
        raise Fault(
            "other options",
            f"it gives probabilities for {_names(unknown or value)}; the options of {name!r} are {_names(question.options)}",
        )
    probabilities = {}
    for option, p in value.items():
        if isinstance(p, bool) or not isinstance(p, Real) or not 0 <= float(p) <= 1:
            raise Fault("no probability", f"the probability of {option!r} is {str(p)[:40]!r}; it is a number from 0 to 1")
        probabilities[option] = float(p)
    best = max((option for option in question.options if option in probabilities), key=probabilities.__getitem__)
    return {"type": "choice", "choice": best, "probabilities": probabilities}


def completion(model: str, text: str) -> dict[str, Any]:
    """A chat completion whose message is `text`; a code readout finds probability 1 on it."""
    logprobs = {"content": [{"token": text, "top_logprobs": [{"token": text, "logprob": 0.0}]}]}
    return {"model": model, "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop", "logprobs": logprobs}]}


def _kind(value: object) -> str:
    return "None" if value is None else f"a value of type {type(value).__name__}"


def _names(names: Iterable[object]) -> str:
    shown = [repr(str(name)[:40]) for name in names]
    return ", ".join(shown[:8]) + (f" and {len(shown) - 8} more" if len(shown) > 8 else "") if shown else "none"


def _place(function: Callable[..., Any], error: BaseException) -> str:
    """File, function and line of a fault: the last line of the function's file that was being executed, else where the function begins."""
    code: CodeType | None = getattr(function, "__code__", None)
    if code is None:
        return f"script model, {getattr(function, '__name__', type(function).__name__)}"
    line, trace = code.co_firstlineno, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == code.co_filename and not isinstance(error, Fault):
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{code.co_filename}, {code.co_name}, line {line}"


def open_script(name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Scripted:
    """`script:FILE.py`: execute the file and take its function and what it declares. `--concurrency` replaces the file's own number.

    Raises UsageError for a file that cannot be read, fails, or declares what is not understood.
    """
    take(name, options, {})
    path = Path(detail)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise UsageError(f"model {name!r}: cannot read {path.absolute()}: {error.strerror}") from None
    digest = hashlib.sha256(source).hexdigest()
    _refuse_foreign(path, digest, common)
    module = ModuleType(f"c2s_script_{digest[:16]}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # dataclasses and pickle look a class's module up
    try:
        with TO_STDERR:
            exec(compile(source, str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise UsageError(f"model {name!r}: {path} failed: {type(error).__name__}: {error}") from error
    for sentence in _misspelt(path, vars(module)):
        print(f"c2s: {sentence}", file=sys.stderr)
    return Scripted(name, fingerprint=digest, **_declared(name, path, vars(module), common))


def _refuse_foreign(path: Path, digest: str, common: Mapping[str, Any]) -> None:
    """Where a run goes on (`resumes`: its directory, `began_with`: its fingerprint), execute only the very file that it began with.

    A run directory from elsewhere may name any file: one that lies in that directory is never executed. Raises UsageError.
    """
    run = common.get("resumes")
    if run is None:
        return
    if path.resolve().is_relative_to(Path(run).resolve()):
        raise UsageError(
            f"{run} names the script {path}, which lies inside the run directory; it was not executed: no run begins like that"
        )
    if common.get("began_with") != {"script": digest}:
        raise UsageError(
            f"{run}: {path} is not the script that the run began with (its SHA-256 differs); it was not executed: bring that file back"
        )


def _misspelt(path: Path, found: Mapping[str, Any]) -> Iterator[str]:
    """A sentence for every plain value at the top level whose name is nearly one that a file may declare."""
    for name, value in found.items():
        if name in DECLARED or name.startswith("_") or not isinstance(value, str | int | float):
            continue
        if close := get_close_matches(name, DECLARED, n=1, cutoff=0.8):
            yield f"{path} says {name} = {str(value)[:40]!r}, which c2s does not read (did you mean {close[0]}?)"


def _declared(name: str, path: Path, found: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """What the file says about its model, as arguments of `Scripted`."""

    def value(key: str, default: Any, right: str, fits: Callable[[Any], bool]) -> Any:
        if key in found and not fits(found[key]):
            raise UsageError(f"model {name!r}: {path} says {key} = {found[key]!r}; it is {right}")
        return found.get(key, default)

    def count(number: Any) -> bool:
        return type(number) is int and 1 <= number <= MOST_TOGETHER

    functions = {key: found[key] for key in ("answer", "answers") if callable(found.get(key))}
    if len(functions) != 1:
        both = "both" if functions else "neither"
        raise UsageError(f"model {name!r}: {path} defines {both} of the functions answer(call) and answers(calls); it is one of them")
    if "batch" in found and "answers" not in functions:
        raise UsageError(f"model {name!r}: {path} says batch, which is for a function answers(calls)")
    number, switch = f"a whole number from 1 to {MOST_TOGETHER}", "True or False"
    own = value("concurrency", 1, number, count)
    arguments: dict[str, Any] = functions | {
        "workers": common.get("concurrency") or own,
        "max_batch": value("batch", None, number, count),
        "resend": value("resend", "safe", "'safe' or 'paid'", lambda said: said in ("safe", "paid")),
        "exact": value("exact", False, switch, lambda said: isinstance(said, bool)),
        "uses_truth": value("uses_truth", False, switch, lambda said: isinstance(said, bool)),
    }
    if "contract" in found:
        contract, _ = chosen_contract(name, {"contract": found["contract"]})
        arguments |= {"dialect": f"chat-{contract}", "lacks": {**WRITES[contract], "tokenizer": "a script has none"}}
    return arguments
