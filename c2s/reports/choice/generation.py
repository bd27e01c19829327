"""Written codes against written characters at one position: accuracy, validity, failures, and how wording moves them (B.6, D.13).

Records, and displayed orders where a row pools them, are averaged within parent. Malformed answers fail strict accuracy; accuracy among
well-formed answers is secondary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from c2s.controllers.rendering import ORDERS, OUTPUTS, TEMPLATES
from c2s.records import VALID_KINDS
from c2s.reports import estimates
from c2s.reports.data import PanelData, Row, defined
from c2s.reports.section import Column, Section

KINDS = (*VALID_KINDS, "bound_code", "other_code", "extra_text", "other_invalid", "empty", "truncated")
SHADES = " ░▒▓█"
EVIDENCE = ("indexed", "direct")
BY_OUTPUT = ("character", "code")


def _cells(
    data: PanelData, evidence: Sequence[str], templates: Sequence[str], orders: Sequence[int]
) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """(labels, arms that the row pools) for every evidence and output; of the grid for every template, with all displayed orders and with
    each alone."""
    for e, output in product(evidence, OUTPUTS):
        labels = {"evidence": e, "output": output}
        if not templates:
            yield labels, [data.arm(**labels)]
        for template in templates:
            arms = {f"O{order}": [data.arm(**labels, template=template, order=order)] for order in orders}
            yield labels | {"template": template, "order": "all"}, [name for names in arms.values() for name in names]
            for order, names in arms.items():
                yield labels | {"template": template, "order": order}, names


def _pooled(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the table shows: displayed orders together."""
    return [row for row in rows if row.get("order", "all") == "all"]


def _kinds(row: Row, arms: Sequence[str]) -> list[str] | None:
    """Kinds of a parent's answers over these arms; None where one is undefined."""
    outcomes = row.all_ok(arms)
    return None if outcomes is None else [kind for outcome in outcomes for kind in outcome.detail["kinds"]]


def _rate(row: Row, arms: Sequence[str], kinds: Sequence[str] = ("strict_correct",)) -> float | None:
    found = _kinds(row, arms)
    return None if found is None else sum(kind in kinds for kind in found) / len(found)


def _labels(templates: Sequence[str]) -> list[Column]:
    head = [Column("domain", "domain"), Column("evidence", "evidence"), Column("output", "output")]
    return [*head, Column("template", "T")] if templates else head


def accuracy(
    data: PanelData,
    *,
    evidence: Sequence[str],
    source: str,
    templates: Sequence[str] = (),
    orders: Sequence[int] = (),
) -> Section:
    """Strict accuracy, validity and accuracy among valid answers, by output."""
    rows = []
    for domain, parents in data.domains.items():
        for labels, arms in _cells(data, evidence, templates, orders):
            found = [(row, kinds) for row in parents if (kinds := _kinds(row, arms)) is not None]
            pooled = Counter(kind for _, kinds in found for kind in kinds)
            valid, n = sum(pooled[kind] for kind in VALID_KINDS), sum(pooled.values())
            shares = [sum(kind == "strict_correct" for kind in kinds) / len(kinds) for _, kinds in found]
            row = {"domain": domain} | labels | {"n": len(found), "n_planned": len(parents)}
            whole = all(value in (0, 1) for value in shares)  # a share of parents has its exact interval at the boundary
            row |= (estimates.share if whole else estimates.mean)("accuracy", shares, [r.stratum for r, _ in found], data.panel)
            row |= {"valid_count": [valid, n], "valid": valid / n if n else None, "conditional_count": [pooled["strict_correct"], valid]}
            row["conditional"] = pooled["strict_correct"] / valid if valid else None
            if not n:
                row = estimates.merged(row, estimates.absent("no answer is defined", "valid", "conditional"))
            elif not valid:
                row = estimates.merged(row, estimates.absent("no answer is well-formed", "conditional"))
            rows.append(row)
    columns = (
        *_labels(templates),
        Column("accuracy", "strict % [95 % CI]", "ci_rate"),
        Column("valid", "valid %", "rate"),
        Column("conditional_count", "of valid", "of"),
        Column("conditional", "%", "rate"),
    )
    notes = ["Strict: malformed answers fail. Of valid: right among well-formed answers, a secondary endpoint."]
    return Section("accuracy", "accuracy and validity by output", source, columns, rows, notes, layout=_pooled)


def differences(data: PanelData, *, evidence: Sequence[str]) -> Section:
    """Character minus code on the same parents."""
    rows = []
    for domain, parents in data.domains.items():
        for e in evidence:
            code, character = ([data.arm(evidence=e, output=output)] for output in OUTPUTS)
            found = defined(parents, lambda row, arms=character: _rate(row, arms), lambda row, arms=code: _rate(row, arms))
            values, strata = [a - b for _, a, b in found], [row.stratum for row, *_ in found]
            rows.append(
                {"domain": domain, "evidence": e, "n": len(found), "n_planned": len(parents)}
                | estimates.mean("difference", values, strata, data.panel)
            )
    columns = (
        Column("domain", "domain"),
        Column("evidence", "evidence"),
        Column("n", "n", "int"),
        Column("difference", "character - code, points [95 % CI]", "ci_points"),
    )
    return Section("differences", "character minus code", "Figure 7 c, d", columns, rows)


