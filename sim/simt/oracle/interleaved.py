"""The reference engine under adversarial schedules: simdgroups interleave at single accesses.

Lanes of a simdgroup keep lock step; everything else happens in the order that a seed chooses, and
memory that nobody wrote holds arbitrary bytes. A correct kernel gives the same bits always.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..ir.nodes import THREADGROUP_ROOTS, AddressRoot, BufferRoot, Function, Instruction, Root
from ..ir.operations.memory import LOAD, STORE
from ..read.roots import Parameter
from .engine import Dispatch, Simdgroup
from .memory import Bytes

Size = tuple[int, int, int]
MEM_DEVICE, MEM_THREADGROUP = 1, 2
_BURSTS = (1, 1, 4, 30, 1 << 30)  # steps of a simdgroup until another may run


class BarrierMismatch(Exception):
    """A barrier that not all threads of a threadgroup reach together."""


def run_interleaved(
    function: Function,
    parameters: Sequence[Parameter],
    arguments: Sequence[int],
    buffers: Mapping[int, tuple[Bytes, str]],
    *,
    threadgroup_size: Size,
    grid: Size,
    seed: int,
    fuel: int = 10_000_000,
    holds_in_part: bool = False,
) -> None:
    """Run a whole dispatch, all threadgroups at the same time.

    A barrier holds nobody if its flags do not cover the memory through which the kernel's threads
    can exchange values. Where they cover one of two memories, that is too harsh to the other.

    Args:
        function: the kernel as `import_kernel` gives it.
        parameters: what the arguments are.
        arguments: a GPU address for each buffer, a length in bytes for each threadgroup parameter.
        buffers: bytes and name of every buffer by its handle.
        threadgroup_size: threads of a full threadgroup.
        grid: threads of the grid; threadgroups at its edges may be smaller.
        seed: chooses the schedule and the bytes of fresh memory.
        fuel: how many blocks of the program may be entered, over all lanes.
        holds_in_part: whether a barrier that covers one of two such memories holds, for both. Then
            each run is one that the language allows, but what only the other's flag orders is not
            seen to be out of order.

    Raises:
        KernelFault: for a bad access or an endless loop. Nothing is undone.
        BarrierMismatch: if a barrier is not reached by all.
    """
    chance = random.Random(seed)
    shared = _shared_accesses(function)
    dispatch = Dispatch(
        function,
        parameters,
        arguments,
        buffers,
        threadgroup_size,
        grid,
        fuel,
        pauses=shared,
        fill=_filler(chance),
    )
    counts = (range(-(-n // step)) for n, step in zip(grid, threadgroup_size, strict=True))
    flags = _flags_needed(shared)
    _interleave(
        [
            _Threadgroup(dispatch.simdgroups((x, y, z)), flags, holds_in_part=holds_in_part)
            for x, y, z in itertools.product(*counts)
        ],
        chance,
    )


def _filler(chance: random.Random) -> Callable[[int], Bytes]:
    return lambda count: np.frombuffer(chance.randbytes(count), np.uint8).copy()


# -- what is shared -------------------------------------------------------------------------------


def _shared_accesses(function: Function) -> frozenset[Instruction]:
    """The accesses that another thread's could change: of memory that the kernel writes.

    Computed addresses count as memory of their own: that one which is only read leads into a
    buffer which is written is not seen.
    """
    accesses = [i for i in function.instructions() if i.operation.accesses_memory]
    written = {_memory(i.root) for i in accesses if i.operation is not LOAD}
    return frozenset(i for i in accesses if _memory(i.root) in written - {None})


def _memory(root: Root | None) -> object:
    """What is equal for accesses that may meet; None for memory of the thread alone."""
    if isinstance(root, THREADGROUP_ROOTS):
        return "threadgroup"
    if isinstance(root, AddressRoot):
        return "computed"
    return root if isinstance(root, BufferRoot) else None


def _flags_needed(accesses: frozenset[Instruction]) -> int:
    """mem_flags of the memory that the kernel writes plainly and accesses in other ways too.

    Between atomic accesses alone, a barrier orders whatever its flags are.
    """
    flags = 0
    for space, flag in ((False, MEM_DEVICE), (True, MEM_THREADGROUP)):
        mine = [i for i in accesses if (_memory(i.root) == "threadgroup") == space]
        if len({i.spelling for i in mine}) > 1 and any(i.operation is STORE for i in mine):
            flags |= flag
    return flags


# -- schedules ------------------------------------------------------------------------------------


def _interleave(threadgroups: Sequence[_Threadgroup], chance: random.Random) -> None:
    """Let simdgroups run by turns until all have ended."""
    bursts = chance.choice((_BURSTS, _BURSTS[-1:], _BURSTS[:1]))
    while True:
        ready = [(group, s) for group in threadgroups for s in group.ready()]
        if not ready:
            return
        group, simdgroup = chance.choice(ready)
        for _ in range(chance.choice(bursts)):
            if not group.step(simdgroup):
                break


class _Threadgroup:
    """The simdgroups that share a barrier."""

    def __init__(self, simdgroups: Sequence[Simdgroup], flags: int, *, holds_in_part: bool) -> None:
        self._simdgroups = simdgroups
        self._flags = flags
        self._holds_in_part = holds_in_part

    def ready(self) -> Iterator[Simdgroup]:
        """The simdgroups that can go on; barriers that all have reached are passed first."""
        for simdgroup in self._simdgroups:
            simdgroup.start()
        while (live := [s for s in self._simdgroups if s.waiting]) and all(
            map(self._is_held, live)
        ):
            self._pass_barrier()
        return (s for s in live if not self._is_held(s))

    def _is_held(self, simdgroup: Simdgroup) -> bool:
        """Whether it waits at a barrier that orders something."""
        crossing = next(iter(simdgroup.behind().values()))
        if not crossing.is_threadgroup_barrier:
            return False
        covered = crossing.operands[0] & self._flags
        return covered == self._flags or (self._holds_in_part and covered != 0)

    def _pass_barrier(self) -> None:
        moments = {c and c.moment for s in self._simdgroups for c in s.waiting.values()}
        if len(moments) > 1 or not all(s.is_whole for s in self._simdgroups):
            raise BarrierMismatch
        for simdgroup in self._simdgroups:
            simdgroup.pass_barrier()

    def step(self, simdgroup: Simdgroup) -> bool:
        """Do one operation of a simdgroup; whether it can go on."""
        meeting = simdgroup.behind()
        simdgroup.complete(next(iter(meeting.values())), meeting)
        return bool(simdgroup.waiting) and not self._is_held(simdgroup)
