"""Servers that judge: System One answers by the final commitment, with one thing that depends on the order of members."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
from support.server import Action

from c2s.backends.simulated.judges import commitment


def grades(fooled: Callable[[dict[str, Any]], bool] = lambda body: False) -> Callable[[int, bytes], Action]:
    """A behaviour of `Server`: reads the final value, and accepts whatever `fooled` says."""

    def behave(number: int, raw: bytes) -> Action:
        body = orjson.loads(raw)
        state, question = body["state"], body["questions"]["verdict"]
        _, _, value = commitment(state["model_reply"])
        label = "no_answer" if value is None else "correct" if value in state["trusted_reference"] or fooled(body) else "incorrect"
        if value is None and "remain possible" in state["model_reply"] and "ambiguous" in question["criteria"]:
            label = "ambiguous"
        answer = {
            "type": "choice",
            "choice": label,
            "confidence": 0.9,
            "probabilities": {o: 0.9 if o == label else 0.05 for o in question["criteria"]},
        }
        usage = {"input_tokens": 120, "output_tokens": 4}
        return Action(body=orjson.dumps({"model": body["model"], "answers": {"verdict": answer}, "usage": usage}))

    return behave


def sol_grades(number: int, raw: bytes) -> Action:
    """The Responses API: reads the final value, answers with the strict schema's object and with usage."""
    body = orjson.loads(raw)
    state = orjson.loads(body["input"])
    _, _, value = commitment(state["model_reply"])
    label = "no_answer" if value is None else "correct" if value in state["trusted_reference"] else "incorrect"
    assert label in body["text"]["format"]["schema"]["properties"]["verdict"]["enum"]
    content = [{"type": "output_text", "text": orjson.dumps({"verdict": label}).decode()}]
    usage = {
        "input_tokens": 300,
        "output_tokens": 20,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 12},
    }
    message = {"type": "message", "role": "assistant", "content": content}
    return Action(body=orjson.dumps({"model": body["model"], "status": "completed", "output": [message], "usage": usage}))
