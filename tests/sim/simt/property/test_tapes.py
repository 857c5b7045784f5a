"""What is taped of random kernels is what their threads do on the reference engine."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from assay.sim.simt import Memory, Program, Tape, tape_dispatch
from assay.sim.simt.emit.tape import BLOCK, LINE_BYTES, Event, accesses, events
from assay.sim.simt.ir.context import HANDLE_SHIFT, PRIVATE_HANDLE, THREADGROUP_HANDLE
from assay.sim.simt.ir.nodes import AddressRoot, Block, Instruction, is_private
from assay.sim.simt.oracle import lane as lanes
from assay.sim.simt.oracle.engine import run_reference
from tests.support.kernels import ENTRY, Kernel, Size, assemble, compile_cpp, on_engine

from . import address_kernels as addresses
from .graph_kernels import OUTPUTS, graph_kernels
from .structured_kernels import (
    COUNTERS,
    FLOAT_OUTPUTS,
    INPUTS,
    INTEGER_OUTPUTS,
    PARAMETERS,
    THREADS,
    structured_kernels,
)

_quick = settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
_long = settings(_quick, max_examples=50)
Place = tuple[Size, int, int]  # threadgroup, simdgroup, lane


@dataclass(slots=True)
class _Log:
    """What every thread did: how often it entered each block, and where each access went."""

    blocks: dict[Place, Counter[Block]] = field(default_factory=lambda: defaultdict(Counter))
    accesses: dict[tuple[Place, Instruction], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Log]:
    """A log that the reference engine's threads write."""
    found = _Log()
    enter, find = lanes.Lane._enter, lanes.Lane._find

    def place(lane: lanes.Lane) -> Place:
        at = lane._place
        return at.threadgroup_position_in_grid, at.simdgroup, at.lane

    def entered(lane: lanes.Lane, block: Block, previous: Block | None) -> None:
        found.blocks[place(lane)][block] += 1
        enter(lane, block, previous)

    def accessed(lane: lanes.Lane, i: Instruction, size: int, *, write: bool) -> np.ndarray:
        root = i.root
        assert root is not None
        base = (
            lane._value(root.address)
            if isinstance(root, AddressRoot)
            else lane._memories.address(root)
        )
        found.accesses[place(lane), i].append(base + lane._value(i.operands[0]))
        return find(lane, i, size, write=write)

    monkeypatch.setattr(lanes.Lane, "_enter", entered)
    monkeypatch.setattr(lanes.Lane, "_find", accessed)
    yield found


