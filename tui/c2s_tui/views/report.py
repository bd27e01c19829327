"""The tables of `c2s report`, and SCR by target length as a chart."""

from __future__ import annotations

from collections.abc import Sequence

from c2s_tui import numbers
from c2s_tui.data.report import LengthPoint, ReportView
from c2s_tui.text import Line, Span, span


def report_lines(view: ReportView, width: int) -> list[Line]:
    """The text of the report with its headings marked (a table's first line), then a chart a panel."""
    lines: list[Line] = []
    before = ""
    for text in view.text.splitlines():
        role = "title" if text and not before else "dim" if text and set(text) <= {"-", " "} else ""
        lines.append(Line(span(text, role)))
        before = text
    for panel in dict.fromkeys(point.panel for point in view.points):
        lines += [Line(), *chart_lines([point for point in view.points if point.panel == panel], width)]
    return lines


def chart_lines(points: Sequence[LengthPoint], width: int) -> list[Line]:
    """A line a domain and length: the interval as a rule, the estimate as a dot on it, from 0 to 100 %."""
    if not points:
        return []
    label = max(len(p.domain) for p in points) + max(len(p.length) for p in points) + 2
    size = max(10, min(101, width - label - 14))
    lines = [Line(span(f"{points[0].panel}: SCR by target length, % [95 %]", "title")), Line(" " * label, span(_scale(size), "dim"))]
    before = None
    for point in points:
        name = point.domain if point.domain != before else ""
        before = point.domain
        head = Span(f"{name:<{label - len(point.length) - 1}}{point.length} ")
        if point.scr is None:
            lines.append(Line(head, span("undefined: no success of the first arm", "warn")))
            continue
        lines.append(
            Line(head, *_rule(point, point.scr, size), span(f" {numbers.percent(point.scr):>5}  {point.retained}/{point.correct}"))
        )
    return lines


def _scale(size: int) -> str:
    """`0    25    50    75    100` above the ticks."""
    text = [" "] * (size + 3)
    for share in (0, 25, 50, 75, 100):
        at = _column(share / 100, size)
        for i, c in enumerate(str(share)):
            text[min(len(text) - 1, at + i)] = c
    return "".join(text).rstrip()


def _column(share: float, size: int) -> int:
    return min(size - 1, max(0, round(share * (size - 1))))


def _rule(point: LengthPoint, scr: float, size: int) -> list[Span]:
    ticks = {_column(q / 4, size) for q in range(5)}
    drawn = ["·" if i in ticks else " " for i in range(size)]
    roles = ["dim"] * size
    if point.low is not None and point.high is not None:
        low, high = _column(point.low, size), _column(point.high, size)
        for i in range(low, high + 1):
            drawn[i], roles[i] = "─", "accent"
        drawn[low], drawn[high] = "├", "┤"
    at = _column(scr, size)
    drawn[at], roles[at] = "●", "bold"
    return [Span(c, role) for c, role in zip(drawn, roles, strict=True)]
