"""Every run directory under a folder, found again and again without reading what has not changed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from c2s.ledger.directory import LEDGER, MANIFEST
from c2s_tui.data.follow import Follower, Picture
from c2s_tui.data.source import Source, Trouble, guarded

DEPTH = 5
FOLDERS = 20_000
"""How deep and how far a scan goes; a home folder given by mistake must not keep it busy."""


@dataclass(frozen=True, slots=True)
class RunEntry:
    """A run directory and what was seen in it: a picture, or why it could not be read."""

    path: Path
    name: str
    seen: Picture | Trouble


@dataclass(frozen=True, slots=True)
class Runs:
    """`cut`: there were more folders than a scan goes through."""

    root: Path
    entries: tuple[RunEntry, ...]
    cut: bool = False

    @property
    def due(self) -> bool:
        """Whether a slow look would show more."""
        return any(isinstance(entry.seen, Picture) and entry.seen.due for entry in self.entries)

    def foremost(self) -> Path | None:
        """The run that is going, else the one that was written last; None where none can be read."""
        readable = [(entry.seen, entry.path) for entry in self.entries if isinstance(entry.seen, Picture)]
        live = [(seen, path) for seen, path in readable if seen.state.live]
        return max(live or readable, key=lambda pair: pair[0].written or 0, default=(None, None))[1]


def find_runs(root: Path) -> tuple[list[Path], bool]:
    """Run directories under `root` (itself included), sorted by path, and whether the scan was cut short."""
    found: list[Path] = []
    left = FOLDERS
    stack = [(root, 0)]
    while stack:
        folder, depth = stack.pop()
        left -= 1
        if left < 0:
            return sorted(found), True
        names, folders = _list(folder)
        if MANIFEST in names or LEDGER in names:
            found.append(folder)
        elif depth < DEPTH:
            stack += [(folder / name, depth + 1) for name in folders if not name.startswith(".")]
    return sorted(found), False


def _list(folder: Path) -> tuple[set[str], list[str]]:
    names, folders = set(), []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                else:
                    names.add(entry.name)
    except OSError:
        pass  # not ours to read: nothing to show
    return names, folders


def _order(entry: RunEntry) -> tuple[int, float, str]:
    """What runs comes first, then what was written last; what cannot be read stands at the end."""
    if isinstance(entry.seen, Trouble):
        return 2, 0.0, entry.name
    return (0, 0.0, entry.name) if entry.seen.state.live else (1, -(entry.seen.written or 0.0), entry.name)


class RunsWatch:
    """All runs under a root. Folders are searched every few seconds, a run is read again when its files or its lock changed."""

    SEARCH_SECONDS = 5.0

    def __init__(self, root: Path, clock: Callable[[], float] = time.time) -> None:
        self.root, self.clock = root, clock
        self._followers: dict[Path, Follower] = {}
        self._seen: dict[Path, tuple[object, Picture | Trouble]] = {}
        self._paths: list[Path] = []
        self._cut = False
        self._searched = -1e9

    def follower(self, path: Path) -> Follower:
        return self._followers.setdefault(path, Follower(Source(path), self.clock))

    def look(self, *, slow: bool = False) -> Runs:
        """The present picture of every run; `slow`: also what takes a moment."""
        now = time.monotonic()
        if now - self._searched > self.SEARCH_SECONDS:
            self._paths, self._cut = find_runs(self.root)
            self._searched = now
            for gone in set(self._followers) - set(self._paths):
                del self._followers[gone]
                self._seen.pop(gone, None)
        return Runs(self.root, tuple(sorted(self._entries(slow), key=_order)), self._cut)

    def _entries(self, slow: bool) -> Iterator[RunEntry]:
        for path in self._paths:
            follower = self.follower(path)
            stamp = (follower.source.stamp(), follower.source.run.running())
            known = self._seen.get(path)
            picture = known[1] if known is not None and isinstance(known[1], Picture) else None
            if known is None or known[0] != stamp or (picture is not None and (picture.state.live or (slow and picture.due))):
                self._seen[path] = (stamp, guarded(follower.look, slow=slow))
            name = str(path.relative_to(self.root)) if path != self.root else path.name or str(path)
            yield RunEntry(path, name, self._seen[path][1])
