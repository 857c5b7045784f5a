"""Runs some threadgroups of a grid and notes what they do, as the input of timing models."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ..emit.tape import BANK_BYTES, FIELD_MASK, PLACES, TAPE, Tape, accesses
from ..emit.tape_memory import Segment, TapeWriter
from ..ir.nodes import Function
from .boxes import DispatchError, Size, boxes_of, check_arguments
from .executable import Executable
from .memory import Memory
from .pool import stopped_at_exit
from .settings import chosen_fuel
from .tape_code import load_tape_code
from .worker import Launch, Worker

TAPE_BYTES = 1 << 30
_WORD = 8
_WORDS_PER_SEGMENT = 8
_PIECES = (ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)
_MEASURE = ctypes.CFUNCTYPE(None, *_PIECES, ctypes.c_void_p)
_GATHER = ctypes.CFUNCTYPE(None, *_PIECES, ctypes.c_void_p, ctypes.c_void_p)
_BEFORE_THE_FIRST = (1 << 64) - 1
_MOST_ACCESS_WORDS = FIELD_MASK + 2


def tape_dispatch(
    executable: Executable,
    memory: Memory,
    arguments: Sequence[int],
    *,
    threads: Size | None = None,
    threadgroups: Size | None = None,
    sample: Sequence[Size],
    fuel: int | None = None,
    limit: int = TAPE_BYTES,
    places: bool = False,
) -> Tape:
    """Run the sampled threadgroups, one after the other, where they are in the true grid.

    What they write is in memory afterwards: the caller decides whether to give them a copy.

    Args:
        executable: the kernel for its threadgroup size.
        memory: the device's buffers.
        arguments: as for `dispatch`.
        threads: grid in threads.
        threadgroups: grid in threadgroups. Exactly one of the two is given.
        sample: positions (x, y, z) of the threadgroups to run.
        fuel: as for `dispatch`.
        places: whether every access to threadgroup memory is to have an event, with its place;
            such tapes are larger.
        limit: bytes of memory for the streams; what does not fit is executed and not taped.

    Raises:
        KernelFault: as for `dispatch`.
        DispatchError: as for `dispatch`, and for positions outside the grid.
    """
    check_arguments(executable.program, arguments)
    taped = executable.program.specialise_shape(
        executable.shape, frozenset({TAPE, PLACES} if places else {TAPE})
    )
    boxes, groups, grid = boxes_of(taped, threads, threadgroups)
    function = executable.program.taped_function
    accessed = max(len(accesses(block)) for block in function.blocks)
    space = _Space(limit // _WORD, 1 + accessed * _MOST_ACCESS_WORDS)
    space.writer.simdgroups = executable.shape.simdgroups
    space.writer.private_rows = -(-function.private_memory // BANK_BYTES)
    launch = Launch(memory, arguments, groups, grid, chosen_fuel(fuel), tape_writer=space.address)
    workers = [Worker(launch, box) for box in boxes]
    for worker, first, count in _runs(workers, sample, groups):
        with stopped_at_exit(worker):
            failed = worker.run(first, count)
        if failed:
            raise worker.fault(memory)
    words, starts = space.streams(len(sample) * executable.shape.simdgroups)
    known, known_starts = _known(taped, function)
    return Tape(
        function=function,
        threadgroups=tuple(sample),
        simdgroups=executable.shape.simdgroups,
        words=words,
        starts=starts,
        known=known,
        known_starts=known_starts,
        grid=groups,
        threadgroup_memory=workers[0].arena_size if workers else 0,
        truncated=bool(space.writer.full),
    )


def _known(
    executable: Executable, function: Function
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    counts = [len(accesses(block)) for block in function.blocks]
    starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    known = np.zeros(starts[-1], np.uint64)
    for block, ordinal, about in executable.known_accesses:
        known[starts[block] + ordinal] = about
    return known, starts


def _runs(
    workers: Sequence[Worker], sample: Sequence[Size], groups: Size
) -> Iterator[tuple[Worker, int, int]]:
    """(worker, first threadgroup in its box, how many) for neighbours in the sample's order."""
    positions = np.array(sample, np.int64).reshape(-1, 3)
    owner = np.full(len(positions), -1)
    index = np.zeros(len(positions), np.int64)
    for number, worker in enumerate(workers):
        extent = np.array(worker.box.extent, np.int64)
        inside = positions - worker.box.origin
        mine = np.all((inside >= 0) & (inside < extent), axis=1)
        owner[mine] = number
        index[mine] = inside[mine] @ (1, extent[0], extent[0] * extent[1])
    for position in positions[owner < 0]:
        raise DispatchError(
            f"threadgroup {tuple(map(int, position))} is outside the grid of {groups[0]} x "
            f"{groups[1]} x {groups[2]} threadgroups"
        )
    breaks = np.flatnonzero((np.diff(owner) != 0) | (np.diff(index) != 1)) + 1
    for run in np.split(np.arange(len(positions)), breaks):
        if len(run):
            yield workers[owner[run[0]]], int(index[run[0]]), len(run)


class _Space:
    """The memory that events are written to; the host gives pages to it as they are used.

    Args:
        words: how many count.
        room: the most words that one block writes.
    """

    def __init__(self, words: int, room: int) -> None:
        self._words = np.empty(words + 2 * room, np.uint64)
        count = max(1, words // _WORDS_PER_SEGMENT)
        self._segments = np.empty((count, ctypes.sizeof(Segment) // _WORD), np.uint64)
        start = self._words.ctypes.data
        self.writer = TapeWriter(
            position=start,
            limit=start + words * _WORD,
            spare=start + (words + room) * _WORD,
            segments=self._segments.ctypes.data_as(ctypes.POINTER(Segment)),
            segment_limit=count,
            group=_BEFORE_THE_FIRST,
        )

    @property
    def address(self) -> int:
        """Host address of the writer."""
        return ctypes.addressof(self.writer)

    def streams(self, count: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        """(the words of all streams in order, where each starts and the last ends)."""
        writer, code = self.writer, load_tape_code()
        end = writer.end if writer.full else writer.position
        pieces = (self._segments.ctypes.data, writer.segment_count, end)
        lengths = np.zeros(count, np.int64)
        _MEASURE(code.address("assay_tape_measure"))(*pieces, lengths.ctypes.data)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        words, at = np.empty(starts[-1], np.uint64), starts.copy()
        gather = _GATHER(code.address("assay_tape_gather"))
        gather(*pieces, words.ctypes.data, at.ctypes.data)
        return words, starts
