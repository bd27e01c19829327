"""Local weights through the whole pipeline: run, report, verify, resume and reuse, with tiny models that are made here."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from support.runs import drive, make_run, rows, states
from support.tiny_checkpoints import saved  # skips where torch is absent
from support.tiny_models import torch

from c2s.backends.base import Call
from c2s.backends.registry import open_model
from c2s.dialects import dialect
from c2s.errors import InputError
from c2s.panels.registry import panel
from c2s.records import Ask, Parent, Question, Request, Slot
from c2s.settings import Settings
from c2s.verification import verify

MAIN = panel("main")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: saved(tmp_path_factory.mktemp("weights") / kind, kind) for kind in ("qwen3", "llama", "gpt2")}


def responses(run: Any) -> list[dict[str, Any]]:
    return [orjson.loads(raw) for (raw,) in rows(run, "SELECT e.response FROM slots s JOIN exchanges e ON e.id = s.exchange ORDER BY s.id")]


@pytest.mark.parametrize("kind", ["qwen3", "llama", "gpt2"])
@pytest.mark.parametrize("contract", ["code-readout", "code-generated", "direct", "decision"])
def test_every_contract_of_every_model_runs_and_verifies(folders: dict[str, Path], kind: str, contract: str, tmp_path: Path):
    backend = open_model(f"hf:{folders[kind]}?contract={contract}")
    run = make_run(tmp_path / "run", backend, limit=2)
    drive(run, backend)
    backend.close()
    assert states(run) == {"ok": sum(states(run).values())} and verify(run.path).differences == []
    for body in responses(run):
        facts = body["c2s"]
        if contract == "decision":
            (facts,) = facts["questions"].values()
        assert len(facts["prompt_head"]) == 8 and facts["bos"] == (1 if kind == "llama" else 0) and facts["forwards"] >= 1
        assert facts["truncated"]["prompt"] is False


def test_the_command_line_runs_reports_and_verifies(c2s: Any, folders: dict[str, Path], tmp_path: Path):
    model = f"hf:{folders['qwen3']}?contract=code-readout&thinking=off&batch=8"
    code, out, err = c2s("run", "--model", model, "--limit", 2, "--out", tmp_path / "run")
    assert code == 0 and "Exact match" in out and "Loading" not in err
    assert c2s("verify", tmp_path / "run")[0] == 0
    code, out, _ = c2s("plan", "--model", model, "--limit", 2, "--json")
    assert code == 0 and orjson.loads(out)
    code, out, _ = c2s("doctor", "--model", model)
    assert (
        "chat-code-readout:nothink" in out
        and "probe decision" in out
        and "in float32 on cpu, context 4096" in out
        and "prefixes are shared" in out
    )


def test_a_readout_has_the_probabilities_of_a_plain_forward_pass(folders: dict[str, Path], tmp_path: Path):
    """Log-probabilities over the whole vocabulary at the last position of the rendered prompt, and their sum as the mass."""
    import transformers

    backend = open_model(f"hf:{folders['qwen3']}?contract=code-readout&thinking=off")
    run = make_run(tmp_path / "run", backend, limit=1)
    drive(run, backend)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folders["qwen3"])
    model = transformers.AutoModelForCausalLM.from_pretrained(folders["qwen3"]).eval()
    stored = rows(run, "SELECT e.request, e.response FROM exchanges e")
    for request, response in stored:
        body, came = orjson.loads(request), orjson.loads(response)
        ids = tokenizer.apply_chat_template(
            body["messages"], add_generation_prompt=True, enable_thinking=False, tokenize=True, return_dict=False
        )
        assert tokenizer.decode(ids).endswith("<think>\n\n</think>\n\n")
        with torch.inference_mode():
            logs = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0, -1].double(), -1)
        top = came["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        codes = list(orjson.loads(body["messages"][-1]["content"])["choices"])
        assert [entry["token"] for entry in top] == codes
        plain = [float(logs[tokenizer.convert_tokens_to_ids(code)]) for code in codes]
        np.testing.assert_allclose([entry["logprob"] for entry in top], plain, atol=1e-4)
        assert came["usage"]["prompt_tokens"] == len(ids) and came["c2s"]["prompt_head"] == ids[:8]
        answer = dialect(backend.dialect).decode(_ask(codes), response)
        assert answer.choice().mass == pytest.approx(sum(map(math.exp, plain)), rel=1e-3)
    backend.close()


def _ask(codes: list[str]) -> Ask:
    return Ask(1, Request("", {"answer": Question("", dict.fromkeys(map(str.lower, codes)))}))


def test_written_text_is_that_of_generate_and_every_id_is_kept(folders: dict[str, Path], tmp_path: Path):
    import transformers

    for kind in ("qwen3", "llama", "gpt2"):
        backend = open_model(f"hf:{folders[kind]}?contract=direct")
        run = make_run(tmp_path / kind, backend, limit=1)
        drive(run, backend)
        backend.close()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folders[kind])
        model = transformers.AutoModelForCausalLM.from_pretrained(folders[kind]).eval()
        for request, response in rows(run, "SELECT e.request, e.response FROM exchanges e")[:6]:
            body, came = orjson.loads(request), orjson.loads(response)
            ids = tokenizer.apply_chat_template(body["messages"], add_generation_prompt=True, tokenize=True, return_dict=False)
            made = model.generate(
                torch.tensor([ids]),
                attention_mask=torch.ones(1, len(ids), dtype=torch.long),
                max_new_tokens=body["max_tokens"],
                do_sample=False,
                pad_token_id=0,
            )
            new = made[0, len(ids) :].tolist()
            assert came["c2s"]["token_ids"] == new and came["c2s"]["prompt_ids"] == ids
            stopped = new[-1] == tokenizer.eos_token_id
            assert came["choices"][0]["finish_reason"] == ("stop" if stopped else "length")
            assert came["choices"][0]["message"]["content"] == tokenizer.decode(new[:-1] if stopped else new)
            assert came["usage"]["completion_tokens"] == came["c2s"]["forwards"] == len(new)
            assert came["c2s"]["truncated"]["output"] is not stopped


def test_the_same_choices_at_every_batch_size_and_order(folders: dict[str, Path], tmp_path: Path):
    """CASES.md, 21, in fp32: batches of 1, 8 and 32, and 32 with every batch shuffled."""
    found = {}
    for name, batch, seed in (("1", 1, None), ("8", 8, None), ("32", 32, None), ("shuffled", 32, 1)):
        for contract in ("code-readout", "direct"):
            backend = open_model(f"hf:{folders['qwen3']}?contract={contract}&batch={batch}")
            if seed is not None:
                backend.call = _shuffled(backend.call, seed)  # type: ignore[method-assign]
            run = make_run(tmp_path / f"{name}-{contract}", backend, limit=3)
            drive(run, backend)
            backend.close()
            query = (
                "SELECT p.parent, s.arm, s.step, e.response FROM slots s"
                " JOIN parents p ON p.id = s.parent JOIN exchanges e ON e.id = s.exchange ORDER BY 1, 2, 3"
            )
            found[name, contract] = [(parent, arm, step, _said(raw)) for parent, arm, step, raw in rows(run, query)]
    for contract in ("code-readout", "direct"):
        first = found["1", contract]
        for name in ("8", "32", "shuffled"):
            assert [row[:3] + row[3][:1] for row in found[name, contract]] == [row[:3] + row[3][:1] for row in first], (name, contract)
            if contract == "code-readout":
                for row, other in zip(found[name, contract], first, strict=True):
                    np.testing.assert_allclose(row[3][1], other[3][1], atol=1e-4)


def _said(raw: bytes) -> tuple[str, list[float]]:
    choice = orjson.loads(raw)["choices"][0]
    logs = [entry["logprob"] for entry in choice["logprobs"]["content"][0]["top_logprobs"]] if choice["logprobs"] else []
    return choice["message"]["content"], logs


def _shuffled(ask: Any, seed: int) -> Any:
    """`call` with every batch in another order; the exchanges come back in the caller's."""
    rng = np.random.default_rng(seed)

    def call(batch: Any):
        order = rng.permutation(len(batch))
        came = dict(zip(order.tolist(), ask([batch[i] for i in order]), strict=True))
        yield from (came[i] for i in range(len(batch)))

    return call


