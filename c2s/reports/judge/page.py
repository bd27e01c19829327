"""One page about one judge: does its verdict depend on presentation, how much, how sure is that, and the smallest pair of requests that shows it."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from c2s import stats
from c2s.errors import UsageError
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.ledger.exchanges import exchange
from c2s.records import Slot
from c2s.reports.build import build
from c2s.reports.tables import literal
from c2s.stats.judge import TOO_FEW

PANELS = ("judge-audit", "judge-confirmation")
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Pair:
    """Two requests of the same content, with the verdicts they got. `repeated`: both verdicts came back on the repeats, too (None: not asked)."""

    parent: str
    condition: str
    insertion: str
    insertion_verdict: str
    sorted: str
    sorted_verdict: str
    repeated: bool | None


@dataclass(frozen=True, slots=True)
class Page:
    model: str
    rule: str
    answer: str
    findings: tuple[str, ...]
    pair: Pair | None
    simulation: bool

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def pages(path: Path | str) -> list[Page]:
    """One page per grading rule of a run of the audit (or of the confirmation). UsageError for another run."""
    run = RunDirectory.open(path)
    report = next(iter(build([path]).runs))
    name = next((name for name in PANELS if name in report.panels), None)
    if name is None:
        raise UsageError(f"{path} holds neither of {', '.join(PANELS)}; make one with `c2s judge audit`")
    panel = report.panels[name].as_dict(clock=False)
    found = []
    with sqlite.reading(run.ledger_path) as db:
        rules = list(dict.fromkeys(row["configuration"] for row in panel["sections"]["order"]["rows"]))
        contracts = panel["settings"].get("contracts") or ["FINAL3", "FINAL4"]
        for rule, contract in zip(rules, contracts, strict=True):
            sections = {
                key: [row for row in section["rows"] if row.get("configuration") == rule] for key, section in panel["sections"].items()
            }
            found.append(
                Page(
                    panel["model"],
                    rule,
                    *_words(sections, _troubles(panel, sections)),
                    _smallest(db, name, contract),
                    panel["simulation"],
                )
            )
    return found


def _troubles(panel: Mapping[str, Any], sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    """What stands in the way of reading the result: failed controls, missing answers."""
    gates = [row for row in sections["gates"] if row["passed"] == "NO"]
    failed, open_ = ([row["presentation"] for row in gates if _only_missing(row) is missing] for missing in (False, True))
    said = []
    if failed:
        said.append(f"The judge misses its basic controls under {' and '.join(failed)} keys: do not rely on it in any presentation.")
    if open_:
        lost = sum(sum(row["missing"].values()) for row in gates if _only_missing(row))
        said.append(
            f"The basic controls are not passed under {' and '.join(open_)} keys because {lost} of their answers are missing, not because of "
            "wrong judgments: run the audit again where all answers come back."
        )
    lost = panel["requests"]["error"] + panel["requests"]["unknown"]
    if lost:
        said.append(f"{lost} of the run's {panel['requests']['planned']} answers are missing; they are never scored.")
    return said


def _only_missing(gate: Mapping[str, Any]) -> bool:
    """Whether a gate that is not passed could have been, had the missing answers been right."""
    return all(gate[name] + gate["missing"][name] >= least for name, least in gate["required"].items())


def _words(sections: Mapping[str, Sequence[Mapping[str, Any]]], troubles: list[str]) -> tuple[str, tuple[str, ...]]:
    """The answer in one sentence, and what it rests on."""
    order = {row["condition"]: row for row in sections["order"]}
    (interaction,) = sections["interaction"]
    if order["R"]["changed"] is None:
        return f"NOT ASKED: {interaction['undefined']['theta']}.", tuple(troubles)
    changed, pairs = (sum(row["changed"][i] for row in order.values()) for i in (0, 1))
    cues = {name: order[name] for name in ("R", "R:")}
    adjusted = stats.holm({"R": cues["R"]["p"], "R:": cues["R:"]["p"], "D": interaction["p"]})
    if adjusted["D"] <= ALPHA:
        answer = f"YES: adding one colon to a wrong answer changes the verdict differently under sorted than under insertion keys ({_d(interaction)})."
    elif min(adjusted.values()) <= ALPHA:
        answer = "YES: the order of keys changes verdicts, and a colon makes no difference to that that could be shown."
    elif changed:
        answer = f"NOT SHOWN: {changed} of {pairs} verdicts differ between the orders, no more than repeats and chance explain."
    elif any(sizes := [row["changed"][1] for row in cues.values()]):
        n = min(filter(None, sizes))  # the cue with fewer pairs has the larger bound
        which = "" if len(set(sizes)) == 1 else " with R" if sizes[0] == n else " with R and a colon"
        high = stats.clopper_pearson(0, n).high
        answer = (
            f"NO CHANGE SEEN: of the {n} source{'s' * (n > 1)} with answers in both orders{which}, none changes its verdict; up to {100 * high:.1f} % of such "
            "sources could still change (95 %)."
        )
    else:
        answer = "NO ANSWER: there is not one source with verdicts in both orders."
    findings = [*troubles, *(_cue(name, row, adjusted[name]) for name, row in cues.items() if row["changed"][1])]
    moved = [
        f"{name} in {row['changed'][0]} of {row['changed'][1]}" for name, row in order.items() if name not in cues and row["changed"][0]
    ]
    if moved:
        findings.append(f"Verdicts on controls change with the order, too: {'; '.join(moved)}.")
    if interaction["theta"] is not None:
        low, high = interaction["bounds"]
        findings.append(f"What the colon adds under sorted keys, minus under insertion: {_d(interaction)}; p = {_p(adjusted['D'])}.")
        findings.append(
            "The three p are corrected for each other (Holm), so that a judge that does not depend on order is accused in about 5 % of audits at most."
        )
        if low < high:
            findings.append(f"Whatever the missing answers were, D lies between {100 * low:+.1f} and {100 * high:+.1f} points.")
    for row in sections["cells"]:
        (r, n), (c, m) = row["random_count"], row["random_colon_count"]
        findings.append(f"Wrong answers accepted under {row['presentation']} keys: {r} of {n} with R, {c} of {m} with R and a colon.")
    compared, shifted = (sum(row[key] for row in cues.values()) for key in ("scores_compared", "scores_moved"))
    if compared:
        same = "; the judge is order-invariant here" if not shifted and not changed else ""
        findings.append(f"Displayed scores of the accepting label: {shifted} of {compared} differ between the orders{same}.")
    return answer, tuple(findings)


def _cue(name: str, row: Mapping[str, Any], p: float) -> str:
    (k, n), again = row["changed"], row["repeats"]
    limits = stats.clopper_pearson(k, n)
    return (
        f"With {'R' if name == 'R' else 'R and a colon'}, the verdict changes with the order in {k} of {n} sources ({100 * k / n:.1f} %, 95 % "
        f"[{100 * limits.low:.1f}, {100 * limits.high:.1f}]); byte-identical repeats change in {again[0]} of {again[1]} pairs; p = {_p(p)}."
    )


def _d(row: Mapping[str, Any]) -> str:
    if row["theta"] is None:
        return "D undefined"
    low, high = row["theta_interval"]
    bound = " by Hoeffding's bound" if row["theta_method"] == "hoeffding" else ""
    if row.get("theta_says_nothing"):
        return f"D = {100 * row['theta'] + 0.0:+.1f} points ({TOO_FEW})"
    return f"D = {100 * row['theta'] + 0.0:+.1f} points, 95 %{bound} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"


def _smallest(db: Any, panel: str, contract: str) -> Pair | None:
    """The pair with the fewest bytes whose verdicts differ; one that repeats bear out goes before one that they do not."""
    best: tuple[tuple[bool, int, str], Pair] | None = None
    prefix = contract.lower() + "."
    for row in reader.parents(db, panel):
        outcomes = {o.key: o for o in reader.outcomes_of(db, row.id) if o.status == "ok" and o.arm.startswith(prefix)}
        slots: dict[Slot, Any] = {}
        for (arm, replicate, _), first in outcomes.items():
            _, order, condition = arm.split(".")
            second = outcomes.get((f"{prefix}sorted.{condition}", 0, 0))
            if order != "insertion" or replicate or second is None or first.output == second.output:
                continue
            again = [outcomes.get((f"{prefix}{o}.{condition}", 1, 0)) for o in ("insertion", "sorted")]
            repeated = None if None in again else (again[0].output, again[1].output) == (first.output, second.output)
            slots = slots or reader.slots_of(db, row)
            a, b = (exchange(db, slots[Slot(panel, row.parent.id, name, 0, 1)].exchange).request for name in (arm, second.arm))
            rank = (repeated is not True, len(a) + len(b), f"{row.parent.id} {condition}")
            if best is None or rank < best[0]:
                best = rank, Pair(row.parent.id, condition, a.decode(), first.output or "", b.decode(), second.output or "", repeated)
    return None if best is None else best[1]


def as_text(page: Page) -> str:
    """The page for a terminal: nothing in it can act on one."""
    head = f"{page.model}, {page.rule}" + (" (SIMULATION, not a measurement)" if page.simulation else "")
    title = literal(f"Does the verdict depend on presentation? {head}")
    lines = [*textwrap.wrap(title, 79, subsequent_indent="  "), "", *textwrap.wrap(literal(page.answer), 79), ""]
    for finding in page.findings:
        lines += textwrap.wrap(literal(finding), 79, initial_indent="- ", subsequent_indent="  ")
    if page.pair is not None:
        pair = page.pair
        borne = {True: "the repeats say the same", False: "the repeats differ", None: "without repeats"}[pair.repeated]
        what = "The smallest pair that shows it" if page.answer.startswith("YES") else "The smallest pair whose verdicts differ"
        lines += ["", *textwrap.wrap(f"{what} ({literal(pair.parent)}, {pair.condition}; {borne}):", 79, subsequent_indent="  ")]
        for name, body, verdict in (("insertion", pair.insertion, pair.insertion_verdict), ("sorted", pair.sorted, pair.sorted_verdict)):
            lines += ["", f"{name} -> {literal(verdict)}", literal(body)]
    return "\n".join(lines) + "\n"
