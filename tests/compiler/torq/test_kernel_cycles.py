"""How many cycles kernels take on the emulated slice follows from how they are written."""

from __future__ import annotations

import pytest

from tests.compiler.torq.trials.convolutions import Case, convolution
from tests.compiler.torq.trials.moves import transpose_blocks
from tests.compiler.torq.trials.products import fully_connected


def test_cycles_of_a_convolution_follow_from_its_nest() -> None:
    case = Case(batch=2, channels=3, outputs=8, height=16, width=16)
    machine = convolution(case).machine
    (counts,) = machine.counts
    vectors = 16 * 16 // 64
    summing, activating = 2 * 2 * vectors * 3 * 9, 2 * 8 * vectors * 64 // 16
    assert (counts.alu_cycles, counts.vectors) == (summing, activating)
    # The activation of the last block comes behind the sums of all of them.
    (cycles,) = machine.cycles
    assert cycles.total == summing + activating // counts.blocks


@pytest.mark.parametrize("kernel", [3, 5])
def test_cycles_of_a_depthwise_convolution_follow_from_its_nest(kernel: int) -> None:
    case = Case(
        depthwise=True,
        channels=8,
        height=12,
        width=12,
        kernel=(kernel, kernel),
        top=kernel // 2,
        left=kernel // 2,
    )
    machine = convolution(case).machine
    (counts,), (cycles,) = machine.counts, machine.cycles
    blocks = 2 * -(-12 * 12 // 64)
    words, vectors = blocks * kernel * -(-kernel // 3) * 4, blocks * 16
    assert counts.blocks == blocks
    assert counts.alu_cycles == blocks * kernel * kernel
    assert (counts.transfers["DEDR"], counts.vectors) == (words, vectors)
    # Four words of data for every three columns: reading is slower than multiplying.
    assert words > counts.alu_cycles
    if kernel == 3:  # and writing is slower still
        assert cycles.total == vectors + words // blocks
    else:
        assert cycles.total == words + vectors // blocks and cycles.slowest == "DEDR"


@pytest.mark.parametrize(("channels", "shared"), [(3, True), (260, False)])
def test_channels_of_other_shifts_share_a_task_unless_sums_are_too_wide(
    channels: int, shared: bool
) -> None:
    case = Case(dtype="int16", channels=channels, outputs=4, height=2, width=2, shifts=(24, 40))
    assert (len(convolution(case).machine.counts) == 1) == shared


def test_cycles_of_fully_connected_follow_from_its_nest() -> None:
    """Two vectors of 64 outputs, then one of 8 for the two that are left."""
    machine = fully_connected(3, 40, 130, "int8", 0).machine
    assert [counts.alu_cycles for counts in machine.counts] == [3 * 2 * 40, 3 * 40]
    assert [counts.vectors for counts in machine.counts] == [3 * 2 * 16, 3 * 2]
    assert [cycles.total for cycles in machine.cycles] == [3 * 2 * 40 + 16, 3 * 40 + 2]


@pytest.mark.parametrize("shape", [(32, 32), (2, 64, 96)])
def test_blocks_are_turned_in_four_cycles_each(shape: tuple[int, ...]) -> None:
    trial = transpose_blocks(shape, 0)
    trial.equals_reference()
    assert trial.machine.counts[0].alu_cycles == 4 * trial.found.size // 1024
