"""Formats of weights: bytes that exist elsewhere, what they stand for, and what errors are made."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.formats import FORMATS, MlxAffine, Packed, WordColumns, format_of
from assay.compiler.foundry.formats.kquants import pack_sixes, unpack_sixes
from assay.compiler.foundry.numbers import (
    bfloat_bits,
    bfloat_values,
    e2m1_codes,
    e2m1_values,
    e4m3_bits,
    e4m3_values,
)

X = ((np.arange(32) - 16) / 4).astype(np.float32)[None]
Y = (((7 * np.arange(64)) % 32 - 16) / np.where(np.arange(64) < 32, 4, 32)).astype(np.float32)[None]
Z = (np.arange(32) ** 2 / 100 - 3.1).astype(np.float32)[None]
W = np.array([[0.1, -0.25, 0.3, 0.45, -0.6, 0.7, 1.2, -1.5]], np.float32)

GOLDEN = {
    "q8_0": (
        X,
        "082881899199a1a9b1b9c0c8d0d8e0e8f0f8000810182028303840474f575f676f77",
    ),
    "q4_0": (X, "0038809191a2a2b3b3c4c4d5d5e6e6f7f7f8"),
    "mxfp4": (X, "7f0e0e1d1d2d2d3c3c4c4b4b5a5a595960"),
    "nvfp4": (
        Y,
        "33321b1a5f7de9a4366efcd1d095477eebc2266f5f7de9a4366efcd1d095477eebc2266f",
    ),
    "mlx_mxfp4": (X, "ffffffeeeecdbc9a1032446566767777"),
    "mlx_nvfp4": (Y[:, :16], "df49e61c75ae63df"),
    "mlx_nvfp4_scaled": (Y, "df4ae61c75ae63df"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_weights_are_packed_as_their_makers_pack_them(name: str) -> None:
    weights, expected = GOLDEN[name]
    packed = format_of(name).pack(weights)
    assert packed.matrix.tobytes().hex().startswith(expected)


DECODED = {
    "q8_0": (GOLDEN["q8_0"][1], {0: -3.999755859375, 1: -3.747802734375, 15: -0.251953125}),
    "q4_0": (GOLDEN["q4_0"][1], {0: -4, 1: -3.5, 2: -3.5, 15: 0, 17: 0.5, 31: 3.5}),
    "mxfp4": (GOLDEN["mxfp4"][1], {0: -4, 2: -3, 6: -2, 9: -1.5, 16: 0, 21: 1, 31: 4}),
    "nvfp4": (GOLDEN["nvfp4"][1], {0: -4.125, 1: -2.0625, 3: 1.375, 8: 2.0625, 32: -0.515625}),
}


@pytest.mark.parametrize("name", DECODED)
def test_known_bytes_stand_for_known_weights(name: str) -> None:
    text, expected = DECODED[name]
    found = format_of(name)
    packed = Packed(np.frombuffer(bytes.fromhex(text), np.uint8), np.empty(0, np.uint8), 1, 0)
    columns = packed.matrix.size // found.block_bytes * found.multiple
    values = found.unpack(replace(packed, columns=columns))[0]
    assert {at: values[at] for at in expected} == expected


def test_bytes_of_mlx_on_the_cpu_which_rounds_ties_otherwise_are_read_alike() -> None:
    codes = np.frombuffer(bytes.fromhex("eeddddccbcab9a090011223344545565"), np.uint8)
    packed = Packed(codes, np.array([0x7F], np.uint8), 1, 32)
    expected = [-4, -4, -3, -3, -3, -3, -2, -2, -2, -1.5, -1.5, -1, -1, -0.5, -0.5, 0]
    expected += [0, 0, 0.5, 0.5, 1, 1, 1.5, 1.5, 2, 2, 2, 3, 3, 3, 3, 4]
    assert format_of("mlx_mxfp4").unpack(packed)[0].tolist() == expected
    words = np.array([0x43222100, 0x87666544, 0xCBAAA988, 0xFFEEEDCC], "<u4")
    planes = np.array([0.5, -4], "<f2")
    packed = Packed(words.view(np.uint8), planes.view(np.uint8), 1, 32)
    steps = [int(digit, 16) for word in words for digit in f"{word:08x}"[::-1]]
    values = MlxAffine(4, 32).unpack(packed)[0]
    assert values.tolist() == [0.5 * step - 4 for step in steps]


def test_scales_of_mlx_are_those_of_its_kernels() -> None:
    assert format_of("mlx_mxfp4").pack(X).scales.tobytes().hex() == "7e"
    assert format_of("mlx_nvfp4").pack(Y[:, :16]).scales.tobytes().hex() == "33"
    assert format_of("mlx_nvfp4_scaled").pack(Y).scales[4:].tobytes().hex() == "7e7d6665"


def test_words_of_columns_hold_eight_rows_from_the_lowest_bits_on() -> None:
    values = np.array([[0.5, -1, 1.5, 2, -3, 4, 6, -6]], np.float32)
    assert WordColumns("fp4", 8).pack(values).matrix.tobytes().hex() == "a1436df7"
    packed = WordColumns("fp4", 8).pack(W)
    assert (packed.scales.tobytes().hex(), packed.matrix.view("<u4")[0]) == ("0034", 0xF65C42A1)
    back = [0.125, -0.25, 0.25, 0.5, -0.5, 0.75, 1, -1.5]
    assert WordColumns("fp4", 8).unpack(packed).tolist() == [back]
    packed = WordColumns("nf4", 8).pack(W)
    assert packed.matrix.view("<u4")[0] == 0x0EC3B958
    assert packed.scales.view("<f2")[0] == 1.5
    expected = [0.11937, -0.27716, 0.241395, 0.506873, -0.592376, 0.661065, 1.084435, -1.5]
    assert np.allclose(WordColumns("nf4", 8).unpack(packed), expected, atol=1e-5)


def test_unsigned_codes_have_a_zero_point_beside_their_scale() -> None:
    values = np.array([[-1.5, 0, 0.25, 0.5, 1, 1.5, 2, 2.25]], np.float32)
    packed = WordColumns("u4", 8).pack(values)
    # 15 steps of a quarter; the zero point is -(-1.5) / .25.
    assert packed.scales.view("<f2").tolist() == [0.25, 6.0]
    assert packed.matrix.view("<u4")[0] == 0xFECA8760
    assert WordColumns("u4", 8).unpack(packed).tolist() == values.tolist()
    assert WordColumns("u4", 8).unpack(WordColumns("u4", 8).pack(values[:, ::-1] + 4)).min() > 2


def test_affine_codes_and_their_edges_are_those_of_mlx() -> None:
    packed = MlxAffine(4, 32).pack(X)
    words = packed.matrix.view("<u4").tolist()
    assert words == [0x43322110, 0x87766554, 0xCBBAA998, 0xFFFEEDDC]
    assert packed.scales.view("<f2").tolist() == [0.5, -4.0]
    packed = MlxAffine(4, 32).pack(Z)
    words = packed.matrix.view("<u4").tolist()
    assert words == [0xEEEFFFFF, 0xBCCDDDEE, 0x77899AAB, 0x01234456]
    assert np.allclose(packed.scales.view("<f2"), [-0.651, 6.51], atol=2e-3)


def test_a_block_of_q4_k_stands_for_what_ggml_reads_in_it() -> None:
    scales = np.array([[1, 2, 3, 4, 17, 34, 51, 63]], np.uint8)
    mins = np.array([[0, 1, 2, 3, 16, 33, 50, 62]], np.uint8)
    head = np.array([1 / 16, 1 / 8], "<f2").tobytes() + pack_sixes(scales, mins).tobytes()
    assert head.hex() == "002c003041 82c3c4 4081c2c3 011223ef".replace(" ", "")
    codes = np.arange(128)
    block = head + bytes((codes % 16 | (15 - codes) % 16 << 4).astype(np.uint8))
    packed = Packed(np.frombuffer(block, np.uint8), np.empty(0, np.uint8), 1, 256)
    values = format_of("q4_k").unpack(packed)[0]
    places = [0, 1, 32, 33, 64, 96, 128, 129, 160, 192, 224, 255]
    first = [0, 0.0625, 1.75, 1.625, -0.25, 3.375]
    assert values[places].tolist() == [*first, -2, -0.9375, 27.75, -6.25, 51.3125, -7.75]


@given(st.lists(st.integers(0, 63), min_size=16, max_size=16))
def test_scales_of_six_bits_come_back(numbers: list[int]) -> None:
    both = np.array([numbers], np.uint8)
    scales, mins = unpack_sixes(pack_sixes(both[:, :8], both[:, 8:]))
    assert (scales.tolist(), mins.tolist()) == (both[:, :8].tolist(), both[:, 8:].tolist())


@pytest.mark.parametrize(
    "name", ["Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q5_K", "Q6_K", "MXFP4", "NVFP4", "BF16", "F16"]
)
def test_any_bytes_stand_for_what_the_gguf_package_reads(name: str) -> None:
    gguf = pytest.importorskip("gguf")
    kind = getattr(gguf.GGMLQuantizationType, name, None)
    if kind is None:
        pytest.skip(f"this release of gguf has no {name}")
    count, size = gguf.GGML_QUANT_SIZES[kind]
    columns = max(count, 256)
    noise = np.random.default_rng(7).integers(0, 256, (64, columns // count * size), np.uint8)
    ours = format_of(name.lower()).unpack(
        Packed(noise.reshape(-1), np.empty(0, np.uint8), 64, columns)
    )
    with np.errstate(all="ignore"):
        theirs = gguf.quants.dequantize(noise, kind)
    theirs = np.asarray(theirs, np.float32).reshape(ours.shape)
    assert np.array_equal(ours, theirs, equal_nan=True)


@pytest.mark.parametrize("name", ["Q8_0", "Q4_0", "Q4_1"])
def test_weights_are_packed_as_the_gguf_package_packs_them(name: str) -> None:
    gguf = pytest.importorskip("gguf")
    weights = np.random.default_rng(3).normal(size=(32, 256)).astype(np.float32)
    theirs = gguf.quants.quantize(weights, getattr(gguf.GGMLQuantizationType, name))
    ours = format_of(name.lower()).pack(weights)
    assert ours.matrix.tobytes() == np.asarray(theirs).tobytes()


# The largest error, in parts of the largest weight of a row.
BOUNDS = {
    "f32": 0,
    "f16": 2**-11,
    "bf16": 2**-8,
    "u32": 1,  # what is below 0 becomes 0
    "fp8_e4m3": 2**-4,
    "q8_0": 0.005,
    "q4_0": 0.125,
    "q4_1": 0.07,
    "q4_k": 0.08,
    "q5_k": 0.045,
    "q6_k": 0.04,
    "mxfp4": 0.34,
    "nvfp4": 0.2,
    "fp4_128": 0.17,
    "nf4_128": 0.16,
    # A step of the whole range, and the zero point rounds.
    "u4_128": 0.14,
    "mlx_mxfp4": 0.34,
    "mlx_nvfp4": 0.2,
    "mlx_nvfp4_scaled": 0.2,
    # A step, of which the exact edge may move the other edge by half.
    **{f"mlx_affine_{bits}_64": 2.2 / (2**bits - 1) for bits in (2, 3, 4, 5, 6, 8)},
}


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(1, 100))
def test_weights_come_back_within_the_format_s_step(name: str, seed: int, scale: float) -> None:
    weights = np.random.default_rng(seed).uniform(-scale, scale, (3, 256)).astype(np.float32)
    found = format_of(name)
    back = found.unpack(found.pack(weights))
    bound = BOUNDS[name.removesuffix("_split").removesuffix("_canonical")] * np.abs(weights).max()
    assert np.abs(back - weights).max() <= bound


def test_whole_numbers_are_kept_as_words() -> None:
    given = np.array([[0, 1, 2.5, 3.5, -4, 2**24, 4294967040, 1e30]], np.float32)
    found = format_of("u32")
    packed = found.pack(given)
    assert packed.matrix.view("<u4").tolist() == [0, 1, 2, 4, 0, 2**24, 4294967040, 2**32 - 1]
    assert found.unpack(packed).tolist() == [[0, 1, 2, 4, 0, 2**24, 4294967040, 2.0**32]]


@pytest.mark.parametrize("name", FORMATS)
def test_zeros_stay_zeros(name: str) -> None:
    found = format_of(name)
    packed = found.pack(np.zeros((2, 256), np.float32))
    assert np.array_equal(found.unpack(packed), np.zeros((2, 256)))


@pytest.mark.parametrize("name", [name for name in FORMATS if name.endswith("_split")])
def test_split_planes_hold_the_same_bytes(name: str) -> None:
    weights = np.random.default_rng(0).normal(size=(4, 512)).astype(np.float32)
    whole, split = format_of(name.removesuffix("_split")), format_of(name)
    apart, together = split.pack(weights), whole.pack(weights)
    assert sorted((*apart.matrix, *apart.scales)) == sorted(together.matrix)
    assert np.array_equal(split.unpack(apart), whole.unpack(together))


@pytest.mark.parametrize("name", ["q4_0", "q4_1", "q6_k", "nvfp4"])
def test_canonical_planes_have_blocks_of_rows_side_by_side_and_scales_row_by_row(name: str) -> None:
    weights = np.random.default_rng(0).normal(size=(3, 512)).astype(np.float32)
    split, canonical = format_of(f"{name}_split"), format_of(f"{name}_canonical")
    apart, ordered = split.pack(weights), canonical.pack(weights)
    blocks = 512 // split.multiple
    expected = apart.matrix.reshape(3, blocks, -1).swapaxes(0, 1)
    assert np.array_equal(ordered.matrix, expected.reshape(-1))
    assert np.array_equal(ordered.scales, apart.scales)
    assert np.array_equal(canonical.unpack(ordered), split.unpack(apart))


def test_small_floats_come_back_from_every_code() -> None:
    codes = np.arange(256, dtype=np.uint8)
    numbers = codes[(codes & 0x7F) != 0x7F]
    assert np.array_equal(e4m3_bits(e4m3_values(numbers)), numbers)
    assert np.array_equal(e2m1_codes(e2m1_values(codes[:16])), codes[:16])
    bits = np.arange(65536, dtype=np.uint16)
    values = bfloat_values(bits)
    is_number = ~np.isnan(values)
    assert np.array_equal(bfloat_bits(values)[is_number], bits[is_number])


def test_e4m3_has_nan_but_no_infinities() -> None:
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, 449, -1e30], np.float32)
    assert e4m3_bits(values).tolist() == [0x7F, 0xFF, 0x7E, 0xFE, 0x7E, 0xFE]
    assert np.isnan(e4m3_values(e4m3_bits(values))).tolist() == [True] * 2 + [False] * 4


def test_ties_of_e2m1_go_to_even_codes_or_to_the_first() -> None:
    ties = np.array([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5, -0.25], np.float32)
    assert e2m1_codes(ties).tolist() == [0, 2, 2, 4, 4, 6, 6, 8]
    assert e2m1_codes(ties, ties="first").tolist() == [0, 1, 2, 3, 4, 5, 6, 0]


def test_a_shape_or_name_that_cannot_be_is_refused_by_its_rule() -> None:
    with pytest.raises(FoundryError, match=r"rows of 33 are no multiple \[format-shape\]"):
        format_of("q4_0").pack(np.zeros((2, 33), np.float32))
    with pytest.raises(FoundryError, match=r"there is no format q3.*q4_0.*\[format-name\]"):
        format_of("q3")
    with pytest.raises(FoundryError, match=r"not 7 bits"):
        MlxAffine(7, 64)
    with pytest.raises(FoundryError, match=r"groups of 12"):
        WordColumns("fp4", 12)


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("f32", "f16", "bf16")])
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_weights_that_are_no_finite_numbers_are_refused_by_place(name: str, value: float) -> None:
    weights = np.ones((3, 512), np.float32)
    weights[1, 70] = value
    with pytest.raises(FoundryError, match=rf"{name} holds finite .* row 1, column 70 is .*values"):
        format_of(name).pack(weights)


@pytest.mark.parametrize("name", ["f32", "f16", "bf16"])
def test_floats_keep_what_is_no_finite_number(name: str) -> None:
    weights = np.array([[np.nan, np.inf, -np.inf, 1]], np.float32)
    found = format_of(name)
    assert np.array_equal(found.unpack(found.pack(weights)), weights, equal_nan=True)
