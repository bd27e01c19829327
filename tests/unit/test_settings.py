"""Settings: what manifests hold, read and written."""

from __future__ import annotations

import orjson
import pytest

from c2s.errors import UsageError
from c2s.settings import Settings

ALWAYS = {"seed": 20261005, "limit": None, "domain": None, "template": "v1", "data": {}, "field_options": "ids"}


def test_the_members_of_a_manifest_in_their_order():
    assert orjson.dumps(Settings().as_dict()) == orjson.dumps(ALWAYS)
    given = {
        "contracts": ["RUBRIC"],
        "rubric": {"name": "mine", "instruction": "Grade.", "criteria": {"good": "right", "bad": None}, "labels": {"correct": "good"}},
        "components": ["outer", "state"],
        "observed": {"math-3-1": {"output": "123", "model": "sparrow", "run": "ab"}},
        "tokenizer": "toy 1",
    }
    members = {**ALWAYS, "seed": 7, "limit": 3, "domain": "math", "data": {"judge": "00"}, **given}
    assert orjson.dumps(Settings.from_dict(members).as_dict()) == orjson.dumps(members)


def test_manifests_of_earlier_versions_lack_members():
    assert Settings.from_dict({"seed": 5, "limit": None, "domain": "math", "template": "v2"}) == Settings(5, None, "math", "v2")


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"sede": 1}, "unknown setting 'sede'.*seed"),
        ({"seed": "1"}, "setting seed has a value of the wrong type: '1'"),
        ({"limit": 1.5}, "setting limit"),
        ({"domain": []}, "setting domain"),
        ({"template": None}, "setting template"),
        ({"data": "x"}, "setting data"),
        ({"contracts": "FINAL3"}, "setting contracts"),
        ({"observed": []}, "setting observed"),
    ],
)
def test_what_is_no_setting_is_refused(members: dict, message: str):
    with pytest.raises(UsageError, match=message):
        Settings.from_dict(members)


def test_what_is_no_table_is_refused():
    with pytest.raises(UsageError, match="no table"):
        Settings.from_dict([1])  # type: ignore[arg-type]
