"""What decides a run's requests, and what only this machine knows.

`Settings` are frozen in the manifest of a run. `Inputs` are paths and functions of the process that makes the plan; they are never stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypedDict

from c2s.errors import UsageError, nearest
from c2s.records import Request


class Rubric(TypedDict):
    """A user's grading rule. `criteria` maps each label to its description, in the order in which they are sent; `labels` maps
    correct and incorrect to the labels that mean them, where those have other names."""

    name: str
    instruction: str
    criteria: dict[str, str | None]
    labels: dict[str, str]


class Observed(TypedDict):
    """A wrong whole-answer selection of an earlier run: what was selected, by which model, in which run."""

    output: str
    model: str
    run: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything beside panels, model and items that decides a request.

    `seed` keys displayed order and sampling; the default is the paper's for the main panel. `limit` is the number of parents per domain,
    `domain` the only domain that is asked, or several of them. `template` names the wording of the natural tasks. `data` has the SHA-256
    of each data file by its kind. `field_options` names the options of dialogue fields: "ids" or "values". `contracts` are the grading
    rules of the judge
    panels, `rubric` is the text of a user's own, `components` the request objects that are sorted one at a time; None stands for the
    study's own. `observed` has the wrong selections of earlier runs by item. `tokenizer` identifies the tokenizer that token padding was
    made with.
    """

    seed: int = 20261005
    limit: int | None = None
    domain: str | tuple[str, ...] | None = None
    template: str = "v1"
    data: Mapping[str, str] = field(default_factory=dict)
    field_options: str = "ids"
    contracts: tuple[str, ...] | None = None
    rubric: Rubric | None = None
    components: tuple[str, ...] | None = None
    observed: Mapping[str, Observed] | None = None
    tokenizer: Any = None

    @property
    def domains(self) -> tuple[str, ...]:
        """The domains that were named; empty where all are asked."""
        return () if self.domain is None else (self.domain,) if isinstance(self.domain, str) else self.domain

    def asks(self, domain: str) -> bool:
        """Whether this domain is asked."""
        return self.domain is None or domain in self.domains

    @classmethod
    def from_dict(cls, members: Mapping[str, Any]) -> Settings:
        """The settings in a manifest of any version; a member that is absent has its default.

        Raises UsageError for a member that is unknown or of another type.
        """
        if not isinstance(members, Mapping):
            raise UsageError("the settings are no table of names and values")
        known = [f.name for f in fields(cls)]
        for name, value in members.items():
            if name not in known:
                raise UsageError(f"unknown setting {name!r}{nearest(name, known)}; the settings are {', '.join(known)}")
            if not _has_type(name, value):
                raise UsageError(f"the setting {name} has a value of the wrong type: {value!r:.60}")
        lists = {name: tuple(members[name]) for name in ("contracts", "components") if members.get(name) is not None}
        if isinstance(members.get("domain"), list):
            lists["domain"] = tuple(members["domain"])
        return cls(**{**members, **lists})

    def as_dict(self) -> dict[str, Any]:
        """The members of a manifest, in its order: the first six always, the others where they are given."""
        always = {name: getattr(self, name) for name in ("seed", "limit", "domain", "template")}
        always["domain"] = list(self.domain) if isinstance(self.domain, tuple) else self.domain
        always |= {"data": dict(self.data), "field_options": self.field_options}
        lists = {"contracts": self.contracts, "rubric": self.rubric, "components": self.components}
        given = {**lists, "observed": self.observed, "tokenizer": self.tokenizer}
        return always | {name: list(value) if isinstance(value, tuple) else value for name, value in given.items() if value is not None}


def _has_type(name: str, value: object) -> bool:
    if name == "seed":
        return isinstance(value, int)
    if name == "limit":
        return value is None or isinstance(value, int)
    if name in ("template", "field_options"):
        return isinstance(value, str)
    if name == "domain" and isinstance(value, str):
        return True
    if name in ("domain", "contracts", "components"):
        listed = isinstance(value, list | tuple) and all(isinstance(part, str) for part in value)
        return value is None or (listed and not (name == "domain" and value == []))
    if name == "data":
        return isinstance(value, Mapping)
    return name == "tokenizer" or value is None or isinstance(value, Mapping)


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a plan is made from on this machine.

    `files` has the path of each data file by its kind, `wordnet` the folder of a WordNet 3.0 (None: it is looked for in the usual places),
    `rendered_tokens` counts the tokens of a request as the model's tokenizer and chat template render it (None: no tokenizer is at hand).
    """

    files: Mapping[str, str] = field(default_factory=dict)
    wordnet: str | None = None
    rendered_tokens: Callable[[Request], int] | None = None


NO_INPUTS = Inputs()
"""No data files, WordNet in its usual places, no tokenizer."""
