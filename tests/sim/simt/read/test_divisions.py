"""What is computed of a division by zero agrees with the division's result."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import Memory, dispatch
from assay.sim.simt.read.divisions import HIDING
from assay.sim.simt.read.importer import optimised_text
from tests.support.msl import PRELUDE


def _values(type: str, expressions: list[str], *operands: int) -> list[int]:
    """Each expression of x and y, which are known at run time only."""
    stores = " ".join(f"r[{i}] = ulong({text});" for i, text in enumerate(expressions))
    source = f"""{PRELUDE}
    kernel void k(device ulong* r, device const {type}* v) {{
        {type} x = v[0], y = v[1]; {stores}
    }}"""
    dtype = {"ulong": np.uint64, "int": np.int32, "ushort": np.uint16}[type]
    results = np.full(len(expressions), 99, np.uint64)
    memory = Memory()
    buffers = (results, np.array(operands, dtype))
    arguments = [memory.register(b.view(np.uint8), name=f"b{i}") for i, b in enumerate(buffers)]
    program = compile_library(source).function("k").program()
    dispatch(program.specialise((1, 1, 1)), memory, arguments, (1, 1, 1), None)
    return [int(result) for result in results]


@pytest.mark.parametrize("type", ["ulong", "int", "ushort"])
def test_comparisons_agree_with_what_a_division_by_zero_gives(type: str) -> None:
    expressions = ["x / y", "x % y", "x / y == 0", "x % y < y", "x % y == x", "x / y < x"]
    assert _values(type, expressions, 5, 0) == [0, 5, 1, 0, 1, 1]


@pytest.mark.parametrize("type", ["ulong", "int", "ushort"])
def test_divisions_by_other_numbers_are_exact(type: str) -> None:
    expressions = ["x / y", "x % y", "x / y == 0", "x % y < y"]
    assert _values(type, expressions, 23, 5) == [4, 3, 0, 1]


def test_a_remainder_by_a_large_constant_of_a_quotient_by_zero_is_that_quotient() -> None:
    division = "(18446744073709551615ul / 0ul) & (3l ^ (-911569226 - 1))"
    assert _values("ulong", [f"({division}) % (-1073741824)", division], 1, 1) == [0, 0]


def test_nothing_over_nothing_is_nothing_though_both_are_the_same() -> None:
    assert _values("int", ["((33u >> 40) % (2 << 29)) / (0 << 3)", "(x % 7) / (y % 7)"], 7, 7) == [
        0,
        0,
    ]


def test_a_divisor_that_turns_out_to_be_a_number_hides_nothing() -> None:
    source = f"""{PRELUDE}
    static uint columns(uint n) {{ return n * 4; }}
    kernel void k(device uint* r, uint i [[thread_position_in_grid]]) {{
        r[i / columns(3)] = i % columns(3);
    }}"""
    kernel = compile_library(source).function("k")
    text = optimised_text(kernel.bitcode, kernel.entry, "k")
    body = text[text.index("define ") : text.index("\n}")]
    assert not any(name in body for name in HIDING)
