"""Steps that are reordered keep what they depend on, and overlap where they can."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.compiler.torq.schedule.allocate import NoRoom, bounds
from assay.compiler.torq.schedule.in_turn import in_turn
from assay.compiler.torq.schedule.overlap import overlapped
from assay.compiler.torq.schedule.play import played
from assay.compiler.torq.schedule.steps import Buffer, LoadTile, RunSlice, Start, Step, Wait

from .by_hand import buffer, load, problems, run, storage, store


def tiles(count: int, size: int, cycles: int) -> list[Start]:
    """Tiles that are loaded, computed on one slice, and stored."""
    x, y = storage("x", count * size), storage("y", count * size)
    steps: list[Start] = []
    for number in range(count):
        read, made = buffer(f"x{number}", size), buffer(f"y{number}", size)
        steps.append(load(x, read, number * size))
        steps += run(0, cycles, [read], made)
        steps.append(store(made, y, number * size))
    return steps


def place_of(steps: list[Step], wanted: Start) -> int:
    return next(number for number, step in enumerate(steps) if step is wanted)


def test_the_next_tile_is_loaded_while_one_is_computed() -> None:
    steps = tiles(3, 8000, 5000)
    made = overlapped(steps)
    runs = [step for step in steps if isinstance(step, RunSlice)]
    waits = [n for n, s in enumerate(made.steps) if isinstance(s, Wait) and s.token is runs[0]]
    assert any(
        isinstance(step, LoadTile) and step.buffer.name == "x2"
        for step in made.steps[place_of(made.steps, runs[0]) : waits[0]]
    )
    assert problems(steps, made.steps, made.addresses) == []


def test_tiles_take_as_long_as_the_slower_of_transfers_and_slices() -> None:
    moved = 10 * 2 * 8000 / 4.754
    made = overlapped(tiles(10, 8000, 2000))
    assert moved < played(made.steps).now < 1.1 * (moved + 2 * 8000 / 4.754)
    work = 10 * 20_000
    assert work < played(overlapped(tiles(10, 8000, 20_000)).steps).now < 1.05 * work


def test_weights_of_a_later_operator_are_loaded_while_an_earlier_one_computes() -> None:
    inputs, weights, between = storage("x", 1000), storage("w", 30_000), storage("y", 1000)
    x, y, w, again, z = (buffer(name, 1000) for name in ("x", "y", "w", "again", "z"))
    w = buffer("w", 30_000)
    steps: list[Start] = [load(inputs, x), *run(0, 50_000, [x], y), store(y, between)]
    steps += [load(between, again), load(weights, w), *run(0, 1000, [again, w], z)]
    made = overlapped(steps)
    assert played(made.steps).now < 50_000 + 1000 + 2000
    assert problems(steps, made.steps, made.addresses) == []


def test_what_was_stored_is_loaded_only_when_it_is_there() -> None:
    memory = storage("y", 4000)
    parts = [buffer(f"part {n}", 1000) for n in range(4)]
    x = buffer("x", 1000)
    steps: list[Start] = [load(storage("x", 1000), x)]
    for number, one in enumerate(parts):
        steps += [*run(number % 2, 500, [x], one), store(one, memory, number * 1000)]
    whole = buffer("whole", 4000)
    steps += [load(memory, whole), *run(0, 500, [whole], buffer("z", 100))]
    made = overlapped(steps)
    assert problems(steps, made.steps, made.addresses) == []


def test_buffers_that_need_all_of_the_memory_come_one_after_the_other() -> None:
    low, high = bounds()
    half = (high - low) // 2 - 2000
    steps = tiles(4, half, 1000)
    made = overlapped(steps)
    assert problems(steps, made.steps, made.addresses) == []
    assert made.peak <= high - low


def test_what_does_not_fit_is_refused_by_name() -> None:
    low, high = bounds()
    with pytest.raises(NoRoom, match="x0"):
        overlapped(tiles(1, high - low + 64, 10))


def test_steps_in_turn_are_waited_for_at_once() -> None:
    x, y = buffer("x", 100), buffer("y", 100)
    first, second = run(0, 10, [x], y), run(1, 10, [x], y)
    steps = [load(storage("x", 100), x), first[0], second[0], first[1], second[1]]
    made = in_turn(steps)
    assert [isinstance(step, Wait) for step in made] == [False, True] * 3 + [False] * 2 + [True] * 2
    assert [step for step in made if not isinstance(step, Wait)] == steps


@st.composite
def programs(draw: st.DrawFn) -> list[Start]:
    """Operators whose operands are in LRAM, in XRAM or results of earlier ones."""
    steps: list[Start] = []
    memories = [storage("input", 1 << 20)]
    kept: list[Buffer] = []
    for number in range(draw(st.integers(1, 12))):
        reads = []
        for place in range(draw(st.integers(1, 3))):
            if kept and draw(st.booleans()):
                reads.append(draw(st.sampled_from(kept)))
                continue
            size = draw(st.sampled_from([64, 5000, 40_000, 70_000]))
            source = draw(st.sampled_from([m for m in memories if m.size >= size] or memories[:1]))
            read = buffer(f"x{number}.{place}", min(size, source.size))
            steps.append(load(source, read))
            reads.append(read)
        y = buffer(
            f"y{number}", draw(st.sampled_from([64, 6000, 50_000])), stays=draw(st.booleans())
        )
        for slice_ in draw(st.sampled_from([(0,), (1,), (0, 1), (0, 1, 0)])):
            steps += run(slice_, draw(st.integers(1, 30_000)), reads, y)
        if draw(st.booleans()):
            memories.append(storage(f"z{number}", y.size))
            steps.append(store(y, memories[-1]))
        else:
            kept = [*kept[-1:], y]
    return steps


@given(programs())
def test_any_reordered_schedule_keeps_dependences(steps: list[Start]) -> None:
    made = overlapped(steps)
    assert problems(steps, made.steps, made.addresses) == []
    assert [s for s in made.steps if isinstance(s, RunSlice) and s.slice_ == 0] == [
        s for s in steps if isinstance(s, RunSlice) and s.slice_ == 0
    ]
    again = overlapped(steps)
    assert (len(again.steps), again.addresses) == (len(made.steps), made.addresses)
