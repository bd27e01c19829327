"""docs/protocol.md prints, for every arm of the decision panels, a request as it is sent."""

from __future__ import annotations

from support.golden import PROTOCOL, SHOWN, WRITERS, sections

from c2s.panels.registry import PANELS


def test_the_documented_requests_are_what_is_sent():
    text = PROTOCOL.read_text()
    assert all(whole in text for *_, whole in sections()), (
        "a request has changed: PYTHONPATH=tests python tests/support/golden.py writes the section anew"
    )


def test_every_kind_of_arm_is_shown():
    """Arms that are not shown differ from a shown one only in what the text says: setting, repeat, evidence, encoding, place."""
    for name, arms in SHOWN.items():
        assert set(arms) <= {arm.name for arm in PANELS[name].arms}
    assert {"templates", "whole-answer", "continuous", "generation", "grid", "token-padding"} < set(WRITERS)
