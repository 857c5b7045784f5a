"""`fast::` and `precise::` are for float alone, and what is contracted follows the math mode."""

import numpy as np
import pytest

from assay.compiler.msl import CompileOptions, compile_library
from assay.compiler.msl.front import precompiled
from assay.sim.simt import Memory, dispatch
from tests.support.msl_host import HostKernel

HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"
ONE = (
    "sqrt",
    "rsqrt",
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "tan",
    "sinpi",
    "cospi",
    "tanpi",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "fabs",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "saturate",
    "fract",
    "abs",
    "sign",
)
TWO = (
    "pow",
    "powr",
    "atan2",
    "divide",
    "copysign",
    "fmin",
    "fmax",
    "step",
    "fmod",
    "fdim",
    "nextafter",
    "min",
    "max",
)
THREE = (
    "fma",
    "mix",
    "smoothstep",
    "fmin3",
    "fmax3",
    "fmedian3",
    "min3",
    "max3",
    "median3",
    "clamp",
)
CALLS = [
    *(f"{name}(x)" for name in ONE),
    *(f"{name}(x, x)" for name in TWO),
    *(f"{name}(x, x, x)" for name in THREE),
    "ldexp(x, 2)",
]


@pytest.mark.parametrize(
    ("space", "narrow"),
    [
        ("fast", "half"),
        ("precise", "half"),
        ("fast", "bfloat"),
        ("precise", "bfloat"),
        ("metal", "bfloat"),
    ],
)
def test_functions_of_narrow_numbers_return_float(space: str, narrow: str) -> None:
    own = narrow if space == "metal" else "float"  # of the one function that there is of bfloat
    types = {call: own if call.startswith("nextafter") else "float" for call in CALLS}
    asserts = "\n".join(
        f'static_assert(is_same_v<decltype({space}::{call}), {type}>, "{call}");'
        for call, type in types.items()
    )
    source = f"kernel void k(device {narrow}* y) {{ {narrow} x = y[0];\n{asserts}\n y[0] = x; }}"
    assert compile_library(HEAD + source).function("k")


@pytest.mark.parametrize("space", ["fast", "precise"])
def test_other_types_stay_as_they_are(space: str) -> None:
    source = f"""kernel void k(device float* y) {{
        static_assert(is_same_v<decltype({space}::exp(y[0])), float>);
        static_assert(is_same_v<decltype({space}::exp(float3(1))), float3>);
        static_assert(is_same_v<decltype({space}::max(1, 2)), int>);
        static_assert(is_same_v<decltype({space}::pow(float2(1), 2.0h)), float2>);
        static_assert(is_same_v<decltype(metal::exp(half(1))), half>);
    }}"""
    assert compile_library(HEAD + source).function("k")


@pytest.mark.parametrize("space", ["fast", "precise"])
def test_what_follows_such_a_function_is_computed_in_float(space: str) -> None:
    """The sigmoid of a half: rounded once, at its end."""
    source = f"""kernel void k(device const half* x, device half* y, constant int& n) {{
        for (int i = 0; i < n; i++) y[i] = 1 / (1 + {space}::exp(-x[i]));
    }}"""
    x = np.random.default_rng(5).normal(0, 3, 2000).astype(np.float16)
    y = np.zeros_like(x)
    HostKernel(HEAD + source, "k")(x, y, np.array([x.size], np.int32))
    exact = (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float16)
    apart = np.abs(y.view(np.int16).astype(int) - exact.view(np.int16))
    assert apart.max() <= 1
    assert (apart == 0).mean() > 0.99


MODES = [
    ("", False, True, False),
    ("", True, True, True),
    ("#pragma METAL fp math_mode(safe)", True, True, False),
    ("#pragma METAL fp contract(off)", False, False, False),
    ("#pragma METAL fp contract(off)", True, False, False),
    ("#pragma METAL fp contract(on)", True, True, False),
    ("#pragma METAL fp math_mode(fast)", False, True, True),
]


