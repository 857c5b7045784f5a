"""Products with block-quantised weights, in the manner of inference libraries."""

import numpy as np
import pytest

from tests.support.block_quants import FORMATS
from tests.support.metal_kernel import Scratch, kernel, run

MUL_MV_ARGS = np.dtype(
    [
        *((name, "<i4") for name in ("ne00", "ne01", "ne02")),
        *((name, "<u8") for name in ("nb01", "nb02")),
        *((name, "<i4") for name in ("ne10", "ne11")),
        *((name, "<u8") for name in ("nb11", "nb12")),
        *((name, "<i4") for name in ("ne0", "ne1", "r2")),
    ],
    align=True,
)
MUL_MM_ARGS = np.dtype(
    [("ne00", "<i4"), ("nb01", "<u8"), ("nb11", "<u8"), ("ne0", "<i4"), ("ne1", "<i4")], align=True
)
LOOKUP_ARGS = np.dtype([("ne00", "<i4"), ("ne01", "<i4"), ("nb01", "<u8")], align=True)
LEVELS = np.array([-121, -95, -74, -57, -42, -29, -18, -8, 1, 11, 23, 37, 53, 71, 92, 117])
GRID = [
    0x0808080808080808,
    0x080808081908192B,
    0x0808192B082B0819,
    0x08192B0819080808,
    0x082B082B19191919,
    0x1908081908190819,
    0x19082B0808080819,
    0x1919082B2B080808,
    0x19191919082B082B,
    0x192B080808190808,
    0x2B08081919082B08,
    0x2B08192B08080819,
    0x2B190819082B1908,
    0x2B192B2B08191908,
    0x2B2B08082B2B0808,
    0x2B2B2B2B19081919,
]
ROWS = {"q4_0": 4, "q5_1": 3, "q8_0": 2, "q4_K": 1, "q6_K": 1}  # of a simdgroup; q8_0: threadgroup


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("simdgroups", [1, 2])
def test_a_quantised_matrix_times_vectors(name: str, simdgroups: int) -> None:
    rng = np.random.default_rng(7)
    rows, columns, vectors, batches, shared = 13, 768, 3, 4, 2
    weights = FORMATS[name].random(rng, batches // shared, rows, columns // FORMATS[name].weights)
    x = rng.standard_normal((batches, vectors, columns)).astype(np.float32)
    result = np.full((batches, vectors, rows), np.nan, dtype=np.float32)
    args = np.zeros((), dtype=MUL_MV_ARGS)
    args["ne00"], args["ne01"], args["ne02"] = columns, rows, batches // shared
    args["nb01"], args["nb02"] = weights.strides[1], weights.strides[0]
    args["ne10"], args["ne11"] = columns, vectors
    args["nb11"], args["nb12"] = x.strides[1], x.strides[0]
    args["ne0"], args["ne1"], args["r2"] = rows, vectors, shared

    per_threadgroup = ROWS[name] * (1 if name == "q8_0" else simdgroups)
    run(
        kernel("ggml_quants", f"mul_mv_{name}", {600: np.int16(simdgroups)}),
        args.tobytes(),
        weights,
        x,
        result,
        Scratch(2 * 32 * 4),
        threadgroups=(-(-rows // per_threadgroup), vectors, batches),
        threadgroup=(32, simdgroups),
    )

    decoded = FORMATS[name].decode(weights).repeat(shared, axis=0)
    expected = x.astype(np.float64) @ decoded.transpose(0, 2, 1)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=2e-3)


@pytest.mark.parametrize(
    ("name", "weights_of", "tolerance"),
    [("f32", None, 2e-2), ("q4_0", "q4_0", 2e-2), ("q8_0_bf16", "q8_0", 0.6)],
)
@pytest.mark.parametrize(("rows", "vectors"), [(64, 32), (45, 19)])
def test_a_quantised_matrix_times_a_matrix(
    name: str, weights_of: str | None, tolerance: float, rows: int, vectors: int
) -> None:
    rng = np.random.default_rng(8)
    columns = 96
    x = rng.standard_normal((vectors, columns)).astype(np.float32)
    if weights_of is None:
        weights = rng.standard_normal((rows, columns)).astype(np.float32)
        decoded = weights.astype(np.float64)
    else:
        weights = FORMATS[weights_of].random(rng, rows, columns // 32)
        decoded = FORMATS[weights_of].decode(weights)
    result = np.full((vectors, rows), np.nan, dtype=np.float32)
    args = np.zeros((), dtype=MUL_MM_ARGS)
    args["ne00"], args["ne0"], args["ne1"] = columns, rows, vectors
    args["nb01"], args["nb11"] = weights.strides[0], x.strides[0]

    run(
        kernel("ggml_mul_mm", f"mul_mm_{name}"),
        args.tobytes(),
        weights,
        x,
        result,
        Scratch((32 + 16) * 32 * 2),
        threadgroups=(-(-vectors // 16), -(-rows // 32)),
        threadgroup=64,
    )

    np.testing.assert_allclose(result, x @ decoded.T, rtol=1e-2, atol=tolerance)


def lookup_args(columns: int, rows: int, stride: int) -> bytes:
    args = np.zeros((), dtype=LOOKUP_ARGS)
    args["ne00"], args["ne01"], args["nb01"] = columns, rows, stride
    return args.tobytes()


def nonlinear_blocks(rng: np.random.Generator, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    """Blocks, and rows of what they stand for."""
    blocks = FORMATS["q4_0"].random(rng, *shape)
    codes = np.concatenate([blocks["qs"] & 15, blocks["qs"] >> 4], axis=-1)
    values = blocks["d"][..., None].astype(np.float64) * LEVELS[codes]
    return blocks, values.reshape(shape[0], -1)


@pytest.mark.parametrize("simdgroups", [1, 3])
def test_weights_by_a_table_in_threadgroup_memory(simdgroups: int) -> None:
    rng = np.random.default_rng(9)
    rows, columns = 10, 640
    blocks, values = nonlinear_blocks(rng, rows, columns // 32)
    x = rng.standard_normal(columns).astype(np.float32)
    result = np.full(rows, np.nan, dtype=np.float32)

    run(
        kernel("ggml_tables", "mul_mv_nl"),
        lookup_args(columns, rows, blocks.strides[0]),
        blocks,
        x,
        result,
        Scratch(128),
        threadgroups=-(-rows // simdgroups),
        threadgroup=(32, simdgroups),
    )

    np.testing.assert_allclose(result, values @ x, rtol=1e-4, atol=1e-2)


def test_rows_by_index_and_a_table_in_constant_memory() -> None:
    rng = np.random.default_rng(10)
    rows, columns = 9, 96
    blocks, values = nonlinear_blocks(rng, rows, columns // 32)
    chosen = np.array([3, 3, 8, 0, 5], dtype=np.int32)
    result = np.zeros((5, columns), dtype=np.float16)

    run(
        kernel("ggml_tables", "get_rows_nl"),
        lookup_args(columns, rows, blocks.strides[0]),
        blocks,
        chosen,
        result,
        threads=(columns, 5),
        threadgroup=(40, 2),
    )

    np.testing.assert_array_equal(result, values[chosen].astype(np.float16))


def test_weights_by_a_codebook_of_eights_with_signs() -> None:
    rng = np.random.default_rng(11)
    rows, columns = 7, 480
    record = np.dtype([("d", "<f2"), ("qs", "<u2", 4), ("signs", "u1", 4)])
    blocks = rng.integers(0, 256, (rows, columns // 32 * record.itemsize), dtype=np.uint8)
    blocks = blocks.view(record)
    blocks["d"] = rng.uniform(-0.1, 0.1, blocks.shape).astype(np.float16)
    x = rng.standard_normal(columns).astype(np.float32)
    result = np.full(rows, np.nan, dtype=np.float32)

    run(
        kernel("ggml_tables", "mul_mv_grid"),
        lookup_args(columns, rows, blocks.strides[0]),
        blocks,
        x,
        result,
        Scratch(128),
        threadgroups=rows,
        threadgroup=32,
    )

    magnitudes = np.array(GRID, dtype="<u8").view(np.uint8).reshape(16, 8)[blocks["qs"] & 15]
    signs = 1.0 - 2.0 * np.unpackbits(blocks["signs"], axis=-1, bitorder="little")
    signs = signs.reshape(*blocks.shape, 4, 8)
    scales = blocks["d"][..., None].astype(np.float64) * (0.5 + (blocks["qs"] >> 12)) / 4
    values = (scales[..., None] * magnitudes * signs).reshape(rows, columns)
    np.testing.assert_allclose(result, values @ x, rtol=1e-4, atol=1e-2)
