"""Wrong whole-answer selections of earlier runs, for the panel that copies wrong targets (appendix D.12)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from c2s.errors import UsageError
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.settings import Observed


def wrong_selections(paths: Sequence[str], wanted: Collection[str]) -> dict[str, Observed]:
    """{item: {"output", "model", "run"}} of the wanted items that main's Native got wrong in one of these runs.

    Earlier directories win. Raises UsageError for a run without a main panel. What is taken enters the new run's settings, so it
    is frozen with the plan and the earlier runs need not be kept.
    """
    wrong: dict[str, Observed] = {}
    for path in paths:
        directory = RunDirectory.open(path)
        manifest, _ = directory.manifest()
        identity = manifest["identity"]
        if "main" not in identity["panels"]:
            raise UsageError(f"--observed {path}: that run has no main panel, whose Native selections are wanted")
        model, run = identity["model"], manifest["provenance"]["run_id"]
        with sqlite.reading(directory.ledger_path) as db:
            candidates = {row.parent.id: row.parent.candidates for row in reader.parents(db, "main")}
            for name, outcomes in reader.outcomes_by_parent(db, "main").items():
                native = next((o for o in outcomes if o.arm == "native"), None)
                if name in wanted and native is not None and native.correct is False and native.output in candidates[name]:
                    wrong.setdefault(name, Observed(output=native.output, model=model, run=run))
    return dict(sorted(wrong.items()))
