"""Every figure of the paper that follows from counts that it prints, recomputed beside the printed one.

A recomputed figure agrees if it rounds to what is printed. An interval whose strata are not printed is recomputed without them
and says so; where it then differs, it counts as not recomputable rather than as a difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from c2s import stats
from c2s.kernels.joint import Labels
from c2s.panels.registry import PANELS
from c2s.reproduce import dialogue_tables, shares
from c2s.reproduce.figures import Figure, Verdict, compare, percent, tables
from c2s.settings import Settings

FLAGS = NDArray[np.bool_]
LENGTHS = NDArray[np.int64]


def figures() -> list[Figure]:
    """All of them, in the order of the paper."""
    parts: Sequence[Callable[[], Iterator[Figure]]] = (
        _table1, _primary, _table_b1, _table_b2, _table_d1, _table_d3, _template_tests, _continuous, _renderings, _union, _factors,
        _padding, shares.binding, _cohort, _mixtures, _turnover, _audit, shares.figures, _boundaries, _plans,
        dialogue_tables.figures, _absent,
    )  # fmt: skip
    return [figure for part in parts for figure in part()]


def _joint(row: Sequence[int]) -> tuple[FLAGS, FLAGS]:
    """Native and Serial flags with these joint counts."""
    cells = [(1, 1), (1, 0), (0, 1), (0, 0)]
    flags = np.repeat(np.array(cells, bool), row, axis=0)
    return flags[:, 0], flags[:, 1]


def _interval(
    where: str, flags: tuple[FLAGS, FLAGS], bounds: tuple[float, float], decimals: int = 1, strata: Labels | None = None
) -> Figure:
    """The bootstrap interval of SCR from Native and Serial flags, beside the printed `bounds`."""
    native, serial = flags
    found = stats.bootstrap_scr(native, serial, strata, method="exact")
    note = "exact bootstrap" if strata is not None else "exact bootstrap without the length strata, whose counts are not printed"
    if found.clopper_pearson is not None:
        found, note = found.clopper_pearson, "Clopper-Pearson"
    values = [percent(found.low), percent(found.high)]
    parts = [compare(where, "SCR interval", p, v, decimals) for p, v in zip(bounds, values, strict=True)]
    printed, recomputed = f"[{parts[0].printed}, {parts[1].printed}]", f"[{parts[0].recomputed}, {parts[1].recomputed}]"
    agrees = all(part.verdict == "agrees" for part in parts)
    verdict: Verdict = "agrees" if agrees else "not recomputable" if strata is None else "differs"
    return Figure(where, "SCR interval", printed, recomputed, verdict, note)


def _table1() -> Iterator[Figure]:
    for model, domain, *rest in tables()["table1"]["rows"]:
        counts, (native_em, serial_em, scr, low, high) = rest[:4], rest[4:]
        where = f"Table 1, {model}, {domain}"
        native, serial = _joint(counts)
        joint = stats.joint_counts(native, serial)
        yield compare(where, "Native EM", native_em, percent(joint.native_em))
        yield compare(where, "Serial EM", serial_em, percent(joint.serial_em))
        yield compare(where, "SCR", scr, percent(joint.scr))
        yield _interval(where, (native, serial), (low, high))


def _primary() -> Iterator[Figure]:
    """Every primary decrease remains significant after Holm correction over six tests (section 4)."""
    rows = [row for row in tables()["table1"]["rows"] if row[0] in tables()["table1"]["primary"]]
    p = {f"{row[0]}, {row[1]}": float(stats.mcnemar_exact(row[3], row[4])) for row in rows}
    for name, value in stats.holm(p).items():
        verdict: Verdict = "agrees" if value < 0.05 else "differs"
        yield Figure("Section 4, primary tests", f"{name}: Holm p", "< 0.05", f"{value:.2g}", verdict, f"exact McNemar, m = {len(p)}")


def _table_b1() -> Iterator[Figure]:
    for domain, native, whole, both, lost, gained in tables()["whole_answer"]["rows"]:
        yield compare("Table B1", f"{domain}: Native = joint + lost", native, both + lost, 0)
        yield compare("Table B1", f"{domain}: whole = joint + gained", whole, both + gained, 0)


def _table_b2() -> Iterator[Figure]:
    counts = {(row[0], row[1]): row[2:6] for row in tables()["tableD15"]["rows"]}
    for model, representation, native_em, serial_em, scr, low, high in tables()["tableB2"]["rows"]:
        native, serial = _joint(counts[model, representation])
        joint = stats.joint_counts(native, serial)
        where = f"Table B2, {model}, {representation}"
        yield compare(where, "Native EM", native_em, percent(joint.native_em))
        yield compare(where, "Serial EM", serial_em, percent(joint.serial_em))
        yield compare(where, "SCR", scr, percent(joint.scr))
        yield _interval(where, (native, serial), (low, high))


def _table_d1() -> Iterator[Figure]:
    for model, domain, covered, retained, scr, low, high in tables()["tableD1"]["rows"]:
        where = f"Table D1, {model}, {domain}"
        yield compare(where, "SCR", scr, 100 * retained / covered)
        yield _interval(where, _joint([retained, covered - retained, 0, 0]), (low, high))


def _table_d3() -> Iterator[Figure]:
    by_domain: dict[str, list[float]] = {}
    for domain, template, _serial_em, retained, native, scr in tables()["tableD3"]["rows"]:
        by_domain.setdefault(domain, []).append(100 * retained / native)
        yield compare("Table D3", f"{domain}, {template}: SCR", scr, 100 * retained / native)
    for domain, mean, worst in tables()["tableD4"]["rows"]:
        yield compare("Table D4", f"{domain}: mean SCR", mean, sum(by_domain[domain]) / 3)
        yield compare("Table D4", f"{domain}: worst SCR", worst, min(by_domain[domain]))


def _template_tests() -> Iterator[Figure]:
    """Changes of Serial EM from v1, and the printed Holm p through the discordances that give them; one is printed as a bound alone."""
    right = {(row[0], row[1]): round(0.96 * row[2]) for row in tables()["tableD3"]["rows"]}
    order = sorted(tables()["tableD3_changes"]["rows"], key=lambda row: float(row[3].lstrip("<")) - row[3].startswith("<"))
    found = {}
    for rank, (domain, template, _, printed) in enumerate(order):
        net, most = right[domain, template] - right[domain, "v1"], 96 - right[domain, template]
        aim = float(printed.lstrip("<")) / (10 if printed.startswith("<") else 1)
        found[domain, template] = _discordances(net, most, aim, [len(order) - rank])
    p = stats.holm({f"{d}, {t}": values[0] for (d, t), values in found.items()})
    for domain, template, change, printed in tables()["tableD3_changes"]["rows"]:
        name, (_, gained, lost) = f"{domain}, {template}", found[domain, template]
        yield compare("Table D3", f"{name}: change of Serial EM", change, 100 * (right[domain, template] - right[domain, "v1"]) / 96)
        value = p[name]
        recomputed = "<0.001" if value < 0.001 else f"{value:.3f}"
        note = "every table near it gives less" if printed.startswith("<") else f"with {gained} gained and {lost} lost, inferred from the p"
        yield Figure("Table D3", f"{name}: Holm p", printed, recomputed, "agrees" if recomputed == printed else "differs", note)


def _continuous() -> Iterator[Figure]:
    settings = Settings()
    calls: Counter[tuple[str, str]] = Counter()
    for parent in PANELS["continuous"].source.outline(settings):
        calls.update((parent.domain, slot.arm) for slot in PANELS["continuous"].slots(parent))
    for domain, arm, requests, _cap in tables()["tableD17"]["rows"]:
        yield compare("Table D17", f"{domain}, {arm}: requests", requests, calls[domain, arm], 0)
    names = dict(
        zip(
            ("Native", "WholeGenerate", "Position query", "PrefixContinue"),
            ("native", "whole_generate", "position", "prefix_continue"),
            strict=True,
        )
    )
    for interface, *_, math_valid, lexical_valid, per_item in tables()["table3"]["rows"]:
        yield compare("Table 3", f"{interface}: calls", per_item, calls["math", names[interface]] / 96, 2)
        for domain, valid in (("math", math_valid), ("lexical", lexical_valid)):
            yield compare("Table 3", f"{interface}, {domain}: valid", valid, 100 * round(0.96 * valid) / 96, note="as a count of 96")


def _renderings() -> Iterator[Figure]:
    """Shares and differences that are printed without their counts must be whole counts of the parents."""
    for domain, evidence, *values in tables()["figure7"]["rows"]:
        for what, value in zip(("code", "code, valid", "character", "character, valid"), values, strict=True):
            yield compare("Figure 7", f"{domain}, {evidence}, {what}", value, 100 * round(0.6 * value) / 60, note="as a count of 60")
    for model, domain, evidence, *values in tables()["figure17"]["rows"]:
        found = [compare("", "", value, 100 * round(0.48 * value) / 48) for value in values]
        agrees = all(figure.verdict == "agrees" for figure in found)
        texts = (", ".join(f"{v:.1f}" for v in values[:3]) + ", ...", ", ".join(f.recomputed for f in found[:3]) + ", ...")
        yield Figure(
            "Figure 17", f"{model}, {domain}, {evidence}: nine differences", *texts, "agrees" if agrees else "differs", "as counts of 48"
        )


def _union() -> Iterator[Figure]:
    rows = tables()["tableD5"]["rows"]
    p = {f"{row[0]}, {row[1]}": float(stats.mcnemar_exact(row[3], row[4])) for row in rows}
    for model, domain, *counts in rows:
        yield compare("Table D5", f"{model}, {domain}: items", 384, sum(counts), 0)
    for name, value in stats.holm(p).items():
        yield Figure(
            "Figure 11",
            f"{name}: Union - Full, Holm p",
            "< 0.05",
            f"{value:.2g}",
            "agrees" if value < 0.05 else "differs",
            "exact McNemar, m = 6",
        )


def _factors() -> Iterator[Figure]:
    rows = {tuple(row[:3]): row[3:] for row in tables()["tableD8"]["rows"]}
    levels = (("early", "late"), (10, 26), (2, 6))
    for model, at in (("Jev", 0), ("Qwen3.5-27B", 3)):
        for factor, name in ((1, "26 - 10 choices"), (2, "6 - 2 queries"), (0, "late - early")):
            signs = [(1 if cell[factor] == levels[factor][1] else -1) * rows[cell][at] for cell in product(*levels)]
            effect = 100 * sum(signs) / 4 / 32
            yield Figure("Figure 13 c", f"{model}: {name}", "", f"{effect:.1f}", "not printed", "a point in a plot")


def _padding() -> Iterator[Figure]:
    """Each printed Holm p fixes its discordance: the one table with that net difference that gives it."""
    rows = tables()["tableD9"]["rows"]
    for match in ("bytes", "tokens"):
        chosen = [row for row in rows if row[2] == match]
        found = {
            f"{row[0]}, {row[1]}": _discordances(row[3] - row[4], 48 - row[3], float(row[6]), range(1, len(chosen) + 1)) for row in chosen
        }
        p = stats.holm({name: values[0] for name, values in found.items()})
        for row in chosen:
            name, (_, gained, lost) = f"{row[0]}, {row[1]}", found[f"{row[0]}, {row[1]}"]
            yield compare(f"Table D9, {match}", f"{name}: difference", row[5], 100 * (row[3] - row[4]) / 48)
            recomputed = f"{p[name]:.3g}".replace("e-8", "e-08")
            verdict: Verdict = "agrees" if float(recomputed) == float(row[6]) else "differs"
            yield Figure(
                f"Table D9, {match}",
                f"{name}: Holm p",
                row[6],
                recomputed,
                verdict,
                f"with {gained} gained and {lost} lost, inferred from the p",
            )


def _discordances(net: int, most_lost: int, printed: float, multipliers: Sequence[int]) -> tuple[float, int, int]:
    """(p, gained, lost) with the printed net difference whose p, times a Holm multiplier, is nearest to the printed one."""
    options = []
    for lost in range(most_lost + 1):
        p = float(stats.mcnemar_exact(net + lost, lost))
        options += [(abs(np.log(p * k / printed)), p, net + lost, lost) for k in multipliers]
    _, p, gained, lost = min(options)
    return p, gained, lost


def _cohort() -> Iterator[Figure]:
    table = tables()["tableD11"]
    for length, n, native, retained, scr, low, high in table["rows"]:
        yield compare("Table D11", f"length {length}: SCR", scr, 100 * retained / native, 2)
        flags = _joint([retained, native - retained, 0, n - native])
        yield _drawn(_interval(f"Table D11, length {length}", flags, (low, high), 2, strata=[0] * n), native)
    native, serial, lengths = _cohort_flags()
    yield compare("Table D11, all", "SCR", table["all"][0], 100 * serial.sum() / native.sum(), 2)
    _, low, high = table["all"]
    yield _drawn(_interval("Table D11, all", (native, serial), (low, high), 2, strata=lengths), int(native.sum()))
    k, n, share, low, high = table["success"]
    yield compare("Section 6.1", "Serial success", share, 100 * k / n, 2)
    yield from _boundary("Section 6.1", k, n, low, high, 2)


def _drawn(figure: Figure, trials: int) -> Figure:
    """A difference by one success is what a sample of the bootstrap's law may show; the note says so."""
    bounds = [[float(x) for x in text.strip("[]").split(", ")] for text in (figure.printed, figure.recomputed)]
    if figure.verdict == "differs" and all(abs(a - b) <= 100 / trials + 0.005 for a, b in zip(*bounds, strict=True)):
        return replace(figure, note="by one success at most: the paper drew 9,999 samples of the law that is computed here")
    return figure


