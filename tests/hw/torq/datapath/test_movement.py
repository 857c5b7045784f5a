"""Where results go and where data comes from: splits, planes, gathering, transposition, weights."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hw.small_floats import FP4, NF4
from assay.hw.torq.words.commands import Dim, Ndl, SliceTask
from tests.support.torq_run import results, run
from tests.support.torq_tasks import ONCE, dim, element, replaced, streaming

A, B, W, OUT = 0x2000, 0x4000, 0x6000, 0x8000
QUICK = settings(max_examples=20, deadline=None)


def copying(count: int, words: int, **config: object) -> SliceTask:
    return streaming(
        source=A,
        target=OUT,
        size=1,
        count=count,
        words=words,
        result=1,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        **config,
    )


def bytes_of(seed: int, count: int) -> np.ndarray:  # type: ignore[type-arg]
    return np.random.default_rng(seed).integers(-128, 128, count).astype(np.int8)


def test_results_are_copied_in_order() -> None:
    x = bytes_of(1, 320)
    lram, counts = run(copying(64, 5), {A: x})
    assert results(lram, OUT, 320, np.int8).tolist() == x.tolist()
    assert counts.transfers == {"DEDR": 5, "DEQW": 20}


def test_halves_of_a_transfer_can_go_to_two_places() -> None:
    x = bytes_of(2, 64)
    deqw = Ndl(
        agent="DEQW",
        low=(element(1), dim("D", 8, 1), dim("G", 2, 0x400)),
        high=(ONCE, dim("O", 4, 8)),
        base_address=OUT,
    )
    lram, _ = run(replaced(copying(64, 1), DEQW=deqw), {A: x})
    pairs = x.reshape(4, 2, 8)
    assert results(lram, OUT, 32, np.int8).tolist() == pairs[:, 0].ravel().tolist()
    assert results(lram, OUT + 0x400, 32, np.int8).tolist() == pairs[:, 1].ravel().tolist()


@pytest.mark.parametrize("size", [1, 2])
def test_even_and_odd_results_can_go_to_two_places(size: int) -> None:
    kind = {1: np.int8, 2: np.int16}[size]
    x = np.arange(32).astype(kind)
    task = streaming(
        source=A,
        target=OUT,
        size=size,
        count=16,
        words=2,
        result=size,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned={1: 0, 2: 5}[size],
    )
    deqw = Ndl(
        agent="DEQW",
        low=(element(size), dim("D", 2, 0x400), dim("G", 8, size)),
        high=(ONCE, dim("O", 2, 8 * size)),
        base_address=OUT,
    )
    lram, _ = run(replaced(task, DEQW=deqw), {A: x})
    assert results(lram, OUT, 16, kind).tolist() == x[::2].tolist()
    assert results(lram, OUT + 0x400, 16, kind).tolist() == x[1::2].tolist()


@QUICK
@given(st.integers(1, 20), st.integers(1, 12))
def test_the_last_vector_of_a_plane_is_clipped(width: int, height: int) -> None:
    pixels = width * height
    words = -(-pixels // 64)
    x = bytes_of(3, 64 * words)
    deqw = Ndl(
        agent="DEQW",
        low=(element(1), dim("D", 16, 1)),
        high=(ONCE, dim("A", 4), dim("A", words)),
        special=(element(1), dim("X", width, 1), dim("Y", height, width + 5)),
        base_address=OUT,
    )
    lram, _ = run(replaced(copying(64, words), DEQW=deqw), {A: x})
    found = results(lram, OUT, (height + 30) * (width + 5), np.int8).reshape(-1, width + 5)
    assert found[:height, :width].tolist() == x[:pixels].reshape(height, width).tolist()
    assert not found[:height, width:].any() and not found[height:].any()


@QUICK
@given(st.integers(1, 10), st.integers(1, 8))
def test_planes_can_be_segmented_by_parity(half_width: int, half_height: int) -> None:
    width, height = 2 * half_width, 2 * half_height
    quarter, words = half_width * half_height, -(-width * height // 64)
    x = bytes_of(4, 64 * words)
    deqw = Ndl(
        agent="DEQW",
        low=(element(1), dim("D", 16, 1)),
        high=(ONCE, dim("A", 4), dim("A", words)),
        special=(
            element(1),
            dim("X", 2, quarter),
            dim("X", half_width, 1),
            dim("Y", 2, 2 * quarter),
            dim("Y", half_height, half_width),
        ),
        base_address=OUT,
    )
    lram, _ = run(replaced(copying(64, words), DEQW=deqw), {A: x})
    image = x[: width * height].reshape(height, width)
    for row in (0, 1):
        for column in (0, 1):
            at = OUT + (2 * row + column) * quarter
            found = results(lram, at, quarter, np.int8)
            assert found.tolist() == image[row::2, column::2].ravel().tolist()


def test_fill_writes_one_value_and_nothing_else_runs() -> None:
    task = SliceTask(
        ndls=(
            Ndl(agent="REF"),
            Ndl(
                agent="DEQW",
                low=(element(2), dim("D", 32, 2)),
                high=(ONCE, dim("O", 3, 64), dim("O", 2, 0x200)),
                base_address=OUT,
            ),
        ),
        pad_value=0x1234,
        alu_disable=0xFFFF,
        act_disable=0xF,
    )
    lram, counts = run(task, {})
    for part in (OUT, OUT + 0x200):
        assert results(lram, part, 96, np.uint16).tolist() == [0x1234] * 96
    assert not any(lram.read(OUT + 192, 0x200 - 192))
    assert counts.alu_cycles == 0


@QUICK
@given(st.sampled_from([1, 2, 4]), st.integers(1, 9), st.data())
def test_gathering_takes_data_from_where_indices_say(
    group: int, words: int, data: st.DataObject
) -> None:
    values = bytes_of(5, 500)
    index = st.integers(-100, 399)
    offsets = np.array(data.draw(st.lists(index, min_size=group * words, max_size=group * words)))
    offsets = offsets.astype(np.int16)
    run_bytes = 32 // group
    task = SliceTask(
        ndls=(
            Ndl(agent="REF", high=(dim("X", group, 1),)),
            Ndl(
                agent="DEDR",
                low=(element(1), dim("G", group, 0)),
                high=(dim("O", 1), dim("O", words)),
                base_address=A + 100,
                sync_nhd=1,
            ),
            Ndl(
                agent="DEDR",
                set=1,
                low=(element(2), dim("D", group, 2)),
                high=(dim("O", 1, 2 * group), dim("O", words, 2 * group)),
                base_address=B,
                sync_mode="P",
                sync_nhd=1,
            ),
            Ndl(agent="CEDW", low=(element(1),), high=(dim("T", 1),)),
            Ndl(
                agent="CEDR",
                low=(element(1), dim("D", run_bytes, 1), dim("G", 256 // run_bytes, 72 // group)),
                high=(dim("T", 1),),
            ),
            Ndl(agent="CEPR", low=(element(4),), high=(dim("N", 1), dim("T", words))),
            Ndl(
                agent="ACPR",
                low=(element(4), dim("D", 16, 4)),
                high=(dim("S", group, 4 * run_bytes), dim("T", words)),
            ),
            Ndl(
                agent="DEQW",
                low=(element(1), dim("D", 1, 1)),
                high=(dim("O", group, 1), dim("O", words, group)),
                base_address=OUT,
            ),
        ),
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
        alu_d_unsigned=15,
        act_clip_min=-(1 << 31),
        act_clip_max=(1 << 31) - 1,
    )
    lram, _ = run(task, {A: values, B: offsets})
    assert (
        results(lram, OUT, len(offsets), np.int8).tolist()
        == values[100 + offsets.astype(int)].tolist()
    )


def scattering(count: int) -> SliceTask:
    """Bytes from A go to OUT + 50 plus the offsets at B."""
    task = copying(8, count)
    dedr = Ndl(agent="DEDR", low=(element(1),), high=(dim("O", count, 1), ONCE), base_address=A)
    acpr = Ndl(agent="ACPR", low=(element(4), dim("D", 2, 4)), high=(dim("T", count),))
    deqw = Ndl(agent="DEQW", low=(element(1),), high=(dim("O", count),), base_address=OUT + 50)
    task = replaced(task, DEDR=dedr, ACPR=acpr, DEQW=deqw)
    bias = Ndl(
        agent="DEBR",
        low=(element(8),),
        high=(dim("O", count),),
        base_address=W,
        sync_mode="R",
        sync_nhd=1,
    )
    index = Ndl(
        agent="DEBR",
        set=1,
        low=(element(2),),
        high=(dim("O", count, 2),),
        base_address=B,
        sync_mode="R",
        sync_nhd=1,
    )
    acbr = Ndl(agent="ACBR", low=(element(8),), high=(dim("T", count),))
    acbw = Ndl(agent="ACBW", low=(element(8),), high=(dim("T", count),))
    fields = {name: getattr(task, name) for name in task.__slots__}
    return SliceTask(**(fields | {"ndls": (*task.ndls, bias, index, acbw, acbr)}))


@QUICK
@given(st.lists(st.integers(-50, 49), min_size=2, max_size=20))
def test_scattering_puts_results_where_indices_say_the_last_one_wins(places: list[int]) -> None:
    count = len(places)
    x = bytes_of(7, count)
    offsets = np.array(places, np.int16)
    task = scattering(count)
    lram, _ = run(task, {A: x, B: offsets, W: np.array([0, 1], np.int32)})
    expected = np.zeros(100, np.int8)
    for place, value in zip(places, x, strict=True):
        expected[50 + place] = value
    assert results(lram, OUT, 100, np.int8).tolist() == expected.tolist()


@pytest.mark.parametrize("size", [1, 2])
def test_a_block_of_32_by_32_bytes_is_transposed(size: int) -> None:
    """Rows arrive in the order that the hardware's packing of four bytes asks for."""
    kind = {1: np.int8, 2: np.int16}[size]
    columns = 32 // size
    x = np.random.default_rng(9).integers(-100, 100, (32, columns)).astype(kind)
    row = 32
    pairs = (dim("O", 2, 2 * row), dim("O", 2, 16 * row), dim("O", 4, 4 * row))
    if size == 2:
        pairs = (dim("O", 4, 8 * row), dim("O", 4, 2 * row))
    task = SliceTask(
        ndls=(
            Ndl(agent="REF"),
            Ndl(
                agent="DEDR",
                low=(element(size), dim("D", columns, size), dim("G", 2, row)),
                high=pairs,
                base_address=A,
            ),
            Ndl(agent="CEDW", low=(element(size),), high=(dim("S", 4, 72), dim("T", 1))),
            Ndl(
                agent="CEDR",
                low=(element(size), dim("D", 8, 36), dim("G", columns, size)),
                high=(dim("T", 1),),
            ),
            Ndl(agent="CEPR", low=(element(4),), high=(dim("N", 4), dim("T", 1))),
            Ndl(
                agent="ACPR",
                low=(element(4), dim("D", 16, 4)),
                high=(dim("S", 16, 64), dim("T", 1)),
            ),
            Ndl(
                agent="DEQW",
                low=(element(4), dim("D", 16, 4)),
                high=(ONCE, dim("O", 16, 64)),
                base_address=OUT,
            ),
        ),
        alu_op0_mode="DBYP",
        alu_op1_mode="BYP",
        alu_d_unsigned=15,
        act_clip_min=-(1 << 31),
        act_clip_max=(1 << 31) - 1,
    )
    lram, _ = run(task, {A: x})
    found = results(lram, OUT, 32 * columns, kind).reshape(columns, 32)
    assert found.tolist() == x.T.tolist()


