"""String literals lie in constant memory."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.simt import Memory, dispatch

LENGTH = """
#include <metal_stdlib>
using namespace metal;

static uint length(constant const char* text) {
    uint n = 0;
    while (text[n]) ++n;
    return n;
}
"""


def result(body: str, declarations: str = "") -> int:
    """The number that a kernel with this body leaves in `out`."""
    source = f"{LENGTH}{declarations}\nkernel void measure(device uint& out) {{ {body} }}\n"
    out = np.zeros(4, np.uint8)
    memory = Memory()
    address = memory.register(out, name="out")
    executable = compile_library(source).function("measure").program().specialise((1, 1, 1))
    dispatch(executable, memory, [address], threads=(1, 1, 1))
    return int(out.view(np.uint32)[0])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('out = length("four");', 4),
        ('out = length("adj" "acent");', 8),
        ('out = length("a \\"quoted\\" word");', 15),
        ('auto text = "auto"; out = length(text);', 4),
        ('constant const char* text = "named"; out = length(text);', 5),
        ('out = sizeof("ab");', 3),
        ('out = "ab"[1];', ord("b")),
        ("out = length(__func__);", len("measure")),
        ("out = length(__FUNCTION__);", len("measure")),
        ('char text[] = "in a thread"; out = text[1];', ord("n")),
        ('char text[4] = {"abc"}; out = text[2];', ord("c")),
        ('static_assert(true, "fine"); out = 1;', 1),
        ("out = 'x';", ord("x")),
        ("out = isnan(NAN);", 1),
    ],
)
def test_a_literal_is_a_constant(body: str, expected: int) -> None:
    assert result(body) == expected


@pytest.mark.parametrize(
    ("declarations", "body", "expected"),
    [
        ('constant char name[] = "characters";', "out = length(name);", 10),
        ('constant char* constant names[] = {"a", "bcd"};', "out = length(names[1]);", 3),
        ('constant char* constant name = "pointer";', "out = length(name);", 7),
        ('struct S { char t[8]; }; constant S s = {"struct"};', "out = length(s.t);", 6),
        ('struct S { char t[2][8]; }; constant S s = {{"a", "bc"}};', "out = length(s.t[1]);", 2),
        ("#define PLACE __FILE__", "out = length(PLACE);", len("program_source.metal")),
        ('template <typename T> uint by(T) { return length("the " "type"); }', "out = by(1);", 8),
        ('[[deprecated("not used")]] uint old() { return 1; }', "out = 2;", 2),
    ],
)
def test_a_literal_outside_a_kernel_is_a_constant_too(
    declarations: str, body: str, expected: int
) -> None:
    assert result(body, declarations) == expected


def test_characters_within_a_structure_are_there_when_the_kernel_runs() -> None:
    declarations = 'struct S { uint n; char t[14]; }; constant S s = {1, {" out of range"}};'
    body = "uint i = 0; while (s.t[i] && i < 99 - out) { out += s.t[i] << 8; ++i; } out += i;"
    assert result(body, declarations) == sum(b" out of range") * 256 + 13