def failures(data: PanelData, *, evidence: Sequence[str], templates: Sequence[str] = (), orders: Sequence[int] = ()) -> Section:
    """Answers by kind, in the study's priority; outer whitespace is flagged beside."""
    rows = []
    for domain, parents in data.domains.items():
        for labels, arms in _cells(data, evidence, templates, orders):
            counts: Counter[str] = Counter()
            spaced = 0
            for outcome in (row.ok(name) for row in parents for name in arms):
                if outcome is not None:
                    counts.update(outcome.detail["kinds"])
                    spaced += len(outcome.detail["whitespace"])
            rows.append(
                {"domain": domain}
                | labels
                | {kind: counts[kind] for kind in KINDS}
                | {"answers": sum(counts.values()), "whitespace": spaced}
            )
    heads = ("right", "wrong", "bound", "code", "extra", "other", "empty", "cut")
    columns = (
        *_labels(templates),
        *(Column(kind, head, "int") for kind, head in zip(KINDS, heads, strict=True)),
        Column("whitespace", "space", "int"),
    )
    notes = [
        "Bound: the code of the right option where its character was asked for; code: another listed code; extra: text around a listed "
        "value; cut: the budget was met.",
        "Space: answers with outer whitespace, which is not stripped.",
    ]
    return Section("failures", "answers by kind", "D.13, output scoring", columns, rows, notes, layout=_pooled)


def heat(data: PanelData) -> Section:
    """Character minus code in every setting: 36 tests a model, exact McNemar, shown as a heat table."""
    rows = []
    for domain, parents in data.domains.items():
        for e, template, order in product(EVIDENCE, TEMPLATES, ORDERS):
            arms = [data.arm(evidence=e, output=output, template=template, order=order) for output in BY_OUTPUT]
            found = [(row, values) for row in parents if (values := row.all_values(arms)) is not None]
            a, b = ([values[side] for _, values in found] for side in (0, 1))
            rows.append(
                {
                    "domain": domain,
                    "evidence": e,
                    "template": template,
                    "order": f"O{order}",
                    "family": "settings",
                    "n": len(found),
                    "n_planned": len(parents),
                }
                | estimates.merged(
                    estimates.difference("difference", a, b, [row.stratum for row, _ in found], data.panel), estimates.mcnemar(a, b)
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("evidence", "evidence"),
        Column("template", "T"),
        *(Column(f"O{order}", f"O{order}", "cell") for order in ORDERS),
    )
    notes = ["Character minus code, points of strict accuracy; * Holm p < 0.05. Shades: from 12.5, 37.5, 62.5 and 87.5 points."]
    return Section(
        "heat", "which output is more accurate", "Figure 17, seventy-two tests over two models", columns, rows, notes, layout=_by_order
    )


def _by_order(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One line for each domain, evidence and template, a cell for each displayed order."""
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in rows:
        key = (row["domain"], row["evidence"], row["template"])
        line = lines.setdefault(key, {name: row[name] for name in ("domain", "evidence", "template")})
        line[row["order"]] = _shaded(row)
    return list(lines.values())


def _shaded(row: dict[str, Any]) -> str | None:
    value = row["difference"]
    if value is None:
        return None
    star = "*" if row["p_holm"] is not None and row["p_holm"] < 0.05 else " "
    return f"{100 * value + 0.0:+.1f}{star}{SHADES[round(abs(value) * (len(SHADES) - 1))] * 2}"


def interactions(data: PanelData) -> Section:
    """Change of the character - code gap from T0, orders averaged within parent: eight sign-randomisation tests a model."""
    rows = []
    for domain, parents in data.domains.items():
        for e, template in product(EVIDENCE, TEMPLATES[1:]):
            own, first = (_arms(data, e, name) for name in (template, TEMPLATES[0]))
            gaps = defined(parents, lambda row, arms=own: _gap(row, arms), lambda row, arms=first: _gap(row, arms))
            found = [(row, a - b) for row, a, b in gaps]
            values = np.array([value / len(ORDERS) for _, value in found])
            rows.append(
                {
                    "domain": domain,
                    "evidence": e,
                    "contrast": f"{template} - T0",
                    "family": "interactions",
                    "n": len(found),
                    "n_planned": len(parents),
                }
                | estimates.merged(
                    estimates.mean("change", values, [r.stratum for r, _ in found], data.panel),
                    estimates.sign_flip([value for _, value in found], data.panel),  # whole numbers: the exact law
                )
            )
    columns = (
        Column("domain", "domain"),
        Column("evidence", "evidence"),
        Column("contrast", "contrast"),
        Column("change", "points [95 % CI]", "ci_points"),
        Column("p", "p", "p"),
        Column("p_holm", "p (Holm)", "p"),
        Column("m", "m", "int"),
    )
    notes = ["A difference of differences: it may exceed 100 points."]
    return Section(
        "interactions",
        "change of the character - code gap with the wording",
        "Figure 18, sixteen tests over two models",
        columns,
        rows,
        notes,
    )


def _arms(data: PanelData, evidence: str, template: str) -> list[list[str]]:
    """The arms of all displayed orders: those that write characters, and those that write codes."""
    return [[data.arm(evidence=evidence, output=output, template=template, order=order) for order in ORDERS] for output in BY_OUTPUT]


def _gap(row: Row, arms: Sequence[Sequence[str]]) -> int | None:
    """Right characters minus right codes over the orders."""
    characters, codes = (row.all_values(names) for names in arms)
    return None if characters is None or codes is None else sum(characters) - sum(codes)
