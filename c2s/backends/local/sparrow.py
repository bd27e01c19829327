"""Sparrow, a 3 MB decision model with its weights in the package `sparrow-decider`, run in process."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import orjson

from c2s.backends.base import DECIDES, Call, Exchange
from c2s.backends.local.sparrow_text import encoder
from c2s.backends.registry import take

KNOWN = "0.2.0"
"""The version whose internals are known, so that repeated work can be avoided; any other one runs unchanged."""


class Sparrow:
    """Answers from the exact request bytes, one by one: numpy on one core, deterministic."""

    dialect = "systemone"
    model = "sparrow"
    resend: Literal["safe", "paid"] = "safe"
    exact = True
    max_batch = 16
    workers = 0
    lacks: Mapping[str, str] = DECIDES

    def __init__(self, name: str) -> None:
        if "numpy" not in sys.modules:
            # Its matrices are tiny: a second BLAS thread only makes it wait (6 times slower on a busy machine with
            # two cores), and OpenBLAS reads this once, when numpy loads.
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        import sparrow_decider

        self.name = name
        self._decider = sparrow_decider.Decider.load()
        model = self._decider.static
        if sparrow_decider.__version__ == KNOWN and model is not None:
            from sparrow_decider import wordpiece

            model.tok.encode = encoder(model.tok, model.tok.normalize, wordpiece._is_punct)
            # Instructions and options come again in every request: their vectors, which nothing changes in place, are kept.
            model._pool = lru_cache(maxsize=4096)(model._pool)
        weights = hashlib.sha256()
        for path in sorted(Path(sparrow_decider.__file__).parent.rglob("*.sparrow")):
            weights.update(path.read_bytes())
        self.fingerprint: Mapping[str, Any] = {
            "package": f"sparrow-decider {sparrow_decider.__version__}",
            "weights_sha256": weights.hexdigest(),
        }

    @classmethod
    def open(cls, name: str, detail: str, options: dict[str, str], common: Mapping[str, Any]) -> Sparrow:
        take(name, options, {})
        return cls(name)

    def call(self, batch: Sequence[Call]) -> Iterator[Exchange]:
        for call in batch:
            began = time.time()
            request = orjson.loads(call.body)
            questions = request["questions"]
            # Its own interface wants two options; a softmax over one is certain, as served models answer it.
            sole = {name: next(iter(q["criteria"])) for name, q in questions.items() if len(q["criteria"]) == 1}
            try:
                open_questions = {name: q for name, q in questions.items() if name not in sole}
                answers = self._decider.ask(request["state"], open_questions) if open_questions else {}
            except (ValueError, TypeError, KeyError) as error:
                yield Exchange("error", message=f"sparrow refused the request: {error}")
                continue
            answers |= {name: {"type": "choice", "choice": o, "confidence": 1.0, "probabilities": {o: 1.0}} for name, o in sole.items()}
            yield Exchange(
                "ok",
                orjson.dumps({"model": self.model, "answers": answers}, option=orjson.OPT_SERIALIZE_NUMPY),
                began=began,
                ended=time.time(),
            )

    def close(self) -> None:
        pass
