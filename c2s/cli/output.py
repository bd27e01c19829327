"""stdout is data, stderr is talk."""

from __future__ import annotations

import sys
from typing import Any

import orjson

from c2s.reports.tables import literal


def json_out(value: Any) -> None:
    """One JSON document on stdout."""
    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode())


def say(message: str) -> None:
    """One line of talk on stderr; whatever is in it is shown literally."""
    print(literal(message), file=sys.stderr, flush=True)
