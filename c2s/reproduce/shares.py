"""Shares, sums and orders that follow from printed counts, where the paper prints both."""

from __future__ import annotations

from collections.abc import Iterator

from c2s import stats
from c2s.panels.registry import PANELS
from c2s.reproduce.figures import Figure, compare, tables
from c2s.settings import Settings


def figures() -> Iterator[Figure]:
    for part in (_settings, _wrong_targets, _membership, _lexical_audit, _review, _arithmetic_support):
        yield from part()


def _settings() -> Iterator[Figure]:
    """Jev leads where its SCR is above every other model's; a setting where nothing is kept has no leader (D.4)."""
    table = tables()["figure10"]
    for domain, (leads, silent) in table["leads"].items():
        scr = {model: [a / b for a, b in zip(kept, native, strict=True)] for d, model, kept, native in table["rows"] if d == domain}
        others = [max(values) for values in zip(*(scr[model] for model in scr if model != "Jev"), strict=True)]
        yield compare("D.4", f"{domain}: settings that Jev leads", leads, sum(a > b for a, b in zip(scr["Jev"], others, strict=True)), 0)
        yield compare(
            "D.4", f"{domain}: settings without a success", silent, sum(a == b == 0 for a, b in zip(scr["Jev"], others, strict=True)), 0
        )
        (kept,) = (row[2] for row in table["rows"] if row[:2] == [domain, "Jev"])
        printed, found = ("/".join(map(str, values)) for values in (table["repeats"][domain], [kept[0], *kept[5:]]))
        yield Figure(
            "Table D2", f"{domain}: kept in three repeats, from Figure 10", printed, found, "agrees" if printed == found else "differs"
        )


def _wrong_targets() -> Iterator[Figure]:
    for domain, model, raw, indexed, groups in tables()["figure16"]["rows"]:
        where = f"Figure 16, {model}, {domain}"
        for what, printed, at in (("raw, sum of its groups", raw, 0), ("indexed, sum of its groups", indexed, 1), ("wrong targets", 48, 2)):
            yield compare(where, what, printed, sum(group[at] for group in groups), 0)


def _membership() -> Iterator[Figure]:
    table = tables()["tableD6"]
    for model, domain, *shares in table["rows"]:
        for arm, share in zip(("Full", "Union"), shares, strict=True):
            count = round(3.84 * share)
            yield compare(
                "Table D6",
                f"{model}, {domain}: {arm} members",
                share,
                100 * count / 384,
                note=f"{count} of 384, the one count that rounds so",
            )
    calls = table["calls"]
    yield compare("Table D6", "math: forced positions", calls["forced"], calls["full"] - calls["union"], 0)


def _lexical_audit() -> Iterator[Figure]:
    table = tables()["audit"]
    rows = {(row[0], row[1]): row for row in tables()["tableD16"]["rows"]}
    union = rows["Jev", "UnionCall"]
    yield compare("Section 5.1", "UnionCall outputs among the candidates", table["member"], 100 * (union[3] + union[4]) / 384)
    yield compare("D.17", "UnionCall EM with the uncertain pair", table["uncertain"], 100 * (union[3] + 1) / 384)
    indexed, a_length, lengths, pairs = table["pairs"]
    yield compare("D.17", "reviewed pairs", pairs, indexed + a_length * lengths, 0)
    for controller, arithmetic, contrast in table["contrast"]:
        row = rows["Jev", controller]
        yield compare(
            "D.6", f"Jev, {controller}: lexical - arithmetic EM", contrast, 100 * row[3] / 384 - 100 * round(3.84 * arithmetic) / 384
        )


def _review() -> Iterator[Figure]:
    table = tables()["review"]
    bank, eligible, unclear, overlapping, selected, unused = table["bank"]
    yield compare("A.3", "eligible items of the bank", eligible, bank - unclear - overlapping, 0)
    yield compare("A.3", "unused items", unused, eligible - selected, 0)
    drawn, excluded, retained, *by_length = table["cohort"]
    yield compare("A.3", "retained targets", retained, drawn - excluded, 0)
    yield compare("A.3", "retained targets, sum over lengths", retained, sum(by_length), 0)
    sampled, targeted, reviewed = table["reviewed"]
    yield compare("A.3", "reviewed targets", reviewed, sampled + targeted, 0)


def _arithmetic_support() -> Iterator[Figure]:
    """The construction of the arithmetic candidates fixes their support, so our items must have the printed one."""
    for parent in PANELS["union"].source.outline(Settings(domain="math")):
        sizes = [len(set(column)) for column in zip(*parent.candidates, strict=True)]
        product = 1
        for size in sizes:
            product *= size
        if sum(sizes) != parent.length + 4 or sizes.count(1) != parent.length - 2 or product != 8:
            yield Figure("Table D7, math", parent.id, "8", str(product), "differs", f"unions of {sizes}")
            return
    yield Figure("Table D7, math", "mean union 1 + 4/L, L - 2 forced, 8 strings", "all", "all", "agrees", "on our 384 items")


def binding() -> Iterator[Figure]:
    """Table D10: with one direction of change alone, the printed difference fixes the p; the tests that are not printed have p = 1."""
    rows = tables()["tableD10"]["rows"]
    p = {f"{model}, {domain}": stats.mcnemar_exact(literal - opaque, 0) for model, domain, literal, opaque, *_ in rows}
    corrected = stats.holm({name: float(value) for name, value in p.items()} | {f"indexed {i}": 1.0 for i in range(6)})
    for model, domain, literal, opaque, difference, printed in rows:
        name = f"{model}, {domain}"
        yield compare("Table D10", f"{name}: difference", difference, 100 * (literal - opaque) / 48)
        recomputed = f"{corrected[name]:.2g}"
        note = f"{literal - opaque} changed in one direction and none in the other, m = 12"
        yield Figure(
            "Table D10", f"{name}: Holm p", printed, recomputed, "agrees" if float(recomputed) == float(printed) else "differs", note
        )
