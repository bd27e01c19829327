"""What the screens share: where the runs are, which one is looked at, what is filtered, which item is open."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from c2s.errors import UsageError
from c2s.ledger.pairs import Pair
from c2s_tui.data.compare import SideSpec
from c2s_tui.data.filters import Filter, arm_pair, base_pair, pair_of
from c2s_tui.data.follow import Follower, Picture
from c2s_tui.data.plan import Plan
from c2s_tui.data.runs import RunsWatch
from c2s_tui.data.selection import Selection, Sort


@dataclass(frozen=True, slots=True)
class SideChoice:
    """One side of a comparison as it was chosen: a run, and two of its arms (None: the pair of its panel)."""

    path: Path
    arms: tuple[str, str] | None = None


def default_other(path: Path, plan: Plan) -> SideChoice:
    """Where no other side was chosen: the same run with another arm in the second one's place. Raises UsageError without one."""
    panel = plan.panels[0]
    pair = plan.pairs[panel] or (plan.arms[panel] * 2)[:2]
    others = [arm for arm in plan.arms[panel] if arm not in pair and arm != "candidates_only"]
    if not others:
        raise UsageError("this run has no third arm to compare with; choose another run as side B: the key c, or --with RUN")
    return SideChoice(path, (pair[0], others[0]))


@dataclass(slots=True)
class Session:
    """`changed` counts the runs that were opened, so that a screen sees that it shows another one."""

    root: Path
    read_only: bool = False
    clock: Callable[[], float] = time.time
    watch: RunsWatch = field(init=False)
    follower: Follower | None = None
    picture: Picture | None = None
    changed: int = 0
    chosen: Filter = field(default_factory=Filter)
    sort: Sort = field(default_factory=Sort)
    selection: Selection | None = None
    item: int | None = None
    arm: tuple[str, int, int] | None = None
    other: SideChoice | None = None
    domain: str | None = None

    def __post_init__(self) -> None:
        self.watch = RunsWatch(self.root, self.clock)

    @property
    def path(self) -> Path | None:
        return self.follower.source.path if self.follower else None

    @property
    def opened(self) -> Follower:
        """The run that is looked at. Raises UsageError where none is."""
        if self.follower is None:
            raise UsageError("choose a run first")
        return self.follower

    @property
    def plan(self) -> Plan | None:
        """The plan of the run that is looked at, once it has been read."""
        return self.follower.plan if self.follower else None

    @property
    def subject(self) -> str:
        """The run, as the line at the top names it."""
        if self.path is None:
            return str(self.root)
        try:
            return str(self.path.relative_to(self.root)) if self.path != self.root else str(self.path)
        except ValueError:
            return str(self.path)

    def open(self, path: Path) -> None:
        """Look at another run: what was filtered, selected and open belongs to the one before."""
        if self.path == path:
            return
        self.follower = self.watch.follower(path)
        self.picture = None
        self.changed += 1
        self.chosen, self.sort, self.selection, self.item, self.arm, self.domain = Filter(), Sort(), None, None, None, None

    def pair(self) -> Pair:
        """The two arms that the item list shows."""
        return Pair() if self.plan is None else pair_of(self.chosen, self.plan)

    def side(self, choice: SideChoice) -> SideSpec:
        """Reads the run's plan if need be. Raises LedgerError."""
        follower = self.watch.follower(choice.path)
        plan = follower.known_plan()
        pair = base_pair(plan) if choice.arms is None else arm_pair(plan, *choice.arms)
        return SideSpec(follower.source, plan, pair)
