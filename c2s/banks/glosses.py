"""Rules about definitions: their words, whether one gives a word away, whether it is clear and may be shown (protocol 1.2).

Pure text, no WordNet. The rules are ours where the paper only names the aim; `docs/protocol.md` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

_TOKEN = re.compile(r"[a-z]+")

# WordNet's detachment rules (morphy(7WN)) for nouns, verbs and adjectives.
_DETACH = (
    *[("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man")],
    *[("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", "")],
    *[("er", ""), ("est", ""), ("er", "e"), ("est", "e")],
)

_OPENERS = frozenset(
    "of in on at by for with from to into as than about above across after against along among around before behind below beneath "
    "beside between beyond during except inside near off onto out outside over past since through throughout toward towards under "
    "until unto up upon via within without and or but nor so yet if because although though while when where whereas unless that "
    "whether".split()
)
_STOP = frozenset(
    "that this with from which have been being used into such their other some more most than them they these those when where whose "
    "while also only over very made make usually especially something someone having between under about after before during without "
    "within through upon each either both part kind like".split()
)

# What is left of a gloss when a quotation with its source is taken out of the middle: "... ; - A.Name", ";  or".
_REMNANT = re.compile(r";\s*(;|-)|--|\bor$|\"")

_OFFENCE = re.compile(r"\bslur\b|offensive|disparag|derogat|pejorat|obscen|vulgar|terms? of abuse")
_EXPLICIT = re.compile(r"penis|vagina|genital|sexual|prostitut|masturbat|defecat|intercourse|sperm|rape")
_OFFENCE_ANYWHERE = re.compile(r"\bslur\b|\bobscene (term|word)")

# Offensive or explicit words that WordNet does not mark, as SHA-256 prefixes: the list need not be readable to be applied.
_HASHED = frozenset(
    (
        "0033728f 08234c94 08a841e9 09508013 09616d58 0b12f56d 0be9b885 0d335db1 0f28c496 110c6c5a 11841865 120f6e5b 12246ef4 "
        "12e6274e 13a465fc 14a81e30 158869a9 1600725e 16ea09fc 175f3c4f 1802d081 18c90e10 1b830448 1d975dda 205063ee 2062f800 "
        "2189c0ed 22fc75e6 267463e5 2c32c156 2d84fef5 2f34b7a4 3160c321 32bac578 33b9a12f 3b1e0d7c 3d373af6 42ea5be1 43508b5c "
        "45d866ee 46505206 48fab7a5 4b18aefe 4c47047f 4cf454d8 4eb377bb 50c00489 5304378d 566f532d 59cc3cb8 5a81e6aa 6122fdf4 "
        "619bc82e 64cdcb25 6556c1a5 6672b930 69c5c5d4 6ac3c336 6adc452d 6cd1442a 70aafb42 737dd1bc 74fad891 7902e270 793739b9 "
        "796e43a5 7991d51f 7bc67115 7c4a23e0 7e85c676 8171c4ec 849170b7 85fc17f7 886d51e9 89133bc0 8c5c0439 8f5083e3 9331f09c "
        "94a877e2 96c91fa8 98b52c4b 9915ba2d 9ae315a9 9f1c7abf a008b489 a02d538d a40ccba8 a76d588d a7847e36 a7bf072c ab0c0f27 "
        "acc96930 ad412adb ad505b0b ad64e56f ad6cacf3 affc8757 b04a8a40 b8834270 b9ef6083 bb61ef40 bb87adf8 bdb1cc25 be00f1af "
        "c0ebfa7c c1b4ed05 c2c3b68b c3de533e c8bd849e ca5941f9 ca8c522a cbbd0f71 cc020323 d15779dd d2ce238b d31f9b0c d3655ec2 "
        "d6be0c9f d75a838d d7d34a40 d84f691f da884392 dd32831e dd92623b df2b7e24 dfb0ce07 e14a747f e30c2ea7 e3ae0782 e3fa01d2 "
        "e512a055 e5313522 e7b98c6a e84dde50 e96d8eb3 e99d5524 e9e8b6c5 edf5e734 ee5a869b eef3bd09 eff26b18 f3449630 f50c51ed "
        "f59e28f8 f86e4f74 f9d0d9b1 fa38a8d3 fca0183d fdca9cb0 ffb8ecf6 "
    ).split()
)


def tokens(definition: str) -> tuple[str, ...]:
    """Runs of ASCII letters of the lower-cased definition."""
    return tuple(_TOKEN.findall(definition.lower()))


class CueRule:
    """Whether a definition gives a word away: shows it, one of its forms, or a word plainly related to it.

    `exceptions` are WordNet's exception lists, inflected form -> base forms.
    """

    def __init__(self, exceptions: Mapping[str, frozenset[str]]) -> None:
        self._exceptions = exceptions
        self.forms = lru_cache(maxsize=None)(self._forms)
        self._shown = lru_cache(maxsize=None)(self._shown_by)
        self._sought = lru_cache(maxsize=None)(self._sought_in)

    def _forms(self, token: str) -> frozenset[str]:
        """The token and its base forms: WordNet's detachment rules, undoubling (running, run) and exception lists."""
        forms = {token, *self._exceptions.get(token, ())}
        for ending, base in _DETACH:
            if token.endswith(ending) and len(token) > len(ending):
                stem = token[: -len(ending)]
                forms.add(stem + base)
                if not base and len(stem) > 2 and stem[-1] == stem[-2]:
                    forms.add(stem[:-1])
        return frozenset(forms)

    def _shown_by(self, definition_tokens: tuple[str, ...]) -> _Shown:
        forms = frozenset().union(*map(self.forms, definition_tokens))
        return _Shown(
            text=f" {' '.join(definition_tokens)}",
            tokens=frozenset(definition_tokens),
            forms=forms,
            parts=frozenset(form for form in forms if len(form) >= 4 and form not in _STOP),
            stems=frozenset(t[: max(4, len(t) - 3)] for t in definition_tokens if len(t) >= 4 and t not in _STOP),
        )

    def _sought_in(self, word: str) -> _Sought:
        length = len(word)
        forms = self.forms(word)
        begins = [word] if length < 5 else [word, word[:4] if length <= 6 else word[:5]]
        begins += [form for form in forms if len(form) >= 4]  # as surfing and surfboard
        prefixes = frozenset(word[:n] for n in range(4, length))
        return _Sought(
            forms=forms,
            fragments=tuple(f" {begin}" for begin in begins) + ((word,) if length >= 4 else ()),
            prefixes=prefixes,
            parts=prefixes | {word[-n:] for n in range(4, length)},
        )

    def gives_away(self, word: str, definition_tokens: tuple[str, ...]) -> bool:
        shown, sought = self._shown(definition_tokens), self._sought(word)
        if word in shown.forms or not shown.tokens.isdisjoint(sought.forms):
            return True
        for fragment in sought.fragments:
            if fragment in shown.text:
                return True
        # hair+line shows in "line", porosity in "porous"
        return not (shown.parts.isdisjoint(sought.parts) and shown.stems.isdisjoint(sought.prefixes))


