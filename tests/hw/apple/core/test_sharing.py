"""Which lines are shared, and what the caches that all cores use make of it."""

import numpy as np
import pytest

from assay.hw.apple.core.occupancy import occupancy
from assay.hw.apple.core.sample import Sample, choose_sample
from assay.hw.apple.core.sharing import CATEGORIES, Lines, Machine, Sharing, sharing
from assay.hw.apple.facts.chips import chip

ROW, COLUMN, OWN, HALO = 0, 1, 2, 3  # accesses
PRIVATE, ALONG_X, ALONG_Y, LOCAL = 0, 1, 2, 8  # categories
UNIT = 1 << 15
LINES = 64
SECTOR = 64


def product(key: str, width: int, height: int, *, warm: bool = True) -> tuple[Sharing, Sample]:
    """Tiles of a matrix product: rows and columns are shared, the result is each tile's own."""
    known = chip(key)
    grid = (width, height, 1)
    resident = occupancy(
        known, registers=64, simdgroups=4, threadgroup_memory=8192, threadgroups=width * height
    )
    sample = choose_sample(grid, resident, known)

    def lines_of(number: int) -> Lines:
        x, y, _ = sample.positions[number]
        parts = {
            ROW: 10_000_000 + y * LINES,
            COLUMN: 20_000_000 + x * LINES,
            OWN: 30_000_000 + (y * width + x) * LINES,
        }
        lines = np.concatenate([np.arange(LINES) + start for start in parts.values()])
        sites = np.repeat(list(parts), LINES)
        return sites, lines.astype(np.uint64), np.full(len(lines), 32, np.uint8)

    machine = Machine(
        cores=known.cores,
        resident=resident.threadgroups,
        l2=known.l2,
        slc=known.slc,
        sector=SECTOR,
    )
    return sharing(grid, sample, machine, 3, lines_of, float("inf"), warm=warm), sample


def category(shared: Sharing, access: int) -> int:
    """The category of nearly all lines of an access."""
    shares = np.diff(shared.site_shares[access].astype(int), prepend=0)
    assert shares.max() == UNIT
    return int(shares.argmax())


def test_rows_columns_and_results_of_a_product_are_told_apart() -> None:
    shared, _ = product("m4-max", 64, 64)
    assert [category(shared, access) for access in (ROW, COLUMN, OWN)] == [
        ALONG_X,
        ALONG_Y,
        PRIVATE,
    ]
    assert shared.footprint == (2 * 64 + 64 * 64) * LINES * 128


def test_a_row_is_fetched_once_for_all_cores_and_a_result_by_each() -> None:
    shared, _ = product("m4-max", 64, 64)
    assert shared.payers[PRIVATE] == UNIT
    assert shared.payers[ALONG_X] == UNIT // 40
    assert shared.weight[PRIVATE] == 128 * 40
    assert shared.weight[ALONG_X] == 128
    # Five groups on each of 40 cores are three rows and a bit: so many want a column.
    assert UNIT / 5 < shared.payers[ALONG_Y] < UNIT / 2


def test_what_the_caches_can_hold_is_found_there_again() -> None:
    small, _ = product("m4-max", 16, 16)
    assert small.slc[PRIVATE] == UNIT  # two megabytes, from the run before
    large, _ = product("m1", 512, 512)
    assert large.slc[PRIVATE] == 0  # two gigabytes
    # The columns come again with each row of tiles: 512 of them pass in between.
    assert large.slc[ALONG_Y] > 0.9 * UNIT
    cold, _ = product("m4-max", 16, 16, warm=False)
    assert cold.slc[PRIVATE] == cold.l2[PRIVATE] == 0


@pytest.mark.parametrize(
    ("words", "sharers", "sector_sharers"), [(32, 2, 2), (24, 2, 2), (16, 2, 1), (8, 4, 2)]
)
def test_what_only_close_neighbours_have_is_shared_by_as_many_as_its_parts(
    words: int, sharers: int, sector_sharers: int
) -> None:
    sample = Sample(
        positions=((0, 0, 0), (1, 0, 0), (5, 0, 0)), core=1, near=(1, -1, -1), far=(2, -1, -1)
    )

    def lines_of(number: int) -> Lines:
        x = sample.positions[number][0]
        lines = np.arange(x * 10, x * 10 + 12, dtype=np.uint64)  # two of them are the neighbour's
        return np.zeros(12, np.int64), lines, np.full(12, words, np.uint8)

    machine = Machine(cores=8, resident=4, l2=1 << 20, slc=1 << 23, sector=SECTOR)
    shared = sharing((100, 1, 1), sample, machine, 1, lines_of, float("inf"), warm=True)
    shares = np.diff(shared.site_shares[0].astype(int), prepend=0)
    assert shares[PRIVATE] == pytest.approx(UNIT * 10 / 12, abs=2)
    assert shares[LOCAL] == pytest.approx(UNIT * 2 / 12, abs=2)
    assert shared.payers[LOCAL] == UNIT // sharers
    assert shared.sector_payers[LOCAL] == UNIT // sector_sharers


def test_lines_with_pieces_of_several_sizes_are_fetched_once_for_those_that_want_them() -> None:
    sample = Sample(
        positions=((0, 0, 0), (1, 0, 0), (50, 0, 0)), core=1, near=(1, -1, -1), far=(2, -1, -1)
    )
    # Of three lines half is this threadgroup's, of one a quarter: it shares that one's sector.
    words = np.array([16, 16, 16, 8], np.uint8)

    def lines_of(number: int) -> Lines:
        lines = np.arange(4, dtype=np.uint64) + 100 * (number == 2)
        return np.zeros(4, np.int64), lines, words

    machine = Machine(cores=8, resident=4, l2=1 << 20, slc=1 << 23, sector=SECTOR)
    shared = sharing((100, 1, 1), sample, machine, 1, lines_of, float("inf"), warm=False)
    assert shared.payers[LOCAL] == UNIT * (3 / 2 + 1 / 4) / 4
    assert shared.sector_payers[LOCAL] == UNIT * (3 + 1 / 2) / 4
    assert shared.footprint == 100 * 128 * (3 / 2 + 1 / 4)


def test_accesses_that_were_not_seen_are_like_the_rest() -> None:
    shared, _ = product("m1", 64, 64)
    assert shared.site_shares.shape == (3, CATEGORIES)
    assert (shared.site_shares[:, -1] == UNIT).all()


def test_a_dispatch_cannot_touch_more_than_its_buffers() -> None:
    sample = Sample(positions=((0, 0, 0),), core=1)

    def lines_of(number: int) -> Lines:
        return np.zeros(8, np.int64), np.arange(8, dtype=np.uint64), np.full(8, 32, np.uint8)

    machine = Machine(cores=8, resident=4, l2=1 << 20, slc=1 << 23, sector=SECTOR)
    found = [
        sharing((1 << 20, 1, 1), sample, machine, 1, lines_of, most, warm=True)
        for most in (float("inf"), 4096.0)
    ]
    assert [one.footprint for one in found] == [(1 << 20) * 1024, 4096]
    assert [int(one.l2[0]) for one in found] == [0, UNIT]
