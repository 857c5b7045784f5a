"""What is computed of constants is what the same numbers give at run time: bits and findings."""

from __future__ import annotations

import math
import os
import random

import numpy as np
import pytest

from assay.compiler.msl import Library, compile_library
from assay.sim.simt import KernelFault, Memory, dispatch
from tests.support.msl import PRELUDE

from .constant_kernels import Numbers, accesses, expression, kernel

_EXPRESSIONS, _ACCESSES = 40, 20  # cases in one library
_MANY = 4  # times as many in a library of the campaign
# `python -m tests.campaigns constants`; ASSAY_CONSTANT_SEED chooses others.
_CAMPAIGN = int(os.environ.get("ASSAY_CONSTANT_CASES", "1000"))
_SEED = int(os.environ.get("ASSAY_CONSTANT_SEED", "1000"))
_FILLED = 0x7777_7777


def _run(library: Library, name: str, *buffers: np.ndarray) -> str:
    """Run one thread of a kernel; returns what went wrong."""
    program = library.function(name).program()
    memory = Memory()
    arguments = [memory.register(b.view(np.uint8), name=f"b{i}") for i, b in enumerate(buffers)]
    try:
        dispatch(program.specialise((1, 1, 1)), memory, arguments, (1, 1, 1), None)
    except KernelFault as fault:
        return f"{fault.kind} of {fault.size} at {fault.offset} of {fault.length}"
    return ""


def _wrong_expressions(seed: int, count: int = _EXPRESSIONS) -> list[str]:
    """What differs, of so many generated expressions."""
    choose, numbers = random.Random(seed), Numbers()
    made = [expression(choose, numbers) for _ in range(count)]
    library = compile_library(PRELUDE + kernel(made))
    complaints = []
    for name in ("written", "loaded"):
        out = np.full(len(made), _FILLED, np.uint64)
        assert _run(library, name, out, *numbers.buffers()) == ""
        for each, found in zip(made, out, strict=True):
            if int(found) != each.value % 2**64:
                complaints.append(f"{name}: {each.written} = {int(found):#x}, not {each.value}")
    first = PRELUDE.count("\n") + 2
    told = {error.line - first for error in library.function("written").errors}
    for number, each in enumerate(made):
        if (number in told) != each.is_wrong:
            complaints.append(f"{'no finding' if each.is_wrong else 'a finding'}: {each.written}")
    assert library.function("loaded").errors == ()
    return [f"seed {seed}: {complaint}" for complaint in complaints]


def _wrong_accesses(seed: int, count: int = _ACCESSES) -> list[str]:
    """What differs, of so many generated accesses."""
    text, indices = accesses(random.Random(seed), count)
    library = compile_library(PRELUDE + text)
    complaints = []
    for which in range(len(indices)):
        results = []
        for name in ("written", "loaded"):
            y = np.full(1, _FILLED, np.uint32)
            x = np.array([1, 2, 3, 4], np.float32)
            told = _run(library, name, y, x, np.array(indices, np.int32), np.int32([which]))
            results.append(told or hex(y[0]))
        if results[0] != results[1]:
            line = next(n for n in text.splitlines() if f"which == {which})" in n)
            complaints.append(f"seed {seed}: {' but '.join(results)}: {line}")
    return complaints


@pytest.mark.parametrize("seed", range(1))
def test_expressions_of_constants_give_what_values_give(seed: int) -> None:
    assert _wrong_expressions(seed) == []


@pytest.mark.parametrize("seed", range(1))
def test_accesses_by_constants_do_what_accesses_by_values_do(seed: int) -> None:
    assert _wrong_accesses(seed) == []


@pytest.mark.slow
def test_a_campaign_finds_no_constant_that_differs() -> None:
    wrong: list[str] = []
    size = _MANY * (_EXPRESSIONS + _ACCESSES)
    for seed in range(_SEED, _SEED + math.ceil(_CAMPAIGN / size)):
        wrong += _wrong_expressions(seed, _MANY * _EXPRESSIONS)
        wrong += _wrong_accesses(seed, _MANY * _ACCESSES)
    assert wrong == []