def packed(codes: list[int], bits: int) -> np.ndarray:  # type: ignore[type-arg]
    """Codes of so many bits, the first one lowest."""
    total = sum(code << bits * k for k, code in enumerate(codes))
    return np.frombuffer(total.to_bytes(-(-len(codes) * bits // 8), "little"), np.uint8)


def weighing(source: Dim, count: int, bus: str, memory: str, step: int) -> SliceTask:
    """A product of 8 ones with 8 weights each, of a word per block."""
    size = 2 if bus == "BF" else 1
    weights = Ndl(
        agent="DEWR",
        low=(source, dim("D", 8, source.count)),
        high=(ONCE, dim("O", count, step)),
        base_address=8 * W if source.tag == "b" else W,
    )
    config: dict[str, object] = {"wmem_format": memory, "wbus_format": bus}
    if bus == "BF":
        config |= {
            "alu_format": "BF",
            "act_format": "BF",
            "act_sum_bits": 32,
            "act_clip_min": -0x800000,
            "act_clip_max": 0x7F800000,
        }
    task = streaming(
        source=A,
        target=OUT,
        size=size,
        count=8,
        words=count,
        result=4,
        partials=2 if bus == "BF" else 1,
        weights=weights,
        weight_step=dim("D", 8, 0),
        **config,
    )
    cewr = Ndl(agent="CEWR", low=(element(size), dim("D", 8, 0)), high=(dim("T", 1),))
    return replaced(task, CEWR=cewr)


@pytest.mark.parametrize("bits", [1, 2, 4, 6])
@pytest.mark.parametrize("memory", ["SI", "UI"])
@pytest.mark.parametrize("bus", ["I", "BF"])
def test_short_integer_weights_are_expanded(bits: int, memory: str, bus: str) -> None:
    codes = np.random.default_rng(10).integers(0, 1 << bits, 24).tolist()
    ones = np.ones(24, np.int8) if bus == "I" else np.full(24, 0x3F80, np.uint16)
    task = weighing(Dim(count=bits, stride=1, tag="b"), 3, bus, memory, 8 * bits)
    lram, _ = run(task, {A: ones, W: packed(codes, bits)})
    sign = 1 << (bits - 1) if memory == "SI" else 1 << bits
    expected = [code - 2 * sign if code >= sign else code for code in codes]
    kind = np.int32 if bus == "I" else np.float32
    assert results(lram, OUT, 24, kind).tolist() == expected


@pytest.mark.parametrize("memory", ["NF", "FP"])
def test_weights_of_four_bits_can_be_levels_or_floats(memory: str) -> None:
    codes = list(range(16)) + list(range(8))
    ones = np.full(24, 0x3F80, np.uint16)
    task = weighing(Dim(count=4, stride=1, tag="b"), 3, "BF", memory, 32)
    lram, _ = run(task, {A: ones, W: packed(codes, 4)})
    signed = [-FP4[c & 7] if c & 8 else FP4[c] for c in codes]
    levels = signed if memory == "FP" else [NF4[c] for c in codes]
    expected = np.array(levels).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert results(lram, OUT, 24, np.float32).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("memory", "kind"),
    [("SI", np.int8), ("FN", ml_dtypes.float8_e4m3fn), ("FP", ml_dtypes.float8_e5m2)],
)
def test_weights_of_a_byte_become_bfloats(memory: str, kind: type[np.generic]) -> None:
    raw = np.array([0, 1, 0x3C, 0x80, 0xBC, 0x44, 0x79, 0x35] * 3, np.uint8)
    ones = np.full(24, 0x3F80, np.uint16)
    lram, _ = run(weighing(element(1), 3, "BF", memory, 8), {A: ones, W: raw})
    expected = raw.view(kind).astype(np.float32)
    assert results(lram, OUT, 24, np.float32).tolist() == expected.tolist()
