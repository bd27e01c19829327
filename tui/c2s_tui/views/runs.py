"""The list of runs: a line of facts a run, and under it a line of results a panel and domain."""

from __future__ import annotations

from c2s_tui import numbers
from c2s_tui.data.follow import Picture
from c2s_tui.data.joint import JointRow
from c2s_tui.data.runs import RunEntry, Runs
from c2s_tui.data.source import Trouble
from c2s_tui.text import Line, Span, bar, clip, span, wrap
from c2s_tui.views.table import Column, Layout, fit
from c2s_tui.views.words import arm_title, state_span

COLUMNS = (
    Column("name", "RUN", 12, 40),
    Column("model", "MODEL", 12, 40, rank=3),
    Column("state", "STATE", 11),
    Column("bar", "", 5, 20, rank=5),
    Column("done", "DONE", 5, right=True, rank=1),
    Column("trouble", "ERR", 4, 7, right=True, rank=6),
    Column("usd", "USD", 7, 9, right=True, rank=4),
    Column("age", "AGE", 7, right=True, rank=2),
)
RESULTS = (
    Column("domain", "", 7, 10),
    Column("pairs", "", 7, 13, right=True, rank=3),
    Column("first", "", 12, 16, rank=2),
    Column("second", "", 12, 16, rank=2),
    Column("scr", "", 24, rank=0),
    Column("method", "", 12, 60, rank=6),
)
INDENT = 3


def runs_head(width: int) -> Line:
    return fit(COLUMNS, width - 1).head(indent=1)


def run_lines(entry: RunEntry, width: int, now: float, marked: bool = False) -> list[Line]:
    """All lines of one run; the first one stands for it. `marked`: chosen as the other side of a comparison."""
    layout = fit(COLUMNS, width - 1)
    name = span(("◆ " if marked else "") + entry.name, "bold")
    if isinstance(entry.seen, Trouble):
        first = layout.row({"name": name, "state": state_span("unreadable")}, indent=1)
        return [first, *(Line(" " * INDENT, span(text, "bad")) for text in wrap(entry.seen.message, max(1, width - INDENT)))]
    seen = entry.seen
    lines = [_facts(layout, name, seen, now)]
    if seen.state.runner:
        lines.append(Line(" " * INDENT, span(f"{seen.state.runner}, {numbers.rate(seen.pace.now or 0)}" + _eta(seen), "dim")))
    if seen.state.why:
        lines += [Line(" " * INDENT, span(text, "bad")) for text in wrap(seen.state.why, max(1, width - INDENT), 3)]
    rows = [row for row in seen.joint if row.prefix]
    results, before = fit(RESULTS, width - INDENT - 2), ""
    for row in rows:
        if row.panel != before:
            lines.append(Line(" " * INDENT, span(f"{row.panel}: {arm_title(row.pair[0])} -> {arm_title(row.pair[1])}", "dim")))
        lines.append(_result(results, row))
        before = row.panel
    if alone := [panel for panel in seen.panels if panel not in {row.panel for row in rows}]:
        lines += [Line(" " * INDENT, span(text, "dim")) for text in wrap(", ".join(alone), max(1, width - INDENT), 3)]
    return lines


def _facts(layout: Layout, name: Span, seen: Picture, now: float) -> Line:
    trouble = seen.requests["error"] + seen.requests["unknown"]
    return layout.row(
        {
            "name": name,
            "model": seen.model,
            "state": state_span(seen.state.name),
            "bar": span(bar(seen.share, layout.width("bar")), "bar"),
            "done": _share(seen),
            "trouble": span(numbers.count(trouble), "warn" if trouble else "dim"),
            "usd": _money(seen),
            "age": numbers.age(now - seen.written) if seen.written else "",
        },
        indent=1,
    )


def _money(seen: Picture) -> str:
    """What the run has used, reservations included; a dash where nothing has a price."""
    return numbers.usd(seen.spend.usd) if seen.spend.settled_nano or seen.spend.held_nano else "-"


def _share(seen: Picture) -> str:
    """Whole percents, and never 100 before everything is settled."""
    return "100 %" if not seen.requests["open"] else f"{int(100 * seen.share)} %"


def _eta(seen: Picture) -> str:
    return f", {numbers.clock(seen.eta)} left" if seen.eta else ""


def _result(layout: Layout, row: JointRow) -> Line:
    counts = row.counts
    return layout.row(
        {
            "domain": row.domain,
            "pairs": span(f"{counts.n}/{row.parents}", "dim"),
            "first": _em(row.pair[0], counts.native_em, layout.width("first")),
            "second": _em(row.pair[1], counts.serial_em, layout.width("second")),
            "scr": (span(f"{row.share} ", "dim"), *scr_spans(row)),
            "method": span(row.method if row.complete or row.low is None else f"{row.method}, prefix of {row.prefix}", "dim"),
        },
        indent=INDENT + 2,
    )


def _em(arm: str, value: float | None, columns: int) -> tuple[Span, ...]:
    """The arm and its share; a long name is cut, never the number (the line above names both arms in full)."""
    shown = f"{numbers.percent(value):>5}"
    return (span(f"{clip(arm_title(arm), columns - len(shown) - 1)} ", "dim"), span(shown))


def scr_spans(row: JointRow) -> tuple[Span, ...]:
    """`34.9 [30.1, 39.7]`, or what takes its place."""
    scr = row.counts.scr
    if scr is None:
        return (span("undefined", "warn"),)
    shown = span(f"{numbers.percent(scr):>5}", "bold")
    if row.low is None or row.high is None:
        return (shown,)
    return (shown, span(f" [{numbers.percent(row.low):>4}, {numbers.percent(row.high):>4}]"))


def runs_lines(runs: Runs, width: int, now: float) -> list[Line]:
    """Everything at once, for `--once`."""
    if not runs.entries:
        return [Line(f"No run directory under {runs.root}. Make one with: c2s run --out {runs.root / 'NAME'}")]
    lines = [runs_head(width)]
    for entry in runs.entries:
        lines += run_lines(entry, width, now)
    if runs.cut:
        lines.append(Line(span("There are more folders than were looked through; name a smaller one.", "warn")))
    return lines