def test_batches_hold_the_waiting_slots_of_many_parents(folders: dict[str, Path], tmp_path: Path):
    backend = open_model(f"hf:{folders['qwen3']}?contract=code-readout&batch=24")
    seen: list[list[Call]] = []
    ask = backend.call
    backend.call = lambda batch: (seen.append(list(batch)), ask(batch))[1]  # type: ignore[method-assign]
    run = make_run(tmp_path / "run", backend, limit=12)
    drive(run, backend)
    backend.close()
    sizes = [len(batch) for batch in seen]
    assert sum(sizes) == sum(states(run).values()) and sizes[: len(sizes) // 2] == [24] * (len(sizes) // 2)
    assert any(len({(call.slot.parent) for call in batch if call.slot.arm == "serial"}) >= 4 for batch in seen)
    physical = [
        orjson.loads(h) for (h,) in rows(run, "SELECT headers FROM exchanges WHERE headers IS NOT NULL AND headers LIKE '%c2s-forwards%'")
    ]
    assert len(physical) == len(sizes) and all(int(h["c2s-forwards"]) >= 1 for h in physical)
    (summed,) = rows(run, "SELECT sum(done_at - sent_at) FROM exchanges")[0:1]
    assert summed[0] >= sum(float(h["c2s-forward-seconds"]) for h in physical)


def test_a_stopped_run_loses_one_batch_and_ends_as_an_uninterrupted_one(folders: dict[str, Path], tmp_path: Path):
    model = f"hf:{folders['qwen3']}?contract=code-readout&batch=16"
    whole = make_run(tmp_path / "whole", backend := open_model(model), limit=4)
    drive(whole, backend)
    backend.close()
    backend = open_model(model)
    run, count = make_run(tmp_path / "run", backend, limit=4), 0
    entered, let = threading.Event(), threading.Event()
    ask = backend.call

    def slow(batch: Any):
        nonlocal count
        count += 1
        if count == 3:
            entered.set()
            assert let.wait(60)
        yield from ask(batch)

    backend.call = slow  # type: ignore[method-assign]
    from c2s.ledger.writer import LedgerWriter
    from c2s.runner.execute import Runner

    manifest, _digest = run.manifest()
    with run.locked():
        writer = LedgerWriter(run, durable=False)
        runner = Runner(writer, backend, [MAIN], Settings.from_dict(manifest["identity"]["settings"]))
        stopper = threading.Thread(target=lambda: (entered.wait(60), runner.stop()))
        stopper.start()
        assert runner.run() is False
        let.set()
        stopper.join()
        writer.close()
    backend.close()
    assert states(run)["ok"] == 32 and "sent" not in states(run)
    drive(run, backend := open_model(model))
    backend.close()
    assert verify(run.path).differences == []
    assert [_said(orjson.dumps(r))[0] for r in responses(run)] == [_said(orjson.dumps(r))[0] for r in responses(whole)]


def test_a_closed_model_gives_up_the_rest_of_its_batch(folders: dict[str, Path]):
    backend = open_model(f"hf:{folders['gpt2']}?contract=direct")
    forward, entered, let = backend.engine._runs.packed.forward, threading.Event(), threading.Event()  # type: ignore[attr-defined]

    def held(rows: Any):
        entered.set()
        assert let.wait(60)
        return forward(rows)

    backend.engine._runs.packed.forward = held  # type: ignore[attr-defined]
    failed: list[str] = []

    def ask() -> None:
        try:
            list(backend.call([_call(backend)]))
        except Exception as error:
            failed.append(type(error).__name__)

    thread = threading.Thread(target=ask)
    thread.start()
    assert entered.wait(60)
    closing = threading.Thread(target=backend.close)
    closing.start()
    while not backend._closed:  # type: ignore[attr-defined]
        pass
    let.set()
    closing.join(60)
    thread.join(60)
    assert failed == ["Stopped"] and backend.engine is None  # type: ignore[attr-defined]


def _call(backend: Any, *, prefill: str | None = None, state: str = '{"probe":1}', options: int = 2) -> Call:
    question = Question(
        "Which is the first letter?", dict.fromkeys(f"o{i}" for i in range(options)) if options > 2 else {"a": None, "b": None}
    )
    ask = Ask(1, Request(state, {"answer": question}, prefill=prefill))
    return Call(Slot("p", "q", "a", 0, 1), Parent("q", "math", 1, {}), ask, dialect(backend.dialect).encode(ask, backend.model))


def test_a_prefill_stands_after_the_assistant_boundary(folders: dict[str, Path]):
    """PrefixContinue (E.3): the prompt is the rendered one with the prefix behind it, and all ids are kept."""
    backend = open_model(f"hf:{folders['qwen3']}?contract=direct&thinking=off")
    plain, begun = (next(orjson.loads(e.raw)["c2s"] for e in backend.call([_call(backend, prefill=p)])) for p in (None, "74"))
    decode = backend.renderer.decode  # type: ignore[attr-defined]
    assert decode(plain["prompt_ids"]).endswith("<|im_start|>assistant\n<think>\n\n</think>\n\n")
    assert decode(begun["prompt_ids"]) == decode(plain["prompt_ids"]) + "74"
    assert backend.rendered_tokens(_call(backend, prefill="74").body) == len(begun["prompt_ids"])  # type: ignore[attr-defined]
    backend.close()


def test_continuous_panels_keep_every_suffix_and_token(folders: dict[str, Path], tmp_path: Path):
    """WholeGenerate and PrefixContinue (D.8): the ids of every prompt and suffix are in the ledger, and give its texts again."""
    backend = open_model(f"hf:{folders['qwen3']}?contract=code-readout&thinking=off")
    run = make_run(tmp_path / "run", backend, limit=1, panels=(panel("continuous"),))
    drive(run, backend, panels=(panel("continuous"),))
    assert verify(run.path).differences == []
    decode = backend.renderer.decode  # type: ignore[attr-defined]
    query = "SELECT s.arm, s.step, e.request, e.response FROM slots s JOIN exchanges e ON e.id = s.exchange ORDER BY s.id"
    begun = 0
    for arm, step, request, response in rows(run, query):
        body, came = orjson.loads(request), orjson.loads(response)
        facts, text = came["c2s"], came["choices"][0]["message"]["content"]
        prefix = body["messages"][-1]["content"] if body.get("continue_final_message") else ""
        assert decode(facts["prompt_ids"]).endswith("assistant\n<think>\n\n</think>\n\n" + prefix)
        assert decode(facts["token_ids"]).removesuffix("<|im_end|>") == text.removesuffix("<|im_end|>")
        assert len(facts["token_ids"]) <= body["max_tokens"] == {"position": 8}.get(arm, 32)
        begun += arm == "prefix_continue" and len(prefix) == step - 1 > 0
    assert begun >= 2
    backend.close()


@pytest.mark.parametrize(
    ("written", "block", "returned"), [("<think>\n\n</think>\n\na", "empty", False), ("<think>b", "filled", False), (" a\n", None, True)]
)
def test_a_think_block_in_an_answer_is_scored_as_text_and_noted(folders: dict[str, Path], written: str, block: str | None, returned: bool):
    """CASES.md, 22: nothing is taken out of an answer but outer whitespace and the end token."""
    from c2s.backends.local.engine import Generated

    backend = open_model(f"hf:{folders['qwen3']}?contract=direct")
    (ids,) = backend.renderer.ids([written + "<|im_end|>"])  # type: ignore[attr-defined]
    backend.engine.generate = lambda prompts, limits: [Generated(tuple(ids), "stop")]  # type: ignore[attr-defined]
    call = _call(backend)
    (came,) = backend.call([call])
    body, choice = orjson.loads(came.raw), dialect(backend.dialect).decode(call.ask, came.raw).choice()
    assert body["choices"][0]["message"]["content"] == written == choice.text and body["c2s"].get("think_block") == block
    assert choice.offered is returned and (choice.fault is None) is returned
    backend.close()


def test_repeats_are_byte_identical(folders: dict[str, Path]):
    for contract in ("code-readout", "code-generated", "direct", "decision"):
        backend = open_model(f"hf:{folders['llama']}?contract={contract}")
        calls = [_call(backend)] * 3
        first = [e.raw for e in backend.call(calls)]
        backend.close()
        backend = open_model(f"hf:{folders['llama']}?contract={contract}")
        assert first == [e.raw for e in backend.call(calls)] and len(set(first)) == 1
        backend.close()


@pytest.mark.parametrize("contract", ["code-readout", "direct", "decision"])
def test_a_prompt_that_does_not_fit_into_memory_is_an_error_alone(folders: dict[str, Path], contract: str):
    backend = open_model(f"hf:{folders['qwen3']}?contract={contract}")
    score, write = backend.engine.logits, backend.engine.generate  # type: ignore[attr-defined]

    def refusing(ask: Any):
        def call(prompts: Any, *rest: Any):
            if max(map(len, prompts)) > 600:
                raise InputError("a prompt of many tokens does not fit into the memory of cpu; use a smaller model or dtype")
            return ask(prompts, *rest)

        return call

    backend.engine.logits, backend.engine.generate = refusing(score), refusing(write)  # type: ignore[attr-defined]
    short, wide = _call(backend), _call(backend, options=51 if contract == "decision" else 2)
    long = _call(backend, state="7 x. " * 400)
    found = list(backend.call([wide, long, short]))
    assert [e.verdict for e in found] == ["ok", "error", "ok"] and "does not fit" in found[1].message
    backend.engine.logits, backend.engine.generate = score, write  # type: ignore[attr-defined]
    again = list(backend.call([wide, short]))
    assert [orjson.loads(e.raw)["c2s"]["forwards"] for e in again] == [orjson.loads(found[i].raw)["c2s"]["forwards"] for i in (0, 2)]
    backend.close()


def test_two_workers_prepare_beside_each_other_and_compute_one_after_the_other(folders: dict[str, Path], tmp_path: Path):
    """What a GPU does: the next batch is rendered while one is computed."""
    runs = []
    for number in (1, 2):
        backend = open_model(f"hf:{folders['qwen3']}?contract=code-readout&batch=8")
        backend.workers = number
        run = make_run(tmp_path / str(number), backend, limit=3)
        drive(run, backend)
        backend.close()
        assert verify(run.path).differences == []
        runs.append([_said(orjson.dumps(r))[0] for r in responses(run)])
    assert runs[0] == runs[1]


def test_a_fingerprint_survives_the_manifest_and_a_resume(c2s: Any, folders: dict[str, Path], tmp_path: Path):
    model = f"hf:{folders['gpt2']}?contract=decision&temperature=1.5"
    run = make_run(tmp_path / "run", backend := open_model(model), limit=1)
    backend.close()
    code, _, err = c2s("resume", run.path)
    assert code == 0, err
    assert verify(run.path).differences == []


def test_another_precision_is_another_fingerprint(folders: dict[str, Path]):
    full, half = (open_model(f"hf:{folders['qwen3']}?dtype={d}", {"sends_nothing": True}) for d in ("float32", "bfloat16"))
    assert full.exact and not half.exact and full.fingerprint != half.fingerprint
    assert full.fingerprint["checkpoint_sha256"] == half.fingerprint["checkpoint_sha256"]
    assert {"template_sha256", "tokenizer_sha256", "generation_config_sha256", "config_sha256", "device", "libraries", "ends"} <= set(
        full.fingerprint
    )
    (name,) = full.fingerprint["files"]
    import hashlib

    digest = hashlib.sha256((folders["qwen3"] / name).read_bytes()).hexdigest()
    assert full.fingerprint["files"][name] == digest
    assert full.fingerprint["checkpoint_sha256"] == hashlib.sha256(f"{digest}  {name}\n".encode()).hexdigest()
