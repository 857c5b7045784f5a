"""One lane of the reference engine: a generator that stops at operations across lanes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass

from ...site import Site
from ..ir.faults import FaultPlace, KernelFault
from ..ir.meaning.scalars import signed
from ..ir.nodes import AddressRoot, Block, Constant, Function, Instruction, Root, Value
from ..ir.operations.calls import CALL, PARAMETER, RETURN
from ..ir.operations.control import PHI
from ..ir.operations.handlers import Handlers
from ..ir.operations.marks import (
    ACCESS_KIND,
    EXPECT_INSIDE,
    EXPECT_SIMDGROUPS,
    EXPECT_UNIFORM,
    READ_ORIGIN,
)
from ..ir.operations.memory import ADDRESS, COMPONENT, LOAD, LOOKUP_AVAILABLE, LOOKUP_HOST, STORE
from ..ir.operations.operation import (
    STRUCTURAL,
    Effect,
    Meeting,
    OfMemory,
    OfOperands,
    OfThread,
    Operation,
    Thread,
    Types,
)
from ..ir.operations.synchronisation import FENCE
from ..read.constant_data import scalar_bytes
from .memory import BadAccess, Bytes, Memories, element_size
from .order import Clock, Moment, execution_order


@dataclass(frozen=True, slots=True)
class Crossing:
    """A lane waits at an operation across lanes, with its operands."""

    moment: Moment
    instruction: Instruction
    operands: tuple[int, ...]

    @property
    def is_threadgroup_barrier(self) -> bool:
        """Whether the whole threadgroup meets here."""
        return self.instruction.operation.meeting is Meeting.THREADGROUP

    @property
    def is_pause(self) -> bool:
        """Whether the lane only stops here and needs nothing of the others."""
        return not self.instruction.operation.meets


@dataclass(slots=True)
class Fuel:
    """Blocks that the dispatch may still enter."""

    left: int


class Lane:
    """A thread: its values, its memory, its place in the grid."""

    def __init__(
        self,
        function: Function,
        memories: Memories,
        thread: Thread,
        place: FaultPlace,
        fuel: Fuel,
        clock: Clock,
        *,
        pauses: Collection[Instruction] = (),
    ) -> None:
        """Prepare a thread.

        Args:
            function: the kernel.
            memories: what the thread can address.
            thread: where the thread is.
            place: who this is, for faults.
            fuel: shared by all lanes of the dispatch.
            clock: tells where the thread is in the program.
            pauses: further instructions to stop before.
        """
        self._function = function
        self._memories = memories
        self._thread = thread
        self._place = place
        self._fuel = fuel
        self._clock = clock
        self._pauses = pauses
        self._values: dict[Value, int] = {}
        self._parts: dict[Value, list[int]] = {}
        self._given: list[int] = []  # what it was called with; at last, what it returns

    def run(self) -> Generator[Crossing, int, None]:
        """Run to the end; yields where other lanes are needed and takes the result.

        Raises:
            KernelFault: for a bad access, or when there is no fuel left.
        """
        block, previous = self._function.blocks[0], None
        while True:
            self._burn(block.site)
            self._enter(block, previous)
            self._clock.enter(block, previous)
            for number, instruction in enumerate(block.body):
                if instruction.operation.meets:
                    operands = tuple(self._value(o) for o in instruction.operands)
                    moment = self._clock.moment(block, number)
                    self._values[instruction] = yield Crossing(moment, instruction, operands)
                else:
                    if instruction in self._pauses:
                        yield Crossing(self._clock.moment(block, number), instruction, ())
                    self._execute(instruction)
            if not block.targets:
                return
            taken = block.condition is not None and not self._value(block.condition)
            block, previous = block.targets[int(taken)], block

    def _burn(self, site: Site) -> None:
        self._fuel.left -= 1
        if self._fuel.left < 0:
            raise self._fault(BadAccess("runaway", "", 0, 0, 0), site)

    def _enter(self, block: Block, previous: Block | None) -> None:
        if previous is None:
            return
        column = block.predecessors.index(previous)
        incoming = [self._value(phi.operands[column]) for phi in block.phis]
        self._values.update(zip(block.phis, incoming, strict=True))

    def _value(self, value: Value) -> int:
        if isinstance(value, Constant):
            if value.number is not None:
                return value.number
            return int.from_bytes(scalar_bytes(value), "little")
        return self._values[value]

    def _execute(self, instruction: Instruction) -> None:
        meaning = instruction.operation.meaning
        if isinstance(meaning, OfOperands):
            operands = [self._value(operand) for operand in instruction.operands]
            source = instruction.operands[0].type if instruction.operands else ""
            types = Types(source, instruction.type, instruction.predicate)
            self._values[instruction] = meaning.compute(types, operands)
        elif isinstance(meaning, OfThread):
            dimension = self._value(instruction.operands[0]) if instruction.operands else 0
            self._values[instruction] = meaning.compute(self._thread)[dimension]
        elif isinstance(meaning, OfMemory):
            self._update(instruction, meaning)
        else:
            STRUCTURE[instruction.operation](self, instruction)

    # -- memory -------------------------------------------------------------------------------

    def _find(self, instruction: Instruction, size: int, *, write: bool) -> Bytes:
        root: Root | None = instruction.root
        assert root is not None
        base = self._value(root.address) if isinstance(root, AddressRoot) else None
        offset = signed(self._value(instruction.operands[0]), 64)
        try:
            return self._memories.find(root, base, offset, size, write=write)
        except BadAccess as bad:
            raise self._fault(bad, instruction.site) from bad

    def _fault(self, bad: BadAccess, site: Site) -> KernelFault:
        return KernelFault(
            kernel=self._function.name,
            kind=bad.kind,
            site=site,
            buffer=bad.name,
            offset=bad.offset,
            size=bad.size,
            length=bad.length,
            place=self._place,
        )

    def _load(self, instruction: Instruction) -> None:
        step = element_size(instruction.element)
        raw = self._find(instruction, step * instruction.components, write=False).tobytes()
        parts = [int.from_bytes(raw[at : at + step], "little") for at in range(0, len(raw), step)]
        self._parts[instruction] = parts
        self._values[instruction] = parts[0]

    def _store(self, instruction: Instruction) -> None:
        step = element_size(instruction.element)
        values = [self._value(operand) for operand in instruction.operands[1:]]
        where = self._find(instruction, step * len(values), write=True)
        raw = b"".join(value.to_bytes(step, "little") for value in values)
        where[:] = memoryview(raw)

    def _take_component(self, instruction: Instruction) -> None:
        self._values[instruction] = self._parts[instruction.operands[0]][instruction.index]

    def _address(self, instruction: Instruction) -> None:
        assert instruction.root is not None
        self._values[instruction] = self._memories.address(instruction.root)

    def _update(self, instruction: Instruction, meaning: OfMemory) -> None:
        size = element_size(instruction.element)
        operands = [self._value(operand) for operand in instruction.operands[1:]]
        where = self._find(instruction, size, write=instruction.operation.writes_memory)
        old = int.from_bytes(where.tobytes(), "little")
        if instruction.operation.writes_memory:
            new = meaning.compute(instruction, old, operands)
            where[:] = memoryview(new.to_bytes(size, "little"))
        self._values[instruction] = old

    # -- functions that stand apart -----------------------------------------------------------

    def _call(self, instruction: Instruction) -> None:
        function = self._function.apart[instruction.function]
        clock = Clock(execution_order(function.blocks))
        called = Lane(function, self._memories, self._thread, self._place, self._fuel, clock)
        called._given = [self._value(operand) for operand in instruction.operands]
        for _ in called.run():
            raise AssertionError(f"'{instruction.function}' waits for other lanes")
        (self._values[instruction],) = called._given

    def _parameter(self, instruction: Instruction) -> None:
        self._values[instruction] = self._given[instruction.index]

    def _return(self, instruction: Instruction) -> None:
        self._given = [self._value(instruction.operands[0])]

    def _pass(self, instruction: Instruction) -> None:
        """Nothing: this engine does everything in order, and checks nothing."""


_PASSES = frozenset({LOOKUP_HOST, LOOKUP_AVAILABLE, PHI, READ_ORIGIN})


def _is_structural(operation: Operation) -> bool:
    made_by_passes = operation in _PASSES or bool(operation.effect & Effect.REPORTS)
    return operation.meaning is STRUCTURAL and not operation.meets and not made_by_passes


# What no function of the table stands for, but for what the engine never meets.
STRUCTURE: Handlers[Callable[[Lane, Instruction], None]] = Handlers(
    "the reference engine", _is_structural
)
STRUCTURE.put((LOAD,), Lane._load)
STRUCTURE.put((STORE,), Lane._store)
STRUCTURE.put((COMPONENT,), Lane._take_component)
STRUCTURE.put((ADDRESS,), Lane._address)
STRUCTURE.put((FENCE, EXPECT_UNIFORM, EXPECT_SIMDGROUPS, EXPECT_INSIDE, ACCESS_KIND), Lane._pass)
STRUCTURE.put((CALL,), Lane._call)
STRUCTURE.put((PARAMETER,), Lane._parameter)
STRUCTURE.put((RETURN,), Lane._return)
