"""Products and sums of vectors are fused where clang fuses those of scalars."""

import random

import numpy as np
import pytest

from assay.compiler.msl import CompileOptions, compile_library
from assay.sim.simt import Memory, dispatch

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
# The product of the first two is rounded to 1 + 2^-11; only where it is fused 2^-24 is left.
X, C = 1 + 2**-12, 1 + 2**-11
LEFT = 2**-24
VALUES = {"a": 0.3, "b": -1.7, "c": 0.9, "d": 2.6}
TYPES = ["float2", "float3", "float4", "packed_float3"]


def results(
    *bodies: str, fast: bool = False, head: str = "", of: str = "float4"
) -> list[list[float]]:
    """What each body stores into `out`; vectors x and y are full of X, and c of C."""
    parts = "".join(f"{{ device float4& out = all[{n}]; {body} }}" for n, body in enumerate(bodies))
    source = f"""{head}
    kernel void k(device const float* in, device float4* all) {{
        {of} x = {of}(in[0]), y = {of}(in[1]), c = {of}(in[2]), m = {of}(-c);
        float s = in[0];
        {parts}
    }}"""
    library = compile_library(HEAD + source, options=CompileOptions(fast_math=fast))
    numbers = np.float32([X, X, C])
    out = np.ones((len(bodies), 4), np.float32)
    memory = Memory()
    arguments = [memory.register(each.view(np.uint8), name="x") for each in (numbers, out)]
    executable = library.function("k").program().specialise((1, 1, 1), quick=True)
    dispatch(executable, memory, arguments, (1, 1, 1), None)
    found: list[list[float]] = out.tolist()
    return found


FUSED = {
    "x * y + m": LEFT,
    "m + x * y": LEFT,
    "x * y - c": LEFT,
    "c - x * y": -LEFT,
    "s * x - c": LEFT,
    "x * s - c": LEFT,
    "m + (x * y)": LEFT,
    # The first of two products is fused; the second was rounded.
    "x * y + m * 1.0f": LEFT,
    "m * 1.0f + x * y": 0,
}


KEPT = {"sum += x * y": ("m", LEFT), "sum -= x * y": ("c", -LEFT)}


@pytest.mark.parametrize("of", TYPES)
def test_products_are_fused_within_an_expression(of: str) -> None:
    kept = [f"{of} sum = {start}; {each}; out.xy = sum.xy;" for each, (start, _) in KEPT.items()]
    found = results(*(f"out.xy = ({each}).xy;" for each in FUSED), *kept, of=of)
    wanted = [*FUSED.values(), *(left for _, left in KEPT.values())]
    left = dict(zip([*FUSED, *KEPT], [row[:2] for row in found], strict=True))
    assert left == {name: [each] * 2 for name, each in zip(left, wanted, strict=True)}


def test_products_are_fused_in_what_variables_start_with_and_functions_return() -> None:
    head = """
    float4 summed(float4 a, float4 b, float4 c) { return a * b - c; }
    float4 same(float4 a) { return a; }"""
    bodies = (
        "float4 q = x * y - c; out = q;",
        "const float4 p = 1, q = (m + (x * y)); out = q;",
        "auto q = same(x * y - c); out = q;",
        "out = summed(x, y, c);",
        "float4 q[2] = {x, x * y - c}; out = q[1];",
    )
    assert results(*bodies, head=head) == [[LEFT] * 4] * len(bodies)


APART = {
    "a variable of a variable's start": "float4 q = x * y; float4 r = q - c; out = r;",
    "a variable": "float4 q = x * y; out = q - c;",
    "a variable whose type is deduced": "auto q = x * y; out = q - c;",
    "a variable that is set later": "float4 q; q = x * y; out = q - c;",
    "a variable in a line with its use": "float4 q = x * y, r = q - c; out = r;",
    "a reference": "const thread float4& q = x * y; out = q - c;",
    "a function's result": "out = product(x, y) - c;",
    "a function's parameter": "out = less(x * y, c);",
    "one of two": "out = (s > 0 ? x * y : c) - c;",
    "the other of two": "out = (s < 0 ? c : x * y) - c;",
    "one of two products": "out = (s > 0 ? x * y : x * c) - c;",
    "what is chosen instead of a product": "out = (s < 0 ? x * y : c) - c;",
    "a macro's variable": "STEP(q, out)",
}
HELPERS = """
#define STEP(q, to) float4 q = x * y; to = q - c;
METAL_FUNC float4 product(float4 a, float4 b) { return a * b; }
METAL_FUNC float4 less(float4 a, float4 b) { return a - b; }
"""


def test_products_are_not_fused_across_statements() -> None:
    found = dict(zip(APART, results(*APART.values(), head=HELPERS), strict=True))
    assert found == dict.fromkeys(APART, [0] * 4)


