"""Reports of the first format (without a member `format`), compared figure by figure with one of this format.

Where the figures of the first format stand now:

    domains.D.joint.{both, native_only, serial_only, neither}    sections.transitions, row of domain D: joint[0..3]
    domains.D.{n, n_planned, n_dropped, scr, gain_rate, loss_mass, gain_mass}    the same row, same keys
    domains.D.{scr_interval, scr_interval_method, scr_degenerate, scr_undefined_share}    scr_interval, scr_method, scr_degenerate, ...
    domains.D.scr_bootstrap                                      scr_bootstrap, or scr_interval where that is the bootstrap's
    domains.D.{ARM_em, ARM_n}, joint_em.ARM                      sections.accuracy, row of domain D and the arm: em, n
    domains.D.{mcnemar_p, mcnemar_p_holm, holm_m}                sections.mcnemar, row of domain D: p, p_holm, m
    domains.D.by_length.L                                        sections.by_length, row of D and L: native_em and em for the two arms
    rows with table = [wrong, gained, lost, right]               joint = [both, lost, gained, neither]
    workflows' joint                                             faithful_and_right

The semantic panel has no transitions of its own: its pair is the row `named` of sections.by_presentation. Its interval of SCR, which the
first format gave twice, is now only the one that resamples within gold patterns, so the other is not looked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Document = Mapping[str, Any]

METHODS = {"exact stratified bootstrap": "exact"}
JOINT = ("both", "native_only", "serial_only", "neither")
SAME = ("n", "scr", "gain_rate", "loss_mass", "gain_mass")
ONLY_WHOLE = ("n_planned", "n_dropped")
IDENTITY = ("panel", "model", "simulation", "settings", "items_sha256", "requests")
NO_FIGURES = ("clock", "undefined")
"""Times, and reasons of values that are null in both."""
TEST = {"mcnemar_p": "p", "mcnemar_p_holm": "p_holm", "holm_m": "m"}


def differences(old: Document, new: Document) -> list[str]:
    """A sentence for every figure of a report of the first format that the other report does not have with the same value."""
    if "runs" in old:
        runs = new.get("runs", [])
        if len(runs) != len(old["runs"]):
            return [f"the earlier report shows {len(old['runs'])} runs, this one {len(runs)}"]
        found = [sentence for a, b in zip(old["runs"], runs, strict=True) for sentence in differences(a, b)]
        for panel, sections in old.get("across", {}).items():
            found += _sections(f"{panel}, all runs", sections, new.get("across", {}).get(panel, {}))
        return found
    found = []
    panels, others = _panels(old), _panels(new)
    for name, document in panels.items():
        if name not in others:
            found.append(f"panel {name} is missing")
            continue
        found += _panel(name, document, others[name])
    return found + (_same("run", old, new, [key for key in IDENTITY if key in old]) if "panels" in old else [])


def _panels(document: Document) -> dict[str, Document]:
    if "panels" in document:
        return dict(document["panels"])
    return {document["panel"]: document, **document.get("used", {})}


def _panel(name: str, old: Document, new: Document) -> list[str]:
    found = _same(name, old, new, [key for key in IDENTITY if key in old])
    for domain, cell in old.get("domains", {}).items():
        found += [f"{name}, {domain}: {sentence}" for sentence in _domain(cell, new["sections"], domain)]
    return found + _sections(name, old["sections"], new["sections"])


def _same(where: str, old: Document, new: Document, keys: Sequence[str]) -> list[str]:
    return [f"{where}: {key} was {old[key]!r} and is {new.get(key)!r}" for key in keys if old[key] != new.get(key)]


def _sections(where: str, old: Document, new: Document) -> list[str]:
    """Sections that both formats have: the same rows in the same order, and every value of a row under its key."""
    found = []
    for name, section in old.items():
        rows = new.get(name, {}).get("rows")
        if not section["rows"] and rows:
            continue  # today a row says why there is nothing
        if rows is None or len(rows) != len(section["rows"]):
            found.append(f"{where}: section {name} is missing or has another number of rows")
            continue
        for place, (row, other) in enumerate(zip(section["rows"], rows, strict=True)):
            renamed = _renamed(name, row)
            found += _same(f"{where}, {name}, row {place + 1}", renamed, other, [key for key in renamed if key not in NO_FIGURES])
    return found


def _renamed(section: str, row: Document) -> Document:
    if "table" in row:
        return {key: value for key, value in row.items() if key != "table"} | {"joint": row["table"][::-1]}
    if section == "workflows":
        return {key: value for key, value in row.items() if key != "joint"} | {"faithful_and_right": row["joint"]}
    return row


def _domain(old: Document, sections: Document, domain: str) -> Iterator[str]:
    """The pair of one domain, whole and by length."""
    arms = {row["arm"]: row for row in _rows(sections, "accuracy", domain)}
    own = "transitions" in sections  # otherwise by presentation, with another interval
    whole = _rows(sections, "transitions", domain) if own else _rows(sections, "by_presentation", domain)
    if not whole or not (tests := _rows(sections, "mcnemar", domain)):
        yield "its retention is missing"
        return
    yield from _pair(old, whole[0], own)
    yield from _compared({key: (old[key], whole[0].get(key)) for key in ONLY_WHOLE if own or key in whole[0]})
    yield from _compared({key: (old[key], tests[0].get(name)) for key, name in TEST.items()})
    values: dict[str, tuple[Any, Any]] = {}
    for arm, row in arms.items():
        values |= {f"{arm}_{what}": (old[f"{arm}_{what}"], row[what]) for what in ("em", "n")}
        if arm in old["joint_em"]:
            values[f"joint_em.{arm}"] = (old["joint_em"][arm], row["em"])
    yield from _compared(values)
    if missing := [key for key in old if key.endswith("_em") and key != "joint_em" and key[:-3] not in arms]:
        yield f"{', '.join(missing)} are missing"
    lengths = (
        {str(row["length"]): row for row in _rows(sections, "by_length", domain)} if own else dict.fromkeys(old["by_length"], whole[0])
    )
    for length, cell in old["by_length"].items():
        if length not in lengths:
            yield f"length {length} is missing"
            continue
        row = lengths[length]
        first, second = cell["joint_em"]
        named = {f"{first}_em": (cell[f"{first}_em"], row["native_em"]), f"{second}_em": (cell[f"{second}_em"], row["em"])}
        named |= {f"joint_em.{arm}": (cell["joint_em"][arm], row[key]) for arm, key in ((first, "native_em"), (second, "em"))}
        yield from (f"length {length}: {sentence}" for sentence in (*_pair(cell, row, own), *_compared(named)))


def _pair(old: Document, row: Document, own_interval: bool) -> Iterator[str]:
    values = {key: (old[key], row.get(key)) for key in SAME} | {"joint": ([old["joint"][key] for key in JOINT], row.get("joint"))}
    if own_interval:
        interval = None if old["scr_interval"] in (None, [None, None]) else old["scr_interval"]
        method = METHODS.get(old["scr_interval_method"], old["scr_interval_method"])
        values |= {"scr_interval": (interval, row.get("scr_interval")), "scr_interval_method": (method, row.get("scr_method"))}
        if "scr_bootstrap" in old:
            bootstrap = row.get("scr_bootstrap") or row.get("scr_interval") or [None, None]
            values["scr_bootstrap"] = (old["scr_bootstrap"], bootstrap)
            values["scr_degenerate"] = (old["scr_degenerate"], row.get("scr_degenerate", False))
            values["scr_undefined_share"] = (old["scr_undefined_share"], row.get("scr_undefined_share", 0))
    yield from _compared(values)


def _compared(values: Mapping[str, tuple[Any, Any]]) -> Iterator[str]:
    yield from (f"{key} was {was!r} and is {now!r}" for key, (was, now) in values.items() if was != now)


def _rows(sections: Document, name: str, domain: str) -> list[Document]:
    return [row for row in sections.get(name, {}).get("rows", ()) if row.get("domain") == domain]
