"""Functions of mathematics that a kernel calls often: they stand once, and give the same."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.hw.apple.lower.lower import lower
from assay.sim.check import Checker
from assay.sim.check.checker import parse_checks
from assay.sim.simt import Memory, Program, dispatch
from assay.sim.simt.emit.apart import with_apart
from assay.sim.simt.ir.nodes import Function
from assay.sim.simt.ir.operations.calls import CALL
from assay.sim.simt.oracle.engine import run_reference
from assay.sim.simt.read import apart
from tests.support.msl import PRELUDE

EXPONENTIAL = ["exp", "exp2", "exp10", "log", "log2", "log10"]
CIRCULAR = ["sin", "cos", "tan", "sinpi", "cospi", "tanpi", "asin", "acos", "atan"]
HYPERBOLIC = ["sinh", "cosh", "tanh", "asinh", "acosh", "atanh"]
ONE = [*EXPONENTIAL, *CIRCULAR, *HYPERBOLIC]
TWO = ["pow", "powr", "atan2", "fmod"]
COUNT = 96
_CHECKED = "race,init,bounds,barrier,shuffle,uniform,nan"
_numbers = itertools.count()


def source_of(function: str) -> str:
    """Calls on numbers of the thread's own and on equal ones, under branches that lanes part at."""
    first, second, same = "a[i]", "b[i]", "a[3]"
    if function in TWO:
        first, second, same = "a[i], b[i]", "b[i], a[i]", "a[3], b[2]"
    return f"""{PRELUDE}
kernel void f(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
              device float* o [[buffer(2)]], uint i [[thread_position_in_grid]]) {{
    if (i % 3 != 1) o[i] = {function}({first}) + {function}({second}) * 2.0f;
    else o[i] = {function}({same});
}}"""


def program_of(source: str) -> Program:
    """A program of its own, which finds nothing in the cache."""
    kernel = compile_library(source).function("f")
    known = kernel.program()
    name = f"f {next(_numbers)}"
    return Program(kernel.bitcode, kernel.entry, name=name, parameters=known.parameters)


def calls(function: Function) -> int:
    return sum(i.operation is CALL for i in function.instructions())


def numbers() -> list[np.ndarray]:
    chosen = np.random.default_rng(5)
    wild = chosen.integers(0, 1 << 32, COUNT, dtype=np.uint32).view(np.float32)
    tame = (chosen.standard_normal(COUNT) * 10).astype(np.float32)
    wild[:9] = [0.0, -0.0, np.inf, 1e30, -np.inf, np.nan, 1.0, 2.5e6, -1e-40]
    return [wild, np.roll(tame, 1)]


def run(program: Program, checks: str = "") -> np.ndarray:
    memory, result = Memory(), np.zeros(COUNT, np.float32)
    addresses = [
        memory.register(each.view(np.uint8), name=name)
        for each, name in zip([*numbers(), result], "abo", strict=True)
    ]
    checker = Checker(parse_checks(checks)) if checks else None
    dispatch(program.specialise((64, 1, 1)), memory, addresses, (COUNT, 1, 1), checker=checker)
    return result.view(np.uint32)


def on_reference(program: Program) -> np.ndarray:
    result = np.zeros(COUNT, np.float32)
    arrays = [*numbers(), result]
    run_reference(
        program.function,
        program.parameters,
        [number << 48 for number in (8, 9, 10)],
        {8 + at: (memoryview(each.view(np.uint8)), "x") for at, each in enumerate(arrays)},
        threadgroup_size=(64, 1, 1),
        threads=(COUNT, 1, 1),
    )
    return result


@pytest.mark.sampled(2)
@pytest.mark.parametrize("function", [*ONE, *TWO])
def test_what_a_call_gives_is_what_the_function_gives_in_its_place(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = source_of(function)
    in_place = program_of(source)
    assert calls(in_place.function) == 0
    expected = run(in_place)
    monkeypatch.setattr(apart, "_MOST_LINES", 0)
    called = program_of(source)
    assert calls(called.function) in (2, 3)
    np.testing.assert_array_equal(run(called), expected)
    # Of a NaN that an operation makes, the sign is the host's own affair.
    np.testing.assert_array_equal(on_reference(called), expected.view(np.float32))


@pytest.mark.parametrize("function", ["sin", "fmod"])
def test_checks_change_nothing_of_what_a_call_gives(
    function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "_MOST_LINES", 0)
    program = program_of(source_of(function))
    np.testing.assert_array_equal(run(program, _CHECKED), run(program))


def many(count: int, what: str = "sin(a[i + {n}])") -> str:
    lines = "\n".join(f"    s += {what.format(n=n)};" for n in range(count))
    return f"""{PRELUDE}
kernel void f(device const float* a [[buffer(0)]], device float* o [[buffer(1)]],
              uint i [[thread_position_in_grid]]) {{
    float s = 0.0f;
{lines}
    o[i] = s;
}}"""


@pytest.mark.parametrize("marks", [frozenset[str](), frozenset({"init", "uniform"})])
def test_code_grows_by_a_call_for_each_call_and_not_by_a_body(marks: frozenset[str]) -> None:
    functions = [program_of(many(count)).marked_function(marks) for count in (30, 60)]
    assert [calls(function) for function in functions] == [30, 60]
    assert [len(function.apart) for function in functions] == [1, 1]
    sizes = [sum(1 for _ in function.instructions()) for function in functions]
    assert sizes[1] < 2 * sizes[0]
    texts = [with_apart("", function) for function in functions]
    assert len(texts[0]) == len(texts[1])


def test_a_few_calls_stay_in_their_places() -> None:
    function = program_of(many(4)).function
    assert calls(function) == 0
    assert not function.apart


def test_loops_that_are_unrolled_do_not_repeat_bodies() -> None:
    loop = '0.0f; _Pragma("unroll") for (int n = 0; n < 64; n++) s += pow(a[i + n], s)'
    function = program_of(many(2, loop)).function
    assert calls(function) == 128
    assert sum(1 for _ in function.instructions()) < 2_000


def test_functions_that_stand_apart_call_each_other() -> None:
    both = "tanh(a[i + {n}]) + exp(a[i + {n}] * 0.5f) + asinh(a[i])"
    function = program_of(many(60, both)).function
    assert {name.split("scalar")[1] for name in function.apart} >= {"3expEf", "4tanhEf"}


def test_a_model_sees_the_marked_function_whether_it_is_called_or_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def kinds(program: Program) -> Counter[str]:
        code = lower(program.taped_function)
        return Counter(code.classes[kind] for kind in code.kinds)

    in_place = kinds(program_of(many(4)))
    monkeypatch.setattr(apart, "_MOST_LINES", 0)
    assert kinds(program_of(many(4))) == in_place
