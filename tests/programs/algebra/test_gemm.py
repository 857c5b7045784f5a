"""Matrix products from class templates, specialised by function constants."""

import ml_dtypes
import numpy as np
import pytest

from tests.support.metal_kernel import Scratch, kernel, run

PARAMS = np.dtype(
    [
        *((name, "<i4") for name in ("M", "N", "K", "lda", "ldb", "ldd", "tiles_n", "tiles_m")),
        *((name, "<i8") for name in ("stride_a", "stride_b", "stride_d")),
        ("whole_k_steps", "<i4"),
    ],
    align=True,
)
ADDMM = np.dtype([("ldc", "<i4"), ("fdc", "<i4"), ("alpha", "<f4"), ("beta", "<f4")])
TILES = {"float32": (32, 16, 16, 2, 1), "float16": (32, 32, 16, 2, 2)}
TILES["bfloat16"] = TILES["float16"]
DTYPES = {"float32": np.float32, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
TOLERANCE = {"float32": 1e-4, "float16": 2e-2, "bfloat16": 2e-1}


def multiply(
    a: np.ndarray,
    b: np.ndarray,
    *,
    transposes: str,
    c: np.ndarray | None = None,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> np.ndarray:
    """`alpha a @ b + beta c` for (batch, M, K) and (batch, K, N), stored as `transposes` says."""
    batch, m, k = a.shape
    n = b.shape[2]
    stored = [
        np.ascontiguousarray(x.swapaxes(1, 2) if way == "t" else x)
        for x, way in zip((a, b), transposes, strict=True)
    ]
    dtype = str(a.dtype)
    bm, bn, bk, wm, wn = TILES[dtype]
    params = np.zeros((), dtype=PARAMS)
    params["M"], params["N"], params["K"] = m, n, k
    params["lda"], params["ldb"], params["ldd"] = stored[0].shape[2], stored[1].shape[2], n
    params["stride_a"], params["stride_b"], params["stride_d"] = m * k, k * n, m * n
    params["whole_k_steps"] = k // bk
    constants = {100: c is not None, 110: (alpha, beta) != (1, 1)}
    constants |= {200: m % bm == 0, 201: n % bn == 0, 202: k % bk == 0}
    source, addmm = None, None
    if c is not None:
        source = np.ascontiguousarray(c)
        addmm = np.array((n, 1, alpha, beta), dtype=ADDMM).tobytes()
    result = np.zeros((batch, m, n), dtype=a.dtype)
    name = f"gemm_{transposes}_{dtype}_bm{bm}_bn{bn}_bk{bk}_wm{wm}_wn{wn}"
    run(
        kernel("steel_gemm", name, constants),
        *stored,
        source,
        result,
        params.tobytes(),
        addmm,
        threadgroups=(-(-n // bn), -(-m // bm), batch),
        threadgroup=(32, wn, wm),
    )
    return result


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("dtype", "transposes", "shape"),
    [
        ("float32", "nn", (64, 32, 48)),
        ("float32", "nt", (33, 17, 19)),
        ("float32", "tn", (5, 50, 16)),
        pytest.param("float32", "tt", (64, 32, 7), marks=pytest.mark.slow),
        ("float16", "nn", (40, 32, 64)),
        pytest.param("float16", "tt", (31, 45, 33), marks=pytest.mark.slow),
        ("bfloat16", "nt", (32, 70, 32)),
    ],
)
def test_batches_of_products(dtype: str, transposes: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    rng = np.random.default_rng(m * n)
    a = rng.standard_normal((2, m, k)).astype(DTYPES[dtype])
    b = rng.standard_normal((2, k, n)).astype(DTYPES[dtype])

    result = multiply(a, b, transposes=transposes)

    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(
        result.astype(np.float64), expected, rtol=1e-2, atol=TOLERANCE[dtype]
    )


@pytest.mark.parametrize(
    ("alpha", "beta"), [pytest.param(1.0, 1.0, marks=pytest.mark.slow), (0.5, -2.0)]
)
def test_a_product_with_an_addend(alpha: float, beta: float) -> None:
    rng = np.random.default_rng(12)
    a = rng.standard_normal((1, 35, 24)).astype(np.float32)
    b = rng.standard_normal((1, 24, 30)).astype(np.float32)
    c = rng.standard_normal((1, 35, 30)).astype(np.float32)

    result = multiply(a, b, transposes="nn", c=c, alpha=alpha, beta=beta)

    np.testing.assert_allclose(
        result, alpha * (a.astype(np.float64) @ b) + beta * c, rtol=1e-4, atol=1e-4
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("shape", "a_transposed", "b_transposed"),
    [((64, 32, 24), False, False), ((32, 64, 16), True, True), ((37, 45, 19), False, True)],
)
def test_a_product_with_matrix_storage_of_its_own(
    shape: tuple[int, int, int], a_transposed: bool, b_transposed: bool
) -> None:
    m, n, k = shape
    rng = np.random.default_rng(k)
    a = rng.standard_normal((m, k)).astype(np.float32)
    b = rng.standard_normal((k, n)).astype(np.float16)
    result = np.zeros((m, n), dtype=np.float32)
    sizes = {i: np.uint32(size) for i, size in enumerate(shape)}
    tiles = {20: np.uint16(32), 21: np.uint16(32)}

    run(
        kernel(
            "unified_gemm", "unified_gemm", sizes | tiles | {10: a_transposed, 11: b_transposed}
        ),
        np.ascontiguousarray(a.T) if a_transposed else a,
        np.ascontiguousarray(b.T) if b_transposed else b,
        result,
        Scratch(4 * 384 * 4),
        threadgroups=(-(-n // 32), -(-m // 32)),
        threadgroup=128,
    )

    np.testing.assert_allclose(result, a @ b.astype(np.float64), rtol=1e-4, atol=1e-3)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("name", "dtype"), [("sgemm", np.float32), ("hgemm", np.float16)])
@pytest.mark.parametrize("shape", [(64, 32, 32), (45, 21, 27)])
def test_a_product_with_asynchronous_copies(
    name: str, dtype: type, shape: tuple[int, int, int]
) -> None:
    m, n, k = shape
    rng = np.random.default_rng(m)
    a = rng.integers(-3, 4, (m, k)).astype(dtype)
    b = rng.integers(-3, 4, (k, n)).astype(dtype)
    result = np.full((m, n), 9, dtype=dtype)

    run(
        kernel("async_copies", name, {i: np.uint32(size) for i, size in enumerate(shape)}),
        a,
        b,
        result,
        Scratch((32 + 16) * 16 * a.itemsize),
        threadgroups=(-(-n // 16), -(-m // 32)),
        threadgroup=128,
    )

    np.testing.assert_array_equal(result, a @ b)
