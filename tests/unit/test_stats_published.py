"""Every figure of the two papers that can be recomputed from printed counts (`../shared/spec/published.json`).

What cannot be recomputed is named in the test that would otherwise hold it. Not tested at all, because their counts are not printed:
length-stratified intervals of Tables 1 (two rows), D1, D4, D9 and D10; Tables D12 and D14 (they need every score); the tests of D.7, of
the grid and of the readout interactions (they need per-parent outcomes). Support figures (D7) belong to the banks.
"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binom
from support.shared import shared_file
from support.tables import expand

from c2s import stats


@pytest.fixture(scope="module")
def published() -> dict:
    return json.loads(shared_file("spec/published.json").read_text())


@pytest.fixture(scope="module")
def paper(published) -> dict:
    return published["choice2seq"]


@pytest.fixture(scope="module")
def more(paper) -> dict:
    return paper["more"]


def percent(value: float | None, digits: int = 1) -> float:
    return round(100 * value, digits)


def ends(found: stats.Interval, digits: int = 1) -> list[float]:
    return [percent(found.low, digits), percent(found.high, digits)]


def counts_of(row) -> stats.JointCounts:
    native, serial, _ = expand([row])
    return stats.joint_counts(native, serial)


def test_table_1_joint_counts(paper):
    for row in paper["table1_joint"]["rows"]:
        counts = counts_of(row["joint"])
        assert counts.n == 384
        assert percent(counts.native_em) == row["native_em"]
        assert percent(counts.serial_em) == row["serial_em"]
        assert percent(counts.scr) == row["scr"]
        low, high = counts.scr_bounds
        assert low <= counts.scr <= high
        assert abs(counts.scr - counts.serial_em) <= 1 - counts.native_em


def test_table_1_intervals(paper):
    """The paper stratifies by length and prints no counts by length. Rows marked recomputable agree with one stratum; for
    the other two (Jev and direct Qwen3.5-27B, arithmetic) only this is sure: stratifying makes an interval narrower, not wider."""
    checked = 0
    for row in paper["table1_joint"]["rows"]:
        native, serial, _ = expand([row["joint"]])
        found = stats.bootstrap_scr(native, serial, method="exact")
        if row.get("ci_kind") == "clopper-pearson":
            assert found.degenerate and (found.low, found.high) == (0.0, 0.0)
            assert ends(found.clopper_pearson) == row["ci"]
        elif row["recomputable_unstratified"]:
            assert ends(found) == row["ci"]
        else:
            assert ends(found)[0] <= row["ci"][0] + 0.1 and row["ci"][1] - 0.1 <= ends(found)[1]
            continue
        checked += 1
    assert checked == 8


def test_table_d15_turnover(paper):
    for row in paper["table_d15_turnover"]["rows"]:
        counts = counts_of(row["joint"])
        assert counts.n == row["n"]
        assert percent(counts.scr) == row["scr"]
        assert percent(counts.delta) == row["delta"]
        assert percent(counts.gain_rate) == row["gain"]
        native, serial, _ = expand([row["joint"]])
        assert percent(stats.bootstrap_gain_rate(native, serial).estimate) == row["gain"]


def d11_items(paper) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rows = paper["table_d11_independent_lexical"]["rows"]
    native, serial, stratum = expand([(r["retained"], r["native"] - r["retained"], 0, r["n"] - r["native"]) for r in rows])
    return native, serial, np.array([r["length"] for r in rows])[stratum]


def test_table_d11_by_length(paper):
    """Monte Carlo in the paper: agreement within one success; zero-success lengths carry Clopper-Pearson."""
    for row in paper["table_d11_independent_lexical"]["rows"]:
        native, serial, _ = expand([(row["retained"], row["native"] - row["retained"], 0, row["n"] - row["native"])])
        found = stats.bootstrap_scr(native, serial, method="exact")
        assert percent(found.estimate, 2) == row["scr"]
        if row["ci_kind"] == "clopper-pearson":
            assert found.degenerate and ends(found.clopper_pearson, 2) == row["ci"]
        else:
            one = 100 / row["native"] + 0.006
            assert found.low * 100 == pytest.approx(row["ci"][0], abs=one)
            assert found.high * 100 == pytest.approx(row["ci"][1], abs=one)


def test_table_d11_pooled_exact(paper):
    """Stratified 7/2333 and 20/2325; the printed 0.26 and 0.86 are one stratum's 6/2320 and 20/2319."""
    native, serial, length = d11_items(paper)
    found = stats.bootstrap_scr(native, serial, length, method="exact")
    assert found.estimate == 13 / 2328
    assert (found.low, found.high) == (7 / 2333, 20 / 2325)
    pooled = stats.bootstrap_scr(native, serial, method="exact")
    assert pooled.low == 6 / 2320 and percent(pooled.low, 2) == 0.26 and percent(pooled.high, 2) == 0.86
    assert pooled.high == pytest.approx(0.0086244, abs=5e-8)
    assert stats.bootstrap_scr(native, serial, length).method == "exact"


