"""c2s: which correct choices survive another output interface.

    import c2s

    run = c2s.run("sparrow", panels=["main"], limit=12)
    run.outcomes().to_pandas()

Importing this package loads nothing heavy; its functions load when they are first used, `c2s.stats` and `c2s.kernels` when imported.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from c2s.api import Columns, PlannedRun, Progress, Run, StopToken, open, plan, resume, run, verify

__all__ = ["Columns", "PlannedRun", "Progress", "Run", "StopToken", "__version__", "open", "plan", "resume", "run", "verify"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from c2s import api

        return getattr(api, name)
    raise AttributeError(f"module 'c2s' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
