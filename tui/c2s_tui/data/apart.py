"""Intervals of very large runs in a process of their own, so that the memory they take goes back when they are done.

`python -m c2s_tui.data.apart` is that process: (function, arrays, settings) comes in on stdin, the result goes out on stdout. The process
pools of the standard library pass on the file of `sys.stderr`, and under Textual that has none.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from c2s.errors import InputError

if TYPE_CHECKING:
    from c2s.stats import Interval

SMALL = 20_000
"""Items up to which another process is not worth its start."""


def interval(function: str, *arrays: Any, **settings: Any) -> Interval:
    """`c2s.stats.FUNCTION(*arrays, **settings)`. Raises InputError as it does."""
    if len(arrays[0]) <= SMALL:
        return _call(function, arrays, settings)
    command = [sys.executable, "-m", "c2s_tui.data.apart"]
    done = subprocess.run(command, input=pickle.dumps((function, arrays, settings)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if done.returncode:
        raise InputError(f"the interval of {len(arrays[0]):,} items could not be computed (exit code {done.returncode})")
    result = pickle.loads(done.stdout)
    if isinstance(result, InputError):
        raise result
    found: Interval = result
    return found


def _call(function: str, arrays: Any, settings: Any) -> Interval:
    from c2s import stats

    found: Interval = getattr(stats, function)(*arrays, **settings)
    return found


def _main() -> None:
    result: Interval | InputError
    try:
        result = _call(*pickle.load(sys.stdin.buffer))
    except InputError as error:
        result = error
    sys.stdout.buffer.write(pickle.dumps(result))


if __name__ == "__main__":
    _main()
