"""Official-layout folders for the dialogue tests: the publisher's subset where it lies beside the repository, and our own set."""

from __future__ import annotations

from pathlib import Path

from support.shared import shared_file


def official_folder(target: Path) -> Path:
    """`target` as the publisher lays it out, with links to the shared subset. The calling test is skipped where that is absent."""
    for split in ("test", "dev"):
        (target / split).mkdir(parents=True)
        (target / split / "dialogues_001.json").symlink_to(shared_file(f"data/sgd/sgd_{split}_subset.json").resolve())
        (target / split / "schema.json").symlink_to(shared_file(f"data/sgd/schema_{split}.json").resolve())
    return target
