"""docs/protocol.md prints, for every arm of the decision panels, a request as it is sent."""

from __future__ import annotations

from support.golden import PROTOCOL, SHOWN, section

from c2s.panels.registry import PANELS


def test_the_documented_requests_are_what_is_sent():
    assert section() in PROTOCOL.read_text(), "a request has changed: python tests/support/golden.py writes the section anew"


def test_every_kind_of_arm_is_shown():
    """Arms that are not shown differ from a shown one only in what the text says: setting, repeat, evidence, encoding, place."""
    for name, arms in SHOWN.items():
        assert set(arms) <= {arm.name for arm in PANELS[name].arms}