def _check(
    log: _Log, kernel: Kernel, arguments: Sequence[np.ndarray | int], *, size: Size, threads: Size
) -> None:
    log.blocks.clear()
    log.accesses.clear()
    memory = Memory()
    arrays = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    values = [
        a if isinstance(a, int) else memory.register(a.reshape(-1).view(np.uint8), name="")
        for a in arrays
    ]
    program = Program(kernel.bitcode, ENTRY, name="test_kernel", parameters=kernel.parameters)
    groups = [
        (x, y, z)
        for z in range(-(-threads[2] // size[2]))
        for y in range(-(-threads[1] // size[1]))
        for x in range(-(-threads[0] // size[0]))
    ]
    tape = tape_dispatch(program.specialise(size), memory, values, threads=threads, sample=groups)
    buffers = {
        value >> HANDLE_SHIFT: (a.reshape(-1).view(np.uint8).copy(), "")
        for a, value in zip(arguments, values, strict=True)
        if isinstance(a, np.ndarray)
    }
    run_reference(
        tape.function,
        kernel.parameters,
        values,
        buffers,
        threadgroup_size=size,
        threads=threads,
        fuel=2_000_000,
    )
    plain = on_engine(kernel, arguments, threadgroup_size=size, threads=threads)
    taped = [a for a in arrays if isinstance(a, np.ndarray)]
    for left, right in zip(taped, plain, strict=True):
        np.testing.assert_array_equal(left, right)  # NaN is equal to NaN here
    for number, group in enumerate(groups):
        for simdgroup in range(tape.simdgroups):
            _check_stream(log, tape, number, group, simdgroup)
    assert not any(log.accesses.values())


def _check_stream(log: _Log, tape: Tape, number: int, group: Size, simdgroup: int) -> None:
    entered: dict[Place, Counter[Block]] = defaultdict(Counter)
    block = tape.function.blocks[0]
    for event in events(tape, number, simdgroup):
        active = [lane for lane in range(32) if event.lanes >> lane & 1]
        places: list[Place] = [(group, simdgroup, lane) for lane in active]
        if event.type == BLOCK:
            block = tape.function.blocks[event.number]
            for place in places:
                entered[place][block] += 1
            continue
        access = accesses(block)[event.number]
        went = [log.accesses[place, access].pop(0) for place in places]
        _check_access(event, access, went, number * tape.simdgroups + simdgroup, tape)
    for lane in range(32):
        assert entered[group, simdgroup, lane] == log.blocks[group, simdgroup, lane]


def _check_access(
    event: Event, access: Instruction, went: list[int], stream: int, tape: Tape
) -> None:
    size = event.bytes
    if is_private(access.root):
        starts = [at & 0xFFFF for at in went]
        rows = {row for at in starts for row in range(at // 4, (at + size + 3) // 4)}
        base = (PRIVATE_HANDLE << HANDLE_SHIFT) // LINE_BYTES
        base += stream * -(-tape.function.private_memory // 4)
        assert list(event.lines) == sorted(base + row for row in rows)
        return
    words = {word for at in went for word in range(at // 4, (at + size - 1) // 4 + 1)}
    assert event.words == min(255, len(words))
    assert event.sharing == max(Counter(went).values())
    assert event.cached == (went[0] >> HANDLE_SHIFT != THREADGROUP_HANDLE)
    if event.cached:
        ends = [(at // LINE_BYTES, (at + size - 1) // LINE_BYTES) for at in went]
        lines = {line for first, last in ends for line in range(first, last + 1)}
        assert list(event.lines) == sorted(lines)
    else:
        rows = {at // LINE_BYTES for at in (4 * word for word in words)}
        assert len(rows) - 1 <= event.rows <= len(rows)  # a known access is said to begin a row
        assert event.ways == max(Counter(word % 32 for word in words).values())


def _check_structured(log: _Log, source: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    integers = random.integers(0, 2**32, INPUTS, np.uint32)
    integers[::2] %= 9
    threads = 2 * THREADS
    arguments: list[np.ndarray | int] = [
        integers,
        random.standard_normal(INPUTS).astype(np.float32) * 8,
        random.integers(0, 256, INPUTS, np.uint8),
        np.zeros((threads, INTEGER_OUTPUTS), np.uint64),
        np.zeros((threads, FLOAT_OUTPUTS), np.float32),
        np.zeros(COUNTERS, np.uint32),
        4 * THREADS,
    ]
    kernel = compile_cpp(source, PARAMETERS)
    _check(log, kernel, arguments, size=(THREADS, 1, 1), threads=(threads, 1, 1))


_shared_log = settings(
    _quick,
    suppress_health_check=[
        *_quick.suppress_health_check,
        HealthCheck.function_scoped_fixture,
    ],
)


@_shared_log
@given(source=structured_kernels(), seed=st.integers(0, 9))
def test_tapes_of_structured_kernels_are_what_threads_do(log: _Log, source: str, seed: int) -> None:
    _check_structured(log, source, seed)


@pytest.mark.slow
@settings(_shared_log, max_examples=50)
@given(source=structured_kernels(), seed=st.integers(0, 9))
def test_tapes_of_many_structured_kernels_are_what_threads_do(
    log: _Log, source: str, seed: int
) -> None:
    _check_structured(log, source, seed)


@_shared_log
@given(text=graph_kernels(), seed=st.integers(0, 9))
def test_tapes_of_any_control_flow_graph_are_what_threads_do(
    log: _Log, text: str, seed: int
) -> None:
    numbers = np.random.default_rng(seed).integers(0, 2**32, 70, np.uint32)
    numbers[::3] &= 7
    arguments: list[np.ndarray | int] = [numbers, np.zeros((70, OUTPUTS), np.uint32)]
    _check(log, assemble(text, "in out"), arguments, size=(40, 1, 1), threads=(70, 1, 1))


@settings(_shared_log, max_examples=4)
@given(kernel=addresses.address_kernels(), seed=st.integers(0, 9))
def test_tapes_of_addresses_are_where_threads_go(
    log: _Log, kernel: tuple[str, Size], seed: int
) -> None:
    source, size = kernel
    random = np.random.default_rng(seed)
    threads = (2 * size[0], 2 * size[1] - size[1] // 2, 1)  # the last row is cut off
    floats = random.standard_normal(addresses.BYTES // 4).astype(np.float32) * 1000
    arguments: list[np.ndarray | int] = [
        floats.view(np.uint8),
        np.zeros(threads[0] * threads[1] * addresses.OUTPUTS, np.uint32),
        random.integers(0, 4, 8, np.uint32),
    ]
    _check(log, compile_cpp(source, addresses.PARAMETERS), arguments, size=size, threads=threads)
