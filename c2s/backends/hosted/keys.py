"""Where an API key may come from: the environment, a command that prints one, or a file that only its owner can read.

A key is never an option, so it is in no process list; it is never written to the ledger, the manifest, a log or a message.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
from collections.abc import Mapping
from pathlib import Path

from c2s.errors import UsageError

COMMAND_SECONDS = 60
MAX_KEY_BYTES = 8192


def read_key(name: str, *, variable: str | None, command: str | None, file: str | None) -> tuple[str | None, str]:
    """The key, and where it was looked for. None where the source is an environment variable that is not set.

    A command or a file that is named must give one: UsageError otherwise. `name` is the model's, for the messages.
    """
    key: str | None
    if command:
        key, source = _from_command(name, command), "the key command"
    elif file:
        key, source = _from_file(name, file), f"the key file {file}"
    elif variable:
        key, source = os.environ.get(variable) or None, f"the environment variable {variable}"
    else:
        return None, "no environment variable (name one with --key-env)"
    if key is not None and not (key.isascii() and key.isprintable() and key == key.strip() and " " not in key):
        raise UsageError(f"model {name!r}: what {source} gives holds blanks or characters that no key has")
    if key is not None and command and key in command:
        raise UsageError(
            f"model {name!r}: the key command holds the key itself, so the process list shows it; let it read the key from elsewhere"
        )
    return key, source


def _from_command(name: str, command: str) -> str:
    try:
        words = shlex.split(command)
        done = subprocess.run(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=COMMAND_SECONDS, check=False)
    except (OSError, ValueError, IndexError) as error:
        raise UsageError(f"model {name!r}: the key command cannot be run: {type(error).__name__}") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"model {name!r}: the key command printed no key within {COMMAND_SECONDS} s") from None
    text = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode or not text:
        raise UsageError(
            f"model {name!r}: the key command ended with exit code {done.returncode} and {'a' if text else 'no'} line of output"
        )
    return text


def _from_file(name: str, file: str) -> str:
    path = Path(file).expanduser()
    try:
        with open(path, "rb") as opened:
            about = os.fstat(opened.fileno())
            data = opened.read(MAX_KEY_BYTES + 1)
    except OSError as error:
        raise UsageError(f"model {name!r}: cannot read the key file {path}: {error.strerror}") from None
    if stat.S_IMODE(about.st_mode) & 0o077:
        raise UsageError(f"model {name!r}: others may read the key file {path}; mend it with: chmod 600 {path}")
    text = data.decode("utf-8", "replace").strip()
    if not text or len(data) > MAX_KEY_BYTES:
        raise UsageError(f"model {name!r}: the key file {path} holds no key")
    return text


SHORTEST_SECRET = 8
"""Shorter keys ("EMPTY", "none") are placeholders for servers that accept any key, and may occur in an answer by chance."""


def without_key(data: bytes, key: str | None) -> bytes:
    """The same bytes with every copy of the key cut out: a server may echo what it was sent."""
    if not key or len(key) < SHORTEST_SECRET:
        return data
    for form in {key, key.replace("/", "\\/")}:
        if form.encode() in data:
            data = data.replace(form.encode(), b"[key removed]")
    return data


def keyless(headers: Mapping[str, str], key: str | None) -> dict[str, str]:
    return {name: without_key(value.encode(), key).decode() for name, value in headers.items()}
