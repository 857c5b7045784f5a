"""The processor of a board: a stated model, cores that are taken in turn, DRAM that is shared."""

import pytest

from assay.hw.board import Board
from assay.hw.processor import Costs, processor_costs

SECOND = 10**12
COSTS = Costs(cores=2, macs=1000.0, elements=100.0, memcpy=50.0, call=1.0)


def test_a_kernel_takes_what_takes_longest() -> None:
    assert COSTS.kernel(macs=3000, elements=100, moved=50) == 4.0
    assert COSTS.kernel(macs=0, elements=500, moved=50) == 6.0
    assert COSTS.kernel(macs=0, elements=0, moved=500) == 11.0
    assert COSTS.copy(100) == 3.0


def test_the_costs_of_the_data_file_are_those_of_two_cores() -> None:
    costs = processor_costs()
    assert costs.cores == 2
    assert 1e9 < costs.macs < 1e11 and 1e9 < costs.memcpy < 1e10


def test_a_third_piece_of_work_waits_for_a_core() -> None:
    board = Board(dram=10**12)
    processor = board.processor(COSTS)
    for name in "abc":
        board.environment.start(processor.work("kernel", name, 2.0, traffic=0))
    board.finish()
    assert [(span.name, span.core, span.begin, span.end) for span in processor.spans] == [
        ("a", 0, 0, 2 * SECOND),
        ("b", 1, 0, 2 * SECOND),
        ("c", 0, 2 * SECOND, 4 * SECOND),
    ]


def test_copies_are_slower_where_dram_is_short() -> None:
    board = Board(dram=100)
    processor = board.processor(COSTS)
    for name in "ab":
        board.environment.start(processor.work("copy", name, 1.0, traffic=100))
    assert board.finish() == 2 * SECOND


def test_it_is_on_the_boards_timeline() -> None:
    board = Board(dram=10**12)
    board.environment.start(board.processor(COSTS).work("copy", "x", 1.0, traffic=8))
    board.finish()
    trace = board.trace()
    (row,) = (n for n, name in enumerate(trace.slices.name) if trace.names[name] == "x")
    assert (trace.slices.begin[row], trace.slices.duration[row]) == (0, SECOND)
    with pytest.raises(ValueError, match="has a machine 'CPU' already"):
        board.processor()