@pytest.mark.parametrize(("pragma", "fast", "inside", "across"), MODES)
def test_products_are_fused_within_an_expression_unless_the_program_forbids_it(
    pragma: str, fast: bool, inside: bool, across: bool
) -> None:
    source = f"""{pragma}
    kernel void k(device const float* x, device float* y) {{
        y[0] = x[0] * x[1] + x[2];
        float product = x[0] * x[1];
        y[1] = product + x[2];
    }}"""
    library = compile_library(HEAD + source, options=CompileOptions(fast_math=fast))
    # The product is rounded to 1 + 2^-11; only where it is fused 2^-24 is left.
    x = np.float32([1 + 2**-12, 1 + 2**-12, -(1 + 2**-11)])
    y = np.ones(2, np.float32)
    memory = Memory()
    arguments = [memory.register(each.view(np.uint8), name="x") for each in (x, y)]
    executable = library.function("k").program().specialise((1, 1, 1))
    dispatch(executable, memory, arguments, (1, 1, 1), None)
    assert list(y == 2**-24) == [inside, across]
    assert list(y == 0) == [not inside, not across]


def test_a_program_may_add_functions_of_bfloat_to_the_library() -> None:
    """As MLX does, for all that Apple has not."""
    functions = "".join(
        f"bfloat {name}(bfloat x) {{ return 1.0bf; }}\n" for name in ("exp", "abs", "sin", "floor")
    )
    functions += "bfloat max(bfloat x, bfloat y) { return 2.0bf; }\n"
    asserts = "".join(
        f"static_assert(is_same_v<decltype(metal::{call}), bfloat>);\n"
        for call in ("exp(x)", "abs(x)", "sin(x)", "floor(x)", "max(x, x)")
    )
    source = f"namespace metal {{\n{functions}}}\n"
    source += f"kernel void k(device bfloat* y) {{ bfloat x = y[0];\n{asserts}}}"
    assert compile_library(HEAD + source).function("k")


@pytest.mark.parametrize("space", ["fast", "precise"])
@pytest.mark.parametrize("name", ["floor", "exp", "min"])
def test_a_program_may_add_to_a_mode_what_stands_beside_its_own(space: str, name: str) -> None:
    """As MLX does, too; what the mode had of floats is not hidden."""
    two = ", ".join(["bfloat"] * (2 if name == "min" else 1))
    given = "x, x" if name == "min" else "x"
    added = f"namespace {space} {{ bfloat {name}({two}) {{ return 1.0bf; }} }}"
    source = f"""namespace metal {{ {added} }}
    kernel void k(device bfloat* y, device float* z) {{
        bfloat b = y[0];
        {{ bfloat x = b; static_assert(is_same_v<decltype({space}::{name}({given})), bfloat>); }}
        {{ float x = z[0]; static_assert(is_same_v<decltype({space}::{name}({given})), float>); }}
    }}"""
    assert compile_library(HEAD + source).function("k")


WAYS = {
    "spaces": "y[0] = metal :: fast\n  :: exp(y[0]);",
    "a comment between": "y[0] = metal::precise/* really */::exp(y[0]);",
    "a directive": "using namespace metal::precise; y[0] = fabs(y[0]) + fma(y[0], y[0], 1.0f);",
    "an alias": "namespace m = metal::fast; y[0] = m::exp(y[0]);",
    "a macro": "y[0] = MODE::exp(y[0]);",
    "a name made of two": "y[0] = metal::JOIN(fa, st)::exp(y[0]);",
    "what lies behind": "y[0] = __metal_exp(y[0], false);",
}


@pytest.mark.parametrize("body", WAYS.values(), ids=WAYS.keys())
def test_a_mode_is_there_whichever_way_it_is_named(body: str) -> None:
    head = "#include <metal_stdlib>\n#define MODE metal::precise\n#define JOIN(a, b) a##b\n"
    source = f"{head}kernel void k(device float* y) {{ {body} }}"
    assert compile_library(source).function("k")


def test_programs_without_modes_do_without_their_headers() -> None:
    text = "kernel void k(device float* y) { int fast = 1; y[0] = exp(y[0] * fast); }"
    assert "-D__ASSAY_MODES" not in precompiled.header_arguments(text, True)
    assert "-D__ASSAY_MODES" in precompiled.header_arguments(f"{text} // fast::", True)