def test_table_d11_pooled_probability_of_six_successes(paper):
    from c2s.kernels import exact, joint

    native, serial, length = d11_items(paper)
    cells = joint.joint_cells(native & serial == 1, native == 1, joint.strata_of(length, len(native)))
    x, _, mass = exact.exact_law(cells)
    assert mass[x <= 6].sum() == pytest.approx(0.022457, abs=5e-7)


@pytest.mark.parametrize("method", ["multinomial", "items"])
def test_table_d11_pooled_drawn(paper, method):
    """The paper's 9,999 draws and seed: each end within one success of the exact one."""
    native, serial, length = d11_items(paper)
    found = stats.bootstrap_scr(native, serial, length, method=method, draws=9_999, seed=20261008)
    assert found.low == pytest.approx(7 / 2333, abs=1 / 2328) and found.high == pytest.approx(20 / 2325, abs=1 / 2328)


def test_clopper_pearson_intervals(paper):
    for row in paper["clopper_pearson_95"]:
        found = stats.clopper_pearson(row["k"], row["n"])
        digits = 2 if row["n"] == 2347 else 1
        if "lo" in row:
            assert percent(found.low, digits) == row["lo"]
        assert percent(found.high, digits) == row["hi"]


def test_table_3_continuous(more):
    table = more["table3_continuous"]
    n = table["n"]
    assert percent(stats.clopper_pearson(0, n).high) == table["zero_upper_pct"]
    assert percent(table["prefix_continue_valid_lexical_inferred"] / n) == table["prefix_continue_valid_lexical_pct"]
    assert table["calls_per_item"] * n == table["position_requests_per_domain"]


def test_table_4_requests(more):
    """One Native and four copying arms per item and length. No percentages and no intervals are printed."""
    table = more["table4_own_plan"]
    assert 60 + 4 * 5 * 2 * sum(range(3, 9)) == table["requests_per_model"]
    for _, _, raw, indexed, gold in table["rows"]:
        assert max(raw, indexed, gold) <= table["n"]


def test_table_b1_whole_answer(more):
    table = more["table_b1_whole_answer"]
    for _, native, whole, joint, lost, gained in table["rows"]:
        counts = counts_of((joint, lost, gained, table["n"] - joint - lost - gained))
        assert counts.both + counts.lost == native and counts.both + counts.gained == whole
        assert percent(counts.native_em) in (15.4, 94.5) and percent(counts.serial_em) in (47.1, 96.9)


def test_table_b2_semantic_em(more, paper):
    """SCR intervals are stratified by eight gold patterns whose counts are not printed: only "the stratified interval lies inside
    the unstratified one" can be asserted."""
    printed = {  # paper, Table B2
        ("jev", "named"): (93.0, 99.2),
        ("jev", "binary"): (86.0, 96.8),
        ("startlux", "named"): (67.6, 86.6),
        ("startlux", "binary"): (40.4, 60.5),
        ("qwen3-8b", "named"): (8.0, 36.0),
        ("qwen3-8b", "binary"): (0.0, 16.7),
    }
    by_key = {(r["model"], r["task"]): r for r in paper["table_d15_turnover"]["rows"]}
    for model, task, native_em, serial_em, both, native, scr in more["table_b2_semantic_em"]["rows"]:
        row = by_key[model, task]["joint"]
        counts = counts_of(row)
        assert (counts.both, counts.both + counts.lost) == (both, native)
        assert (percent(counts.native_em), percent(counts.serial_em), percent(counts.scr)) == (native_em, serial_em, scr)
        a, b, _ = expand([row])
        whole = stats.bootstrap_scr(a, b)
        low, high = printed[model, task]
        assert ends(whole)[0] <= low and high <= ends(whole)[1]
        if (model, task) == ("startlux", "binary"):
            assert ends(whole) == [36.0, 64.0]


