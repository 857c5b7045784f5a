import numpy as np
import pytest

from tests.support.msl import run_kernel

F = np.float32


def floats(count: int) -> np.ndarray:
    return np.zeros(count, F)


def run4(body: str, x: list[float]) -> list[float]:
    """Result of `body`, which computes float4 r from float4 v."""
    data, out = np.array(x, F), floats(4)
    run_kernel(
        f"kernel void k(device const float4* p, device float4* q) {{ float4 v = p[0]; float4 r; "
        f"{body} q[0] = r; }}",
        data,
        out,
        threads=1,
    )
    return out.tolist()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("r = v.wzyx;", [4, 3, 2, 1]),
        ("r = v.xxyy;", [1, 1, 2, 2]),
        ("r = v; r.xz = v.yw;", [2, 2, 4, 4]),
        ("r = v; r.rgb = v.bgr;", [3, 2, 1, 4]),
        ("r = v; r.yx += v.zw;", [5, 5, 3, 4]),
        ("r = float4(v.xy, 7, v.w);", [1, 2, 7, 4]),
        ("r = float4(v.x, v.yzw);", [1, 2, 3, 4]),
        ("r = 2 * v + 1;", [3, 5, 7, 9]),
        ("r = 1.0f; r[2] = v[3]; r[3] -= v.x;", [1, 1, 4, 0]),
        ("r = float4(int4(v * 1.75f));", [1, 3, 5, 7]),
        ("r = float4(v > 2.0f);", [0, 0, 1, 1]),
        ("r = select(v, -v, v < 3.0f);", [-1, -2, 3, 4]),
        (
            "r = float4(all(v > 0.0f), any(v > 4.0f), any(v == 4.0f), all(bool2(true, false)));",
            [1, 0, 1, 0],
        ),
        ("r = float4(half4(v)) + float4(bfloat4(v));", [2, 4, 6, 8]),
        ("uint4 u = uint4(v); r = float4((u << 2) % 5u);", [4, 3, 2, 1]),
        ("r = as_type<float4>(as_type<uint4>(v) ^ 0x80000000u);", [-1, -2, -3, -4]),
        ("thread float& y = v.y; y = 9; r = v;", [1, 9, 3, 4]),
        ("float3 a = v.xyz; a.z *= 2; r = float4(a, 0);", [1, 2, 6, 0]),
        (
            "r = float4(dot(v, v), length(float2(3, 4)), cross(v.xyz, v.zxy).x, distance(v.xy, "
            "v.zy));",
            [30, 5, 1, 2],
        ),
        ("r = v; r++; r = -r;", [-2, -3, -4, -5]),
        ("r = clamp(v, 2.0f, 3.0f) + min(v, 2) + max(v, float4(3));", [6, 7, 8, 9]),
        ("r = float4(bool4(v - 1.0f) && true) + float4(!bool4(v - 2.0f));", [0, 2, 1, 1]),
    ],
)
def test_expression_of_vectors_has_its_value(body: str, expected: list[float]) -> None:
    assert run4(body, [1, 2, 3, 4]) == expected


def test_vectors_of_three_take_the_room_of_four_and_packed_ones_do_not() -> None:
    wide, packed = floats(8), np.arange(6, dtype=F)
    run_kernel(
        "kernel void k(device float3* p, device packed_float3* q) {"
        " p[1] = q[1] * 2.0f; q[0] = float3(9, 8, 7); q[1].y = 5; }",
        wide,
        packed,
        threads=1,
    )
    assert wide.tolist()[4:7] == [6, 8, 10]
    assert packed.tolist() == [9, 8, 7, 3, 5, 5]


def test_swizzle_with_a_repeated_component_cannot_be_assigned() -> None:
    from assay.compiler.msl import CompileError

    with pytest.raises(CompileError, match="read-only"):
        run_kernel("kernel void k(device float4* p) { p[0].xx = float2(1); }", floats(4))


def test_matrices_multiply_by_columns() -> None:
    a, b = np.arange(16, dtype=F), np.arange(16, 32, dtype=F)
    out, vector = floats(16), floats(4)
    run_kernel(
        "kernel void k(device float4x4* a, device float4x4* b, device float4x4* o, device "
        "float4* v)"
        "{ o[0] = transpose(a[0] * b[0]); v[0] = a[0] * float4(1, 2, 3, 4) + "
        "determinant(float2x2(1, 2, 3, 4)); }",
        a,
        b,
        out,
        vector,
        threads=1,
    )
    left, right = a.reshape(4, 4).T, b.reshape(4, 4).T
    np.testing.assert_array_equal(out.reshape(4, 4), left @ right)
    np.testing.assert_array_equal(vector, left @ np.array([1, 2, 3, 4], F) - 2)


def test_half_arithmetic_rounds_at_every_step() -> None:
    x, out = np.array([1.0, 0.0004883], np.float16), np.zeros(1, np.float16)
    run_kernel(
        "kernel void k(device half* x, device half* o) { half s = x[0] + x[1]; o[0] = s - x[0]; }",
        x,
        out,
        threads=1,
    )
    assert out[0] == np.float16(x[0] + x[1]) - x[0]


def test_packing_functions_invert_each_other() -> None:
    x, words, back = np.array([0, 0.25, 0.5, 1], F), np.zeros(2, np.uint32), floats(8)
    run_kernel(
        "kernel void k(device float4* x, device uint* w, device float4* b) {"
        " w[0] = pack_float_to_unorm4x8(x[0]); w[1] = pack_float_to_snorm4x8(-x[0]);"
        " b[0] = unpack_unorm4x8_to_float(w[0]); b[1] = unpack_snorm4x8_to_float(w[1]); }",
        x,
        words,
        back,
        threads=1,
    )
    assert words[0] == 0xFF804000
    np.testing.assert_allclose(back[:4], x, atol=1 / 255)
    np.testing.assert_allclose(back[4:], -x, atol=1 / 127)
