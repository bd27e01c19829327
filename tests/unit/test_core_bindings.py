"""The contract of the extension: keyword-only, nothing converted, described by its stubs, the same from any thread."""

from __future__ import annotations

import ast
import re
import types
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from c2s.kernels._load import core
from c2s.kernels.carry import carry_counts
from c2s.kernels.geometry import candidate_geometry
from c2s.kernels.support import support, support_masks

STUBS = ast.parse((Path(__file__).parents[2] / "c2s" / "_core.pyi").read_text())
FUNCTIONS = {node.name: node for node in STUBS.body if isinstance(node, ast.FunctionDef)}


def test_stubs_and_extension_list_the_same_functions():
    compiled = {name for name, value in vars(core).items() if isinstance(value, types.BuiltinFunctionType)}
    assert compiled == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_is_keyword_only(name):
    arguments = FUNCTIONS[name].args
    assert not arguments.args and arguments.kwonlyargs
    signature = getattr(core, name).__doc__.splitlines()[0]
    assert signature.startswith(f"{name}(*, ")
    assert re.findall(r"(\w+): ", signature) == [a.arg for a in arguments.kwonlyargs]


@pytest.mark.parametrize(
    "a",
    [
        np.array([39], dtype=np.int64),
        np.array([39.0]),
        np.array([39, 0, 15, 0], dtype=np.uint64)[::2],
        [39],
    ],
    ids=["signed", "float", "strided", "list"],
)
def test_the_extension_converts_nothing(a):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        core.carry_counts(a=a, b=np.array([15], dtype=np.uint64))
    with pytest.raises(TypeError, match="incompatible function arguments"):
        core.carry_counts(np.array([39], dtype=np.uint64), np.array([15], dtype=np.uint64))


def u8(*shape):
    return np.zeros(shape, dtype=np.uint8)


def i64(*shape):
    return np.zeros(shape, dtype=np.int64)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: core.carry_counts(a=np.ones(2, np.uint64), b=np.ones(1, np.uint64)), "a and b must be of equal length"),
        (lambda: core.carry_trace(a=0, b=1), "a and b must be at least 1"),
        (lambda: core.candidate_geometry(candidates=u8(1, 8), gold=i64(1)), "candidates must have shape"),
        (lambda: core.candidate_geometry(candidates=u8(1, 256, 2), gold=i64(1)), "candidates must hold 1 to 255"),
        (
            lambda: core.support_masks(candidates=u8(2, 2), prefixes=u8(1, 2), lengths=i64(2), kind=0, alphabet=u8(1)),
            "lengths must hold one length per prefix",
        ),
        (
            lambda: core.support_masks(candidates=u8(2, 2), prefixes=u8(1, 2), lengths=i64(1) + 2, kind=0, alphabet=u8(1)),
            r"lengths\[0\] must be an integer from 0 to 1",
        ),
        (
            lambda: core.support_masks(candidates=u8(2, 2), prefixes=u8(1, 2), lengths=i64(1), kind=0, alphabet=u8(2)),
            "alphabet must not repeat",
        ),
        (
            lambda: core.support_masks(candidates=u8(2, 2, 2), prefixes=u8(1, 2), lengths=i64(1), kind=0, alphabet=u8(1)),
            r"candidates \[n, m, L\] must hold one set per prefix",
        ),
        (
            lambda: core.support_masks(candidates=u8(0, 2), prefixes=u8(1, 2), lengths=i64(1), kind=0, alphabet=u8(1)),
            "candidates must not be empty",
        ),
        (lambda: core.support_one(candidates=["a"], prefix="", kind=3, alphabet="a"), "kind must be an integer from 0 to 2"),
    ],
)
def test_the_extension_guards_its_own_memory(call, message):
    """`c2s.kernels` never sends these; whoever calls the extension directly gets an exception and no crash."""
    with pytest.raises(ValueError, match=message):
        call()


def test_eight_threads_get_the_same_numbers():
    rng = np.random.default_rng(20261005)
    a, b = rng.integers(1, 10**6, 40_000), rng.integers(1, 10**6, 40_000)
    sets, gold = rng.integers(97, 103, (8_000, 8, 6)), rng.integers(0, 8, 8_000)
    sets = sets.astype(np.uint8)
    prefixes = [bytes(s[0, : i % 6]).decode() for i, s in enumerate(sets)]

    def everything(_):
        return (
            carry_counts(a, b).chain.tobytes(),
            candidate_geometry(sets, gold).branch_entropy.tobytes(),
            candidate_geometry(sets, gold).mean_entropy.tobytes(),
            support_masks(sets, prefixes, "trie", "abcdef").tobytes(),
            support(["abc", "abd"], "ab", "trie", "abcdef"),
        )

    expected = everything(0)
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(everything, range(16))) == [expected] * 16
