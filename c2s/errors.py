"""The one error tree. Only `c2s.cli` prints these and turns them into exit codes.

Every message is one line that says what went wrong, where, and how to mend it.
"""

from __future__ import annotations


class C2SError(Exception):
    """Base of every error that c2s raises on purpose. `exit_code` is what the command line ends with."""

    exit_code = 2


class UsageError(C2SError):
    """Wrong usage or configuration: unknown name, bad option, missing extra, missing data."""


class InputError(C2SError, ValueError):
    """A function of the library was given a value it cannot take (shape, range, type)."""


class MissingDependency(UsageError):
    """An optional package or a data source is absent; the message names the ways to get it."""


class BankError(C2SError):
    """A bank or the WordNet behind it is not what it claims to be."""


class LedgerError(C2SError):
    """The run directory or its ledger is damaged, foreign, locked or of an unknown version."""


class ArmError(C2SError):
    """The program of an arm is at fault: it raised something, or asked for what its panel did not plan."""


LONGEST_MESSAGE = 300
"""Characters of another program's message that a sentence of ours repeats."""


def described(error: BaseException) -> str:
    """An exception of code that is not ours in one line of limited length: its type, then what it says."""
    try:
        message = " ".join(str(error).split())
    except Exception:
        message = "(its message cannot be shown)"
    if len(message) > LONGEST_MESSAGE:
        message = message[:LONGEST_MESSAGE] + "..."
    return message if isinstance(error, ImportError) else f"{type(error).__name__}: {message}"


def nearest(name: str, known: list[str]) -> str:
    """A phrase ` (did you mean a, b?)` with the near misses of `name`, or the empty string."""
    import difflib

    close = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    return f" (did you mean {', '.join(close)}?)" if close else ""
