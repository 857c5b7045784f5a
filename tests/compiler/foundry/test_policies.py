"""Policies in MSL read the very weights that NumPy reads, from any bytes, free of findings."""

import numpy as np
import pytest

import assay
from assay.compiler.foundry.dequantise import dequantise_source
from assay.compiler.foundry.formats import FORMATS, Format, MlxAffine, WordColumns, format_of
from assay.compiler.foundry.formats.packed import Packed

_NOTHING = np.zeros(1, np.uint8)


def dequantised(weights: Format, packed: Packed) -> np.ndarray:
    """float32 [rows, columns], read by the kernel on the emulated GPU, under every check."""
    output = np.full((packed.rows, packed.columns), np.nan, np.float32)
    report = assay.check_kernel(
        dequantise_source(weights),
        "dequantise",
        packed.matrix,
        packed.scales if packed.scales.size else _NOTHING,
        output,
        [packed.columns, packed.rows],
        threads=(-(-packed.columns // 8), packed.rows),
        threadgroup=(8, 4),
    )
    assert not report.findings, report
    return output


CASES = [
    pytest.param(each, id=name, marks=[pytest.mark.slow] * name.endswith(("_split", "_canonical")))
    for name, each in FORMATS.items()
]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "weights", [*CASES, MlxAffine(3, 32), MlxAffine(6, 128), WordColumns("fp4", 8)]
)
def test_a_kernel_reads_what_numpy_reads(weights: Format) -> None:
    given = np.random.default_rng(11).normal(size=(5, 512)).astype(np.float32)
    packed = weights.pack(given)
    assert np.array_equal(dequantised(weights, packed), weights.unpack(packed))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["q4_k", "q5_k", "q6_k", "nvfp4", "mlx_nvfp4", "q8_0", "fp8_e4m3"])
def test_a_kernel_reads_any_bytes(name: str) -> None:
    weights = format_of(name)
    packed = weights.pack(np.ones((4, 512), np.float32))
    noise = np.random.default_rng(5).integers(0, 256, packed.matrix.size, np.uint8)
    packed = Packed(noise, packed.scales, 4, 512)
    expected = weights.unpack(packed)
    found = dequantised(weights, packed)
    # Scales may be any half: what is not finite has no one payload, what is tiny may be flushed.
    normal = np.isfinite(expected) & (np.abs(expected) >= np.finfo(np.float32).tiny)
    assert normal.mean() > 0.5
    assert np.array_equal(found[normal], expected[normal])


def test_a_kernel_reads_any_words_as_numpy_does() -> None:
    words = np.random.default_rng(6).integers(0, 2**32, 4 * 64, np.uint32)
    packed = Packed(words.view(np.uint8), np.empty(0, np.uint8), 4, 64)
    weights = format_of("u32")
    assert np.array_equal(dequantised(weights, packed), weights.unpack(packed))


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "u32", "fp8_e4m3"])
def test_rows_may_end_anywhere(name: str) -> None:
    weights = format_of(name)
    given = np.random.default_rng(2).normal(size=(3, 13)).astype(np.float32)
    packed = weights.pack(given)
    assert np.array_equal(dequantised(weights, packed), weights.unpack(packed))


def test_every_code_of_e4m3_is_read_nan_too() -> None:
    weights = format_of("fp8_e4m3")
    codes = np.arange(256, dtype=np.uint8)
    for each in (codes, np.random.default_rng(0).permutation(codes)):
        packed = Packed(each, np.empty(0, np.uint8), 1, 256)
        found = dequantised(weights, packed)
        assert np.array_equal(found, weights.unpack(packed), equal_nan=True)
        assert np.isnan(found).sum() == 2
