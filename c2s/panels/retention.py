"""The retention tables of a panel with a pair of arms, as endpoints that its declaration can take in."""

from __future__ import annotations

from collections.abc import Collection

from c2s.panels.base import Endpoint

SECTIONS = ("accuracy", "transitions", "mcnemar", "by_length")


def retention(*, only: Collection[str] = SECTIONS, in_json: Collection[str] = ()) -> tuple[Endpoint, ...]:
    """Endpoints for the pair's accuracy, transitions, McNemar and by-length tables.

    `only` leaves out those whose every figure stands in a table of the panel's own; those in `in_json` are in the JSON document and not
    in the printed report, because a table of the panel's own prints most of them.
    """
    return tuple(Endpoint(f"c2s.reports.retention:{name}", {"shown": name not in in_json}) for name in SECTIONS if name in only)
