"""Columns of a run as data: NumPy arrays by name, or a table of pandas, polars or Arrow."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from c2s.errors import MissingDependency

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Kind = Literal["text", "integer", "boolean", "real", "bytes"]
SHOWN = 10


@dataclass(frozen=True, slots=True)
class About:
    """One column: its name, what it holds, in which unit, and whether values may be absent.

    As NumPy arrays: text and bytes are objects, None where absent; integer is int64 and boolean is bool, both float64 with NaN for an
    absent value where values may be absent; real is float64 with NaN. The tables of other packages have their own missing values.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    nullable: bool = False

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the NumPy array."""
        if self.kind in ("text", "bytes"):
            return np.dtype(object)
        if self.kind == "real" or self.nullable:
            return np.dtype(np.float64)
        return np.dtype(np.int64 if self.kind == "integer" else np.bool_)


class Columns(Mapping[str, "np.ndarray[Any, Any]"]):
    """Columns of equal length in one order of rows. `columns["correct"]` is a NumPy array; `about` describes every column."""

    def __init__(self, about: Sequence[About], values: Mapping[str, Sequence[Any]]) -> None:
        self.about = {a.name: a for a in about}
        self._values = {a.name: values[a.name] for a in about}
        self._arrays: dict[str, np.ndarray[Any, Any]] = {}

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(next(iter(self._values.values()), ()))

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        if name not in self._arrays:
            self._arrays[name] = _array(self.about[name], self._values[name])
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def to_numpy(self) -> dict[str, np.ndarray[Any, Any]]:
        """{name: array}."""
        return dict(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A pandas DataFrame with nullable types. Raises MissingDependency where pandas is not installed."""
        pd = _imported("pandas")
        types = {"text": "string", "integer": "Int64", "boolean": "boolean", "real": "Float64", "bytes": "object"}
        frame = {name: pd.array(_plain(a, self._values[name]), dtype=types[a.kind]) for name, a in self.about.items()}
        made: pandas.DataFrame = pd.DataFrame(frame)
        return made

    def to_polars(self) -> polars.DataFrame:
        """A polars DataFrame. Raises MissingDependency where polars is not installed."""
        pl = _imported("polars")
        types = {"text": pl.String, "integer": pl.Int64, "boolean": pl.Boolean, "real": pl.Float64, "bytes": pl.Binary}
        columns = [pl.Series(name, _plain(a, self._values[name]), dtype=types[a.kind]) for name, a in self.about.items()]
        made: polars.DataFrame = pl.DataFrame(columns)
        return made

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table. Raises MissingDependency where pyarrow is not installed."""
        pa = _imported("pyarrow")
        types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "real": pa.float64(), "bytes": pa.binary()}
        columns = {name: pa.array(_plain(a, self._values[name]), type=types[a.kind]) for name, a in self.about.items()}
        made: pyarrow.Table = pa.table(columns)
        return made

    def __repr__(self) -> str:
        return f"<Columns of {self.rows} rows: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        """The first rows as an HTML table, everything escaped."""
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self)
        body = "".join(
            "<tr>" + "".join(f"<td>{_cell(values[row])}</td>" for values in self._values.values()) + "</tr>"
            for row in range(min(SHOWN, self.rows))
        )
        more = f"<p>{self.rows} rows, the first {SHOWN} shown</p>" if self.rows > SHOWN else f"<p>{self.rows} rows</p>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    text = "" if value is None else str(value)
    return html.escape(text if len(text) <= 80 else text[:79] + "…")


def _plain(about: About, values: Sequence[Any]) -> list[Any]:
    return [None if v is None else bool(v) for v in values] if about.kind == "boolean" else list(values)


def _array(about: About, values: Sequence[Any]) -> np.ndarray[Any, Any]:
    if about.dtype == np.dtype(object):
        made = np.empty(len(values), dtype=object)
        made[:] = values
        return made
    return np.array([np.nan if value is None else value for value in values], dtype=about.dtype)


def _imported(package: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError:
        raise MissingDependency(f"{package} is not installed: pip install {package}; to_numpy() needs nothing more") from None
