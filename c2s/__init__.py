"""c2s: which correct choices survive another output interface.

    import c2s

    run = c2s.run("sparrow", panels=["main"], limit=12)
    run.outcomes().to_pandas()

Importing this package loads nothing heavy; its functions load when they are first used, `c2s.stats` and `c2s.kernels` when imported.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from c2s.api.calls import plan, resume, run
    from c2s.api.columns import Columns
    from c2s.api.handle import Run, verify
    from c2s.api.handle import open as open
    from c2s.api.planned import PlannedRun
    from c2s.api.watching import Progress, StopToken

__all__ = ["Columns", "PlannedRun", "Progress", "Run", "StopToken", "__version__", "plan", "resume", "run", "verify"]

# `open` is not in __all__: `from c2s import *` leaves the builtin function alone.
_PLACES = {
    "Columns": "columns",
    "PlannedRun": "planned",
    "Progress": "watching",
    "Run": "handle",
    "StopToken": "watching",
    "open": "handle",
    "verify": "handle",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES or name in __all__:
        return getattr(import_module(f"c2s.api.{_PLACES.get(name, 'calls')}"), name)
    raise AttributeError(f"module 'c2s' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PLACES})
