"""The device benchmark at its tiny shape, so that it works on the day there is a GPU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install torch==2.13.0, then -e '.[local]'")
pytest.importorskip("transformers", reason="pip install -e '.[local]'")

SCRIPT = Path(__file__).parents[2] / "bench/gpu_decisions.py"


def test_it_runs_on_a_cpu_at_a_tiny_shape(tmp_path: Path):
    out = tmp_path / "rows.json"
    command = [sys.executable, SCRIPT, "--device", "cpu", "--shape", "tiny", "--prompts", "24", "--json", out]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "same choices and texts" in done.stdout
    read, written = json.loads(out.read_text())["rows"]
    assert (read["contract"], written["contract"]) == ("code readout", "direct")
    for row in (read, written):
        assert row["answers"] == 24 and row["unshared"] is None
        assert 0.1 < row["shared"] < 1 and row["answers_per_second"] > 0
    assert read["subset"] == 24 and read["fp32_off"] < 1e-4
