"""The library as other programs call it; the command line is its first caller. `c2s` exports these names."""

from c2s.api.calls import open, plan, resume, run, verify
from c2s.api.columns import Columns
from c2s.api.handle import Run
from c2s.api.planned import PlannedRun
from c2s.api.watching import Progress, StopToken

__all__ = ["Columns", "PlannedRun", "Progress", "Run", "StopToken", "open", "plan", "resume", "run", "verify"]
