"""What holds of any program on the core model, on programs drawn at random."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from assay.hw.apple.core.model import simulate
from assay.hw.apple.core.result import CAUSES, LEVELS, DispatchTime
from assay.hw.apple.facts.chips import Chip, chip
from assay.hw.apple.facts.instructions import instruction_set
from assay.sim.simt.emit.tape import Tape
from tests.support.timing_programs import Op, Program, Touch

KEYS = ("m1", "m2-ultra", "m4-pro-16", "m5-max", "seed-m4-max", "a14")
ARITHMETIC = [
    name
    for name, one in instruction_set("apple7").classes.items()
    if one.unit not in ("memory", "control")
]
CACHED = ("device_load", "device_store", "device_atomic", "constant_load", "private_load")
LOCAL = ("threadgroup_load", "threadgroup_store", "threadgroup_atomic")
COPIED_CACHED = ("copy_device_load", "copy_device_store")
COPIED_LOCAL = ("copy_threadgroup_load", "copy_threadgroup_store")
COPIES = ("async_copy", *COPIED_CACHED, *COPIED_LOCAL, "async_copy_wait")
ACCESSES = CACHED + LOCAL + COPIED_CACHED + COPIED_LOCAL


def drawn(seed: int) -> tuple[Program, Tape]:
    """A program of some blocks, the last of them a barrier, and walks through it."""
    random_ = random.Random(seed)
    number, blocks = 0, []
    for _ in range(random_.randint(1, 4)):
        block = []
        for _ in range(random_.randint(1, 25)):
            known = range(max(0, number - 12), number)
            reads = tuple(random_.sample(known, min(len(known), random_.randint(0, 3))))
            pool = random_.choice((ARITHMETIC, ARITHMETIC, CACHED, LOCAL, COPIES))
            block.append(
                Op(
                    name=random_.choice(pool),
                    reads=reads,
                    flops=random_.randint(0, 2),
                    line=random_.randint(1, 5),
                )
            )
            number += 1
        blocks.append(block)
    blocks.append([Op(name="barrier", line=6)])
    moves = [[(random_.randrange(len(blocks)), 0, number - 1)] for _ in blocks]
    program = Program(blocks=blocks, moves=moves, registers=random_.randint(1, 160))
    simdgroups, groups = random_.randint(1, 5), random_.randint(1, 6)
    streams = []
    for _ in range(groups):
        meetings = random_.randint(0, 3)
        streams += [walk(program, random_, meetings) for _ in range(simdgroups)]
    if random_.random() < 0.3:
        streams[-1] = []  # a threadgroup at the grid's edge lacks a simdgroup
    grid = (groups * random_.randint(1, 50), random_.randint(1, 3), 1)
    tape = program.tape(
        streams,
        simdgroups=simdgroups,
        grid=grid,
        threadgroup_memory=random_.choice((0, 1000, 20000, 32768)),
        lanes=random_.getrandbits(32) | 1,
    )
    return program, tape


def walk(
    program: Program, random_: random.Random, meetings: int
) -> list[tuple[int, tuple[Touch, ...]]]:
    barrier = len(program.blocks) - 1
    path = []
    for _ in range(meetings + 1):
        path += [random_.randrange(barrier) for _ in range(random_.randint(0, 6))]
        path.append(barrier)
    return [
        (
            block,
            tuple(touch(op, random_) for op in program.blocks[block] if op.name in ACCESSES),
        )
        for block in path[:-1] or [0]
    ]


def touch(op: Op, random_: random.Random) -> Touch:
    words, sharing = random_.randint(1, 128), random_.randint(1, 32)
    if op.name in LOCAL + COPIED_LOCAL:
        rows, ways = random_.randint(0, 32), random_.randint(0, 32)
        return Touch(rows=rows, ways=ways, words=words, sharing=sharing, cached=False)
    lines = tuple(sorted(random_.sample(range(400), random_.randint(0, 12))))
    return Touch(lines=lines, words=words, sharing=sharing)


def looping(seed: int) -> tuple[Program, Tape, Chip]:
    """A loop of some blocks with accesses that move on, between a block before and one behind."""
    where = chip(KEYS[seed % len(KEYS)])
    random_ = random.Random(seed)
    program, _ = drawn(seed)
    barrier, body = len(program.blocks) - 1, list(range(len(program.blocks) - 1))
    if random_.random() < 0.6:
        body.append(barrier)
    iterations, simdgroups = random_.randint(60, 250), random_.randint(1, 8)
    groups = random_.randint(1, 12)
    touches = {
        block: [touch(op, random_) for op in program.blocks[block] if op.name in ACCESSES]
        for block in body
    }
    step = random_.choice((0, 1, 16))
    streams = []
    for stream in range(groups * simdgroups):
        first = tuple(touches[0])
        path = [(0, first)]
        for iteration in range(iterations):
            by = step * iteration + stream * 1000 * random_.choice((0, 1))
            path += [(block, tuple(moved(one, by) for one in touches[block])) for block in body]
        streams.append([*path, (0, first)])
    tape = program.tape(
        streams,
        simdgroups=simdgroups,
        grid=(groups * where.cores, 1, 1),
        threadgroup_memory=4096,
        lanes=0xFFFFFFFF,
    )
    return program, tape, where


def moved(one: Touch, by: int) -> Touch:
    return dataclasses.replace(one, lines=tuple(line + by for line in one.lines))


def predicted(seed: int) -> DispatchTime:
    program, tape = drawn(seed)
    return simulate(program.code(), tape, chip(KEYS[seed % len(KEYS)]), timeline=True)


@pytest.mark.parametrize("seed", range(80))
def test_time_is_accounted_for(seed: int) -> None:
    result = predicted(seed)
    assert result.cycles > 0
    assert result.error >= 0
    assert set(result.causes) == set(CAUSES)
    assert set(result.bytes) == set(LEVELS)
    assert all(cycles >= 0 for cycles in result.causes.values())
    assert sum(result.causes.values()) == pytest.approx(result.cycles, rel=1e-6)
    placed = sum(sum(entry.values()) for entry in result.by_site.values())
    free = result.causes["launch"] + result.causes["idle"]
    assert placed == pytest.approx(result.cycles - free, rel=1e-6, abs=1e-3)
    assert 0 <= result.roofline.fraction <= 1.05


@pytest.mark.parametrize("seed", range(80))
def test_slices_of_each_simdgroup_follow_each_other(seed: int) -> None:
    line = predicted(seed).timeline
    if line is None:
        return  # nothing was executed
    lives = line.threadgroup.astype(np.int64) * 64 + line.simdgroup
    for life in np.unique(lives):
        begin, end = line.begin[lives == life], line.end[lives == life]
        assert (end > begin).all()
        assert (begin[1:] == end[:-1]).all()


@pytest.mark.parametrize("seed", range(0, 80, 7))
def test_a_result_does_not_depend_on_chance(seed: int) -> None:
    first, second = predicted(seed), predicted(seed)
    assert first.cycles == second.cycles
    assert first.causes == second.causes
    assert first.bytes == second.bytes


@pytest.mark.parametrize(
    "seed",
    [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))],
)
def test_loops_in_a_steady_state_are_extrapolated_to_what_they_take(seed: int) -> None:
    program, tape, where = looping(seed)
    every = simulate(program.code(), tape, where, extrapolate=False)
    result = simulate(program.code(), tape, where, timeline=True)
    assert every.extrapolated == 0
    assert result.cycles == pytest.approx(every.cycles, rel=0.08)
    assert result.instructions == every.instructions
    assert result.flops == every.flops
    assert sum(result.causes.values()) == pytest.approx(result.cycles, rel=1e-9)
    placed = sum(sum(entry.values()) for entry in result.by_site.values())
    free = result.causes["launch"] + result.causes["idle"]
    assert placed == pytest.approx(result.cycles - free, rel=1e-6, abs=1e-3)
    assert result.timeline is not None
    assert result.timeline.end.max() <= result.cycles * (1 + 1e-9)
