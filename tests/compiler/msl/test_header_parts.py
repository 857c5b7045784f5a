"""Parts of the headers that a program does not name are left out, and make no difference to it."""

from __future__ import annotations

import pytest

from assay.compiler.msl import compile_library
from assay.compiler.msl.front import precompiled

_ALL = ("MODES", "PACKING", "TENSORS", "TEXTURES", "WORDS")
_SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void k(device const float4* x [[buffer(0)]], device half2* y [[buffer(1)]],
              device int* n [[buffer(2)]], uint3 i [[thread_position_in_grid]]) {
    float4 v = exp(x[i.x]) + max(x[i.y], 0.5f) * pow(x[i.z].zyxw.yzwx.x, 2.0f);
    float3 w = cross(v.xyz, normalize(v.zyx)) + select(float3(0), v.yyy, v.xyz > 1.0f);
    y[i.x] = half2(w.xy) + half2(sin(w.z), half(atan2(v.x, w.x)));
    n[i.x] = any(v > 3.0f) + popcount(as_type<uint>(v.w)) + clamp(n[i.y], -3, 3) +
             int(simd_sum(w.x)) + (int)pack_float_to_unorm4x8(v);
}
"""


def _ir(source: str) -> str:
    return compile_library(source).function("k").program().llvm_text((32, 1, 1))


def test_parts_that_a_program_does_not_name_make_no_difference_to_its_code(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = precompiled._options

    def all_parts(text: str, fast_math: bool) -> tuple[str, ...]:
        parts = (f"-D__ASSAY_{part}" for part in _ALL)
        return tuple(dict.fromkeys((*chosen(text, fast_math), *parts)))

    lean = _ir(_SOURCE)
    monkeypatch.setattr(precompiled, "_options", all_parts)
    # Another text to the cache, the same one to the compiler.
    assert _ir(_SOURCE.replace("void k(", "void  k(")) == lean


def test_the_leanest_program_has_none_of_them() -> None:
    arguments = precompiled.header_arguments("kernel void k(device int* x) { x[0] = 1; }", True)
    assert not [each for each in arguments if each.removeprefix("-D__ASSAY_") in _ALL]


@pytest.mark.parametrize(
    "body",
    [
        "auto f = unpack_unorm4x8_to_float; o[0] = f(3u);",
        "o[0] = through(unpack_unorm4x8_to_float);",
        "bool b = o[1].x > 1; o[0] = all({true, b, true, b});",
        "Flags f; f.value = o[1] > 1.0f; o[0] = any(f);",
        "o[0] = any(bool2(true));",
    ],
)
def test_functions_that_are_no_templates_are_none_here(body: str) -> None:
    """They may be passed on, and take what converts; a program's own templates stand back."""
    head = """#include <metal_stdlib>
using namespace metal;
struct Flags { bool4 value; operator bool4() const { return value; } };
template <class F> float4 through(F f) { return f(3u); }
template <int N> bool any(vec<bool, N> v) { return false; }
"""
    assert compile_library(f"{head}kernel void k(device float4* o) {{ {body} }}").function("k")
