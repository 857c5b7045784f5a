"""What is resident on a core, and which threadgroups stand for a grid."""

import pytest

from assay.hw.apple.core.occupancy import occupancy
from assay.hw.apple.core.result import Occupancy
from assay.hw.apple.core.sample import choose_sample, position
from assay.hw.apple.facts.chips import chip, chips
from assay.hw.apple.facts.instructions import instruction_set
from assay.hw.apple.facts.memory import memory

MANY = 1 << 20


def resident(
    key: str, registers: int, *, simdgroups: int = 1, memory: int = 0, threadgroups: int = MANY
) -> Occupancy:
    return occupancy(
        chip(key),
        registers=registers,
        simdgroups=simdgroups,
        threadgroup_memory=memory,
        threadgroups=threadgroups,
    )


@pytest.mark.parametrize(
    ("halves", "threads"),
    [
        (104, 1024),
        (112, 896),
        (128, 832),
        (136, 768),
        (160, 640),
        (208, 512),
        (256, 384),
        (34, 2656),
    ],
)
def test_registers_limit_threads_of_apple7_as_the_table_says(halves: int, threads: int) -> None:
    found = resident("m1-max", halves // 2)
    assert (found.simdgroups * 32, found.limiter) == (threads, "registers")
    assert found.spilled == 0


def test_few_registers_leave_the_limit_to_simdgroups() -> None:
    found = resident("m1-max", 16)
    assert (found.simdgroups, found.limiter) == (96, "simdgroups")


def test_threadgroup_memory_of_apple7_is_a_pool_of_60_kib() -> None:
    for size, count in ((32 << 10, 1), (20 << 10, 3), (16 << 10, 3), (8 << 10, 7)):
        found = resident("m2-pro", 16, simdgroups=4, memory=size)
        assert (found.threadgroups, found.limiter) == (count, "threadgroup memory")


@pytest.mark.parametrize(
    ("size", "measured"),
    [
        (0, 10.0),
        (1024, 10.5),
        (2048, 9.9),
        (4096, 9.2),
        (4624, 8.0),
        (6144, 7.4),
        (8192, 6.7),
        (9232, 6.4),
        (12288, 6.0),
        (16384, 5.6),
        (24576, 5.2),
        (32768, 4.5),
    ],
)
def test_residency_of_apple9_follows_the_census(size: int, measured: float) -> None:
    assert resident("m4-pro", 16, simdgroups=4, memory=size).threadgroups == pytest.approx(
        measured, abs=0.51
    )


@pytest.mark.parametrize(
    ("simdgroups", "threadgroups"), [(1, 42), (2, 21), (4, 10), (8, 10), (16, 6), (32, 3)]
)
def test_apple9_holds_about_ten_threadgroups_of_any_size_that_fits(
    simdgroups: int, threadgroups: int
) -> None:
    assert resident("m4-pro", 16, simdgroups=simdgroups).threadgroups == threadgroups


def test_registers_above_the_cliff_of_apple9_live_in_memory() -> None:
    assert resident("m5-max", 126).spilled == 0
    assert resident("m5-max", 128).spilled == pytest.approx(11 / 128)
    assert resident("m5-max", 256).spilled == pytest.approx(139 / 256)
    assert resident("m5-max", 256).simdgroups == resident("m5-max", 117).simdgroups


def test_a_small_grid_limits_what_is_resident() -> None:
    found = resident("m1", 16, threadgroups=16)
    assert (found.threadgroups, found.limiter) == (2, "grid")
    assert resident("m1", 128, simdgroups=32).threadgroups == 1  # one always fits


def test_a_sample_is_what_one_core_gets_and_neighbours_of_its_first() -> None:
    known = chip("m4-max")
    grid = (64, 64, 1)
    found = resident("m4-max", 64, simdgroups=4, threadgroups=64 * 64)
    sample = choose_sample(grid, found, known)
    assert len(set(sample.positions)) == len(sample.positions)
    assert sample.core == 3 * found.threadgroups
    numbers = [x + 64 * y for x, y, _ in sample.positions]
    first = numbers[0]
    assert numbers[: sample.core] == [first + i * known.cores for i in range(sample.core)]
    assert first % (found.threadgroups * known.cores) == 0
    x, y, _ = sample.positions[0]
    assert sample.positions[sample.near[0]] == ((x + 1) % 64, y, 0)
    assert sample.positions[sample.near[1]] == (x, (y + 1) % 64, 0)
    assert sample.near[2] == sample.far[2] == -1
    assert len(sample.spread) == 4


def test_a_small_grid_is_executed_whole_on_its_busiest_core() -> None:
    known = chip("m1")
    found = resident("m1", 32, simdgroups=8, threadgroups=20)
    sample = choose_sample((5, 4, 1), found, known)
    assert [sample.positions[i] for i in range(sample.core)] == [
        position((5, 4, 1), number) for number in (0, 8, 16)
    ]
    assert sample.spread == ()


def test_a_single_threadgroup_is_its_own_sample() -> None:
    sample = choose_sample((1, 1, 1), resident("m1", 8, threadgroups=1), chip("m1"))
    assert sample.positions == ((0, 0, 0),)
    assert (sample.core, sample.near, sample.far) == (1, (-1, -1, -1), (-1, -1, -1))


@pytest.mark.parametrize("key", list(chips()))
def test_every_chip_holds_what_its_grid_offers(key: str) -> None:
    for size in (0, 5000, 32768):
        found = resident(key, 40, simdgroups=4, memory=size)
        assert found.simdgroups == 4 * found.threadgroups > 0


def test_the_design_note_can_be_repeated_with_its_own_numbers() -> None:
    """Triple-buffered FP4 kernel, tiles of 64x64x32: the note's arithmetic, step by step."""
    note = chip("seed-m4-max")
    assert memory(note.timing).threadgroup_latency == 16
    product = instruction_set(note.timing).classes["mma_8x8x8_f16"]
    assert 64 * product.interval == 256  # cycles of 64 products in one simdgroup
    assert 64 * product.interval / note.clock == pytest.approx(0.18e-6, rel=0.02)
    tile = 4096 + 512 + 128  # bytes of A, of packed B and of its scales, as the note has them
    assert tile / (note.bandwidth / note.cores) == pytest.approx(0.47e-6, rel=0.02)
    for stages, threadgroups in ((3 * 8192, 1), (2 * 8192, 2), (3 * 4096, 2), (4 * 8192, 1)):
        found = resident("seed-m4-max", 16, simdgroups=4, memory=stages)
        assert found.threadgroups == threadgroups
    # What is measured on the chip is something else.
    assert resident("m4-max", 16, simdgroups=4, memory=3 * 8192).threadgroups == 5
