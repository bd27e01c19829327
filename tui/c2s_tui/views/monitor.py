"""One run while it goes, and what it came to."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from c2s.ledger.totals import NANO
from c2s_tui import numbers
from c2s_tui.data.follow import Cell, Picture
from c2s_tui.data.joint import JointRow
from c2s_tui.text import Line, Span, bar, columns, span, spark, told_apart, wrap
from c2s_tui.views import table
from c2s_tui.views.runs import scr_spans
from c2s_tui.views.table import Column, fit, sized
from c2s_tui.views.words import arm_title, state_span

JOINT = (
    Column("domain", "DOMAIN", 7, 14),
    Column("pairs", "PAIRS", 7, right=True, rank=3),
    Column("both", "BOTH", 5, 8, right=True, rank=2),
    Column("lost", "LOST", 5, 8, right=True, rank=2),
    Column("gained", "GAINED", 6, 8, right=True, rank=2),
    Column("neither", "NEITHER", 7, 8, right=True, rank=2),
    Column("dropped", "UNDEF", 5, 8, right=True, rank=6),
    Column("first", "NATIVE", 6, 7, right=True, rank=4),
    Column("second", "SERIAL", 6, 7, right=True, rank=4),
    Column("scr", "  SCR % [95 %]", 20, rank=0),
)
PROGRESS = (
    Column("domain", "DOMAIN", 7, 12),
    Column("arm", "ARM", 9, 18),
    Column("bar", "", 5, 24, rank=8),
    Column("settled", "SETTLED", 9, right=True),
    Column("sent", "OUT", 4, 6, right=True, rank=7),
    Column("error", "ERR", 4, 6, right=True, rank=1),
    Column("unknown", "UNKN", 4, 6, right=True, rank=2),
    Column("blocked", "BLKD", 4, 6, right=True, rank=3),
    Column("not_needed", "SKIP", 4, 6, right=True, rank=4),
    Column("right", "RIGHT %", 7, 8, right=True, rank=2),
)
WIDE = 150
"""From this width on, progress and results stand side by side."""


def monitor_lines(seen: Picture, width: int, frozen: bool = False) -> list[Line]:
    """Ages are those of the moment at which the picture was taken."""
    lines = _top(seen, width, frozen)
    if width >= WIDE:
        half = (width - 3) // 2
        left = _progress(seen, half)
        right = [*_joint(seen, width - half - 3), Line(), *_usage(seen, width - half - 3), Line(), *_events(seen, width - half - 3, 40)]
        lines += [Line(), *columns(left, right, half)]
    else:
        lines += [*_joint(seen, width), *_progress(seen, width), *_usage(seen, width), *_events(seen, width, 100)]
    return [line.fit(width) for line in lines]


def _top(seen: Picture, width: int, frozen: bool) -> list[Line]:
    state = seen.state
    parts = [span("FROZEN  ", "warn")] if frozen else []
    parts += [
        state_span(state.name),
        span(f" by {state.runner}" if state.runner else "", "dim"),
        span(f" · {', '.join(seen.panels) if len(seen.panels) < 4 else f'{len(seen.panels)} panels'}"),
    ]
    if seen.simulation:
        parts.append(span(" · simulation, not a measurement", "warn"))
    name = span(seen.model, "bold")
    whole = Line(*parts, " · ", name)
    lines = [whole] if whole.width <= width else [Line(*parts).fit(width), Line(name).fit(width)]
    if state.why:
        lines += [Line(span(text, "bad")) for text in wrap(state.why, width, 3)]
    for sentence in seen.missing:
        lines += [Line(span(text, "warn")) for text in wrap(sentence[0].upper() + sentence[1:] + ".", width, 3)]
    settled = f" {numbers.count(seen.settled)} of {numbers.count(seen.requests['planned'])} settled, {percent_done(seen)}"
    when = f", {numbers.clock(seen.eta)} left" if seen.eta else ""
    size = max(4, min(60, width - len(settled) - len(when)))
    lines.append(Line(span(bar(seen.share, size), "bar"), settled, span(when, "bold")))
    return [*lines, _pace(seen, width)]


def percent_done(seen: Picture) -> str:
    return "100 %" if not seen.requests["open"] else f"{int(1000 * seen.share) / 10:.1f} %"


def _pace(seen: Picture, width: int) -> Line:
    pace = seen.pace
    if pace.now is None:
        return Line(span("nothing has been sent yet", "dim"))
    rate = f" {numbers.rate(pace.now)}"
    if not seen.state.live:
        took = max(0.0, (pace.ended or 0) - (pace.started or 0))
        text = f" on average, over {numbers.clock(took)}" if took >= 1 else f" on average, over {took:.1f} s"
        history = _coarser(pace.history, max(8, width - len(rate) - len(text)))
        return Line(span(spark(history), "accent"), span(rate, "bold"), span(text, "dim"))
    flight = seen.in_flight
    oldest = ""
    if flight.sent_at is not None:
        oldest = f", oldest {numbers.age(seen.looked_at - flight.sent_at)}: {flight.slot}"
    history = pace.history[-max(8, min(60, width - 50)) :]
    return Line(span(spark(history), "accent"), span(rate, "bold"), f"   in flight {flight.count}", span(oldest, "dim"))


def _coarser(history: Sequence[float], most: int) -> Sequence[float]:
    """The same history in at most so many bins."""
    together = -(-len(history) // most) if history else 1
    return [sum(part) / len(part) for i in range(0, len(history), together) if (part := history[i : i + together])]


def _joint(seen: Picture, width: int) -> list[Line]:
    rows = [row for row in seen.joint if row.prefix or len(seen.joint) < 8]
    if not rows:
        return []
    pairs = {row.pair for row in rows}
    first, second = next(iter(pairs)) if len(pairs) == 1 else ("first", "second")
    heads = {
        "first": arm_title(first).upper()[:12],
        "second": arm_title(second).upper()[:12],
        "scr": f"  {'/'.join(dict.fromkeys(row.share for row in rows))} % [95 %]",
    }
    cells = [_joint_cells(row) for row in rows]
    layout = fit(sized([replace(c, head=heads.get(c.key, c.head)) for c in JOINT], cells), width)
    several = len({row.panel for row in rows}) > 1
    titles = [f"{row.panel}: {arm_title(row.pair[0])} -> {arm_title(row.pair[1])}" if several else "" for row in rows]
    return [layout.head(), *_grouped(titles, map(layout.row, cells)), *_method(rows, width)]


def _grouped(titles: Sequence[str], lines: Iterable[Line]) -> list[Line]:
    """The lines, each group of the same title behind a line with that title; lines without a title as they are."""
    found: list[Line] = []
    before = ""
    for title, line in zip(titles, lines, strict=True):
        if title != before:
            found.append(Line(span(title, "accent")))
        found.append(line)
        before = title
    return found


def _joint_cells(row: JointRow) -> dict[str, table.Cell]:
    counts = row.counts
    return {
        "domain": row.domain,
        "pairs": f"{counts.n}/{row.parents}",
        "both": str(row.both),
        "lost": span(str(row.lost), "bad" if row.lost else "dim"),
        "gained": span(str(row.gained), "accent" if row.gained else "dim"),
        "neither": str(row.neither),
        "dropped": span(str(row.undefined), "warn" if row.undefined else "dim"),
        "first": numbers.percent(counts.native_em),
        "second": numbers.percent(counts.serial_em),
        "scr": scr_spans(row),
    }


def _method(rows: list[JointRow], width: int) -> list[Line]:
    """What kind of interval stands there: one sentence a kind, however many rows there are."""
    notes = []
    done = {row.method for row in rows if row.complete and row.low is not None}
    if done:
        notes.append(f"{' or '.join(sorted(done, key=str.lower))}, of {'finished panels' if len(rows) > 2 else 'the finished run'}.")
    going = [row for row in rows if not row.complete and row.low is not None]
    if going:
        counts = {(row.prefix, row.parents) for row in going}
        first = "the completed prefix of the random order"
        if len(counts) == 1:
            first = "the first {} of {} parents of the random order".format(*counts.pop())
        notes.append(f"{' or '.join({row.method: None for row in going})}, valid at every look; {first}.")
    if any(row.low is None and row.method for row in rows):
        several = len({row.panel for row in rows}) > 1
        absent = [row for row in rows if row.low is None and row.method]
        notes += dict.fromkeys(f"{row.panel if several else row.domain}: {row.method}." for row in absent)
    return [Line(span(text, "dim")) for note in notes for text in wrap(note[0].upper() + note[1:], width)]


def _progress(seen: Picture, width: int) -> list[Line]:
    rows: list[dict[str, table.Cell]] = []
    before = None
    for cell in seen.cells:
        here = (cell.panel, cell.domain)
        rows.append(_progress_cells(cell, fresh=here != before))
        before = here
    names = {arm_title(cell.arm) for cell in seen.cells}
    widest = max(map(len, names), default=0)
    least, most = max(9, min(28, widest, max(16, width - 50))), max(18, widest)
    layout = fit([replace(c, least=least, most=most) if c.key == "arm" else c for c in sized(PROGRESS, rows)], width)
    shown = told_apart(names, layout.width("arm"))
    size = layout.width("bar")
    for cell, row in zip(seen.cells, rows, strict=True):
        row["arm"] = shown[arm_title(cell.arm)]
        row["bar"] = span(bar(cell.settled / cell.slots if cell.slots else 0, size), "bar")
    several = len({cell.panel for cell in seen.cells}) > 1
    titles = [cell.panel if several else "" for cell in seen.cells]
    return [layout.head(), *_grouped(titles, map(layout.row, rows))]


def _alert(n: int) -> Span:
    return span(numbers.count(n), "warn" if n else "dim")


def _progress_cells(cell: Cell, fresh: bool) -> dict[str, table.Cell]:
    scored = cell.correct + cell.wrong
    return {
        "domain": cell.domain if fresh else "",
        "arm": arm_title(cell.arm),
        "settled": f"{cell.settled}/{cell.slots}",
        "sent": span(str(cell.sent), "" if cell.sent else "dim"),
        "error": _alert(cell.error),
        "unknown": _alert(cell.unknown),
        "blocked": _alert(cell.blocked),
        "not_needed": span(str(cell.not_needed), "" if cell.not_needed else "dim"),
        "right": numbers.percent(cell.correct / scored if scored else None),
    }


def _usage(seen: Picture, width: int) -> list[Line]:
    trouble = [(seen.requests["error"], "errors"), (seen.requests["unknown"], "unknown"), (seen.retries, "retries")]
    left = Line(*(span(f"{numbers.count(n)} {what}  ", "warn" if n else "dim") for n, what in trouble))
    right = Line(span(" · ".join(_spent(seen))))
    return [left + right] if left.width + right.width <= width else [left, *(Line(text) for text in wrap(right.plain, width))]


def _spent(seen: Picture) -> list[str]:
    """Tokens, then money against the cap."""
    spend = seen.spend
    if spend.input_tokens or spend.output_tokens:
        parts = [f"tokens {numbers.tokens(spend.input_tokens)} in, {numbers.tokens(spend.output_tokens)} out"]
        if spend.unreported:
            parts.append(f"{numbers.count(spend.unreported)} answers without usage")
    else:
        parts = ["tokens not reported"]
    if spend.reused:
        parts.append(f"{numbers.count(spend.reused)} reused")
    if spend.settled_nano or spend.held_nano or seen.cap_usd is not None:
        cap = f" of {numbers.usd(seen.cap_usd)}" if seen.cap_usd is not None else ""
        held = f", {numbers.usd(spend.held_nano / NANO)} of it held" if spend.held_nano else ""
        parts.append(f"USD {numbers.usd(spend.usd)}{cap}{held}")
    else:
        parts.append("no cost")
    return parts


def _events(seen: Picture, width: int, last: int) -> list[Line]:
    lines = []
    for event in reversed(seen.events[-last:]):
        role = {"warning": "warn", "error": "bad"}.get(event.level, "dim")
        stamp = time.strftime("%H:%M:%S ", time.localtime(event.at))
        lines.append(Line(span(stamp, "dim"), span(event.level + " ", role), span(event.message[: 4 * width])).fit(width))
    return lines
