"""Every word of every vector's letters, and what happens to one that repeats a letter."""

from itertools import permutations, product

import numpy as np
import pytest

from assay.compiler.msl import CompileError, compile_library
from tests.support.msl import run_kernel

F = np.float32
COLOURS = str.maketrans("xyzw", "rgba")


def words(letters: str) -> list[str]:
    return ["".join(each) for n in (2, 3, 4) for each in product(letters, repeat=n)]


@pytest.mark.parametrize(
    ("kind", "letters"),
    [
        ("float", "xy"),
        pytest.param("float", "xyzw", marks=pytest.mark.slow),
        pytest.param("packed_float", "xyz", marks=pytest.mark.slow),
    ],
)
def test_each_word_reads_the_components_that_it_names(kind: str, letters: str) -> None:
    count = len(letters)
    stores, expected = [], []
    for number, word in enumerate(words(letters)):
        shown = word.translate(COLOURS) if number % 2 else word
        place = f"(device packed_float{len(word)}*)(out + {len(expected)})"
        stores.append(f"*{place} = v.{shown};")
        expected += [letters.index(letter) + 1 for letter in word]
    out = np.zeros(len(expected), F)
    run_kernel(
        f"kernel void k(device {kind}{count}* in, device float* out) {{\n"
        f"  {kind}{count} v = in[0];\n  " + "\n  ".join(stores) + "\n}",
        np.arange(1, 5, dtype=F),
        out,
        threads=1,
        group=1,
    )
    assert out.tolist() == expected


@pytest.mark.parametrize("kind", [pytest.param("float", marks=pytest.mark.slow), "packed_float"])
def test_each_order_of_letters_writes_the_components_that_it_names(kind: str) -> None:
    orders = ["".join(each) for n in (2, 3, 4) for each in permutations("xyzw", n)]
    stores, expected = [], []
    for number, word in enumerate(orders):
        shown = word.translate(COLOURS) if number % 2 else word
        stores.append(f"out[{number}].{shown} = float4(1, 2, 3, 4).{'xyzw'[: len(word)]};")
        expected.append([word.find(letter) + 1 for letter in "xyzw"])
    out = np.zeros((len(orders), 4), F)
    run_kernel(
        f"kernel void k(device {kind}4* out) {{\n  " + "\n  ".join(stores) + "\n}",
        out,
        threads=1,
        group=1,
    )
    assert out.tolist() == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("p[0] = p[0].wzyx;", [4, 3, 2, 1]),
        ("p[0] = p[0].abgr;", [4, 3, 2, 1]),
        ("p[0] = p[0].JOIN(wz, yx);", [4, 3, 2, 1]),
        ("p[0].wzyx = p[0];", [4, 3, 2, 1]),
        ("p[0] = p[0].xy.yxyx;", [2, 1, 2, 1]),
    ],
)
def test_one_word_of_four_in_a_program_is_enough_to_have_it(body: str, expected: list[int]) -> None:
    vector = np.arange(1, 5, dtype=F)
    source = f"#define JOIN(a, b) a##b\nkernel void k(device float4* p) {{ {body} }}"
    run_kernel(source, vector, threads=1, group=1)
    assert vector.tolist() == expected


@pytest.mark.parametrize("word", ["xyzw", "rgba"])
def test_a_word_of_four_of_two_components_is_no_member(word: str) -> None:
    with pytest.raises(CompileError, match=f"no member named '{word}' in"):
        compile_library(f"kernel void k(device metal::float2* p) {{ p[0] = p[0].{word}.xy; }}")


def test_a_word_of_letters_that_a_vector_has_not_is_no_member() -> None:
    with pytest.raises(CompileError, match="no member named 'xz' in"):
        compile_library("kernel void k(device metal::float2* p) { p[0] = p[0].xz; }")


@pytest.mark.parametrize(("kind", "word"), [("float4", "xx"), ("packed_float3", "xzx")])
def test_an_assignment_to_a_repeated_component_is_told_once_at_its_place(
    kind: str, word: str
) -> None:
    source = f"kernel void k(device metal::{kind}* p) {{\n  p[0].{word} = 1.0f;\n}}"
    with pytest.raises(CompileError) as caught:
        compile_library(source, file_name="k.metal")
    told = str(caught.value).splitlines()
    assert told[0] == (
        f"k.metal:2:8: error: '{word}' repeats a component, and such a swizzle is read-only"
    )
    assert len(told) == 3, "the line and its caret follow, and nothing else"