def test_factors_are_those_of_the_time_of_the_product() -> None:
    head = "float4 changed(thread float4& x) { x = 5; return float4(-1 - 0x1p-11f); }"
    assert results("out = x * y + changed(x);", head=head) == [[LEFT] * 4]


def test_products_in_loops_templates_and_parts_are_fused() -> None:
    head = """
    template <typename T> T dotted(thread const T* a, thread const T* b, T sum) {
        for (int i = 0; i < 2; i++) sum += a[i] * b[i];
        return sum;
    }"""
    loop = "float4 a[2] = {x, 0}, b[2] = {y, c}; out = dotted(a, b, -c);"
    parts = "out.xyz = x.zyx * y.xxy - c.xyz; out.w = x.x * y.y - c.z;"
    assert results(loop, parts, head=head) == [[LEFT] * 4] * 2


def test_narrow_numbers_are_fused_too() -> None:
    """A product of numbers that are 2^-n more than 1, of which 2^-2n is left."""
    bits = {"half": 6, "bfloat": 4}
    bodies = [
        f"{name}4 a({name}(1 + 0x1p-{n}f)); {name}4 d({name}(1 + 0x1p-{n - 1}f));"
        "out = float4(a * a - d);"
        for name, n in bits.items()
    ]
    assert results(*bodies) == [[2.0 ** (-2 * n)] * 4 for n in bits.values()]


ACROSS, WITHIN = "float4 q = x * y; out = q - c;", "out = x * y - c;"


def test_fast_mathematics_fuses_across_statements() -> None:
    assert results(ACROSS, WITHIN, fast=True) == [[LEFT] * 4] * 2


@pytest.mark.parametrize("fast", [False, True])
def test_a_program_that_forbids_it_anywhere_gets_it_nowhere(fast: bool) -> None:
    body = "{\n#pragma METAL fp contract(off)\n out = x * y - c; }"
    assert results(body, WITHIN, fast=fast) == [[0] * 4] * 2


def test_safe_mathematics_fuses_within_expressions_alone() -> None:
    head = "#pragma METAL fp math_mode(safe)\n"
    assert results(ACROSS, WITHIN, fast=True, head=head) == [[0] * 4, [LEFT] * 4]


@pytest.mark.parametrize("fast", [False, True])
def test_functions_of_the_library_compute_the_same_of_vectors_and_scalars(fast: bool) -> None:
    calls = (
        "mix({}, {} * 3.3f, {})",
        "fmod({} * 7, {} - {} / 3)",
        "smoothstep({}, {} * 2, {} / 7)",
    )
    vectors = [f"out = {call.format('c', 'x', 'y')};" for call in calls]
    scalars = [f"out = float4({call.format('c.x', 'x.x', 'y.x')});" for call in calls]
    found = results(*vectors, *scalars, fast=fast)
    assert found[: len(calls)] == found[len(calls) :]


@pytest.mark.parametrize("fast", [False, True])
def test_integers_are_left_alone(fast: bool) -> None:
    out = results("int4 i(3); i += i * i; out = float4(i * i + 4);", fast=fast)
    assert out == [[148] * 4]


@pytest.mark.parametrize("fast", [False, True])
def test_a_cross_product_is_fused_as_the_library_of_apple_has_it(fast: bool) -> None:
    out = results("out = float4(cross(float3(s, 1, 0), float3(1, s, 0)).z);", fast=fast)
    assert out == [[2**-11 + LEFT] * 4]


def drawn(draw: random.Random, depth: int) -> str:
    """A random expression of four variables."""
    if not depth or draw.random() < 0.15:
        return draw.choice("abcd")
    left, right = drawn(draw, depth - 1), drawn(draw, depth - 1)
    kind = draw.random()
    if kind < 0.88:
        return f"({left} {'*' if kind < 0.42 else '+' if kind < 0.67 else '-'} {right})"
    return f"product({left}, {right})" if kind < 0.94 else f"(s > 0 ? {left} : {right})"


def test_random_expressions_of_vectors_round_as_those_of_scalars() -> None:
    draw = random.Random(5)
    pairs = [(drawn(draw, 4), drawn(draw, 3), draw.choice(["=", "+=", "-="])) for _ in range(20)]
    found = []
    for of in ("float4", "float"):
        head = f"{of} product({of} a, {of} b) {{ return a * b; }}"
        given = "".join(f"{of} {name} = {of}(in[0] * {value}f); " for name, value in VALUES.items())
        bodies = [
            f"{given} {of} q = {one}; {of} t = c; t {how} {other} * q + a; out = float4(t);"
            for one, other, how in pairs
        ]
        found.append(results(*bodies, head=head))
    assert found[0] == found[1]
