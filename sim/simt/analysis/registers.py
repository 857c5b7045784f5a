"""Estimates how many registers a kernel needs: the most values that are alive at one place.

No register allocator stands behind it, and the order of instructions is LLVM's, not Apple's: take
it for the size of the thing. What all lanes share is counted apart, as the hardware holds it apart.
Source of the sizes: a thread has registers of 32 bits, usable as two halves of 16 bits each
(dougallj/applegpu).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...site import Site
from ..ir.cfg import analyse
from ..ir.nodes import AddressRoot, Block, Constant, Function, Instruction, Value, clone
from ..ir.operations.integers import ADD, MUL, OR, SHL, SUB
from .divergence import Divergence, analyse_divergence
from .offsets import EXTENSIONS

_HALVES = {"i1": 1, "i8": 1, "i16": 1, "half": 1, "bfloat": 1, "i32": 2, "float": 2}
_LONG = 4
# The machine adds a 32-bit index to a base address, so extensions to 64 bits take no register; and
# what one instruction makes of a value and a constant is made again rather than kept.
_REMADE = frozenset({ADD, SUB, MUL, SHL, OR})


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterEstimate:
    """Registers of 32 bits: of a thread, and those that a simdgroup's threads share.

    `site` is the place where the most are needed.
    """

    registers: int
    uniform: int
    site: Site


def estimate_registers(function: Function) -> RegisterEstimate:
    """The estimate for a kernel, which stays unchanged."""
    function = clone(function)
    cfg = analyse(function)
    counter = _Counter(analyse_divergence(function, cfg), _live_out(function, list(cfg.order)))
    for block in function.blocks:
        counter.count(block)
    return RegisterEstimate(
        registers=-(-counter.most // 2), uniform=-(-counter.most_uniform // 2), site=counter.site
    )


class _Counter:
    """Walks blocks backwards with the set of values that are alive."""

    def __init__(self, divergence: Divergence, live_out: dict[Block, set[Instruction]]) -> None:
        self._divergence = divergence
        self._live_out = live_out
        self.most = 0
        self.most_uniform = 0
        self.site = Site()

    def count(self, block: Block) -> None:
        """Take the largest sums in `block` into account."""
        live = set(self._live_out[block])
        condition = _register_of(block.condition)
        if condition is not None:
            live.add(condition)
        varying, uniform = self._sums(live)
        self._note(varying, uniform, block.site)
        for instruction in reversed(block.body):
            if instruction in live:
                live.discard(instruction)
                varying, uniform = self._changed(varying, uniform, instruction, -1)
            for value in _used(instruction):
                if value not in live:
                    live.add(value)
                    varying, uniform = self._changed(varying, uniform, value, 1)
            self._note(varying, uniform, instruction.site)

    def _sums(self, live: set[Instruction]) -> tuple[int, int]:
        varying = uniform = 0
        for value in live:
            varying, uniform = self._changed(varying, uniform, value, 1)
        return varying, uniform

    def _changed(
        self, varying: int, uniform: int, value: Instruction, sign: int
    ) -> tuple[int, int]:
        size = sign * _HALVES.get(value.type, _LONG)
        if self._divergence.is_varying(value):
            return varying + size, uniform
        return varying, uniform + size

    def _note(self, varying: int, uniform: int, site: Site) -> None:
        if varying > self.most:
            self.most, self.site = varying, site
        self.most_uniform = max(self.most_uniform, uniform)


def _live_out(function: Function, order: list[Block]) -> dict[Block, set[Instruction]]:
    """Values that are alive at the end of each block, found by repeating until nothing changes."""
    reads, writes = {}, {}
    for block in function.blocks:
        reads[block], writes[block] = _reads_and_writes(block)
    live_in: dict[Block, set[Instruction]] = {block: set() for block in function.blocks}
    live_out: dict[Block, set[Instruction]] = {block: set() for block in function.blocks}
    changed = True
    while changed:
        changed = False
        for block in reversed(order):
            after = live_out[block]
            size = len(after)
            for target in block.targets:
                after |= live_in[target] - set(target.phis)
                after |= _incoming(target, block)
            before = reads[block] | (after - writes[block])
            changed = changed or len(after) != size or before != live_in[block]
            live_in[block] = before
    return live_out


def _reads_and_writes(block: Block) -> tuple[set[Instruction], set[Instruction]]:
    """Values that a block needs from before, and those that it makes."""
    needed: set[Instruction] = set()
    made: set[Instruction] = set(block.phis)
    for instruction in block.body:
        needed |= {value for value in _used(instruction) if value not in made}
        made.add(instruction)
    condition = _register_of(block.condition)
    if condition is not None and condition not in made:
        needed.add(condition)
    return needed, made


def _incoming(target: Block, block: Block) -> set[Instruction]:
    """What the phis of `target` take when control comes from `block`."""
    places = [i for i, predecessor in enumerate(target.predecessors) if predecessor is block]
    values = (_register_of(phi.operands[i]) for phi in target.phis for i in places)
    return {value for value in values if value is not None}


def _used(instruction: Instruction) -> Iterator[Instruction]:
    """The registers that an instruction reads."""
    if _source(instruction) is not None:
        return
    operands = list(instruction.operands)
    if isinstance(instruction.root, AddressRoot):
        operands.append(instruction.root.address)
    for operand in operands:
        value = _register_of(operand)
        if value is not None:
            yield value


def _register_of(value: Value | None) -> Instruction | None:
    """The value that has to be kept for an operand: of an extended one, what is extended."""
    while isinstance(value, Instruction) and (source := _source(value)) is not None:
        value = source
    return value if isinstance(value, Instruction) else None


def _source(value: Instruction) -> Value | None:
    """The value that `value` is made again from where it is needed, None if it is kept."""
    if value.operation in EXTENSIONS:
        return value.operands[0]
    if value.operation in _REMADE and isinstance(value.operands[1], Constant):
        return value.operands[0]
    return None
