"""Reports over panels: the document's forms, families over runs, and endpoints against plain definitions on recorded outcomes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from c2s import stats
from c2s.ledger import reader, sqlite
from c2s.ledger.directory import RunDirectory
from c2s.panels.registry import PANELS
from c2s.verification import verify

ISSUE = (
    "main, turnover, robustness, repeats, union, support, factors, independence, gold-copy, workflows, copying, prefix, own-plan, "
    "readout, isomorphic, semantic, stopping, confidence, projection, lexical-audit, cost"
).split(", ")
Report = Callable[..., dict[str, Any]]


@pytest.fixture
def report_of(c2s, memory_path: Path) -> Report:
    """Runs panels into `memory_path/NAME` and returns the document."""

    def run(name: str, *arguments: object) -> dict[str, Any]:
        code, out, _ = c2s("run", "--json", "--out", memory_path / name, *arguments)
        assert code == 0
        return json.loads(out)

    return run


def outcomes(path: Path, panel: str) -> dict[str, dict[str, Any]]:
    """{parent: {arm: outcome}} of replicate 0."""
    with sqlite.reading(RunDirectory.open(path).ledger_path) as db:
        found = reader.outcomes_by_parent(db, panel)
    return {name: {o.arm: o for o in group if o.replicate == 0} for name, group in found.items()}


def parents(path: Path, panel: str) -> dict[str, Any]:
    with sqlite.reading(RunDirectory.open(path).ledger_path) as db:
        return {row.parent.id: row.parent for row in reader.parents(db, panel)}


def test_panels_are_listed_with_their_requests_and_needs(c2s):
    code, out, _ = c2s("panels", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0 and set(ISSUE) <= set(rows) and set(rows) == set(PANELS)
    assert {name for name in ISSUE if rows[name]["requests"] == 0} == {
        "turnover",
        "independence",
        "confidence",
        "projection",
        "lexical-audit",
        "cost",
    }
    assert {name: rows[name]["requests"] for name in ("main", "union", "own-plan", "factors", "robustness", "repeats")} == {
        "main": 9984, "union": 7872, "own-plan": 1380, "factors": 1088, "robustness": 4464, "repeats": 1404,
    }  # fmt: skip
    assert "panel main" in rows["workflows"]["needs"] and "a model that reports probabilities" in rows["confidence"]["needs"]
    code, out, _ = c2s("panels")
    assert code == 0 and "own-plan: 60 parents, 1,380 requests at most" in out


def test_one_document_whatever_was_run(report_of, c2s, memory_path: Path):
    one = report_of("one", "--panel", "prefix", "--domain", "math", "--limit", 2, "--model", "sim:oracle")
    assert one["panel"] == "prefix" and "used" not in one and one["requests"]["ok"] == 8
    used = report_of("used", "--panel", "workflows", "--domain", "math", "--limit", 2, "--model", "sim:oracle")
    assert (
        used["panel"] == "workflows"
        and list(used["used"]) == ["main"]
        and used["used"]["main"]["sections"]["transitions"]["rows"][0]["n"] == 2
    )
    several = report_of("several", "--panel", "main,union,cost", "--domain", "math", "--limit", 2, "--model", "sim:oracle")
    assert list(several["panels"]) == ["main", "union", "cost"] and several["requests"]["ok"] == sum(
        p["requests"]["ok"] for p in several["panels"].values()
    )
    assert several["panels"]["cost"]["requests"]["planned"] == 0
    code, out, _ = c2s("report", memory_path / "one", memory_path / "used", "--json")
    both = json.loads(out)
    assert code == 0 and [run["panel"] for run in both["runs"]] == ["prefix", "workflows"]


def test_a_family_spans_the_runs_that_are_shown_together(report_of, c2s, memory_path: Path):
    for seed in (1, 2):
        report_of(f"r{seed}", "--panel", "union,turnover", "--domain", "math", "--limit", 12, "--model", f"sim:positions?p=0.6&seed={seed}")
    code, out, _ = c2s("report", memory_path / "r1", memory_path / "r2", "--json")
    document = json.loads(out)
    tests = [run["panels"]["union"]["sections"]["contrasts:full/union"]["rows"][0] for run in document["runs"]]
    assert code == 0 and [t["m"] for t in tests] == [2, 2]
    smaller, larger = sorted(tests, key=lambda t: t["p"])
    assert smaller["p_holm"] == pytest.approx(min(1, 2 * smaller["p"])) and larger["p_holm"] >= smaller["p_holm"]
    shared = document["across"]["turnover"]["shared_correct"]["rows"]
    runs = [outcomes(memory_path / f"r{seed}", "main") for seed in (1, 2)]
    both = [name for name in runs[0] if all(run[name]["native"].correct for run in runs)]
    assert [row["coverage"] for row in shared] == [[len(both), 12]] * 2
    assert [row["scr_count"][0] for row in shared] == [sum(run[name]["serial"].correct for name in both) for run in runs]


def test_ranking_over_runs_names_ties(report_of, c2s, memory_path: Path):
    for name, model in (("good", "sim:oracle"), ("same", "sim:oracle?seed=2"), ("bad", "sim:random")):
        report_of(name, "--panel", "robustness", "--domain", "math", "--limit", 6, "--model", model)
    _, out, _ = c2s("report", *(memory_path / n for n in ("good", "same", "bad")), "--json")
    rows = json.loads(out)["across"]["robustness"]["ranking"]["rows"]
    assert len(rows) == 7 and all(row["serial_em_order"] == "sim:oracle = sim:oracle?seed=2 > sim:random" for row in rows)


def test_confidence_scores_are_products_means_and_minima_of_what_was_reported(report_of, memory_path: Path):
    document = report_of("run", "--panel", "confidence", "--domain", "math", "--limit", 24, "--model", "sim:positions?p=0.8&native=0.9")
    rows = {row["score"]: row for row in document["sections"]["calibration"]["rows"]}
    serial = [group["serial"] for group in outcomes(memory_path / "run", "main").values()]
    products = [math.prod(o.detail["p"]) for o in serial]
    geometric = [x ** (1 / len(o.detail["p"])) for x, o in zip(products, serial, strict=True)]
    minima = [min(o.detail["top"]) for o in serial]
    for name, scores in (("product", products), ("geometric", geometric), ("minimum", minima)):
        brier = sum((s - o.correct) ** 2 for s, o in zip(scores, serial, strict=True)) / len(serial)
        assert rows[name]["brier"] == pytest.approx(brier, rel=1e-9)
        bins: dict[int, list[tuple[float, bool]]] = {}
        for s, o in zip(scores, serial, strict=True):
            bins.setdefault(min(9, int(s * 10)), []).append((s, o.correct))
        ece = sum(abs(sum(s for s, _ in b) - sum(c for _, c in b)) for b in bins.values()) / len(serial)
        assert rows[name]["ece"] == pytest.approx(ece, rel=1e-9)
    assert {row["mixture"] for row in rows.values()} == {"equal"}  # four items of each length
    at_coverage = {row["score"]: row for row in document["sections"]["precision"]["rows"]}
    assert list(at_coverage) == [*rows, "length"]  # a baseline for ranking, without calibration (Figure 21)
    short = [o.correct for o in serial if len(o.output) <= 5]
    assert at_coverage["length"]["p50"] == pytest.approx(sum(short) / len(short))  # half of the items have lengths 3, 4 and 5


def test_equal_lengths_weigh_by_one_over_their_number(report_of, memory_path: Path):
    document = report_of(
        "run", "--panel", "confidence,cohort", "--domain", "lexical", "--limit", 40, "--model", "sim:positions?p=0.7&native=0.8"
    )
    rows = {(row["population"], row["mixture"]): row for row in document["panels"]["confidence"]["sections"]["mixtures"]["rows"]}
    found, items = outcomes(memory_path / "run", "cohort"), parents(memory_path / "run", "cohort")
    counts = {n: sum(p.length == n for p in items.values()) for n in range(3, 9)}
    weight = {name: 1 / (6 * counts[items[name].length]) for name in found}
    both = sum(w for name, w in weight.items() if found[name]["native"].correct and found[name]["serial"].correct)
    native = sum(w for name, w in weight.items() if found[name]["native"].correct)
    assert rows["new lexical", "equal"]["scr"] == pytest.approx(both / native)
    assert rows["new lexical", "source"]["native_em"] == pytest.approx(sum(o["native"].correct for o in found.values()) / 40)


def test_without_probabilities_confidence_is_undefined_with_its_reason(report_of, memory_path: Path):
    file = memory_path / "silent.py"
    file.write_text("uses_truth = True\ndef answer(call):\n    return dict(call.ask.truth)\n")
    document = report_of("run", "--panel", "confidence,projection", "--domain", "math", "--limit", 2, "--model", f"script:{file}")
    row = document["panels"]["confidence"]["sections"]["calibration"]["rows"][0]
    assert row["brier"] is None and "no probabilities" in row["undefined"]["brier"]
    row = document["panels"]["projection"]["sections"]["distance"]["rows"][0]
    assert row["tv"] is None and "no probabilities" in row["undefined"]["tv"]


def test_projection_sums_candidates_by_character(report_of, memory_path: Path):
    document = report_of("run", "--panel", "projection", "--domain", "math", "--limit", 6, "--model", "sim:positions?p=0.6&native=0.7")
    totals, outside = [], []
    items = parents(memory_path / "run", "main")
    for name, group in outcomes(memory_path / "run", "main").items():
        item, whole, local = items[name], group["native"].detail["distribution"][0], group["independent"].detail["distribution"]
        distances, stray = [], []
        for t in range(item.length):
            mass = dict.fromkeys("0123456789", 0.0)
            for candidate, p in zip(item.candidates, whole, strict=True):
                mass[candidate[t]] += p
            asked = dict(zip("0123456789", local[t], strict=True))
            distances.append(sum(abs(mass[c] / sum(mass.values()) - asked[c] / sum(asked.values())) for c in mass) / 2)
            stray.append(sum(p for c, p in asked.items() if c not in {x[t] for x in item.candidates}) / sum(asked.values()))
        totals.append(sum(distances) / item.length)
        outside.append(sum(stray) / item.length)
    assert document["sections"]["distance"]["rows"][0]["tv"] == pytest.approx(sum(totals) / 6)
    assert document["sections"]["unsupported"]["rows"][0]["unsupported"] == pytest.approx(sum(outside) / 6)


def test_cost_counts_answers_and_keeps_the_clock_out_of_the_stored_report(report_of, memory_path: Path):
    document = report_of("run", "--panel", "main,cost", "--domain", "math", "--limit", 3, "--model", "sim:oracle")
    rows = {row["arm"]: row for row in document["panels"]["cost"]["sections"]["by_arm"]["rows"]}
    items = parents(memory_path / "run", "main")
    assert rows["serial"]["requests"] == sum(p.length for p in items.values()) and rows["native"]["requests"] == 3
    assert rows["serial"]["input_tokens"] is None and "no usage" in rows["serial"]["undefined"]["input_tokens"]
    assert "seconds" in rows["serial"]["clock"]
    stored = json.loads((memory_path / "run/report.json").read_text())
    assert all("clock" not in row for row in stored["panels"]["cost"]["sections"]["by_arm"]["rows"])
    assert verify(memory_path / "run").differences == []


def test_lexical_outputs_fall_into_the_first_category_that_holds(c2s, report_of, memory_path: Path):
    document = report_of("run", "--panel", "lexical-audit", "--domain", "lexical", "--limit", 12, "--model", "sim:effect?name=roaming")
    rows = {row["arm"]: row for row in document["sections"]["categories"]["rows"]}
    found, items = outcomes(memory_path / "run", "support"), parents(memory_path / "run", "support")
    for arm, row in rows.items():
        outputs = [(items[name], group[arm].output) for name, group in found.items()]
        assert row["gold"] == sum(output == item.target for item, output in outputs)
        assert row["other_candidate"] == sum(output in item.candidates and output != item.target for item, output in outputs)
        assert (
            sum(row[key] for key in ("gold", "other_candidate", "malformed", "gold_synset", "other_noun", "other_word", "unindexed")) == 12
        )
    assert rows["trie_call"]["gold"] + rows["trie_call"]["other_candidate"] == 12


def test_a_blinded_review_goes_out_and_comes_back(c2s, report_of, memory_path: Path):
    report_of("run", "--panel", "lexical-audit", "--domain", "lexical", "--limit", 12, "--model", "sim:effect?name=roaming")
    sheet = memory_path / "review.csv"
    assert c2s("review", "export", memory_path / "run", "--out", sheet)[0] == 0
    header, *lines = sheet.read_text().splitlines()
    assert header == "subject,definition,length,word,is_a_noun,fits_the_definition" and lines == sorted(lines)
    golds = {p.target for p in parents(memory_path / "run", "support").values()}
    assert not {line.rsplit(",", 3)[1] for line in lines} & golds and "union" not in sheet.read_text()
    filled = memory_path / "filled.csv"
    filled.write_text(
        "\n".join(
            [header, *(line[:-1] + "yes,yes" for line in lines[:1]), *(line[:-1] + "uncertain,yes" for line in lines[1:2]), *lines[2:]]
        )
    )
    code, out, _ = c2s("review", "score", memory_path / "run", filled, filled, "--json")
    rows = json.loads(out)["rows"]
    assert code == 0 and sum(row["accepted"][0] - row["gold"][0] for row in rows) >= 1
    assert sum(row["not_rejected"][0] - row["accepted"][0] for row in rows) >= 1
    filled.write_text(f"{header}\n{lines[0][:-1]}perhaps,yes\n")
    code, _, err = c2s("review", "score", memory_path / "run", filled)
    assert code == 2 and "is_a_noun is 'perhaps'; give yes, no or uncertain" in err


def test_observed_wrong_targets_come_from_an_earlier_run(c2s, report_of, memory_path: Path):
    model = "sim:positions?p=0.9&native=0.5"
    report_of("earlier", "--domain", "math", "--limit", 24, "--model", model)
    document = report_of(
        "copied", "--panel", "copying", "--domain", "math", "--limit", 24, "--model", model, "--observed", memory_path / "earlier"
    )
    native = {name: group["native"] for name, group in outcomes(memory_path / "earlier", "main").items()}
    for name, parent in parents(memory_path / "copied", "copying").items():
        seen = name in native and not native[name].correct
        assert parent.payload["wrong_kind"] == ("observed" if seen else "constructed")
        assert parent.payload["wrong_target"] == native[name].output if seen else parent.payload["wrong_target"] in parent.candidates
    assert {row["group"] for row in document["sections"]["wrong_groups"]["rows"]} >= {"observed error", "constructed"}
    assert verify(memory_path / "copied").differences == []
    code, _, err = c2s("run", "--panel", "main", "--model", model, "--observed", memory_path / "earlier", "--out", memory_path / "no")
    assert code == 2 and "--observed is for the copying panel" in err and not (memory_path / "no").exists()
    code, _, err = c2s("run", "--panel", "copying", "--model", model, "--observed", memory_path / "copied", "--out", memory_path / "no")
    assert code == 2 and "has no main panel" in err


def test_tables_name_the_papers_tables_and_explain_what_is_undefined(c2s, report_of, memory_path: Path):
    report_of("run", "--panel", "own-plan,stopping,robustness", "--domain", "math", "--limit", 6, "--model", "sim:oracle")
    code, out, _ = c2s("report", memory_path / "run")
    assert code == 0 and "(Table 4, Figure 4)" in out and "(Figure 10)" in out and "(B.7)" in out
    assert "Holm over the m = 1 test of family 'indexing'" in out and "† all items of a stratum" in out
    code, out, _ = c2s("report", memory_path / "run", "--format", "md")
    assert code == 0 and out.count("### ") >= 8


def test_compliance_is_counted_apart_from_correctness(report_of, c2s, memory_path: Path):
    file = memory_path / "odd.py"
    file.write_text(
        "uses_truth = True\ndef answer(call):\n    return '?' if call.slot.arm == 'serial' and call.slot.step == 2 else "
        "dict(call.ask.truth)\n"
    )
    document = report_of("run", "--domain", "math", "--limit", 6, "--model", f"script:{file}")
    rows = {row["arm"]: row for row in document["sections"]["compliance"]["rows"]}
    assert rows["serial"]["kinds"] == {"other_invalid": 6} and rows["serial"]["valid"] == 0
    assert rows["native"]["kinds"] == {"strict_correct": 6} and rows["native"]["valid"] == 1
    assert "compliance with the contract" in c2s("report", memory_path / "run")[1]
    report_of("clean", "--domain", "math", "--limit", 2, "--model", "sim:random")
    assert "compliance with the contract" not in c2s("report", memory_path / "clean")[1]


def test_every_panel_runs_on_a_real_model_and_verifies(c2s, memory_path: Path):
    pytest.importorskip("sparrow_decider")
    code, out, err = c2s("run", "--panel", "all", "--model", "sparrow", "--limit", 1, "--out", memory_path / "run", "--json")
    document = json.loads(out)
    assert code == 0 and set(ISSUE) <= set(document["panels"])
    skipped = [line for line in err.splitlines() if "is skipped" in line]
    assert len(skipped) == 5 and all("text" in line or "tokenizer" in line for line in skipped)  # the panels of models that write
    assert document["requests"]["error"] == document["requests"]["unknown"] == 0
    assert verify(memory_path / "run").differences == []


def test_gee_is_shown_on_request_alone_and_the_stored_report_never_holds_it(report_of, c2s, memory_path: Path):
    pytest.importorskip("statsmodels")
    stored = report_of("run", "--panel", "gold-copy", "--limit", 12, "--model", "sim:positions?p=0.8")
    assert "gee" not in stored["sections"]
    code, out, _ = c2s("report", memory_path / "run", "--exploratory", "--json")
    rows = json.loads(out)["sections"]["gee"]["rows"]
    assert code == 0 and [row["contrast"] for row in rows if row["domain"] == "math"] == [
        "teacher_forced / independent",
        "serial / independent",
    ]
    assert all(row["odds_ratio_interval"][0] < row["odds_ratio"] < row["odds_ratio_interval"][1] and 0 <= row["p"] <= 1 for row in rows)
    assert [row["clusters"] for row in rows] == [12] * 4 and "family" not in rows[0]
    code, out, _ = c2s("report", memory_path / "run", "--json")
    assert code == 0 and "gee" not in json.loads(out)["sections"]


def test_what_a_prefix_changes_is_a_paired_difference(report_of, memory_path: Path):
    document = report_of("run", "--panel", "gold-copy", "--domain", "math", "--limit", 12, "--model", "sim:positions?p=0.8")
    own, main = outcomes(memory_path / "run", "gold-copy"), outcomes(memory_path / "run", "main")
    row = next(r for r in document["sections"]["prefix_effects"]["rows"] if r["contrast"] == "teacher_forced - independent")
    expected = sum(own[name]["teacher_forced"].correct - main[name]["independent"].correct for name in own) / len(own)
    assert row["n"] == len(own) == 12 and row["em"] == pytest.approx(expected)


def test_every_panel_with_a_pair_prints_its_retention(c2s, memory_path: Path):
    """Finding R1: the cohort printed nothing. Lost and gained carry the names of the pair's arms (R11)."""
    code, out, _ = c2s("run", "--panel", "cohort,own-plan", "--model", "sim:positions", "--limit", 12, "--out", memory_path / "run")
    text = " ".join(out.split())
    assert code == 0 and "cohort: which correct answers survive, Native -> Serial" in text and "cohort: exact McNemar" in text
    assert "own-plan: which correct answers survive, Native -> indexed serial" in text
    assert "Lost: Native right, Serial wrong" in text and "Lost: Native right, indexed serial wrong" in text
    document = json.loads((memory_path / "run/report.json").read_bytes())
    found = outcomes(memory_path / "run", "cohort")
    pairs = [(arms["native"].correct, arms["serial"].correct) for arms in found.values()]
    (row,) = document["panels"]["cohort"]["sections"]["transitions"]["rows"]
    assert row["joint"] == [pairs.count(cell) for cell in ((True, True), (True, False), (False, True), (False, False))] and row["n"] == 12


def test_the_semantic_panel_has_one_interval_of_scr_by_gold_pattern(report_of, memory_path: Path):
    """Finding R5: an unstratified interval of the same number stood beside it."""
    document = report_of("run", "--panel", "semantic", "--model", "sim:positions?p=0.8&native=0.9")
    sections = document["sections"]
    assert set(sections) == {"by_presentation", "accuracy", "mcnemar", "compliance"}
    named = next(row for row in sections["by_presentation"]["rows"] if row["presentation"] == "named")
    found, items = outcomes(memory_path / "run", "semantic"), parents(memory_path / "run", "semantic")
    native, serial = ([found[name][f"{arm}_named"].correct for name in items] for arm in ("native", "serial"))
    exact = stats.bootstrap_scr(native, serial, [item.target for item in items.values()])
    assert named["scr_interval"] == [exact.low, exact.high]
    assert sections["mcnemar"]["rows"][0]["joint"] == named["joint"]
