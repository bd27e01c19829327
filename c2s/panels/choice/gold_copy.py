"""The gold target supplied, and the gold prefix, on 60 items per domain (A.4, B.1); Independent and Serial are main's."""

from __future__ import annotations

from c2s.controllers.copying import gold_copy
from c2s.controllers.whole_and_local import teacher_forced
from c2s.panels.base import Endpoint, Panel
from c2s.sources.natural_items import NaturalParents

SIXTY = NaturalParents(pairs=10, within_main=True)

GOLD_COPY = Panel(
    name="gold-copy",
    what="GoldCopy and TeacherForced beside main's Independent and Serial on the same items; gold-path product and mean",
    arms=(gold_copy(), teacher_forced()),
    source=SIXTY,
    uses=("main",),
    endpoints=(
        Endpoint("c2s.reports.choice.gold_copy:accuracy", {"own": ("gold_copy", "teacher_forced"), "main": ("independent", "serial")}),
        Endpoint(
            "c2s.reports.choice.gold_copy:prefix_effects",
            {"pairs": (("serial", "independent"), ("teacher_forced", "independent")), "main": ("independent", "serial")},
        ),
        Endpoint("c2s.reports.choice.gold_copy:gold_path", {"arms": ("gold_copy", "teacher_forced")}),
    ),
    exploratory=(Endpoint("c2s.reports.choice.characters:odds", {"own": ("teacher_forced",), "main": ("serial",)}),),
)
