"""Every function of the compiled module refuses hostile arguments, and says what it takes.

The calls run in processes of their own, one for each function, so that a crash or a hang is a failure with the call's text.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import zlib

import numpy as np
import pytest

from c2s.kernels._load import core

CALLS = 150
SECONDS = 60


def ints(*values):
    return np.array(values, np.int64)


def floats(*values):
    return np.array(values, np.float64)


def bytes_of(*shape):
    return np.arange(97, 97 + np.prod(shape, dtype=int)).astype(np.uint8).reshape(shape)


DRAWS = dict(seed=3, first=0, count=5, threads=2)
CELLS = dict(offsets=ints(0, 2, 4), x=ints(0, 1, 0, 2), d=ints(1, 1, 0, 2), count=ints(3, 4, 5, 1))
TABLES = CELLS | dict(x_scale=floats(1, 1), d_scale=floats(1, 1), max_cost=1e6)
ITEMS = dict(
    offsets=ints(0, 1, 3), unit=ints(0, 1, 2, 2), outcome=np.array([0, 1, 1, 0], np.uint8), weight=floats(1, 2, 0, 1),
    scores=np.array([[0.1, 0.5, 0.5, 1], [0, 0.2, 0.3, 0.4]]), calibrated=np.array([True, False]),
)  # fmt: skip
METRICS = dict(metrics=np.arange(6, dtype=np.int32), coverage=floats(0.2, 1))

VALID = {  # name -> arguments that are accepted; those of a method follow after its object
    "carry_counts": dict(a=np.array([39, 5], np.uint64), b=np.array([15, 7], np.uint64)),
    "carry_trace": dict(a=39, b=15),
    "candidate_geometry": dict(candidates=bytes_of(2, 3, 4), gold=ints(0, 2)),
    "support_masks": dict(candidates=bytes_of(2, 3), prefixes=bytes_of(2, 2), lengths=ints(0, 2), kind=2, alphabet=bytes_of(9)),
    "support_one": dict(candidates=["ab", "ba"], prefix="a", kind=1, alphabet="ab"),
    "mcnemar_exact": dict(b=ints(3, 2000), c=ints(9, 1500)),
    "clopper_pearson": dict(k=ints(0, 3), n=ints(5, 7), confidence=0.95),
    "binomial_tails": dict(k=3, n=9, p=0.25),
    "exact_ratio": CELLS | dict(levels=floats(0.025, 1), max_cost=1e6),
    "exact_law": CELLS,
    "exact_sum": dict(offsets=ints(0, 2), value=ints(-1, 2), count=ints(3, 4)),
    "quantiles": dict(values=floats(3, 1, 2), mass=floats(1, 2, 0), levels=floats(0.5)),
    "resample_packed": dict(offsets=ints(0, 1, 3), values=np.ones((3, 2), np.uint64)) | DRAWS,
    "resample_sums": dict(offsets=ints(0, 1, 3), values=np.ones((3, 2))) | DRAWS,
    "Multinomial.__init__": TABLES,
    "Multinomial.too_large": {},
    "Multinomial.tables": {},
    "Multinomial.states": {},
    "Multinomial.state_ratios": {},
    "Multinomial.draw": DRAWS,
    "Multinomial.ratios": DRAWS,
    "Multinomial.tally": DRAWS,
    "philox": dict(counter=[0, 1, 2, 3], key=[4, 5]),
    "philox_words": dict(seed=1, stream=2, first_draw=3, block=4, count=5, over_draws=True),
    "philox_level": dict(force=""),
    "Scores.__init__": ITEMS,
    "Scores.draw": METRICS | DRAWS,
    "Scores.observed": METRICS,
    "signflip_law": dict(magnitude=ints(3, 0, 1)),
    "signflip_sums": dict(difference=floats(1, -2, 0.5)) | DRAWS,
}

NAN, INF = float("nan"), float("inf")
SHAPES = [ints(1).reshape(()), np.ones((2, 2), np.int64)]
COUNTS = [ints(-5, -5), ints(1, 2**62), ints(1, -(2**63))]
RANGES = dict(
    seed=[-1, 2**64], first=[-1, 2**64 - 1], count=[-1, 2**32, 2**62, 2**200], threads=[0, -1, 1025, 2**62],
)  # fmt: skip
OFFSETS = [ints(), ints(0), ints(0, 3, 2), ints(-1, 4), ints(0, 2**62), ints(1, 4), ints(0, 5), ints(0, 5, 4)]
CELL_RANGES = dict(
    offsets=OFFSETS, x=[ints(1), *SHAPES], d=[ints(1, 1, -1, 2), *SHAPES],
    count=[ints(1, 1, 1, -1), ints(2**52, 2**52, 2**52, 1), ints(2**62, 2**62, 2**62, 2**62), *SHAPES],
)  # fmt: skip
LEVELS = [floats(0), floats(-1), floats(1.5), floats(NAN), floats(INF), np.ones((1, 1))]
SCALES = [floats(1), floats(1, NAN), floats(INF, 1), np.ones((2, 1))]
COSTS = [-1.0, NAN]

REFUSED = {  # name -> argument -> values that raise ValueError, the other arguments being valid
    "carry_counts": dict(a=[np.array(v, np.uint64) for v in ([0, 1], [1], [[1, 2]], [2**64 - 1, 2])]),
    "carry_trace": dict(a=[0, -1, 2**64, 2**63], b=[0, -1, 2**200]),
    "candidate_geometry": dict(
        candidates=[bytes_of(2, 3), bytes_of(1, 3, 4), bytes_of(2, 0, 4), bytes_of(2, 3, 0), np.zeros((2, 256, 1), np.uint8),
                    np.zeros((0, 1, 2**62), np.uint8)],
        gold=[ints(0), ints(0, 3), ints(0, -1), ints(0, 2**62), *SHAPES],
    ),
    "support_masks": dict(
        candidates=[bytes_of(3), bytes_of(0, 3), bytes_of(2, 0), bytes_of(3, 1, 3), bytes_of(1, 1, 1, 3)],
        prefixes=[bytes_of(2), bytes_of(1, 2)], lengths=[ints(0), ints(0, 3), ints(0, -1), ints(2**62, 0), *SHAPES],
        kind=[-1, 3, 2**62], alphabet=[bytes_of(3, 3), np.zeros(2, np.uint8), np.zeros(70_000, np.uint8)],
    ),
    "support_one": dict(kind=[-1, 3, 2**62]),
    "mcnemar_exact": dict(b=[*COUNTS, ints(1), *SHAPES], c=[*COUNTS, ints(1), *SHAPES]),
    "clopper_pearson": dict(k=[*COUNTS, ints(6, 0), ints(1), *SHAPES], n=[*COUNTS, ints(0, 0)], confidence=[0.0, 1.0, NAN, -1, INF]),
    "binomial_tails": dict(k=[-1, 10, 2**62, 2**64], n=[-1, 2**62, 2], p=[-0.1, 1.1, NAN, INF]),
    "exact_ratio": CELL_RANGES | dict(levels=LEVELS, max_cost=COSTS),
    "exact_law": CELL_RANGES | dict(x=[ints(1), ints(0, 2**61, 0, 1), *SHAPES]),
    "exact_sum": dict(
        offsets=OFFSETS, value=[ints(1), ints(0, 2**62), ints(-(2**63), 2**63 - 1), ints(0, 2**40), *SHAPES],
        count=[ints(-1, 1), ints(2**62, 2**62), ints(2**40, 1), *SHAPES],
    ),
    "quantiles": dict(
        values=[floats(), floats(1, NAN, 2), floats(INF, 1, 2), floats(1e308, -1e308, 0), floats(1), np.ones((3, 1))],
        mass=[floats(1), floats(0, 0, 0), floats(1, -1, 1), floats(1, NAN, 1), floats(1, INF, 1), np.ones((3, 1))], levels=LEVELS,
    ),
    "resample_packed": dict(offsets=OFFSETS, values=[np.ones(3, np.uint64), np.full((3, 1), 2**63, np.uint64)]) | RANGES,
    "resample_sums": dict(offsets=OFFSETS, values=[np.ones(3), np.ones((4, 1)), np.full((3, 1), NAN), np.full((3, 1), INF)]) | RANGES,
    "Multinomial.__init__": CELL_RANGES | dict(x_scale=SCALES, d_scale=SCALES, max_cost=COSTS),
    "Multinomial.draw": RANGES,
    "Multinomial.ratios": RANGES,
    "Multinomial.tally": RANGES,
    "philox": dict(counter=[[], [1] * 5, [0, 0, 0, -1], [0, 0, 0, 2**32]], key=[[1], [1, 2**62]]),
    "philox_words": dict(seed=[-1, 2**64], stream=[-1, 2**32], first_draw=[-1, 2**64, 2**64 - 2], block=[-1, 2**32], count=[-1, 2**62]),
    "philox_level": dict(force=["avx", "scalar\0"]),
    "Scores.__init__": dict(
        offsets=[ints(), ints(0), ints(0, 2, 1), ints(1, 3), ints(0, -1), ints(0, 2**31), ints(0, 2), np.zeros((2, 2), np.int64)],
        unit=[ints(0), ints(0, 0, 0, 3), ints(0, 0, 0, -1), ints(2**62, 0, 0, 0), *SHAPES],
        outcome=[np.zeros(3, np.uint8), np.array([0, 1, 2, 0], np.uint8), np.full(4, 255, np.uint8)],
        weight=[floats(1), floats(1, 1, 1, -1), floats(1, 1, 1, NAN), floats(1, 1, 1, INF), np.ones((4, 1))],
        scores=[np.zeros(4), np.zeros((2, 3)), np.zeros((3, 4)), np.full((2, 4), NAN), np.full((2, 4), INF), np.full((2, 4), 1.5)],
        calibrated=[np.array([True]), np.ones((2, 1), bool), np.array([7, 7], np.uint8).view(bool)],
    ),
    "Scores.draw": dict(
        metrics=[np.array([v], np.int32) for v in (-1, 6, 2**31 - 1)] + [np.zeros((1, 1), np.int32)],
        coverage=[floats(0), floats(-1), floats(1.1), floats(NAN), floats(0.5, 0.2), np.ones((1, 1))],
    ) | RANGES,
    "Scores.observed": dict(metrics=[np.array([6], np.int32)], coverage=[floats(0), floats(NAN), floats(0.5, 0.2)]),
    "signflip_law": dict(magnitude=[ints(-1), ints(2**62), ints(2**30, 2**30), ints(2**63 - 1, 2**63 - 1), *SHAPES]),
    "signflip_sums": dict(difference=[floats(NAN), floats(INF), np.ones((1, 1))]) | RANGES,
}  # fmt: skip

NUMBERS = [-(2**63), -1, 0, 1, 2, 7, 255, 2**32, 2**53, 2**62, 2**63 - 1, 2**64 - 1, 2**64, 2**200]
FLOATS = [NAN, INF, -INF, -1.0, -0.0, 0.0, 5e-324, 0.5, 1.0, 2.0, 1e300, 1.7e308]
OTHERS = [None, "x", "", b"x", [], [1], 0.5, {}, np.zeros(0), np.float64(1), np.int8(1), True, object()]


def bound_names() -> set[str]:
    """Functions, methods, constructors and properties of the compiled module."""
    names = set()
    for name, value in vars(core).items():
        if isinstance(value, type):
            names |= {f"{name}.{member}" for member in dir(value) if member == "__init__" or not member.startswith("_")}
        elif not name.startswith("_"):
            names.add(name)
    return names


def call(name: str, arguments: dict):
    """The function, constructor, method or property of that name, methods on a small valid object."""
    owner, _, member = name.rpartition(".")
    if not owner:
        return getattr(core, name)(**arguments)
    kind = getattr(core, owner)
    if member == "__init__":
        return kind(**arguments)
    found = getattr(kind(**(TABLES if owner == "Multinomial" else ITEMS)), member)
    return found(**arguments) if callable(found) else found


def hostile_array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    """An array like `array`, wrong in one way or another; some of these are still acceptable."""
    array = array.copy()
    pool = FLOATS if array.dtype.kind == "f" else NUMBERS
    if array.size and rng.random() < 0.6:
        for _ in range(rng.randint(1, 2)):
            value = rng.choice(pool)
            if array.dtype.kind in "iu":
                limits = np.iinfo(array.dtype)
                value = min(max(value, limits.min), limits.max)
            array.flat[rng.randrange(array.size)] = value
        return array
    misaligned = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype).reshape(array.shape)
    misaligned[...] = array
    return rng.choice([
        array[:0], array[:1], array[::-1], array[::2], array.T, np.concatenate([array, array]), array[..., None], array[None],
        array.reshape(-1)[:1].reshape(()), array.astype(np.float32), array.astype(array.dtype.newbyteorder()), array.astype(object),
        np.zeros((0, *array.shape[1:]), array.dtype), np.zeros((*array.shape[:-1], 0), array.dtype), misaligned, array.tolist(),
        np.zeros((0, *(2**20 for _ in array.shape[1:])), array.dtype),
        np.full(array.shape, 7, np.uint8).view(bool) if array.dtype == bool else array,
    ])  # fmt: skip


def hostile(rng: random.Random, value):
    if rng.random() < 0.1:
        return rng.choice(OTHERS)
    if isinstance(value, np.ndarray):
        return hostile_array(rng, value)
    if isinstance(value, list):
        return rng.choice([value * 2, value[:1], [None] * len(value), [rng.choice(NUMBERS) for _ in value], ["aé"], ["", ""]])
    if isinstance(value, str):
        return rng.choice(["", "a", "ab", "aa", "é", "\0", "avx512", "x" * 300])
    return rng.choice(FLOATS if isinstance(value, float) else NUMBERS)


def spelled(arguments: dict) -> str:
    return ", ".join(f"{k}={repr(v)[:80]}" for k, v in arguments.items()).replace("\n", "")


def fuzz(name: str) -> None:
    """What a child process runs. Each call is written out before it is made."""
    import faulthandler
    import resource

    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # absurd sizes become MemoryError
    call(name, VALID[name])
    for argument, values in REFUSED.get(name, {}).items():
        for value in values:
            arguments = VALID[name] | {argument: value}
            print(f"{name}({spelled(arguments)})", flush=True)
            try:
                call(name, arguments)
            except ValueError as error:
                assert any(known in str(error) for known in arguments), f"no argument is named: {error}"
                assert len(str(error)) < 160, error
            else:
                raise AssertionError(f"accepted {argument}={value!r}")
    rng = random.Random(zlib.crc32(name.encode()))
    for _ in range(CALLS if VALID[name] else 0):
        arguments = dict(VALID[name])
        for argument in rng.sample(list(arguments), min(len(arguments), rng.randint(1, 3))):
            arguments[argument] = hostile(rng, arguments[argument])
        print(f"{name}({spelled(arguments)})", flush=True)
        with contextlib.suppress(ValueError, TypeError, MemoryError):
            call(name, arguments)


def test_every_bound_name_has_a_case():
    assert set(VALID) == bound_names()
    for name, arguments in VALID.items():
        assert set(REFUSED.get(name, {})) <= set(arguments)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of the child")
@pytest.mark.parametrize("name", VALID)
def test_hostile_arguments_are_refused(name):
    try:
        done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        last = (error.stdout or b"").decode().strip().splitlines()[-1:]
        pytest.fail(f"no end after {SECONDS} s; the last call was {last}")
    last = done.stdout.strip().splitlines()[-1:]
    assert done.returncode == 0, f"exit code {done.returncode} (negative: a signal); the last call was {last}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("name", [name for name in VALID if "." in name and not name.endswith("__init__")])
def test_an_object_that_was_never_initialised_is_refused(name):
    owner, _, member = name.partition(".")
    kind = getattr(core, owner)
    with pytest.raises(ValueError, match="never initialised"):
        found = getattr(kind.__new__(kind), member)
        found(**VALID[name])


def test_tables_that_were_not_built_are_refused():
    tables = core.Multinomial(**(TABLES | dict(max_cost=1.0)))
    assert tables.too_large > 1 and tables.tables == 0 and tables.states == 0
    for name, arguments in (("draw", DRAWS), ("ratios", DRAWS), ("tally", DRAWS), ("state_ratios", {})):
        with pytest.raises(ValueError, match="no tables were built"):
            getattr(tables, name)(**arguments)


def test_a_law_that_is_asked_for_whatever_it_costs_still_has_a_limit():
    large = CELLS | dict(count=ints(10**9, 10**9, 10**9, 10**9))
    with pytest.raises(ValueError, match=r"more than 2\*\*26 grid points"):
        core.exact_ratio(**large, levels=floats(0.5), max_cost=INF)
    assert core.exact_ratio(**large, levels=floats(0.5), max_cost=1e6)[0] > 1e6
    assert core.exact_ratio(**(CELLS | dict(x=ints(0, 2**62, 0, 1))), levels=floats(0.5), max_cost=1e6)[0] == INF


@pytest.mark.parametrize("name", [*VALID, "Multinomial", "Scores"])
def test_everything_bound_has_a_docstring(name):
    """One that goes beyond the signature which pybind11 writes."""
    found = core
    for part in name.split("."):
        found = getattr(found, part)
    lines = (found.__doc__ or "").strip().splitlines()
    said = [line for line in lines if line.strip() and not line.startswith(name.rpartition(".")[2] + "(")]
    assert len(said) > 1 or len("".join(said)) >= 60, said
    assert max(map(len, said)) <= 140


if __name__ == "__main__":
    fuzz(sys.argv[1])
