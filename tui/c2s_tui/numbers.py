"""Numbers as short text: shares, counts, spans of time, money."""

from __future__ import annotations

import time

from c2s.reports.formats import percent, probability

__all__ = ["age", "clock", "count", "moment", "percent", "probability", "rate", "tokens", "usd"]


def count(n: int) -> str:
    return f"{n:,}"


def tokens(n: int | None) -> str:
    """Exact below a million, then with a unit."""
    if n is None:
        return "not reported"
    if n < 1_000_000:
        return f"{n:,}"
    return f"{n / 1e6:.2f} M" if n < 1e9 else f"{n / 1e9:.2f} G"


def clock(seconds: float) -> str:
    """`1:07`, `2:03:40`, `3 d 4 h`: how long something takes."""
    if seconds >= 360_000:
        return f"{int(seconds // 86400)} d {int(seconds % 86400 // 3600)} h"
    minutes, rest = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def age(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min`, `5 h`, `9 d`: how long ago something was."""
    seconds = max(0.0, seconds)
    if seconds < 10:
        return f"{seconds:.1f} s"
    for size, unit, upto in ((1, "s", 100), (60, "min", 6000), (3600, "h", 172_800)):
        if seconds < upto:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 86400:.0f} d"


def rate(per_second: float) -> str:
    if per_second >= 9.95:
        return f"{per_second:,.0f}/s"
    return f"{per_second:.1f}/s" if per_second >= 0.95 else f"{60 * per_second:.1f}/min"


def usd(amount: float | None) -> str:
    """At least cents, and enough digits to show that something was spent."""
    if amount is None:
        return "-"
    return f"{amount:,.2f}" if amount == 0 or amount >= 0.995 else f"{amount:.4f}"


def moment(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
