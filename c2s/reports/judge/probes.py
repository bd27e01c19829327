"""Diagnostics of the judge study: one sorted object at a time, the reference switch, bridges and readable cues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from c2s import stats
from c2s.controllers.judge import CUES
from c2s.controllers.judge_probes import BRIDGES, CONTENTS, WORLDS
from c2s.controllers.judge_probes import CUES as READABLE
from c2s.presentation.encode import COMPONENTS
from c2s.reports import estimates
from c2s.reports.data import PanelData, Row
from c2s.reports.judge.cells import accepted, asked, shown_name
from c2s.reports.section import TEST, Column, Section

BARE = tuple(f"bare_{world}" for world in WORLDS)
"""The controls of the reference switch: a bare value that is the reference of one world."""

DIRECTIONAL = "judge reference switch"
FORMATS = "judge formatting"
READ = "judge readable cues"


def by_component(data: PanelData) -> Section:
    """What the colon adds under each order of keys, and by how much that differs from insertion: which object carries it."""
    rows = []
    for contract in asked(data):
        listed = data.rows[0].parent.payload["components"][contract]
        base = _differences(data, contract, "insertion")
        for presentation in ("insertion", *(name for name in (f"sorted:{c}" for c in COMPONENTS) if name in listed), "sorted"):
            own = _differences(data, contract, presentation)
            values = [[accepted(source, contract, presentation, cue) for source in data.rows] for cue in CUES]
            both = [a - b for a, b in zip(own, base, strict=True) if a is not None and b is not None]
            row: dict[str, Any] = {"configuration": shown_name(contract, data), "presentation": presentation}
            row |= {cue: [sum(map(bool, v)), sum(x is not None for x in v)] for cue, v in zip(CUES, values, strict=True)}
            if presentation == "insertion":
                row |= estimates.absent("it is what the others are compared with", "d")
            else:
                row |= {"d": sum(both) / len(both)} if both else estimates.absent("no source has all four labels", "d")
            rows.append(row)
    return Section(
        "components",
        "The colon under one sorted object at a time",
        "ours; the paper left the objects unseparated, section 6",
        (
            Column("configuration", "rule"),
            Column("presentation", "sorted object"),
            Column("random", "R accepted", "of"),
            Column("random_colon", "R: accepted", "of"),
            Column("d", "D in points", "points"),
        ),
        rows,
        ["D against insertion. Description: the objects' shares need not add up to that of `sorted`."],
    )


def _differences(data: PanelData, contract: str, presentation: str) -> list[int | None]:
    pairs = [[accepted(source, contract, presentation, cue) for cue in CUES] for source in data.rows]
    return [None if plain is None or colon is None else int(colon) - int(plain) for plain, colon in pairs]


def reference_switch(data: PanelData) -> Section:
    """d = score(R:) - score(R), over both passes, in each world: predicted above 0 where the earlier value is the reference, below 0 where
    it is not."""
    rows = []
    for world in WORLDS:
        arms = {name: data.arm(world=world, condition=name) for name in (*BRIDGES, *BARE)}
        d = [x for row in data.rows if (x := _passes(row, [arms[cue] for cue in CUES])) is not None]
        sign = 1 if world == "x" else -1
        row: dict[str, Any] = {"world": "earlier X" if world == "x" else "final Y", "family": DIRECTIONAL}
        row |= {"predicted": "above 0" if sign > 0 else "below 0", "n": len(d), "mean": sum(d) / len(d) if d else None, "p": None}
        if d:
            found = stats.sign_flip(d, seed=data.panel.seed, alternative="greater" if sign > 0 else "less")
            row |= {"p": found.p, "p_method": found.method}
        else:
            row |= estimates.absent("no displayed scores", "mean", "p")
        for name in BRIDGES:
            row[name] = [sum(_accepts(source, arms[name], r) is True for source in data.rows for r in (0, 1)), 2 * len(data.rows)]
        row["changes"] = sum(
            (a := _accepts(source, arms[name], 0)) is not None and (b := _accepts(source, arms[name], 1)) is not None and a != b
            for source in data.rows
            for name in BRIDGES
        )
        row["controls"] = [
            sum(source.value(arms[name]) is True for source in data.rows for name in BARE),
            2 * len(data.rows),
        ]
        rows.append(row)
    return Section(
        "reference_switch",
        "Accepted in two passes, and d = score(R:) - score(R)",
        "judge paper, 5.4, B.1, D.5",
        (
            Column("world", "reference"),
            *(Column(name, {"blank": "blank", "colon": ":", "random": "R", "random_colon": "R:"}[name], "of") for name in BRIDGES),
            Column("controls", "bare", "of"),
            Column("mean", "d", "number"),
            Column("predicted", "expected"),
            *TEST,
        ),
        rows,
        ["p: one-sided sign flips of the sources' mean d, in the predicted direction (ours: the paper's test is not in its printed text)."],
    )


def _accepts(row: Row, arm: str, replicate: int) -> bool | None:
    outcome = row.ok(arm, replicate)
    return None if outcome is None else bool(outcome.detail["accepted"])


def _passes(row: Row, arms: Sequence[str]) -> float | None:
    """Mean over the two passes of score(R:) - score(R)."""
    first, second = (_scores(row, arms, replicate) for replicate in (0, 1))
    if first is None or second is None:
        return None
    return round((first[1] - first[0] + second[1] - second[0]) / 2, 9)


def _scores(row: Row, arms: Sequence[str], replicate: int = 0) -> list[float] | None:
    """Displayed scores of the accepting label in several arms, where all are there."""
    found = [o.detail["score"] for arm in arms if (o := row.ok(arm, replicate)) is not None and o.detail["score"] is not None]
    return found if len(found) == len(arms) else None


def formatting(data: PanelData) -> Section:
    """How much more a format adds to the displayed score after a reference-matching value than after another wrong one."""
    rows = []
    for name, first, second in (("R: - R", "random_colon", "random"), ("colon - blank", "colon", "blank")):
        row: dict[str, Any] = {"contrast": name, "family": FORMATS, "p": None}
        gaps = {}
        for content in CONTENTS:
            arms = [data.arm(earlier=content, condition=condition) for condition in (first, second)]
            gaps[content] = [_gap(source, arms) for source in data.rows]
            values = [x for x in gaps[content] if x is not None]
            row[content] = sum(values) / len(values) if values else None
        d = [a - b for a, b in zip(gaps["match"], gaps["other"], strict=True) if a is not None and b is not None]
        row |= {"n": len(d), "d": sum(d) / len(d) if d else None}
        if d:
            found = stats.sign_flip([round(x, 9) for x in d], seed=data.panel.seed)
            row |= {"p": found.p, "p_method": found.method}
        else:
            row["undefined"] = dict.fromkeys([key for key in ("d", "p", *CONTENTS) if row[key] is None], "no displayed scores")
        rows.append(row)
    return Section(
        "formatting",
        "Displayed score: what a format adds, by the earlier value",
        "ours, after judge paper 5.4, D.4",
        (
            Column("contrast", "contrast"),
            Column("n", "sources", "int"),
            Column("match", "reference", "number"),
            Column("other", "wrong", "number"),
            Column("none", "none", "number"),
            Column("d", "difference", "number"),
            *TEST,
        ),
        rows,
        [
            "By the earlier value: the reference, another wrong value, none. Difference: reference minus wrong. "
            "p: two-sided sign flips over sources."
        ],
    )


def _gap(row: Row, arms: Sequence[str]) -> float | None:
    """Displayed score of the first arm minus that of the second."""
    scores = _scores(row, arms)
    return None if scores is None else scores[0] - scores[1]


def readable_cues(data: PanelData) -> Section:
    """Acceptances with a readable cue against the empty line, after the reference and after another wrong value."""
    rows = []
    for contract in asked(data):
        for cue in [name for name in READABLE if name != "blank"]:
            row: dict[str, Any] = {"configuration": contract, "cue": READABLE[cue], "family": READ, "p": None}
            for content in CONTENTS[:2]:
                arms = [data.arm(contract=contract, earlier=content, condition=condition) for condition in (cue, "blank")]
                pairs = _pairs(data.rows, arms)
                row[content] = [sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)]
                row[f"{content}_n"] = len(pairs)
            gained, lost = row["match"]
            parts = [row]
            if row["match_n"]:
                parts.append({"p": float(stats.mcnemar_exact(gained, lost))})
            else:
                parts.append(estimates.absent("no source has both labels after the reference", "p"))
            if row["match_n"] and row["other_n"]:
                parts.append({"d": (gained - lost) / row["match_n"] - (row["other"][0] - row["other"][1]) / row["other_n"]})
            else:
                parts.append(estimates.absent("no source has both labels after one of the values", "d"))
            rows.append(estimates.merged(*parts))
    return Section(
        "readable_cues",
        "Readable cues against an empty line: sources that only one of the two had accepted",
        "ours, after judge paper 5.4, B.2",
        (
            Column("configuration", "rule"),
            Column("cue", "cue"),
            Column("match_n", "sources", "int"),
            Column("match", "reference", "slashes"),
            Column("other", "wrong", "slashes"),
            Column("d", "D", "points"),
            *TEST,
        ),
        rows,
        [
            "Only with the cue / only with the empty line, after the reference and after another wrong value; D: difference of their "
            "differences in points. Exact McNemar after the reference. The paper's evidence-grading rule (HALL) is not in its printed text "
            "and is not asked."
        ],
    )


def _pairs(rows: Sequence[Row], arms: Sequence[str]) -> list[tuple[bool, bool]]:
    """(accepted with the cue, accepted with the empty line) of the sources that have both."""
    found = [tuple(_accepts(row, arm, 0) for arm in arms) for row in rows]
    return [(a, b) for a, b in found if a is not None and b is not None]