@dataclass(frozen=True, slots=True)
class _Sought:
    """A word with what would give it away in a text, prepared once."""

    forms: frozenset[str]
    fragments: tuple[str, ...]
    """What may not stand in the text: beginnings of tokens (after a space), and the word itself from four letters on."""
    prefixes: frozenset[str]
    """Beginnings of four letters or more, shorter than the word."""
    parts: frozenset[str]
    """These and the endings."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """A definition, prepared for looking words up in it."""

    text: str
    """The tokens, each after a space."""
    tokens: frozenset[str]
    forms: frozenset[str]
    parts: frozenset[str]
    """Forms of four letters or more that are no stop words."""
    stems: frozenset[str]
    """The same tokens without their last three letters, four letters at least."""


def is_clear(definition: str, definition_tokens: tuple[str, ...]) -> bool:
    """Whether a definition stands on its own: 4 to 40 words, no torn-out quotation, and no fragment at its beginning (a preposition, a
    conjunction, or a participle with a preposition, as in "located near ...")."""
    if not 4 <= len(definition_tokens) <= 40 or _REMNANT.search(definition) is not None:
        return False
    first, second = definition_tokens[:2]
    participle = first.endswith("ed") or first in ("made", "found", "grown")
    return first not in _OPENERS and not (participle and second in _OPENERS)


def is_fit(definition: str) -> bool:
    """Whether a definition may be shown to a hosted model: marked as no slur or obscenity, and not sexually explicit (a refusal
    by a provider's filter would look like a loss)."""
    return _OFFENCE.search(definition) is None and _EXPLICIT.search(definition) is None


def is_fit_word(word: str, definitions: list[str]) -> bool:
    """Whether `word` may stand among the candidates: no sense of it is marked as a slur or obscenity, and it is not on our list."""
    if sha256(word.encode()).hexdigest()[:8] in _HASHED:
        return False
    return not any(_OFFENCE_ANYWHERE.search(d) for d in definitions)


def gloss_hash(definition: str) -> str:
    """SHA-256 of the UTF-8 definition; the bank stores this instead of WordNet's text."""
    return sha256(definition.encode()).hexdigest()