def test_table_d1_shared_correct(more):
    """SCR on a fixed shared-correct population: one binomial. Rows that need length strata only contain the printed interval."""
    for _, _, coverage, _, retained, scr, low, high, matches in more["table_d1_shared_correct"]["rows"]:
        kept = np.r_[np.ones(retained), np.zeros(coverage - retained)]
        found = stats.bootstrap_mean(kept, method="exact")
        assert percent(found.estimate) == scr
        expected = binom.ppf([0.025, 0.975], coverage, retained / coverage) / coverage
        assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-12)
        if matches:
            assert ends(found) == [low, high]
        else:
            assert percent(found.low) <= low + 0.1 and high - 0.1 <= percent(found.high)


def settings_of(more, domain: str, model: str) -> list[list[int]]:
    return more["fig10_and_table_d2"][domain][model]


def test_figure_10_and_table_d2(more):
    """SCR by setting, and who leads: Jev in all seven arithmetic and five lexical settings, two lexical settings without any success."""
    figure = more["fig10_and_table_d2"]
    assert len(figure["settings"]) == 7
    leads = {}
    for domain in ("math", "lexical"):
        leads[domain] = []
        for s in range(7):
            scrs = {m: figure[domain][m][s][0] / figure[domain][m][s][1] for m in ("jev", "startlux", "qwen3-8b")}
            best = max(scrs.values())
            leads[domain].append([m for m, v in scrs.items() if v == best] if best > 0 else [])
    assert leads["math"] == [["jev"]] * 7
    assert sum(lead == ["jev"] for lead in leads["lexical"]) == 5 and sum(not lead for lead in leads["lexical"]) == 2
    order = ("reference", "repeat1", "repeat2")
    for domain in ("math", "lexical"):
        serials = figure["table_d2_retained"][domain]["serial"]
        for name, (retained, _) in zip(order, serials, strict=True):
            assert figure[domain]["jev"][figure["settings"].index(name)][0] == retained


def test_table_d4_mean_and_worst(more):
    """From Table D3's retained counts. The intervals need the items' joint outcomes over the templates, which are not printed."""
    templates = {"math": [(7, 95), (27, 94), (12, 95)], "lexical": [(38, 95), (54, 96), (47, 95)]}
    for domain, mean, worst in more["table_d4_mean_worst"]["rows"]:
        native = [np.r_[np.ones(d), np.zeros(96 - d)] for _, d in templates[domain]]
        serial = [np.r_[np.ones(k), np.zeros(96 - k)] for k, _ in templates[domain]]
        found = stats.bootstrap_worst_scr(native, serial, draws=99)
        assert percent(found.estimate) == worst and percent(found.mean.estimate) == mean
        assert found.worst == (0,)
        assert [round(s.estimate * d) for s, (_, d) in zip(found.settings.values(), templates[domain], strict=True)] == [
            k for k, _ in templates[domain]
        ]


def test_table_d6_membership(more):
    n = more["table_d6_membership"]["n"]
    for _, _, full, union, full_k, union_k in more["table_d6_membership"]["rows"]:
        assert percent(full_k / n) == full and percent(union_k / n) == union


def test_table_d8_factors(more):
    """Average effects from the printed counts, and the intervals of empty cells. The tests need per-source outcomes: not printed."""
    table = more["table_d8_factors"]
    for offset, model in ((3, "jev"), (5, "qwen3.5-27b")):
        cell = {(r[0], r[1], r[2]): r[offset] / table["n"] for r in table["rows"]}
        effect = {
            "26-10": np.mean([cell[b, 26, q] - cell[b, 10, q] for b in ("early", "late") for q in (2, 6)]),
            "6-2": np.mean([cell[b, c, 6] - cell[b, c, 2] for b in ("early", "late") for c in (10, 26)]),
            "late-early": np.mean([cell["late", c, q] - cell["early", c, q] for c in (10, 26) for q in (2, 6)]),
        }
        for name, value in table["derived_effects_pp"][model].items():
            assert 100 * effect[name] == pytest.approx(value, abs=1e-12)
        for row in table["rows"]:
            assert row[offset + 1] <= min(row[offset], table["native"][row[0]][model])
    assert [percent(stats.clopper_pearson(0, n).high) for n in (26, 21, 16)] == [13.2, 16.1, 20.6]


