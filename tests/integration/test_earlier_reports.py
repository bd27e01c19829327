"""Reports of the first format hold the same figures as those that are made of the same runs today."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from c2s.reports.build import as_json, build
from c2s.reports.earlier import differences
from c2s.verification import verify

RUNS = Path(__file__).parents[1] / "data/schema1"
SECOND_INTERVAL = ("scr_interval", "scr_interval_method", "scr_bootstrap", "scr_undefined_share", "scr_degenerate")


@pytest.fixture(scope="module", params=["main", "studies", "interrupted"])
def pair(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    """(the stored report, the one that is made today)."""
    old = orjson.loads((RUNS / f"{request.param}.expected-report.json").read_bytes())
    return old, orjson.loads(as_json(build([RUNS / request.param])))


def test_every_figure_of_the_earlier_report_is_there_with_its_value(pair: tuple[dict, dict]):
    old, new = pair
    assert new["format"] == 2 and "format" not in old
    assert differences(old, new) == []


def leaves(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all numbers."""
    if isinstance(document, dict | list):
        for key, value in document.items() if isinstance(document, dict) else enumerate(document):
            yield from leaves(value, (*path, key))
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield path


def moved(document: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    """The document with one number changed; only what lies on the path is copied."""
    changed = copy.copy(document)
    at: Any = changed
    for key in path[:-1]:
        at[key] = copy.copy(at[key])
        at = at[key]
    at[path[-1]] += 1
    return changed


def test_no_figure_can_change_unseen(pair: tuple[dict, dict]):
    """Every number of the earlier report, moved by one, is noticed, but for times and the semantic panel's second interval."""
    old, new = pair
    paths = [p for p in leaves(old) if "clock" not in p and not ("semantic" in p and "domains" in p and set(p) & set(SECOND_INTERVAL))]
    assert len(paths) > 100
    assert [path for path in paths if not differences(moved(old, path), new)] == []


def test_verify_compares_a_stored_report_of_the_earlier_format(tmp_path: Path):
    run = shutil.copytree(RUNS / "main", tmp_path / "run")
    assert verify(run).differences == []
    document = orjson.loads((run / "report.json").read_bytes())
    panels = document.get("panels", {document.get("panel"): document})
    cell = panels["main"]["domains"]["math"]
    cell["joint"]["both"] += 1
    (run / "report.json").write_bytes(orjson.dumps(document))
    both = cell["joint"]["both"]
    assert any(f"joint was [{both}, " in sentence for sentence in verify(run).differences)
    for damaged in (b"", b"[]", b'{"panels": 3}', b'{"panel": "main", "sections": []}'):
        (run / "report.json").write_bytes(damaged)
        assert verify(run).differences != []
