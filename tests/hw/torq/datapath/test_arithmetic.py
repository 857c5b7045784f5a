"""ALU and activation unit against integers, fractions and NumPy's floats."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.hw.torq.faults import TorqFault
from tests.support.torq_run import bfloat, results, run, unbfloat
from tests.support.torq_tasks import bias_word, dim, shifting, streaming, weight_words

A, B, W, BIAS, OUT = 0x1000, 0x3000, 0x5000, 0x6000, 0x8000
Array = NDArray[np.generic]
KINDS = {1: np.int8, 2: np.int16, 4: np.int32}
QUICK = settings(max_examples=25, deadline=None)


def rng_array(seed: int, kind: type[np.integer], count: int) -> Array:
    info = np.iinfo(kind)
    rng = np.random.default_rng(seed)
    values = rng.integers(info.min, info.max, count, dtype=np.int64, endpoint=True)
    corners = [info.min, info.max, 0, -1 if info.min else 1, 1]
    values[: len(corners)] = corners[:count]
    return values.astype(kind)


LANES = [
    # data, weight, bytes of each, masks (data, weight), shifts, times a data byte is repeated,
    # times a weight is repeated
    (np.int8, np.int8, 0, 0, (0, 0, 0, 0), 1, 1),
    (np.uint8, np.uint8, 15, 15, (0, 0, 0, 0), 1, 1),
    (np.uint8, np.int8, 15, 0, (0, 0, 0, 0), 1, 1),
    (np.int8, np.int16, 0, 5, (0, 8, 0, 8), 2, 1),
    (np.int16, np.int8, 5, 0, (0, 8, 0, 8), 1, 2),
    (np.int16, np.int16, 3, 5, (0, 8, 8, 16), 2, 2),
    (np.int32, np.int8, 7, 0, (0, 8, 16, 24), 1, 4),
    (np.int8, np.int32, 0, 7, (0, 8, 16, 24), 4, 1),
]


@pytest.mark.parametrize("lanes", LANES, ids=lambda lane: f"{lane[0].__name__}x{lane[1].__name__}")
def test_products_of_each_pair_of_types_are_exact(lanes: tuple) -> None:  # type: ignore[type-arg]
    data, weight, d_mask, w_mask, shifts, repeat, spread = lanes
    d_size, w_size = np.dtype(data).itemsize, np.dtype(weight).itemsize
    partials = d_size * w_size
    count = 16 // partials
    words = 5
    x, y = rng_array(1, data, count * words), rng_array(2, weight, count * words)
    task = (
        streaming(
            source=A,
            target=OUT,
            size=d_size,
            count=count,
            words=words,
            result=4,
            partials=partials,
            weights=weight_words(W, w_size, count, words),
            weight_step=dim("D", count, 0),
            repeat=repeat,
            spread=spread,
            alu_d_unsigned=d_mask,
            alu_w_unsigned=w_mask,
            act_lsh=shifts,
            bias=bias_word(BIAS),
        )
        if d_size * count * repeat in (8, 16, 32, 64)
        else None
    )
    assert task is not None
    lram, _ = run(task, {A: x, W: y, BIAS: np.array([0, 1], np.int32)})
    exact = x.astype(object) * y.astype(object)
    expected = np.clip(exact, -(1 << 31), (1 << 31) - 1).astype(np.int64)
    assert results(lram, OUT, count * words, np.int32).tolist() == expected.tolist()


def rounded(value: Fraction, mode: str) -> int:
    if mode == "OFF":
        return floor(value)
    if mode == "NTE":
        return round(value)
    return floor(value + Fraction(1, 2))


@QUICK
@given(
    st.lists(st.integers(-128, 127), min_size=16, max_size=16),
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(-(1 << 31), (1 << 31) - 1),
    st.integers(0, 63),
    st.integers(-(1 << 15), (1 << 15) - 1),
    st.sampled_from(["NTP", "NTE", "OFF"]),
)
def test_rescaling_rounds_and_clips_like_fractions(
    values: list[int], bias: int, scale: int, shift: int, zero_point: int, mode: str
) -> None:
    task = streaming(
        source=A,
        target=OUT,
        size=1,
        count=16,
        words=1,
        result=1,
        bias=bias_word(BIAS),
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        act_rsh=shift,
        act_zero_point=zero_point,
        act_round_mode=mode,
        act_clip_min=-128,
        act_clip_max=127,
    )
    lram, _ = run(
        task,
        {A: np.array(values, np.int8), BIAS: np.array([bias, scale], np.int64).astype(np.int32)},
    )
    expected = []
    for value in values:
        scaled = Fraction((value + bias) * scale, 1 << shift)
        assert abs(scaled * (1 << shift)) < 1 << 63
        expected.append(min(max(rounded(scaled, mode) + zero_point, -128), 127))
    assert results(lram, OUT, 16, np.int8).tolist() == expected


@QUICK
@given(st.integers(-(1 << 31), (1 << 31) - 1), st.integers(0, (1 << 30)), st.integers(2, 62))
def test_double_rounding_is_that_of_tosa(value: int, scale: int, shift: int) -> None:
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=4,
        words=1,
        result=4,
        bias=bias_word(BIAS),
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=7,
        act_rsh=shift,
        act_round_mode="DBL",
    )
    data = np.array([value] * 4, np.int64).astype(np.int32)
    lram, _ = run(task, {A: data, BIAS: np.array([0, scale], np.int32)})
    rounding = 1 << (shift - 1)
    if shift > 31:
        rounding += (1 << 30) if value >= 0 else -(1 << 30)
    expected = (value * scale + rounding) >> shift
    expected = min(max(expected, -(1 << 31)), (1 << 31) - 1)
    assert results(lram, OUT, 4, np.int32).tolist() == [expected] * 4


def binary(
    op: str, x: Array, y: Array, *, shift: int = 0, result: int = 0, **more: object
) -> Array:
    """Two operands through the ALU, one after the other, in blocks of two cycles."""
    size = x.dtype.itemsize
    masks = {1: 0, 2: 5, 4: 7}
    unsigned = 15 if np.issubdtype(x.dtype, np.unsignedinteger) else masks[size]
    count, words = 64 // size, 3
    task = streaming(
        source=A,
        target=OUT,
        size=size,
        count=count,
        words=words,
        result=result or size,
        operands=2,
        apart=B - A,
        alu_op0_mode="DBYP",
        alu_op1_mode=op,
        **{"alu_d_unsigned": unsigned, "act_rsh": shift, **more},
    )
    lram, _ = run(task, {A: x, B: y})
    kinds = {1: np.int8, 2: np.int16, 4: np.int32}
    return results(lram, OUT, count * words, kinds[result] if result else x.dtype.type)


BITWISE = {"BAND": np.bitwise_and, "BOR": np.bitwise_or, "BXOR": np.bitwise_xor}
EXTREMES = {"MAX": np.maximum, "MIN": np.minimum}
COMPARES = {"GT": np.greater, "GE": np.greater_equal, "EQ": np.equal}
LOGIC = {"AND": np.logical_and, "OR": np.logical_or, "XOR": np.logical_xor}


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("op", [*BITWISE, *EXTREMES, *COMPARES, *LOGIC])
def test_operations_on_two_integers_are_those_of_numpy(op: str, size: int) -> None:
    count = 3 * 64 // size
    x, y = rng_array(3, KINDS[size], count), rng_array(4, KINDS[size], count)
    y[::3] = x[::3]
    if op in LOGIC:
        x[::4], y[::5] = 0, 0
    every = BITWISE | EXTREMES | COMPARES | LOGIC
    compare = op in COMPARES
    found = binary(op, x, y, shift=16 if compare else 0, result=1 if compare else 0)
    assert found.tolist() == every[op](x, y).astype(found.dtype).tolist()


@pytest.mark.parametrize("op", [*EXTREMES, *COMPARES])
def test_unsigned_data_compares_unsigned(op: str) -> None:
    x, y = rng_array(3, np.uint8, 192), rng_array(4, np.uint8, 192)
    compare = op in COMPARES
    found = binary(op, x, y, shift=16 if compare else 0, result=1)
    expected = (EXTREMES | COMPARES)[op](x, y)
    assert found.view(np.uint8).tolist() == expected.astype(np.uint8).tolist()


@pytest.mark.parametrize("op", ["NOT", "BNOT"])
def test_negations_take_one_operand(op: str) -> None:
    x = rng_array(5, np.int8, 192)
    task = streaming(
        source=A,
        target=OUT,
        size=1,
        count=64,
        words=3,
        result=1,
        alu_op0_mode="DBYP",
        alu_op1_mode=op,
    )
    lram, _ = run(task, {A: x})
    expected = np.logical_not(x).astype(np.int8) if op == "NOT" else np.invert(x)
    assert results(lram, OUT, 192, np.int8).tolist() == expected.tolist()


@pytest.mark.parametrize(("op", "sign"), [("ACC", 1), ("SACC", -1)])
def test_sums_without_weights_add_or_alternate(op: str, sign: int) -> None:
    x, y = rng_array(6, np.int32, 12), rng_array(7, np.int32, 12)
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=4,
        words=3,
        result=4,
        operands=2,
        apart=B - A,
        partials=4,
        alu_op0_mode="DBYP",
        alu_op1_mode=op,
        alu_d_unsigned=7,
        act_lsh=(0, 8, 16, 24),
        act_sum_bits=48,
    )
    lram, _ = run(task, {A: x, B: y})
    exact = np.clip(x.astype(np.int64) + sign * y.astype(np.int64), -(1 << 31), (1 << 31) - 1)
    assert results(lram, OUT, 12, np.int32).tolist() == exact.tolist()


@pytest.mark.parametrize(("op", "expected"), [("AMAX", np.argmax), ("AMIN", np.argmin)])
def test_positions_of_extremes_are_those_of_the_first(op: str, expected: object) -> None:
    rows = np.random.default_rng(8).integers(-5, 5, (7, 64)).astype(np.int8)
    task = streaming(
        source=A,
        target=OUT,
        size=1,
        count=64,
        words=1,
        result=4,
        operands=7,
        apart=64,
        alu_op0_mode="DBYP",
        alu_op1_mode=op,
        act_rsh=16,
    )
    lram, _ = run(task, {A: rows})
    assert results(lram, OUT, 64, np.int32).tolist() == expected(rows, axis=0).tolist()  # type: ignore[operator]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_a_weight_selects_between_two_words(size: int) -> None:
    count = 16 // size
    x, y = rng_array(9, KINDS[size], count * 3), rng_array(10, KINDS[size], count * 3)
    which = np.random.default_rng(11).integers(0, 2, count * 3).astype(np.int8)
    shifts = {1: (0, 0, 0, 0), 2: (0, 8, 0, 8), 4: (0, 8, 16, 24)}[size]
    task = streaming(
        source=A,
        target=OUT,
        size=size,
        count=count,
        words=3,
        result=size,
        operands=2,
        apart=B - A,
        partials=size,
        weights=weight_words(W, 1, count, 3),
        weight_step=dim("D", count, 0),
        spread=size,
        alu_op1_mode="SEL",
        alu_d_unsigned={1: 0, 2: 5, 4: 7}[size],
        act_lsh=shifts,
    )
    twice = [
        ndl
        if ndl.agent != "CEWR"
        else type(ndl)(agent="CEWR", low=ndl.low, high=(dim("L", 2), dim("T", 1)))
        for ndl in task.ndls
    ]
    task = type(task)(
        **{f: getattr(task, f) for f in task.__slots__ if f != "ndls"}, ndls=tuple(twice)
    )
    lram, _ = run(task, {A: x, B: y, W: which})
    expected = np.where(which == 1, x, y)
    assert results(lram, OUT, count * 3, KINDS[size]).tolist() == expected.tolist()


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("mode", ["ABS", "NEG", "CLZ"])
def test_activation_modes_of_integers(mode: str, size: int) -> None:
    x = rng_array(12, KINDS[size], 48 // size)
    info = np.iinfo(KINDS[size])
    task = streaming(
        source=A,
        target=OUT,
        size=size,
        count=16 // size,
        words=3,
        result=size,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned={1: 0, 2: 5, 4: 7}[size],
        act_mode=mode,
        act_sum_bits=8 * size,
        act_clip_min=info.min,
        act_clip_max=info.max,
    )
    lram, _ = run(task, {A: x})
    wide = x.astype(np.int64)
    leading = [8 * size - int(value % (1 << 8 * size)).bit_length() for value in wide.tolist()]
    every = {"ABS": np.abs(wide), "NEG": -wide, "CLZ": np.array(leading)}
    expected = np.clip(every[mode], info.min, info.max)
    assert results(lram, OUT, len(x), KINDS[size]).tolist() == expected.tolist()


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("mode", ["LSL", "LSR", "ASR"])
@pytest.mark.parametrize("rounding", ["OFF", "NTP"])
def test_shifts_take_their_amount_from_a_second_tensor(mode: str, size: int, rounding: str) -> None:
    count = 8 if size == 4 else 16
    kind = KINDS[size]
    x = rng_array(13, kind, count * 3)
    by = np.random.default_rng(14).integers(0, 8 * size, count * 3).astype(kind)
    task = shifting(
        source=A, amounts=B, target=OUT, size=size, words=3, act_mode=mode, act_round_mode=rounding
    )
    lram, _ = run(task, {A: x, B: by})
    bits = 8 * size
    expected = []
    for value, amount in zip(x.tolist(), by.tolist(), strict=True):
        half = (1 << amount) >> 1 if rounding == "NTP" else 0
        exact = {
            "LSL": value << amount,
            "LSR": ((value % (1 << bits)) + half) >> amount,
            "ASR": (value + half) >> amount,
        }[mode]
        low = exact % (1 << bits)
        expected.append(low - (1 << bits) if low >> (bits - 1) else low)
    assert results(lram, OUT, count * 3, kind).tolist() == expected


INFINITE = {"act_clip_min": -0x800000, "act_clip_max": 0x7F800000}


@QUICK
@given(st.integers(0, 10_000), st.integers(1, 9))
def test_bfloat_products_add_up_in_order_in_float32(seed: int, taps: int) -> None:
    rng = np.random.default_rng(seed)
    x = bfloat(rng.normal(size=(taps, 8)) * 10.0 ** rng.integers(-3, 4, (taps, 8)))
    w = bfloat(rng.normal(size=(taps, 8)))
    bias = np.array([rng.normal()], np.float32)
    task = streaming(
        source=A,
        target=OUT,
        size=2,
        count=8,
        words=1,
        result=4,
        operands=taps,
        apart=16,
        partials=2,
        weights=weight_words(W, 2, 8, taps),
        weight_step=dim("D", 8, 0),
        alu_format="BF",
        act_format="BF",
        act_sum_bits=32,
        bias=bias_word(BIAS, 4),
        **INFINITE,
    )
    lram, _ = run(task, {A: x, W: w, BIAS: bias})
    total = np.zeros(8, np.float32)
    for k in range(taps):
        total = total + unbfloat(x[k]) * unbfloat(w[k])
    expected = total + bias[0]
    assert results(lram, OUT, 8, np.uint32).tolist() == expected.view(np.uint32).tolist()


@QUICK
@given(st.lists(st.integers(0, 0xFFFF), min_size=8, max_size=8))
def test_bfloat_survives_the_way_to_float32_and_back(bits: list[int]) -> None:
    numbers = [b if (b & 0x7FFF) <= 0x7F80 else 0x7FC0 for b in bits]
    task = streaming(
        source=A,
        target=OUT,
        size=2,
        count=8,
        words=1,
        result=2,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=5,
        alu_format="BF",
        act_format="BF",
        act_sum_bits=16,
        **INFINITE,
    )
    lram, _ = run(task, {A: np.array(numbers, np.uint16)})
    assert results(lram, OUT, 8, np.uint16).tolist() == numbers


@QUICK
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=4, max_size=4))
def test_float32_rounds_to_bfloat_like_everyone_else(values: list[float]) -> None:
    x = np.array(values, np.float32)
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=4,
        words=1,
        result=2,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=7,
        alu_format="BF",
        act_format="BF",
        act_sum_bits=32,
        **INFINITE,
    )
    lram, _ = run(task, {A: x})
    assert results(lram, OUT, 4, np.uint16).tolist() == bfloat(x).tolist()


@pytest.mark.parametrize("mode", ["ABS", "NEG", "CEL", "FLR"])
def test_activation_modes_of_floats(mode: str) -> None:
    x = np.array([1.5, -1.5, 0.25, -0.25, 3e9, -7.0, 0.0, -2.75], np.float32)
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=8,
        words=1,
        result=4,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=7,
        alu_format="BF",
        act_format="BF",
        act_sum_bits=32,
        act_mode=mode,
        **INFINITE,
    )
    lram, _ = run(task, {A: x})
    every = {"ABS": np.abs, "NEG": np.negative, "CEL": np.ceil, "FLR": np.floor}
    assert results(lram, OUT, 8, np.float32).tobytes() == every[mode](x).tobytes()


def test_integers_become_floats_and_floats_integers() -> None:
    x = rng_array(15, np.int32, 16)
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=16,
        words=1,
        result=4,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=7,
        act_mode="I2F",
    )
    lram, _ = run(task, {A: x})
    assert results(lram, OUT, 16, np.float32).tolist() == x.astype(np.float32).tolist()
    y = np.array([1.4, -1.4, 2.6, 1e20, -1e20, np.nan, 0.0, -3.6], np.float32)
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=8,
        words=1,
        result=4,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=7,
        alu_format="BF",
        act_format="BF",
        act_sum_bits=32,
        act_mode="F2I",
        **INFINITE,
    )
    lram, _ = run(task, {A: y})
    expected = [1, -1, 3, (1 << 31) - 1, -(1 << 31), 0, 0, -4]
    assert results(lram, OUT, 8, np.int32).tolist() == expected


@pytest.mark.parametrize("op", ["MAX", "MIN"])
def test_extremes_of_bfloats(op: str) -> None:
    rng = np.random.default_rng(16)
    x, y = bfloat(rng.normal(size=96)), bfloat(rng.normal(size=96))
    found = binary(op, x.view(np.int16), y.view(np.int16), alu_format="BF")
    expected = EXTREMES[op](unbfloat(x), unbfloat(y))
    assert unbfloat(found.view(np.uint16)).tolist() == expected.tolist()


def test_products_of_bfloats_round_to_bfloat_at_each_step() -> None:
    rng = np.random.default_rng(17)
    x = bfloat(rng.normal(size=(5, 8)))
    task = streaming(
        source=A,
        target=OUT,
        size=2,
        count=8,
        words=1,
        result=2,
        operands=5,
        apart=16,
        alu_op0_mode="DBYP",
        alu_op1_mode="MUL",
        alu_d_unsigned=5,
        alu_format="BF",
        act_format="BF",
        act_sum_bits=16,
        **INFINITE,
    )
    lram, _ = run(task, {A: x})
    product = unbfloat(x[0])
    for row in x[1:]:
        product = unbfloat(bfloat(product * unbfloat(row)))
    assert results(lram, OUT, 8, np.uint16).tolist() == bfloat(product).tolist()


@pytest.mark.parametrize("wide", [True, False])
def test_the_table_interpolates_between_its_entries(wide: bool) -> None:
    rng = np.random.default_rng(18)
    base = rng.integers(-(1 << 15), 1 << 15, 512)
    slope = rng.integers(-200, 200, 512)
    table = tuple(int((s & 0xFFFF) << 16 | b & 0xFFFF) for s, b in zip(slope, base, strict=True))
    x = rng_array(19, np.int16, 32).astype(np.int32)
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=2,
        words=16,
        result=4 if wide else 1,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=7,
        table=table,
    )
    lram, _ = run(task, {A: x})
    index, rest = (x.astype(int) >> 7) + 256, x.astype(int) & 127
    expected = base[index] + ((slope[index] * rest + 64) >> 7)
    if wide:
        assert results(lram, OUT, 32, np.int32).tolist() == expected.tolist()
    else:
        assert results(lram, OUT, 32, np.int8).tolist() == (expected >> 8).astype(np.int8).tolist()


def test_more_look_ups_than_the_table_makes_at_a_time_are_refused() -> None:
    task = streaming(
        source=A,
        target=OUT,
        size=4,
        count=4,
        words=1,
        result=4,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        table=(0,) * 512,
    )
    with pytest.raises(TorqFault, match="looks up 4 results at a time; 2 are possible"):
        run(task, {A: rng_array(1, np.int32, 4)})