def rounds_to(p: float, printed: str) -> bool:
    """Whether p, at the number of significant digits printed, is what is printed."""
    digits = len(printed.split("e")[0].replace(".", "").lstrip("0"))
    return float(f"{p:.{digits}g}") == float(printed)


def test_table_d9_padded(more):
    """Exact McNemar with Holm inside the four byte tests and, apart, the two token tests. Intervals need length strata: not printed."""
    table = more["table_d9_padded"]
    families: dict[str, dict] = {"bytes": {}, "tokens": {}}
    for model, domain, match, indexed, padded, difference, (b, c), _ in table["rows"]:
        assert b - c == indexed - padded and percent((b - c) / table["n"]) == difference
        families[match][model, domain] = stats.mcnemar_exact(b, c)
    adjusted = {match: stats.holm(p) for match, p in families.items()}
    for model, domain, match, *_, printed in table["rows"]:
        assert rounds_to(adjusted[match][model, domain], printed)


def test_table_d10_binding(more):
    """A family of twelve; the six tests on indexed evidence have no discordance. Jev's raw lexical discordance is not printed: any
    with net one gives p = 1."""
    table = more["table_d10_binding"]
    p = {(model, domain, "indexed"): stats.mcnemar_exact(0, 0) for model, domain, *_ in table["rows"]}
    for model, domain, literal, opaque, difference, pairs, _ in table["rows"]:
        assert percent((literal - opaque) / table["n"]) == difference
        b, c = pairs if pairs else (max(literal - opaque, 0), max(opaque - literal, 0))
        p[model, domain, "raw"] = stats.mcnemar_exact(b, c)
    adjusted = stats.holm(p, planned=table["family"])
    for model, domain, *_, printed in table["rows"]:
        assert rounds_to(adjusted[model, domain, "raw"], printed)


@pytest.mark.parametrize("mixture", ["source", "equal"])
def test_table_d13_mixture(more, paper, mixture):
    """9,999 draws within length; equal-length weights 1 / (6 n_L) make a ratio of weighted sums, which no lattice holds, so it is
    drawn. The printed upper end of the equal SCR stands on a rounding edge (3.65): 0.1 is allowed. The original cohort's counts by
    length are not printed."""
    (row,) = [r for r in more["table_d13_mixture"]["rows"] if r[0] == mixture]
    native, serial, length = d11_items(paper)
    sizes = {v: int((length == v).sum()) for v in np.unique(length)}
    weights = None if mixture == "source" else np.array([1 / (6 * sizes[v]) for v in length])
    common = dict(weights=weights, draws=99_999, seed=20261008)
    found = [
        stats.bootstrap_mean(native, length, **common),
        stats.bootstrap_mean(serial, length, **common),
        stats.bootstrap_scr(native, serial, length, **common),
    ]
    for interval, (estimate, low, high) in zip(found, row[1:], strict=True):
        assert percent(interval.estimate) == estimate
        assert percent(interval.low) == pytest.approx(low, abs=0.1001)
        assert percent(interval.high) == pytest.approx(high, abs=0.1001)
    if mixture == "equal":
        assert [percent(i.estimate, 3) for i in found] == [99.262, 2.179, 2.196]
        assert found[2].method == "multinomial" and found[2].note


def test_table_d16_lexical_audit(more):
    table = more["table_d16_lexical_audit"]
    for model, controller, n, *categories, _ in table["rows"]:
        assert sum(categories) == n
        assert percent(categories[0] / n) == table["em_pct"][model][controller]
    union = next(r for r in table["rows"] if r[:2] == ["jev", "UnionCall"])
    assert percent((union[3] + union[4]) / union[2]) == table["jev_union_member_pct"]
    assert percent((union[3] + 1) / union[2]) == table["jev_union_with_uncertain_pct"]


def test_lexical_bank_accounting(more):
    bank = more["lexical_bank_accounting"]
    assert bank["bank"] - sum(bank["held"]) == bank["eligible"] == bank["selected"] + bank["unused"]
    assert bank["cohort_bank"] - bank["excluded"] == bank["retained"] == sum(bank["by_length"])
    assert bank["reviewed"][0] + bank["reviewed"][1] == bank["reviewed"][2]


def test_confidence_population(more):
    row = more["sd_confidence"]
    assert percent(row["k"] / row["n"], 2) == row["pct"]
    found = stats.clopper_pearson(row["k"], row["n"])
    assert ends(found, 2) == [0.3, 0.95]
