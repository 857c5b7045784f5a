import numpy as np
import pytest

from tests.support.msl import run_kernel

LANES = np.arange(32)


def lanes(expression: str, kind: str = "int", dtype: type = np.int32) -> np.ndarray:
    """What `expression` of `x` (the lane's number) gives in each lane."""
    out = np.zeros(32, dtype)
    run_kernel(
        f"kernel void k(device {kind}* o, ushort lane [[thread_index_in_simdgroup]])"
        f"{{ {kind} x = {kind}(lane); o[lane] = {expression}; }}",
        out,
    )
    return out


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("simd_shuffle(x, 31 - lane)", 31 - LANES),
        ("simd_shuffle_xor(x, 5)", LANES ^ 5),
        ("simd_shuffle_up(x, 3)", np.where(LANES < 3, LANES, LANES - 3)),
        ("simd_shuffle_down(x, 3)", np.where(LANES > 28, LANES, LANES + 3)),
        ("simd_shuffle_rotate_up(x, 3)", (LANES - 3) % 32),
        ("simd_shuffle_rotate_down(x, 3)", (LANES + 3) % 32),
        ("simd_shuffle_and_fill_up(x, -x, 2)", np.where(LANES < 2, -(LANES + 30), LANES - 2)),
        (
            "simd_shuffle_and_fill_down(x, -x, 2, 8)",
            np.where(LANES % 8 > 5, -(LANES - 6), LANES + 2),
        ),
        ("simd_broadcast(x, 7)", np.full(32, 7)),
        ("simd_broadcast_first(x + 4)", np.full(32, 4)),
        ("quad_shuffle_xor(x, 1)", LANES ^ 1),
        ("quad_broadcast(x, 2)", LANES // 4 * 4 + 2),
        ("simd_sum(x)", np.full(32, 496)),
        ("simd_max(x) - simd_min(x)", np.full(32, 31)),
        ("quad_sum(x)", LANES // 4 * 16 + 6),
        ("simd_prefix_inclusive_sum(x)", np.cumsum(LANES)),
        ("simd_prefix_exclusive_sum(x)", np.cumsum(LANES) - LANES),
        ("simd_or(x) + simd_and(x | 1) + simd_xor(x == 3 ? 8 : 0)", np.full(32, 31 + 1 + 8)),
        ("simd_all(x < 32) + 2 * simd_any(x == 31) + 4 * simd_any(x > 31)", np.full(32, 3)),
        ("int((ulong)simd_ballot(x % 2 == 1) & 0xffff)", np.full(32, 0xAAAA)),
        ("simd_is_first()", LANES == 0),
        ("quad_all(x > 3)", LANES > 3),
    ],
)
def test_simd_function_gives_each_lane_its_value(expression: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(lanes(expression), expected)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        ("float", np.float32),
        ("half", np.float16),
        ("uint", np.uint32),
        ("short", np.int16),
        ("uchar", np.uint8),
        ("long", np.int64),
        ("ulong", np.uint64),
    ],
)
def test_reductions_and_shuffles_exist_for_every_kind_of_number(kind: str, dtype: type) -> None:
    expression = (
        f"simd_sum({kind}(x & {kind}(1))) + simd_shuffle(x, 9)"
        if kind not in ("float", "half")
        else "simd_sum(x > 15 ? x / x : x - x) + simd_shuffle(x, 9)"
    )
    np.testing.assert_array_equal(lanes(expression, kind, dtype), np.full(32, 25, dtype))


def test_inactive_lanes_take_no_part() -> None:
    np.testing.assert_array_equal(
        lanes("0; if (lane < 4) o[lane] = simd_sum(x + 1); else o[lane] = simd_is_first() ? 7 : 8"),
        np.array([10] * 4 + [7] + [8] * 27),
    )


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("space", ["device", "threadgroup"])
def test_simdgroup_matrices_multiply(space: str, transpose: bool) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    c = np.zeros((8, 8), np.float32)
    run_kernel(
        f"""kernel void k(device half* a, device half* b, device float* c,
                            uint i [[thread_index_in_threadgroup]]) {{
          threadgroup half tile[256];
          for (uint j = i; j < 256; j += 32) tile[j] = b[j];
          threadgroup_barrier(mem_flags::mem_threadgroup);
          {space} half* source = {"b" if space == "device" else "tile"};
          simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
          for (uint k = 0; k < 16; k += 8) {{
            simdgroup_half8x8 left, right;
            simdgroup_load(left, a, 16, ulong2(k, 8));
            {
            "simdgroup_load(right, source + k, 16, 0, true)"
            if transpose
            else "simdgroup_load(right, source, 16, ulong2(0, k))"
        };
            simdgroup_multiply_accumulate(sum, left, right, sum);
          }}
          sum.thread_elements()[1] += 1.0f;
          simdgroup_store(sum, c, 8);
        }}""",
        a,
        b,
        c,
    )
    right = b[:8, :].T if transpose else b[:, :8]
    expected = a[8:, :].astype(np.float32) @ right.astype(np.float32) + 1
    expected[:, 1::2] += 1
    np.testing.assert_array_equal(c, expected)
