import os
import sys

# `python -m` puts the current folder in front of all others; the command `c2s` does not. Nothing is imported because it lies there.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from c2s.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
