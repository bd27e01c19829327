"""Models that write text, end to end: declared habits land in exactly their kind, families have their size, every run verifies."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest
from support.server import Action, Server

from c2s.backends.simulated.writers import HABITS
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.verification import verify

Report = Callable[..., dict[str, Any]]
RIGHT, WRONG = {"strict_correct"}, {"format_valid_wrong"}


@pytest.fixture
def report_of(c2s, memory_path: Path) -> Report:
    """Runs panels into `memory_path/NAME`, verifies, and returns the document."""

    def run(name: str, *arguments: object) -> dict[str, Any]:
        code, out, err = c2s("run", "--json", "--out", memory_path / name, *arguments)
        assert code == 0, err
        assert verify(memory_path / name).differences == []
        return json.loads(out)

    return run


def outcomes(path: Path, panel: str) -> list[tuple[str, Any]]:
    """(domain, outcome) of all."""
    with sqlite.reading(RunDirectory.open(path).ledger_path) as db:
        domains = {row.parent.id: row.parent.domain for row in reader.parents(db, panel)}
        return [(domains[name], o) for name, group in reader.outcomes_by_parent(db, panel).items() for o in group]


GENERATION = {
    "plain": (RIGHT, RIGHT),
    "wrong": (WRONG, WRONG),
    "bound_code": (RIGHT, {"bound_code"}),
    "other_code": (RIGHT, {"other_code"}),
    "code_under_t2": (RIGHT, RIGHT),  # the panel asks under T0
    "full_stop": ({"extra_text"}, {"extra_text"}),
    "upper_case": (RIGHT, {"strict_correct", "bound_code", "other_code"}),  # a digit stays; a letter becomes a code
    "spaced": ({"extra_text"}, {"extra_text"}),
    "wordy": ({"extra_text"}, {"extra_text"}),
    "aloud": ({"truncated"}, {"truncated"}),
    "silent": ({"empty"}, {"empty"}),
    "stops_early": ({"empty"}, {"empty"}),
    "speller": (RIGHT, RIGHT),
    "restarts": (RIGHT, RIGHT),
    "needs_index": (RIGHT | WRONG, RIGHT | WRONG),
}
"""Kinds of a generated code, and of a character, by habit."""


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_lands_in_its_kind_under_matched_generation(report_of, memory_path, habit):
    document = report_of("run", "--panel", "generation", "--limit", 2, "--model", f"sim:writer?habit={habit}")
    found: dict[str, set[str]] = {"code": set(), "character": set()}
    for domain, outcome in outcomes(memory_path / "run", "generation"):
        evidence, output = outcome.arm.split("_")
        kinds = set(outcome.detail["kinds"])
        found[output] |= kinds
        if habit == "upper_case" and output == "character":
            assert (kinds == RIGHT) is (domain == "math" or kinds == RIGHT) and (domain != "lexical" or not kinds & RIGHT)
        if habit == "needs_index":
            assert kinds == (WRONG if evidence == "raw" else RIGHT)
        assert bool(outcome.detail["whitespace"]) is (habit == "spaced") or habit == "aloud"  # cut after a space
    expected = GENERATION[habit]
    assert (found["code"] <= expected[0] and found["character"] <= expected[1]) and (
        habit == "upper_case" or tuple(found.values()) == expected
    )
    for row in document["sections"]["failures"]["rows"]:
        assert (
            sum(
                row[kind]
                for kind in (
                    "strict_correct",
                    "format_valid_wrong",
                    "bound_code",
                    "other_code",
                    "extra_text",
                    "other_invalid",
                    "empty",
                    "truncated",
                )
            )
            == row["answers"]
        )
    rows = {(row["domain"], row["evidence"], row["output"]): row for row in document["sections"]["accuracy"]["rows"]}
    for (_, _, output), row in rows.items():
        if expected[output == "character"] in (RIGHT, {"bound_code"}):
            assert row["accuracy"] == float(expected[output == "character"] == RIGHT)
            assert row["conditional"] == (1 if row["valid_count"][0] else None)
    assert "compliance" not in document["sections"]  # its own table says more


CONTINUOUS = {
    "plain": (RIGHT, RIGHT, RIGHT, RIGHT),
    "speller": (RIGHT, RIGHT, WRONG, RIGHT),
    "restarts": (RIGHT, RIGHT, RIGHT, WRONG),
    "stops_early": ({"other_invalid"}, {"other_invalid"}, {"empty"}, {"empty"}),
    "full_stop": ({"extra_text"}, {"extra_text"}, {"extra_text"}, RIGHT),
    "spaced": (RIGHT, RIGHT, RIGHT, {"other_invalid"}),
    "aloud": ({"extra_text"}, {"extra_text"}, {"truncated"}, {"other_invalid"}),
    "silent": ({"empty"},) * 4,
}
"""Kinds of Native, WholeGenerate, Position and PrefixContinue."""


@pytest.mark.parametrize("habit", CONTINUOUS)
def test_a_habit_lands_in_its_kind_when_solving(report_of, memory_path, habit):
    document = report_of("run", "--panel", "continuous", "--limit", 3, "--model", f"sim:writer?habit={habit}&contract=code-readout")
    arms = ("native", "whole_generate", "position", "prefix_continue")
    found = {arm: {o.kind for _, o in outcomes(memory_path / "run", "continuous") if o.arm == arm} for arm in arms}
    assert tuple(found.values()) == CONTINUOUS[habit]
    sections = document["sections"]
    rows = {(row["domain"], row["arm"]): row for row in sections["interfaces"]["rows"]}
    for (_, arm), row in rows.items():
        kinds = CONTINUOUS[habit][arms.index(arm)]
        assert row["valid"] == float(kinds <= RIGHT | WRONG) and row["em"] == float(kinds == RIGHT)
        assert row["calls"] == (1 if arm in arms[:2] else row["requests"] / 3)
    tests = sections["contrasts:continuous"]["rows"]
    assert len(tests) == 6 and {row["m"] for row in tests} == {6}
    for row in sections["prefixes"]["rows"]:
        assert row["initial_count"] == [
            0 if habit in ("stops_early", "full_stop", "aloud", "silent") else 3,
            3,
        ]  # outer whitespace is stripped here
        assert row["lost"] == (3 if habit in ("restarts", "spaced") else 0)
        assert row["with_markers"] == (3 if habit in ("stops_early", "spaced", "aloud", "silent") else 0)
    for row in sections["budgets"]["rows"]:
        assert row["cap"] == {"position": 8, "prefix_continue": 32, "whole_generate": 32}[row["arm"]] and row["max"] <= row["cap"]
        assert row["truncated"] == (row["requests"] if habit == "aloud" and row["arm"] == "position" else 0)


def test_grids_of_two_models_form_the_families_of_the_paper(report_of, c2s, memory_path):
    report_of("a", "--panel", "grid", "--limit", 12, "--model", "sim:writer?habit=code_under_t2")
    report_of("b", "--panel", "grid", "--limit", 12, "--model", "sim:writer?contract=code-readout")
    code, out, _ = c2s("report", memory_path / "a", memory_path / "b", "--format", "json")
    runs = json.loads(out)["runs"]
    assert code == 0
    heat, moved = ([row for run in runs for row in run["sections"][name]["rows"]] for name in ("heat", "interactions"))
    assert len(heat) == 72 and {row["m"] for row in heat} == {72} and len(moved) == 16 and {row["m"] for row in moved} == {16}
    for row in runs[0]["sections"]["heat"]["rows"]:
        assert row["difference"] == (-1.0 if row["template"] == "T2" else 0.0) and (row["p_holm"] < 0.05) is (row["template"] == "T2")
    for row in runs[0]["sections"]["interactions"]["rows"]:
        assert row["change"] == (-1.0 if row["contrast"] == "T2 - T0" else 0.0) and row["p_method"] == "exact"
        assert row["p"] == (pytest.approx(2**-11) if row["contrast"] == "T2 - T0" else 1.0)
    assert all(row["p_holm"] == 1 for run in runs[1:] for name in ("heat", "interactions") for row in run["sections"][name]["rows"])
    for row in runs[0]["sections"]["failures"]["rows"]:
        answers = 36 if row["order"] == "all" else 12
        assert row["answers"] == answers and row["bound_code"] == (
            answers if (row["output"], row["template"]) == ("character", "T2") else 0
        )
    code, out, _ = c2s("report", memory_path / "a")
    assert code == 0 and re.search(r"math +indexed +T2 +-100\.0\*██ +-100\.0\*██ +-100\.0\*██", out) and "Holm over the m = 36 tests" in out


def test_padding_of_equal_length_does_not_help_who_needs_an_index(report_of, memory_path):
    document = report_of("run", "--panel", "token-padding", "--limit", 8, "--model", "sim:writer?habit=needs_index")
    assert document["settings"]["tokenizer"] == "toy 1" and "lengths" not in document["settings"]
    sections = document["sections"]
    for row in sections["fidelity"]["rows"]:
        assert (row["raw"], row["indexed"], row["padded"]) == (0, 1, 0)
    tests = sections["contrasts:tokens"]["rows"]
    assert len(tests) == 2 and all(row["m"] == 2 and row["difference"] == 1 and row["p_holm"] < 0.05 for row in tests)
    for row in sections["matched"]["rows"]:
        assert row["matched_count"] == [row["requests"]] * 2 and row["largest"] == 0 and row["requests"] >= 8 * 5


def test_templates_have_four_nonreference_contrasts(report_of):
    document = report_of("run", "--panel", "templates", "--limit", 6, "--model", "sim:writer")
    tests = document["sections"]["contrasts:templates"]["rows"]
    assert [row["contrast"] for row in tests] == ["serial_v2 - serial_v1", "serial_v3 - serial_v1"] * 2 and {row["m"] for row in tests} == {
        4
    }
    assert len(document["sections"]["by_setting"]["rows"]) == 6 and len(document["sections"]["mean_and_worst"]["rows"]) == 2
    known = report_of("other", "--panel", "templates", "--limit", 20, "--model", "sim:effect?name=template")
    worse = {row["contrast"]: row["difference"] for row in known["sections"]["contrasts:templates"]["rows"]}
    assert worse["serial_v3 - serial_v1"] < -0.2 and worse["serial_v2 - serial_v1"] == 0


@pytest.mark.parametrize("contract", ["direct", "code-readout", "code-generated"])
def test_every_panel_that_a_writer_can_answer_runs(c2s, memory_path, contract):
    """The direct variants of main, union, support and factors among them."""
    code, out, _err = c2s(
        "run", "--json", "--panel", "all", "--limit", 1, "--model", f"sim:writer?contract={contract}", "--out", memory_path / "run"
    )
    document = json.loads(out)
    assert code == 0 and verify(memory_path / "run").differences == []
    assert document["requests"]["error"] == document["requests"]["unknown"] == 0
    run = set(document["panels"])
    assert {
        "main",
        "union",
        "support",
        "factors",
        "readout",
        "grid",
        "generation",
        "continuous",
        "token-padding",
        "whole-answer",
        "templates",
    } <= run
    assert ("copying" in run, "stopping" in run) == ((True, True) if contract == "direct" else (False, False))
    for panel in (
        "main",
        "union",
        "support",
        "factors",
        "readout",
        "templates",
        "whole-answer",
        *(("copying", "stopping") if contract == "direct" else ()),
    ):
        wrong = [o for _, o in outcomes(memory_path / "run", panel) if o.kind not in RIGHT and not o.arm.startswith("wrong_")]
        assert wrong == [], panel


def test_a_script_may_write_text(report_of, memory_path):
    file = memory_path / "writer.py"
    file.write_text(
        "contract = 'direct'\nuses_truth = True\ndef answer(call):\n    return call.ask.truth['answer'] + ('.' if "
        "call.ask.request.contract == 'character' else '')\n"
    )
    document = report_of("run", "--panel", "generation,main", "--limit", 1, "--model", f"script:{file}")
    assert document["panels"]["main"]["sections"]["transitions"]["rows"][0]["joint"][0] == 1
    kinds = {o.arm: o.kind for _, o in outcomes(memory_path / "run", "generation")}
    assert {kinds[f"{e}_character"] for e in ("raw", "indexed", "direct")} == {"other_invalid"}  # it writes the option's name


# --- a server that works from the bytes alone ----------------------------------------------------------------------------


def solved(state: dict[str, Any], user: dict[str, Any], system: str, prefill: str = "") -> str:
    """Multiplies, reads positions, and goes on from a prefill; it adds a full stop to characters under T1."""
    if "copy_target" in state:
        right = state["copy_target"][state["query_position"] - 1]
        if "single-character code" in user["response_format"]:
            return next(code for code, c in user["choices"].items() if c["criterion"] == right)
        return right + ("." if system.startswith("Your entire response") else "")
    a, b = (int(x) for x in re.findall(r"\d+", state["problem"]))
    return str(a * b)[state["position"] - 1] if "position" in state else str(a * b)[len(prefill) :]


def chat_solver(n: int, body: bytes) -> Action:
    request = orjson.loads(body)
    messages = request["messages"]
    user = orjson.loads(next(m["content"] for m in messages if m["role"] == "user"))
    state = orjson.loads(user["state"]) if isinstance(user["state"], str) else user["state"]
    text = solved(state, user, messages[0]["content"], messages[-1]["content"] if request.get("continue_final_message") else "")
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return Action(
        body=orjson.dumps({"model": "m", "choices": [choice], "usage": {"prompt_tokens": 90, "completion_tokens": len(text) + 1}})
    )


def responses_solver(n: int, body: bytes) -> Action:
    request = orjson.loads(body)
    shown = orjson.loads(request["input"])
    if "text" in request:  # a schema: the input is the state itself
        text = orjson.dumps({"answer": solved(shown, {}, "")}).decode()
    else:
        text = solved(orjson.loads(shown["state"]), shown, request.get("instructions", ""))
    output = [{"type": "message", "content": [{"type": "output_text", "text": text}]}]
    return Action(
        body=orjson.dumps({"model": "m", "status": "completed", "output": output, "usage": {"input_tokens": 90, "output_tokens": 2}})
    )


@pytest.mark.parametrize(
    ("model", "behave", "panels"),
    [
        ("chat:m?thinking=off", chat_solver, "templates,whole-answer,continuous,generation,grid"),
        ("openai:m", responses_solver, "templates,whole-answer,generation,grid"),
    ],
)
def test_the_chat_panels_over_a_server(c2s, memory_path, model, behave, panels):
    with Server(behave) as server:
        arguments = ["--panel", panels, "--domain", "math", "--limit", 4, "--model", model, "--base-url", server.url, "--concurrency", 8]
        code, out, err = c2s("run", "--json", "--out", memory_path / "run", *arguments)
        assert code == 0, err
        assert server.total == json.loads(out)["requests"]["ok"]
    assert verify(memory_path / "run").differences == []
    documents = json.loads(out)["panels"]
    assert {name: d["requests"]["ok"] for name, d in documents.items()} == {
        name: d["requests"]["planned"] for name, d in documents.items()
    } and set(documents) == set(panels.split(","))
    for name in set(documents) - {"generation", "grid"}:
        assert Counter(o.kind for _, o in outcomes(memory_path / "run", name)).keys() == RIGHT
    for row in documents["grid"]["sections"]["failures"]["rows"]:
        assert row["extra_text" if (row["output"], row["template"]) == ("character", "T1") else "strict_correct"] == row["answers"]
    if "continuous" not in documents:
        return
    (row,) = (r for r in documents["continuous"]["sections"]["budgets"]["rows"] if r["arm"] == "position")
    assert (row["cap"], row["max"], row["truncated"]) == (8, 2, 0)


def test_a_panel_that_needs_a_tokenizer_is_refused_for_a_server(c2s, memory_path):
    code, _, err = c2s(
        "run", "--panel", "token-padding", "--model", "chat:m", "--base-url", "http://127.0.0.1:9", "--out", memory_path / "run"
    )
    assert code == 2 and "token-padding cannot be run with this model" in err and "tokenizer" in err and not (memory_path / "run").exists()


def test_endpoints_against_plain_definitions(report_of, memory_path):
    document = report_of("run", "--panel", "grid", "--limit", 12, "--model", "sim:writer?habit=code_under_t2&share=0.6&seed=3")
    found: dict[str, dict[str, dict[str, Any]]] = {}
    with sqlite.reading(RunDirectory.open(memory_path / "run").ledger_path) as db:
        domains = {row.parent.id: row.parent.domain for row in reader.parents(db, "grid")}
        for name, group in reader.outcomes_by_parent(db, "grid").items():
            found.setdefault(domains[name], {})[name] = {o.arm: o for o in group}

    def right(arms: dict[str, Any], *parts: str) -> int:
        return int(arms["_".join(parts)].correct)

    shifted = set()
    for row in document["sections"]["heat"]["rows"]:
        pairs = [
            [right(arms, row["evidence"], output, row["template"], row["order"]) for output in ("character", "code")]
            for arms in found[row["domain"]].values()
        ]
        gained, lost = sum(a > b for a, b in pairs), sum(a < b for a, b in pairs)
        assert row["difference"] == pytest.approx((gained - lost) / 12) and row["joint"][1:3] == [lost, gained]
        assert row["p"] == pytest.approx(
            min(1.0, 2 * sum(math.comb(gained + lost, k) for k in range(min(gained, lost) + 1)) / 2 ** (gained + lost))
        )
        shifted.add(row["difference"])
    assert len(shifted) > 2  # a mixture, not all or nothing
    for row in document["sections"]["interactions"]["rows"]:
        template = row["contrast"].split(" ")[0]
        gaps = [
            [
                sum(
                    right(arms, row["evidence"], "character", t, o) - right(arms, row["evidence"], "code", t, o) for o in ("O0", "O1", "O2")
                )
                / 3
                for t in (template, "T0")
            ]
            for arms in found[row["domain"]].values()
        ]
        changes = [a - b for a, b in gaps]
        assert row["change"] == pytest.approx(sum(changes) / 12)
        nonzero = [c for c in changes if c]  # all of one sign here, so the observed sum is the most extreme
        assert row["p"] == pytest.approx(min(1.0, 2.0 ** (1 - len(nonzero))))
    for row in document["sections"]["accuracy"]["rows"]:
        orders = ["O0", "O1", "O2"] if row["order"] == "all" else [row["order"]]
        arms = [f"{row['evidence']}_{row['output']}_{row['template']}_{order}" for order in orders]
        kinds = Counter(parent[arm].kind for parent in found[row["domain"]].values() for arm in arms)
        valid = kinds["strict_correct"] + kinds["format_valid_wrong"]
        n = 12 * len(orders)
        assert row["valid_count"] == [valid, n] and row["conditional_count"] == [kinds["strict_correct"], valid]
        assert row["accuracy"] == pytest.approx(kinds["strict_correct"] / n) and row["valid"] == pytest.approx(valid / n)
