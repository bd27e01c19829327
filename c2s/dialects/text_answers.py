"""Reading a text answer (PROTOCOL, section 2).

Outer ASCII whitespace is stripped; what is left must be exactly a listed value. Nothing is repaired.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from c2s.dialects import Malformed
from c2s.dialects.body import object_of
from c2s.records import ASCII_WHITESPACE, Choice, Question


def rubric(question: Question) -> str:
    """The instruction, then one line per described option in displayed order, the same in both presentations (ours)."""
    lines = [f"{option}: {text}" for option, text in question.options.items() if text is not None]
    return "\n".join([question.instructions, *lines])


def read_value(
    text: str,
    meant: Mapping[str, str],
    *,
    truncated: bool,
    strip: bool = True,
    codes: Mapping[str, str] | None = None,
) -> Choice:
    """The answer to one question. `meant` maps what may be written to the option that it stands for, `codes` each choice code of
    the request to its option, where the value itself was asked for.

    Not stripped are a zero-width space, a no-break space, and whitespace that is itself an option. A truncated text is no
    answer, even if it reads like one.
    """
    value = text.strip(ASCII_WHITESPACE) if strip and text not in meant else text
    fault = _fault(value, meant, truncated, codes or {})
    bound = codes[value] if fault == "other_code" and codes else None
    return Choice(meant[value] if fault is None else value, fault is None, text=text, truncated=truncated, fault=fault, bound=bound)


def _fault(value: str, meant: Mapping[str, str], truncated: bool, codes: Mapping[str, str]) -> str | None:
    """What is wrong with the form of a text answer, whatever the right one is, in the study's order of priority.

    None for a listed value that was not cut (appendix D, output scoring). Whether a code is that of the right option is for the arm to
    say.
    """
    if truncated:
        return "truncated"
    if not value:
        return "empty"
    if value in meant:
        return None
    if value in codes:
        return "other_code"
    words = set(re.findall(r"\w+", value))  # a letter inside a word is no answer with something around it
    return "extra_text" if any(listed in (words if listed.isalnum() else value) for listed in meant) else "other_invalid"


def read_fields(text: str, questions: Mapping[str, Question], *, truncated: bool) -> dict[str, Choice]:
    """The answers in one JSON object (appendix E.4).

    Truncation, malformed JSON, an extra or a missing key fails every field; an illegal value fails its own field alone.

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
            written = value if isinstance(value, str) else text
            found[name] = Choice(returned=written, offered=False, text=text, truncated=truncated, fault=fault or "illegal_value")
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
