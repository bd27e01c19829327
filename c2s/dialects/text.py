"""Reading a text answer: strip outer ASCII whitespace, then it must be exactly a listed value. Nothing is repaired (PROTOCOL, section 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c2s.dialects import Malformed
from c2s.dialects.body import object_of
from c2s.records import Choice, Question

ASCII_WHITESPACE = " \t\n\r\x0b\x0c"


def rubric(question: Question) -> str:
    """The instruction, then one line per described option in displayed order, the same in both presentations (ours)."""
    lines = [f"{option}: {text}" for option, text in question.options.items() if text is not None]
    return "\n".join([question.instructions, *lines])


def read_value(text: str, options: Mapping[str, str | None], *, truncated: bool, strip: bool = True) -> Choice:
    """The answer to one question. `returned` is the stripped text; a zero-width space or a no-break space is not stripped."""
    value = text.strip(ASCII_WHITESPACE) if strip else text
    return Choice(returned=value, offered=value in options, text=text, truncated=truncated, fault=_fault(value, options, truncated))


def _fault(value: str, options: Mapping[str, str | None], truncated: bool) -> str | None:
    """What is wrong with the form of a text answer, whatever the right one is; None for a listed value that was not cut."""
    if truncated:
        return "truncated"
    if not value:
        return "empty"
    if value in options:
        return None
    return "extra_text" if any(option in value for option in options) else "other_invalid"


def read_fields(text: str, questions: Mapping[str, Question], *, truncated: bool) -> dict[str, Choice]:
    """The answers in one JSON object (appendix E.4). Truncation, malformed JSON, an extra or a missing key fails every field; an illegal value its own.

    A legal value is returned as its option.
    """
    values, fault = _fields(text, questions, truncated)
    found = {}
    for name, question in questions.items():
        value = values.get(name)
        options = {shown: option for option, shown in shown_values(question).items()}
        if fault is None and isinstance(value, str) and value in options:
            found[name] = Choice(returned=options[value], offered=True, text=text)
        else:
            said = value if isinstance(value, str) else text
            found[name] = Choice(returned=said, offered=False, text=text, truncated=truncated, fault=fault or "illegal_value")
    return found


def shown_values(question: Question) -> dict[str, str]:
    """Option -> what a model that writes text is shown for it."""
    return {option: question.values[option] if question.values else option for option in question.options}


def _fields(text: str, questions: Mapping[str, Question], truncated: bool) -> tuple[dict[str, Any], str | None]:
    if truncated:
        return {}, "truncated"
    try:
        values = object_of(text.strip(ASCII_WHITESPACE).encode())
    except (Malformed, UnicodeEncodeError):
        return {}, "malformed"
    if set(values) == set(questions):
        return values, None
    return {}, "extra_key" if set(values) - set(questions) else "missing_key"


def kind(text: str, target: str, options: Mapping[str, str | None], *, truncated: bool, codes: Mapping[str, str] | None = None, strip: bool = True) -> str:
    """Compliance of one text answer, in the study's priority (Choice2Seq, appendix D: output scoring).

    strict_correct, truncated, empty, format_valid_wrong, bound_code, other_code, extra_text, other_invalid. `codes` maps each
    choice code of the request to its option; `bound_code` is the code of the target where the value itself was asked for.
    """
    value = text.strip(ASCII_WHITESPACE) if strip else text
    codes = codes or {}
    if value == target:
        return "strict_correct"
    fault = _fault(value, options, truncated)
    if fault in ("truncated", "empty"):
        return fault
    if fault is None:
        return "format_valid_wrong"
    if value in codes:
        return "bound_code" if codes[value] == target else "other_code"
    return fault
