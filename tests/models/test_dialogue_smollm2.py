"""Two dialogues with a real small language model: SmolLM2-135M as a decision model over System One, where it is installed."""

from __future__ import annotations

import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.server import Action, Server
from support.smollm import readout

from c2s.cli import main


def decisions() -> Callable[[int, bytes], Action]:
    """Every question of a request as one prompt: the state, which the fields share, the instructions, lettered options."""
    answer = readout(4096, keep=True)

    def field(state: str, question: dict[str, Any]) -> dict[str, Any]:
        letters = dict(zip(string.ascii_uppercase, question["criteria"], strict=False))
        listed = "\n".join(f"{letter}) {question['criteria'][option]}" for letter, option in letters.items())
        text = f"<|im_start|>user\n{state}\n{question['instructions']}\n{listed}<|im_end|>\n<|im_start|>assistant\nThe answer is "
        return answer(text, letters)

    def behave(number: int, raw: bytes) -> Action:
        body = orjson.loads(raw)
        answers = {name: field(body["state"], question) for name, question in body["questions"].items()}
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
