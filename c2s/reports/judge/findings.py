"""What the page about a judge says: the answer, and the findings that it rests on, each as a row of figures with its sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c2s import stats
from c2s.reports.formats import interval, percent, probability
from c2s.reports.section import Row
from c2s.stats.judge import TOO_FEW

ALPHA = 0.05
FAMILY = "judge page"
CUES = ("R", "R:")
Rows = Mapping[str, Sequence[Row]]
"""{section: its rows about one grading rule}."""


def tests(rows: Rows) -> list[Row]:
    """The three tests of the page: the order of keys with R and with R and a colon, and the interaction. Holm adds `p_holm` and `m`."""
    order = _order(rows)
    (interaction,) = rows["interaction"]
    given = {name: order[name] for name in CUES} | {"D": interaction}
    return [{"test": name, "p": row["p"], "family": FAMILY} | _reasons(row) for name, row in given.items()]


def _reasons(row: Row) -> Row:
    reason = row.get("undefined", {}).get("p")
    return {"undefined": {"p": reason}} if reason else {}


def answer(rows: Rows, tested: Sequence[Row]) -> Row:
    """`verdict` in a word and `answer` as a sentence, after Holm."""
    order = _order(rows)
    (interaction,) = rows["interaction"]
    adjusted = {row["test"]: row["p_holm"] for row in tested}
    if order["R"]["changed"] is None:
        return {"verdict": "not asked", "answer": f"NOT ASKED: {interaction['undefined']['theta']}."}
    changed, pairs = (sum(row["changed"][i] for row in order.values()) for i in (0, 1))
    if adjusted["D"] <= ALPHA:
        what = "adding one colon to a wrong answer changes the verdict differently under sorted than under insertion keys"
        return {"verdict": "interaction", "answer": f"YES: {what} ({_d(interaction)})."}
    if min(adjusted.values()) <= ALPHA:
        what = "the order of keys changes verdicts, and a colon makes no difference to that that could be shown"
        return {"verdict": "order", "answer": f"YES: {what}."}
    if changed:
        what = f"{changed} of {pairs} verdicts differ between the orders, no more than repeats and chance explain"
        return {"verdict": "not shown", "answer": f"NOT SHOWN: {what}."}
    sizes = [order[name]["changed"][1] for name in CUES]
    if not any(sizes):
        return {"verdict": "no answer", "answer": "NO ANSWER: there is not one source with verdicts in both orders."}
    n = min(filter(None, sizes))  # the cue with fewer pairs has the larger bound
    which = "" if len(set(sizes)) == 1 else " with R" if sizes[0] == n else " with R and a colon"
    high = stats.clopper_pearson(0, n).high
    what = f"of the {n} source{'s' * (n > 1)} with answers in both orders{which}, none changes its verdict"
    bound = f"up to {percent(high)} % of such sources could still change (95 %)"
    return {"verdict": "no change seen", "answer": f"NO CHANGE SEEN: {what}; {bound}.", "sources": n, "bound": high}


def findings(rows: Rows, tested: Sequence[Row], requests: Mapping[str, int]) -> list[Row]:
    """What stands in the way, what changes with the order of keys, what the colon adds, and what is accepted."""
    order = _order(rows)
    (interaction,) = rows["interaction"]
    adjusted = {row["test"]: row["p_holm"] for row in tested}
    found = _troubles(rows["gates"], requests)
    if order["R"]["changed"] is None:
        return found
    found += [_cue(name, order[name], adjusted[name]) for name in CUES if order[name]["changed"][1]]
    moved = {name: row["changed"] for name, row in order.items() if name not in CUES and row["changed"][0]}
    if moved:
        listed = "; ".join(f"{name} in {k} of {n}" for name, (k, n) in moved.items())
        found.append({"about": "controls", "changed": moved, "text": f"Verdicts on controls change with the order, too: {listed}."})
    if interaction["theta"] is not None:
        found += _interaction(interaction, adjusted["D"])
    for row in rows["cells"]:
        (r, n), (c, m) = row["random_count"], row["random_colon_count"]
        text = f"Wrong answers accepted under {row['presentation']} keys: {r} of {n} with R, {c} of {m} with R and a colon."
        figures = {key: row[key] for key in ("presentation", "random_count", "random_colon_count")}
        found.append({"about": "accepted"} | figures | {"text": text})
    compared, shifted = (sum(order[name][key] for name in CUES) for key in ("scores_compared", "scores_moved"))
    if compared:
        changed = any(row["changed"][0] for row in order.values())
        same = "" if shifted or changed else "; the judge is order-invariant here"
        text = f"Displayed scores of the accepting label: {shifted} of {compared} differ between the orders{same}."
        found.append({"about": "scores", "moved": [shifted, compared], "text": text})
    return found


def _order(rows: Rows) -> dict[str, Row]:
    return {row["condition"]: row for row in rows["order"]}


def _troubles(gates: Sequence[Row], requests: Mapping[str, int]) -> list[Row]:
    """What stands in the way of reading the result: failed controls, missing answers."""
    missed = [gate for gate in gates if gate["passed"] == "NO"]
    failed = [gate["presentation"] for gate in missed if not _only_missing(gate)]
    incomplete = [gate for gate in missed if _only_missing(gate)]
    found: list[Row] = []
    if failed:
        text = f"The judge misses its basic controls under {' and '.join(failed)} keys: do not rely on it in any presentation."
        found.append({"about": "gates", "failed": failed, "text": text})
    if incomplete:
        lost = sum(sum(gate["missing"].values()) for gate in incomplete)
        where = [gate["presentation"] for gate in incomplete]
        text = (
            f"The basic controls are not passed under {' and '.join(where)} keys because {lost} of their answers are missing, "
            "not because of wrong judgments: run the audit again where all answers come back."
        )
        found.append({"about": "gates", "incomplete": where, "missing": lost, "text": text})
    lost = requests["error"] + requests["unknown"]
    if lost:
        text = f"{lost} of the run's {requests['planned']} answers are missing; they are never scored."
        found.append({"about": "missing", "missing": [lost, requests["planned"]], "text": text})
    return found


def _only_missing(gate: Row) -> bool:
    """Whether a gate that is not passed could have been, had the missing answers been right."""
    return all(gate[name] + gate["missing"][name] >= least for name, least in gate["required"].items())


def _cue(name: str, row: Row, p: float) -> Row:
    (k, n), again = row["changed"], row["repeats"]
    exact = stats.clopper_pearson(k, n)
    limits = interval([exact.low, exact.high], "rate")
    text = (
        f"With {'R' if name == 'R' else 'R and a colon'}, the verdict changes with the order in {k} of {n} sources "
        f"({percent(k / n)} %, 95 % {limits}); byte-identical repeats change in {again[0]} of {again[1]} pairs; p = {probability(p)}."
    )
    share = {"changed": k / n, "changed_count": [k, n], "changed_interval": [exact.low, exact.high], "changed_method": "clopper-pearson"}
    return {"about": "order", "condition": name} | share | {"repeats": again, "p_holm": p, "text": text}


def _interaction(row: Row, p: float) -> list[Row]:
    low, high = row["bounds"]
    figures = {key: row[key] for key in ("theta", "theta_interval", "theta_method", "bounds")} | {"p_holm": p}
    sentences = [
        f"What the colon adds under sorted keys, minus under insertion: {_d(row)}; p = {probability(p)}.",
        f"The three p are corrected for each other (Holm, m = 3, family {FAMILY!r}), so that a judge that does not depend on order is "
        "accused in about 5 % of audits at most. The report corrects the same tests in other families (order; interaction), each over all "
        "grading rules and runs shown, so that its p can differ.",
    ]
    if low < high:
        sentences.append(f"Whatever the missing answers were, D lies between {100 * low:+.1f} and {100 * high:+.1f} points.")
    return [{"about": "interaction"} | (figures if not place else {}) | {"text": text} for place, text in enumerate(sentences)]


def _d(row: Mapping[str, Any]) -> str:
    if row["theta"] is None:
        return "D undefined"
    if row.get("theta_says_nothing"):
        return f"D = {100 * row['theta'] + 0.0:+.1f} points ({TOO_FEW})"
    low, high = row["theta_interval"]
    bound = " by Hoeffding's bound" if row["theta_method"] == "hoeffding" else ""
    return f"D = {100 * row['theta'] + 0.0:+.1f} points, 95 %{bound} [{100 * low:+.1f}, {100 * high:+.1f}]"
