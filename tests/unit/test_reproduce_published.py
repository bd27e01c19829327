"""`c2s reproduce published`: the counts are the paper's, every figure that follows from them is recomputed, and nothing is glossed over."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from support.shared import shared_file

from c2s.reproduce.published import figures, tables


@pytest.fixture(scope="module")
def found():
    return figures()


def test_what_agrees_what_differs_and_what_cannot_be_recomputed(found):
    counts = Counter(f.verdict for f in found)
    assert counts["agrees"] >= 350 and counts["not printed"] == 6
    differing = {f.where: f for f in found if f.verdict == "differs"}
    assert set(differing) == {
        "Table D11, length 4",
        "Table D11, all",
        "Table C4, Qwen3.5-27B, Independent",
        "Table C4, Qwen3.5-27B, Serial",
    }
    assert all("by one" in f.note for f in differing.values())  # success, dialogue: what draws add to the law
    assert differing["Table D11, all"].recomputed == "[0.30, 0.86]"  # 7/2333 and 20/2325
    silent = [f for f in found if f.verdict == "not recomputable"]
    assert all(f.note for f in silent) and any("Tables D12 and D14" in f.where for f in silent)


def test_printed_p_values_come_out(found):
    p = {(f.where, f.what): (f.printed, f.recomputed) for f in found if "Holm p" in f.what}
    assert p["Table D9, bytes", "Jev, lexical: Holm p"] == ("1.46e-11", "1.46e-11")
    assert p["Table D9, tokens", "Qwen3.5-27B, lexical: Holm p"] == ("0.000488", "0.000488")
    assert len([key for key in p if key[0] == "Section 4, primary tests"]) == 6


def test_dialogue_figures_follow_from_their_counts(found):
    rows = [f for f in found if f.where.startswith(("Table C", "C.1"))]
    assert Counter(f.where[:8] for f in rows)["Table C1"] == 18 and len([f for f in rows if f.where.startswith("Table C4")]) == 24
    said = {(f.where, f.what): (f.printed, f.recomputed, f.verdict) for f in rows}
    assert said["Table C1, Jev, Oracle", "final state"] == ("68.8", "68.8", "agrees")
    assert said["Table C2, StartLux", "final state"] == ("12.5", "12.5", "agrees")
    assert said["Table C5, Jev, Independent", "retention"] == ("98.5", "98.6", "not recomputable")
    assert said["C.1", "requests that share a response"] == ("124", "124", "agrees")


def test_a_wrong_count_would_be_seen(monkeypatch):
    """Every check reads its numbers: with one count moved, the figures that hang on it differ."""
    from copy import deepcopy

    from c2s.reproduce import dialogue_tables, shares

    moved = deepcopy(tables())
    moved["dialogue"]["C1"][1][5] += 1
    moved["figure16"]["rows"][0][4][0][1] -= 1
    moved["figure10"]["rows"][0][2][0] = 0
    moved["tableD6"]["calls"]["union"] += 1
    for module in (dialogue_tables, shares):
        monkeypatch.setattr(module, "tables", lambda: moved)
    wrong = {f.where for part in (dialogue_tables.figures, shares.figures) for f in part() if f.verdict == "differs"}
    assert {"Table C1, Jev, Oracle", "Table C2, Jev", "Figure 16, Jev, math", "D.4", "Table D2", "Table D6"} <= wrong


def test_effects_of_the_factor_panel(found):
    points = {f.what: f.recomputed for f in found if f.where == "Figure 13 c"}
    assert points["Jev: 6 - 2 queries"] == "-18.8" and points["Qwen3.5-27B: late - early"] == "-4.7"


def test_the_counts_are_those_of_the_specification():
    printed = json.loads(shared_file("spec/published.json").read_text())["choice2seq"]
    ours = tables()
    models = {
        "jev": "Jev",
        "startlux": "StartLux",
        "qwen3-8b-code": "Qwen3-8B code",
        "qwen3.5-27b-code": "Qwen3.5-27B code",
        "qwen3.5-27b-direct": "Qwen3.5-27B direct",
    }
    table1 = [
        [models[r["model"]], r["domain"], *r["joint"], r["native_em"], r["serial_em"], r["scr"], *r["ci"]]
        for r in printed["table1_joint"]["rows"]
    ]
    assert sorted(ours["table1"]["rows"]) == sorted(table1)
    semantic = {
        (r["model"].lower(), r["task"]): r["joint"] + [r["scr"], r["delta"], r["gain"]] for r in printed["table_d15_turnover"]["rows"]
    }
    for model, task, *rest in ours["tableD15"]["rows"]:
        if task.endswith("fields"):
            assert semantic[model.lower(), task.split()[0]] == rest
    assert [
        [r["length"], r["n"], r["native"], r["retained"], r["scr"], *r["ci"]] for r in printed["table_d11_independent_lexical"]["rows"]
    ] == ours["tableD11"]["rows"]
    more = printed["more"]
    assert [row[2:4] for row in more["table_d1_shared_correct"]["rows"]] == [[r[2], 384] for r in ours["tableD1"]["rows"]]
    assert [row[:3] + row[3:] for row in more["table_d8_factors"]["rows"]] == [[*r[:5], r[6], r[7]] for r in ours["tableD8"]["rows"]]
    assert [[*r[:6], r[7]] for r in more["table_d9_padded"]["rows"]] == [[n.lower(), *rest] for n, *rest in ours["tableD9"]["rows"]]
    assert [[*r[2:5], r[6]] for r in more["table_d10_binding"]["rows"]] == [r[2:] for r in ours["tableD10"]["rows"]]
    for model, domain, full, union in ours["tableD6"]["rows"]:
        assert [model.lower(), domain, full, union] in [r[:4] for r in more["table_d6_membership"]["rows"]]
    for domain, model, kept, native in ours["figure10"]["rows"]:
        assert more["fig10_and_table_d2"][domain][model.lower()] == [list(pair) for pair in zip(kept, native, strict=True)]
    audit, bank = more["table_d16_lexical_audit"], more["lexical_bank_accounting"]
    assert [ours["audit"][key] for key in ("member", "uncertain")] == [audit["jev_union_member_pct"], audit["jev_union_with_uncertain_pct"]]
    assert ours["audit"]["pairs"][-1] == audit["reviewed_pairs"] and ours["review"]["reviewed"] == bank["reviewed"]
    assert ours["review"]["bank"] == [bank["bank"], bank["eligible"], *bank["held"], bank["selected"], bank["unused"]]
    assert ours["review"]["cohort"] == [bank["cohort_bank"], bank["excluded"], bank["retained"], *bank["by_length"]]
    continuous = more["table3_continuous"]
    assert [row[1:3] for row in ours["table3"]["rows"]] == [continuous[key] for key in ("native", "whole", "position", "prefix_continue")]
    assert [[*r[2:6], *r[7:]] for r in more["table_d16_lexical_audit"]["rows"]] == [r[2:] for r in ours["tableD16"]["rows"]]
    assert more["table_b1_whole_answer"]["rows"] == ours["whole_answer"]["rows"]


def test_the_text_reads_at_80_columns(found, capsys):
    from c2s.cli import main

    assert main(["reproduce", "published"]) == 0
    out = capsys.readouterr().out
    body, _, summary = out.partition("Summary: ")
    assert max(map(len, out.splitlines())) < 80 and len(out.splitlines()) < 900
    blocks = body.split("\n\n")[1:]
    sources = list(dict.fromkeys(f.where.partition(", ")[0] for f in found if f.recomputed))
    assert [b.strip().splitlines()[0] for b in blocks if b.strip()] == sources
    for b in filter(str.strip, blocks):  # printed, recomputed and verdict stand in one line, the columns once
        assert " ".join(b.strip().splitlines()[1].split()) == "what printed recomputed verdict" and b.count("verdict") == 1
    counts = Counter(f.verdict for f in found)
    flat = " ".join(summary.split())
    assert (
        f"of {len(found)} figures {counts['agrees']} agree, {counts['differs']} differ, {counts['not recomputable']} cannot be recomputed"
        in flat
    )
    for f in found:
        if f.verdict in ("differs", "not recomputable"):
            assert f.where in flat
            assert f.verdict == "differs" or flat.count(f"- {f.note}: ") == 1  # a reason is said once
