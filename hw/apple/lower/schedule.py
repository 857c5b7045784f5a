"""Puts the instructions of a block in an order that hides latency, as a compiler would.

Loads and what they need come as early as registers allow. All else keeps its order, which is that
of the source more or less, but for what would have to wait while something later could go on.
Accesses keep their order where one of them writes and they may meet, and none passes a barrier.
Buffers are taken to be different ones: Apple's compiler may do that with a kernel's arguments.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, Root, is_private

from .instructions import Lowered, Op
from .registers import Liveness, members, remaining_uses

# Cycles that a compiler may expect, no matter which chip it is; only their order of size counts.
_EXPECTED = {
    "device_load": 100,
    "device_atomic": 150,
    "private_load": 100,
    "constant_load": 50,
    "threadgroup_load": 30,
    "threadgroup_atomic": 100,
    "idiv32": 60,
    "shuffle_dynamic": 40,
}
_EXPECTED_BY_START = (("mma_", 34), ("simd_", 28), ("sin_", 24), ("i", 3), ("f", 3))
_DEFAULT_LATENCY = 6
_ROOM = 96  # halves of registers that loads may fill while they are under way
_MORE = 32  # the least that they may fill beyond what is alive anyway
_HURRY, _LATER = 0, 1


def schedule(code: Lowered, liveness: Liveness) -> None:
    """Order the operations of all blocks."""
    for block, ops in code.ops.items():
        if len(ops) > 2:
            ends = code.ends[block]
            code.ops[block] = _Block(ops, ends, code.sizes, liveness.out[block]).order()


class _Block:
    """One block's operations with what they wait for."""

    def __init__(
        self, ops: Sequence[Op], ends: Sequence[Op], sizes: Sequence[int], live_out: int
    ) -> None:
        self.ops = ops
        self.sizes = sizes
        self.followers: list[list[tuple[int, int]]] = [[] for _ in ops]
        self.waits = [0] * len(ops)
        self._depend()
        self.urgency = self._urgency()
        self.uses = remaining_uses([*ops, *ends])
        for register in members(live_out):
            self.uses[register] = self.uses.get(register, 0) + 1
        made = {op.destination for op in ops}
        self.alive = sum(sizes[r] for r in self.uses if r not in made)
        self.limit = max(_ROOM, self.alive + _MORE)

    def _depend(self) -> None:
        maker = {op.destination: n for n, op in enumerate(self.ops) if op.destination >= 0}
        accesses: list[int] = []
        wall = -1
        for n, op in enumerate(self.ops):
            for register in op.sources:
                before = maker.get(register, n)
                if before < n:
                    self._after(n, before, _latency(self.ops[before]))
            if op.memory is None and not op.is_wall:
                continue
            if wall >= 0:
                self._after(n, wall, 1)
            for other in accesses:
                if op.is_wall or _must_wait(op, self.ops[other]):
                    self._after(n, other, 1)
            if op.is_wall:
                wall, accesses = n, []
            else:
                accesses.append(n)

    def _after(self, n: int, before: int, latency: int) -> None:
        self.followers[before].append((n, latency))
        self.waits[n] += 1

    def _urgency(self) -> list[int]:
        """Loads are in a hurry, and what computes their addresses is with them."""
        urgency = [_LATER] * len(self.ops)
        for n in range(len(self.ops) - 1, -1, -1):
            op = self.ops[n]
            leads = any(urgency[f] == _HURRY for f, _ in self.followers[n]) and not op.memory
            if _is_load(op) or (leads and not op.is_wall):
                urgency[n] = _HURRY
        return urgency

    def order(self) -> list[Op]:
        """The operations in their new order."""
        waits, earliest = list(self.waits), [0] * len(self.ops)
        # Operations that may go on, and those whose operands are still under way.
        ready: list[tuple[int, int]] = []
        pending: list[tuple[int, int]] = []
        for n, count in enumerate(waits):
            if count == 0:
                heapq.heappush(ready, (self.urgency[n], n))
        placed: list[Op] = []
        now = 0
        while ready or pending:
            while pending and (pending[0][0] <= now or not ready):
                now = max(now, pending[0][0])
                n = heapq.heappop(pending)[1]
                heapq.heappush(ready, (self.urgency[n], n))
            n = self._choose(ready, may_wait=bool(pending))
            if n < 0:
                now = pending[0][0]  # no room for a load: what waits will make some
                continue
            op = self.ops[n]
            placed.append(op)
            self._account(op)
            now += 1
            for follower, latency in self.followers[n]:
                waits[follower] -= 1
                earliest[follower] = max(earliest[follower], now - 1 + latency)
                if waits[follower] == 0:
                    heapq.heappush(pending, (earliest[follower], follower))
        return placed

    def _choose(self, ready: list[tuple[int, int]], *, may_wait: bool) -> int:
        """The next operation; a load only if there are registers for it, or nothing else to do.

        -1 if it is better to wait, which is possible while operands are under way.
        """
        kept: list[tuple[int, int]] = []
        chosen = -1
        while ready:
            entry = heapq.heappop(ready)
            op = self.ops[entry[1]]
            full = _is_load(op) and self.alive + self.sizes[op.destination] > self.limit
            if not full:
                chosen = entry[1]
                break
            kept.append(entry)
        if chosen < 0 and not may_wait:
            chosen = kept.pop(0)[1]
        for entry in kept:
            heapq.heappush(ready, entry)
        return chosen

    def _account(self, op: Op) -> None:
        for register in op.sources:
            self.uses[register] -= 1
            if self.uses[register] == 0:
                self.alive -= self.sizes[register]
        if op.destination >= 0 and self.uses.get(op.destination, 0):
            self.alive += self.sizes[op.destination]


def _is_load(op: Op) -> bool:
    return op.memory is not None and op.destination >= 0 and not op.writes


def _latency(op: Op) -> int:
    known = _EXPECTED.get(op.kind)
    if known is not None:
        return known
    return next(
        (n for start, n in _EXPECTED_BY_START if op.kind.startswith(start)), _DEFAULT_LATENCY
    )


def _must_wait(op: Op, before: Op) -> bool:
    """Whether an access has to stay behind another."""
    if not op.writes and not before.writes:
        return False
    a, b = op.memory, before.memory
    if a == "anywhere" or b == "anywhere":
        return True
    return a == b or _is_arena(a) or _is_arena(b)


def _is_arena(root: object) -> bool:
    """Whether a root is memory of which it is not known which variable it is."""
    known: tuple[type[Root], ...] = THREADGROUP_ROOTS
    return (isinstance(root, known) or is_private(root)) and not hasattr(root, "size")  # type: ignore[arg-type]