def _cohort_flags() -> tuple[FLAGS, FLAGS, LENGTHS]:
    rows = [row[:4] for row in tables()["tableD11"]["rows"]]
    flags = [_joint([kept, native - kept, 0, n - native]) for _, n, native, kept in rows]
    lengths = np.repeat([length for length, *_ in rows], [n for _, n, *_ in rows])
    return np.concatenate([native for native, _ in flags]), np.concatenate([serial for _, serial in flags]), lengths


def _mixtures() -> Iterator[Figure]:
    native, serial, lengths = _cohort_flags()
    counts = {length: n for length, n, *_ in tables()["tableD11"]["rows"]}
    for mixture, weights in (("source", None), ("equal", np.array([1 / (6 * counts[n]) for n in lengths.tolist()]))):
        found = (
            ("Native EM", stats.bootstrap_mean(native.astype(int), lengths, weights=weights, draws=9_999, seed=20261008)),
            ("Serial EM", stats.bootstrap_mean(serial.astype(int), lengths, weights=weights, draws=9_999, seed=20261008)),
            ("SCR", stats.bootstrap_scr(native, serial, lengths, weights=weights, draws=9_999, seed=20261008)),
        )
        printed = tables()["tableD13"][mixture]
        for (what, result), (estimate, low, high) in zip(found, zip(printed[::3], printed[1::3], printed[2::3], strict=True), strict=True):
            where = f"Table D13, {mixture} mixture"
            yield compare(where, what, estimate, percent(result.estimate))
            for side, printed_bound, value in (("low", low, percent(result.low)), ("high", high, percent(result.high))):
                near = abs(value - printed_bound) <= 0.1
                yield Figure(
                    where,
                    f"{what}: {side}",
                    f"{printed_bound:.1f}",
                    f"{value:.1f}",
                    "agrees" if near else "differs",
                    f"{result.method} bootstrap, within 0.1",
                )


