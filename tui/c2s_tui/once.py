"""`--once`: a screen as plain text, from the same lines that the app draws."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from c2s.errors import UsageError
from c2s_tui.data.compare import compare, compared_rows
from c2s_tui.data.filters import panels_for, parse
from c2s_tui.data.follow import Picture
from c2s_tui.data.item import item_view
from c2s_tui.data.items import all_rows, named_item
from c2s_tui.data.report import report
from c2s_tui.data.selection import Selection, select
from c2s_tui.data.source import Trouble
from c2s_tui.session import Session, SideChoice, default_other
from c2s_tui.text import Line
from c2s_tui.views.compare import SideName, compare_layout, compare_lines, compared_line, listed
from c2s_tui.views.item import item_lines
from c2s_tui.views.items import item_line, items_head, items_layout
from c2s_tui.views.monitor import monitor_lines
from c2s_tui.views.report import report_lines
from c2s_tui.views.runs import runs_lines

UNBOUND = 400
"""Columns where no terminal says how many there are: enough for every table, whose columns have a largest width of their own."""
READABLE = 140
"""The same for pages of text and bars."""


def print_once(root: Path, run: Path | None, options: argparse.Namespace) -> int:
    """Write the screen to stdout. Raises C2SError where it cannot be had; 1 if a run of a list could not be read."""
    name = options.screen or ("monitor" if run is not None else "runs")
    width = shutil.get_terminal_size((0, 0)).columns or (READABLE if name in ("monitor", "report") else UNBOUND)
    session = Session(root)
    if name == "runs":
        runs = session.watch.look(slow=True)
        _write(runs_lines(runs, width, time.time()))
        return int(any(isinstance(entry.seen, Trouble) for entry in runs.entries))
    session.open(run if run is not None else _newest(session))
    picture = session.opened.look(slow=name == "monitor")
    _write(_SCREENS[name](session, picture, options, width))
    return 0


def _newest(session: Session) -> Path:
    path = session.watch.look().foremost()
    if path is None:
        raise UsageError(f"no run directory under {session.root} can be read; make one with: c2s run")
    return path


def _monitor(session: Session, picture: Picture, options: argparse.Namespace, width: int) -> Iterable[Line]:
    return monitor_lines(picture, width)


def _selection(session: Session, options: argparse.Namespace) -> Selection:
    plan = session.opened.known_plan()
    return list(select(session.opened.source, plan, parse(options.filter, plan), session.sort))[-1]


def _items(session: Session, picture: Picture, options: argparse.Namespace, width: int) -> Iterable[Line]:
    selection, plan = _selection(session, options), session.opened.known_plan()
    layout = items_layout(width, selection.pair, panels_for(selection.chosen, plan), plan)
    yield from items_head(selection, width, plan)
    yield layout.head(indent=1)
    for row in all_rows(session.opened.source, selection.pair, selection.ids):
        yield item_line(row, layout)


def _item(session: Session, picture: Picture, options: argparse.Namespace, width: int) -> Iterable[Line]:
    if options.item is not None:
        number, place = named_item(session.opened.source, options.item), ""
    else:
        selection = _selection(session, options)
        if not len(selection.ids):
            raise UsageError("no item is left by this filter")
        number, place = int(selection.ids[0]), f"1/{len(selection.ids):,}"
    view = item_view(session.opened.source, number)
    keys: list[tuple[str, int, int] | None] = [arm.key for arm in view.arms]
    for key in keys or [None]:
        yield from item_lines(view, key, 0, width, place=place).lines
        yield Line()


def _compare(session: Session, picture: Picture, options: argparse.Namespace, width: int) -> Iterable[Line]:
    run = session.opened
    other = SideChoice(Path(options.other)) if options.other else default_other(run.source.path, run.known_plan())
    left, right = session.side(SideChoice(run.source.path)), session.side(other)
    found = compare(left, right)
    yield from compare_lines(found, SideName.of(left), SideName.of(right), None, width)
    yield listed(None, len(found.codes))
    layout = compare_layout(width, found.whole)
    yield layout.head(indent=1)
    for start in range(0, len(found.codes), 100):
        pairs = list(zip(found.left[start : start + 100].tolist(), found.right[start : start + 100].tolist(), strict=True))
        rows = compared_rows(left, right, pairs)
        yield from (compared_line(*rows[pair], layout) for pair in pairs if pair in rows)


def _report(session: Session, picture: Picture, options: argparse.Namespace, width: int) -> Iterable[Line]:
    return report_lines(report(session.opened.source), width)


_SCREENS: dict[str, Callable[[Session, Picture, argparse.Namespace, int], Iterable[Line]]] = {
    "monitor": _monitor,
    "items": _items,
    "item": _item,
    "compare": _compare,
    "report": _report,
}


def _write(lines: Iterable[Line]) -> None:
    for line in lines:
        sys.stdout.write(line.plain.rstrip() + "\n")
    sys.stdout.flush()
