"""What the statistics return: frozen objects. An undefined number is None, never NaN and never 0."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounds(NamedTuple):
    """Two limits that a number cannot leave."""

    low: float
    high: float


class Table(Mapping[K, V]):
    """A mapping that nobody can change, in its own order; unlike MappingProxyType it can be pickled."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Mapping[K, V]) -> None:
        self._rows = dict(rows)

    def __getitem__(self, key: K) -> V:
        return self._rows[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"Table({self._rows!r})"


def plain(value: Any) -> Any:
    """Results as dictionaries, lists and numbers, ready for JSON: keys become text, None stays null."""
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): plain(v) for key, v in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An estimate and its interval.

    estimate, low, high    None where undefined or withheld; `note` says why
    confidence             nominal, such as 0.95
    method                 exact, multinomial, items, clopper-pearson, hoeffding, ...
    draws                  bootstrap draws; None where nothing was drawn
    undefined              draws without a value: their number, or their probability where nothing was drawn
    degenerate             every draw gives the estimate, at a boundary or with strata that are each constant: no width, no interval
    note                   what a reader has to know, in one line; empty if nothing
    standard_error         standard deviation over the defined draws
    clopper_pearson        for a degenerate ratio of counts: the exact binomial interval to print beside it
    """

    estimate: float | None
    low: float | None
    high: float | None
    confidence: float
    method: str
    draws: int | None = None
    undefined: float = 0
    degenerate: bool = False
    note: str = ""
    standard_error: float | None = None
    clopper_pearson: Interval | None = None

    @property
    def undefined_share(self) -> float:
        """The share of draws without a value, 0 to 1."""
        return self.undefined / self.draws if self.draws else float(self.undefined)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, nested results included."""
        values: dict[str, Any] = plain(self)
        return values


@dataclass(frozen=True, slots=True)
class JointCounts:
    """The paired table of Native and Serial correctness, in items (paper 3.1, A.1). Ratios are None where undefined."""

    both: int
    lost: int
    gained: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.lost + self.gained + self.neither

    @property
    def native_em(self) -> float | None:
        """Share of items that Native answers correctly."""
        return _share(self.both + self.lost, self.n)

    @property
    def serial_em(self) -> float | None:
        return _share(self.both + self.gained, self.n)

    @property
    def scr(self) -> float | None:
        """Share of the Native-correct items that Serial keeps; None without a Native success."""
        return _share(self.both, self.both + self.lost)

    @property
    def delta(self) -> float | None:
        """SCR minus Serial EM."""
        return None if self.scr is None or self.serial_em is None else self.scr - self.serial_em

    @property
    def loss_mass(self) -> float | None:
        return _share(self.lost, self.n)

    @property
    def gain_mass(self) -> float | None:
        return _share(self.gained, self.n)

    @property
    def gain_rate(self) -> float | None:
        """Share of the Native-wrong items that Serial answers correctly; None if Native is never wrong."""
        return _share(self.gained, self.gained + self.neither)

    @property
    def scr_bounds(self) -> Bounds | None:
        """What SCR could be given the two marginal accuracies alone (A.1)."""
        native, serial = self.both + self.lost, self.both + self.gained
        if native == 0:
            return None
        return Bounds(max(0, native + serial - self.n) / native, min(native, serial) / native)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
