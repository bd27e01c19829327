"""`python -m c2s_tui.data.report_process RUN`: what `c2s report RUN` prints and its document, as one JSON object on stdout."""

from __future__ import annotations

import sys

import orjson

from c2s.errors import C2SError
from c2s.reports.build import build, render


def main(path: str) -> int:
    try:
        report = build([path])
        document = {"text": render(report, "text"), "document": report.as_dict(clock=True)}
    except C2SError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception as error:  # whatever a file holds must end as a sentence
        print(f"no report can be made of {path} ({type(error).__name__}: {error})", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(orjson.dumps(document, option=orjson.OPT_NON_STR_KEYS))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
