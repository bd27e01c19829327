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

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]

METHODS = {"exact stratified bootstrap": "exact"}
JOINT = ("both", "native_only", "serial_only", "neither")
SAME = ("n", "scr", "gain_rate", "loss_mass", "gain_mass")
ONLY_WHOLE = ("n_planned", "n_dropped")
RUN = ("model", "simulation", "settings", "items_sha256", "requests")
PANEL = ("panel", *RUN)
SECTION = ("title", "source", "rows", "notes")
NO_FIGURES = ("clock", "undefined")
"""Times, and reasons of values that are null in both."""
TEST = {"mcnemar_p": "p", "mcnemar_p_holm": "p_holm", "holm_m": "m"}
CELL = (*SAME, "joint", "joint_em", "scr_interval", "scr_interval_method", "undefined")
BOOTSTRAP = ("scr_bootstrap", "scr_undefined_share", "scr_degenerate")
"""What a cell has beside, where its SCR is defined."""
FROM_DOMAINS = ("accuracy", "transitions", "mcnemar", "by_length")
"""Sections that are made of what the first format had under `domains`."""
ADDED = {"interaction": ("p_exact",), "order": ("changed",)}
"""What a row of a section may have beside, which the first format did not give where it is undefined."""


def differences(old: Document, new: Document) -> list[str]:
    """A sentence for every figure of a report of the first format that the other report does not have with the same value.

    Both must have the same runs, panels, domains, lengths, arms, sections and rows; what the earlier report lacks is a difference too.
    """
    if ("runs" in old) != ("runs" in new) or ("panels" in old) != ("panels" in new):
        return ["it is of another number of runs or panels than the report that follows"]
    if "runs" in old:
        runs = new["runs"]
        if len(runs) != len(old["runs"]):
            return [f"the earlier report shows {len(old['runs'])} runs, this one {len(runs)}"]
        found = [sentence for a, b in zip(old["runs"], runs, strict=True) for sentence in differences(a, b)]
        for panel, sections in old.get("across", {}).items():
            found += _sections(f"{panel}, all runs", sections, new.get("across", {}).get(panel, {}))
        return found
    panels, others = _panels(old), _panels(new)
    found = _unequal("the panels", panels, others)
    for name in (name for name in panels if name in others):
        found += _panel(name, panels[name], others[name])
    return found + (_same("run", old, new, RUN) if "panels" in old else [])


def _panels(document: Document) -> dict[str, Document]:
    if "panels" in document:
        return dict(document["panels"])
    return {document["panel"]: document, **document.get("used", {})} if "panel" in document else {}


def _panel(name: str, old: Document, new: Document) -> list[str]:
    if "sections" not in old:
        return [f"{name}: sections is missing"]
    found = _same(name, old, new, PANEL)
    cells = old.get("domains")
    mine = [section for section in new["sections"] if section in old["sections"] or cells is None or section not in FROM_DOMAINS]
    found += _unequal(f"{name}: the sections", old["sections"], mine)
    if cells is not None:
        found += _unequal(f"{name}: the domains", cells, [row["domain"] for row in new["sections"]["mcnemar"]["rows"]])
        for domain, cell in cells.items():
            found += [f"{name}, {domain}: {sentence}" for sentence in _domain(cell, new["sections"], domain)]
    return found + _sections(name, old["sections"], new["sections"])


def _unequal(what: str, old: Iterable[str], new: Iterable[str]) -> list[str]:
    """A sentence where the names on both sides are not the same, in whatever order."""
    was, now = sorted(set(old)), sorted(set(new))
    return [] if was == now else [f"{what} were {', '.join(was) or 'none'} and are {', '.join(now) or 'none'}"]


def _same(where: str, old: Document, new: Document, keys: Iterable[str]) -> list[str]:
    return [
        f"{where}: {key} was {old[key]!r} and is {new.get(key)!r}" if key in old else f"{where}: {key} is missing"
        for key in keys
        if key not in old or old[key] != new.get(key)
    ]


def _sections(where: str, old: Document, new: Document) -> list[str]:
    """Sections that both formats have: the same rows in the same order, and every value of a row under its key."""
    found = []
    for name, section in old.items():
        found += _unequal(f"{where}: the members of section {name}", section, SECTION)
        was, rows = section.get("rows"), new.get(name, {}).get("rows")
        if was == [] and rows and not any(_has_figures(row) for row in rows):
            continue  # today a row says why there is nothing
        if was is None or rows is None or len(rows) != len(was):
            found.append(f"{where}: section {name} is missing or has another number of rows")
            continue
        for place, (row, other) in enumerate(zip(was, rows, strict=True)):
            found += _row(f"{where}, {name}, row {place + 1}", _renamed(name, row), other, ADDED.get(name, ()))
    return found


def _has_figures(row: Document) -> bool:
    return any(value is not None and not isinstance(value, str) for key, value in row.items() if key not in NO_FIGURES)


def _row(where: str, old: Document, new: Document, added: Container[str]) -> list[str]:
    """Every value of either row, but for what this format added; a clock must have the same members, whatever they say."""
    optional = [key for key in new if (key in added and new[key] is None) or (key == "undefined" and new[key])]
    keys = dict.fromkeys([*old, *(key for key in new if key not in optional)])
    found = _same(where, old, new, [key for key in keys if key not in NO_FIGURES or key not in old])
    return found + (_unequal(f"{where}: the members of clock", old["clock"], new.get("clock", {})) if "clock" in old else [])


def _renamed(section: str, row: Document) -> Document:
    if "table" in row:
        return {key: value for key, value in row.items() if key != "table"} | {"joint": row["table"][::-1]}
    if section == "workflows" and "joint" in row:
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
    of_arms = [f"{arm}_{what}" for arm in arms for what in ("em", "n")]
    if other := _other_members(old, (*ONLY_WHOLE, *TEST, "by_length", *of_arms)):
        yield from other
        return
    if len(old["joint_em"]) != 2 or not set(old["joint_em"]) <= set(arms):
        yield "joint_em has not the two arms of the pair"
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
    lengths = {str(row["length"]): row for row in _rows(sections, "by_length", domain)}
    if not own and len(old["by_length"]) == 1:
        lengths = dict.fromkeys(old["by_length"], whole[0])
    yield from _unequal("the lengths", old["by_length"], lengths)
    first, second = old["joint_em"]
    for length in (length for length in old["by_length"] if length in lengths):
        cell, row = old["by_length"][length], lengths[length]
        if other := _other_members(cell, (f"{first}_em", f"{second}_em")) + _unequal(
            "the arms of joint_em", cell.get("joint_em", ()), (first, second)
        ):
            yield from (f"length {length}: {sentence}" for sentence in other)
            continue
        named = {f"{first}_em": (cell[f"{first}_em"], row["native_em"]), f"{second}_em": (cell[f"{second}_em"], row["em"])}
        named |= {f"joint_em.{arm}": (cell["joint_em"][arm], row[key]) for arm, key in ((first, "native_em"), (second, "em"))}
        yield from (f"length {length}: {sentence}" for sentence in (*_pair(cell, row, own), *_compared(named)))


def _other_members(cell: Document, more: Iterable[str]) -> list[str]:
    """A sentence where a cell has not exactly the members that the first format gave it, `more` among them."""
    expected = [*CELL, *more, *(BOOTSTRAP if cell.get("scr") is not None else ())]
    sentences = [f"{key} is missing" for key in expected if key not in cell]
    sentences += [f"{key} is no member of an earlier report" for key in cell if key not in expected]
    return sentences + _unequal("the members of joint", cell.get("joint", ()), JOINT)


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