def _turnover() -> Iterator[Figure]:
    for model, task, *rest in tables()["tableD15"]["rows"]:
        joint = stats.joint_counts(*_joint(rest[:4]))
        where = f"Table D15, {model}, {task}"
        yield compare(where, "SCR", rest[4], percent(joint.scr))
        yield compare(where, "SCR - Serial EM", rest[5], percent(joint.delta))
        yield compare(where, "gain rate", rest[6], None if joint.gain_rate is None else percent(joint.gain_rate))


def _audit() -> Iterator[Figure]:
    gold = {}
    for model, controller, n, *counts, _ in tables()["tableD16"]["rows"]:
        gold[model, controller] = 100 * counts[0] / n
        yield compare("Table D16", f"{model}, {controller}: items", n, sum(counts), 0, "no gold-synset alternative was found")
    for model, controller, em in tables()["tableD16"]["em"]:
        yield compare("Figure 12", f"{model}, {controller}: EM", em, gold[model, controller])


def _boundaries() -> Iterator[Figure]:
    for where, k, n, low, high in tables()["boundaries"]["rows"]:
        yield from _boundary(where, k, n, low, high, 1)


def _boundary(where: str, k: int, n: int, low: float, high: float, decimals: int) -> Iterator[Figure]:
    found = stats.clopper_pearson(k, n)
    for side, printed, value in (("low", low, found.low), ("high", high, found.high)):
        yield compare(where, f"{k}/{n}: exact {side}", printed, percent(value), decimals, "Clopper-Pearson")


def _plans() -> Iterator[Figure]:
    """Requests that the paper counts, against what this program plans."""
    settings = Settings()
    for name, where, requests in tables()["plans"]["rows"]:
        yield compare(where, f"{name}: requests", requests, PANELS[name].count(settings)[1], 0)
    calls: dict[tuple[str, str], int] = {}
    for parent in PANELS["union"].source.outline(settings):
        for slot in PANELS["union"].slots(parent):
            calls[parent.domain, slot.arm] = calls.get((parent.domain, slot.arm), 0) + 1
    for domain, full, union in (("math", 2112, 768), ("lexical", 2112, 2112)):
        yield compare("Table D6", f"{domain}: Full calls", full, calls[domain, "full"], 0)
        yield compare("Table D6", f"{domain}: Union calls", union, calls[domain, "union_fill"], 0)


def _absent() -> Iterator[Figure]:
    for where, why in tables()["absent"]["rows"]:
        yield Figure(where, "", "", "", "not recomputable", why)
