"""What every panel plans: request counts as the paper states them, order of panels, what is taken in and what is refused."""

from __future__ import annotations

from collections import Counter

import pytest

from c2s.errors import UsageError
from c2s.panels.registry import PANELS, select
from c2s.planning.plan import make_plan
from c2s.settings import Settings


def requests(name: str, **settings: object) -> Counter[tuple[str, str]]:
    """Planned requests by (domain, arm)."""
    plan = make_plan([PANELS[name]], Settings(domain="math", **settings))
    return Counter((parent.domain, slot.arm) for panel, parent in plan.parents for slot in panel.slots(parent))


def test_full_and_union_calls_of_arithmetic():
    """Table D6: 2,112 Full calls, 768 Union calls, 1,344 forced positions."""
    found = requests("union")
    assert found == {("math", "native"): 384, ("math", "full"): 2112, ("math", "union_fill"): 768}
    assert found["math", "full"] - found["math", "union_fill"] == 1344


def test_settings_and_repeats():
    assert sum(requests("robustness").values()) == 36 * (7 * 6.5 + 3 * 5.5)
    assert sum(requests("repeats").values()) == 36 * 3 * 6.5
    assert sum(requests("workflows").values()) == 60 * 5.5
    assert sum(requests("gold-copy").values()) == 2 * 60 * 5.5


def test_frozen_subsets_are_balanced_nested_and_independent_of_the_seed():
    def ids(name: str, **settings: object) -> list[str]:
        return [p.id for _, p in make_plan([PANELS[name]], Settings(domain="math", **settings)).parents]

    small, large = ids("gold-copy"), ids("robustness")
    assert Counter(i.split("-")[1] for i in small) == {str(n): 10 for n in range(3, 9)}
    assert Counter(i.split("-")[1] for i in large) == {str(n): 6 for n in range(3, 9)}
    assert set(large) < set(small) and set(ids("robustness", seed=5)) == set(large)
    main = ids("main")
    assert large == main[:36] and small == main[:60]
    assert ids("robustness", limit=12) == large[:12]


def test_panels_that_use_others_take_them_in_and_come_after_them():
    chosen = select(["independence", "workflows"])
    assert [p.name for p in chosen.panels] == ["main", "gold-copy", "workflows", "independence"]
    assert chosen.added == ("main", "gold-copy")
    names = [p.name for p in select(["all"]).panels]
    assert sorted(names) == sorted(PANELS)
    for name, panel in PANELS.items():
        assert all(names.index(used) < names.index(name) for used in panel.uses)


def test_a_panel_for_writers_is_refused_to_a_model_that_decides():
    from c2s.backends.base import DECIDES

    with pytest.raises(UsageError, match="the panel needs a model that writes text; this model only chooses among options"):
        select(["continuous"], DECIDES)


def test_what_a_model_lacks_is_refused_by_name_and_skipped_from_all(monkeypatch):
    from dataclasses import replace

    monkeypatch.setitem(PANELS.loaded, "gold-copy", replace(PANELS["gold-copy"], requires=("probabilities",)))
    lacks = {"probabilities": "it reports none"}
    reason = "the panel needs a model that reports probabilities; it reports none"
    with pytest.raises(UsageError, match=f"gold-copy cannot be run with this model: {reason}"):
        select(["gold-copy"], lacks)
    chosen = select(["all"], lacks)
    assert chosen.skipped["gold-copy"] == reason
    assert chosen.skipped["independence"].startswith("it uses the panel gold-copy, which needs ")
    assert "main" in [p.name for p in chosen.panels] and "gold-copy" not in [p.name for p in chosen.panels]


def test_a_misspelt_panel_names_the_near_misses():
    with pytest.raises(UsageError, match=r"unknown panel 'unoin'.*union"):
        select(["unoin"])


def test_a_domain_that_no_panel_has_is_refused():
    with pytest.raises(UsageError, match=r"unknown domain 'maths'.*math"):
        make_plan([PANELS["main"]], Settings(domain="maths"))
