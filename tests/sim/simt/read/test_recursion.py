"""Functions that call themselves: loops where LLVM can make some, else copies for some levels."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import KernelFault, Memory, UnsupportedKernel, dispatch

KERNEL = "\nkernel void k(device uint* x, uint i [[thread_position_in_grid]]) { x[i] = f(i); }"


def run(functions: str) -> list[int]:
    """What `uint f(uint)` gives for 0 to 5."""
    out = np.zeros(24, np.uint8)
    memory = Memory()
    program = compile_library(functions + KERNEL).function("k").program()
    arguments = [memory.register(out, name="x")]
    dispatch(program.specialise((6, 1, 1)), memory, arguments, threads=(6, 1, 1))
    return out.view(np.uint32).tolist()


def test_a_function_that_ends_with_a_call_of_itself_is_a_loop() -> None:
    assert run("uint f(uint n, uint k = 0) { return n == 0 ? k : f(n - 1, k + n); }") == [
        0,
        1,
        3,
        6,
        10,
        15,
    ]


def test_a_product_or_sum_with_a_call_of_itself_is_a_loop() -> None:
    assert run("uint f(uint n) { return n == 0 ? 1 : n * f(n - 1); }") == [1, 1, 2, 6, 24, 120]


def test_templates_and_inline_functions_call_themselves() -> None:
    template = "template <class T> T f(T n) { return n == 0 ? 1 : f(n - 1) + f(n / 2); }"
    plain = "inline uint f(uint n) { return n == 0 ? 1 : f(n - 1) + f(n / 2); }"
    assert run(template) == run(plain) == [1, 2, 4, 6, 10, 14]


def test_functions_that_call_each_other_for_different_values_never_recur() -> None:
    functions = """
        uint even(uint n);
        uint odd(uint n) { return n % 2 == 0 ? even(n) : 100 + n; }
        uint even(uint n) { return n % 2 == 1 ? odd(n) : n; }
        uint f(uint n) { return even(n); }"""
    assert run(functions) == [0, 101, 2, 103, 4, 105]


FIBONACCI = "uint f(uint n) { return n < 2 ? n : f(n - 1) + f(n - 2); }"
THROUGH = """uint g(uint n); uint f(uint n) { return n < 2 ? n : g(n - 1) ^ 3; }
    uint g(uint n) { return f(n / 2) - f(n / 3); }"""


def through(n: int) -> int:
    """What f of `THROUGH` gives."""
    return n if n < 2 else (through((n - 1) // 2) - through((n - 1) // 3)) % 2**32 ^ 3


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        (FIBONACCI, [0, 1, 1, 2, 3, 5]),
        (
            "namespace a { uint deep(uint n) { return n < 2 ? n : 9 / (deep(n / 2) + 1); } }"
            "uint f(uint n) { return a::deep(n); }",
            [0, 1, 4, 4, 1, 1],
        ),
        (THROUGH, [through(n) for n in range(6)]),
    ],
)
def test_other_functions_that_call_themselves_do_so_up_to_a_depth(
    functions: str, expected: list[int]
) -> None:
    assert run(functions) == expected


def test_what_calls_itself_deeper_is_stopped_with_the_way_that_led_there() -> None:
    deeper = FIBONACCI.replace(" f(uint n)", " g(uint n)").replace("f(n -", "g(n -")
    with pytest.raises(KernelFault, match=r"(?s)metal:1:3\d: .*call themselves deeper.*from k"):
        run(deeper + "uint f(uint n) { return g(n + 20); }")


def test_what_would_grow_too_large_by_its_levels_is_refused() -> None:
    calls = " + ".join(f"f(n / {at})" for at in range(2, 130))
    with pytest.raises(UnsupportedKernel, match="'f' calls itself: recursion is not supported"):
        run(f"uint f(uint n) {{ return n < 2 ? n : {calls}; }}")
