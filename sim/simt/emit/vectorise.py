"""The lane-vector engine's code generator: a kernel for one shape, as LLVM IR over 32 lanes.

Every block is emitted once. Lanes that part at a branch wait at their next block; the block that
comes first in the order runs next, under the mask of the lanes that wait there, so lanes meet
again by themselves. Where lanes cannot part, plain branches are emitted.

Values that other blocks use go through stack slots, which LLVM turns into registers. A barrier
saves the slots that are live and returns; the next call resumes behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..ir import context as c
from ..ir.faults import UnsupportedKernel
from ..ir.nodes import Block, Function, Instruction, Value
from ..ir.operations.calls import CALL, PARAMETER, RETURN
from ..ir.operations.control import PHI, SELECT
from ..ir.operations.functions import FUNCTIONS
from ..ir.operations.handlers import Handlers
from ..ir.operations.marks import (
    ACCESS_KIND,
    EXPECT_INSIDE,
    EXPECT_SIMDGROUPS,
    EXPECT_UNIFORM,
    IN_ROW,
    LANE_OF,
    NARROWED,
    PLAIN,
    READ_ORIGIN,
    UNIFORM,
    UNINITIALISED,
)
from ..ir.operations.memory import ADDRESS, COMPONENT, LOAD, LOOKUP_AVAILABLE, LOOKUP_HOST, STORE
from ..ir.operations.operation import OfThread, Operation, Variation
from ..ir.operations.synchronisation import FENCE, SIMDGROUP_BARRIER, THREADGROUP_BARRIER
from ..ir.shape import Shape
from ..watch.needs import WatchNeeds
from . import coverage
from .arithmetic import ARITHMETIC, Arithmetic
from .barriers.resuming import Resuming
from .bounds import Bounds
from .helpers import ATOMIC_BODIES
from .lanes import LANE_OPERATIONS, LaneOperations
from .matrices.waiting import is_part
from .memory import MemoryAccess
from .positions import POSITIONS
from .slots import CONTEXT, Slot
from .tape_events import TapeEvents
from .text import vector_of, zero_of
from .values import ALL
from .watched.watch import EVENTS, Watch


@dataclass(slots=True)
class Code:
    """Generated code and what is needed to run it and to explain its faults."""

    text: str
    sites: list[Instruction | Block]  # by site number
    state_size: int  # bytes a simdgroup saves at barriers
    has_barriers: bool
    watch_sites: list[Instruction | Block]  # by the number that observers' records hold, less one
    watch_needs: WatchNeeds
    lanes: tuple[int, ...]  # those that run, by the numbers that faults have
    packs: int  # threadgroups that run at once
    private_memory: int  # bytes that each lane has
    keeps_sums: bool  # whether sums of products stay in memory, each where the code adds to it
    streams: bool  # whether some stores go past the caches
    known: dict[tuple[int, int], int]  # what a tape leaves out; see `Tape.known`
    loops: list[tuple[Block, list[int]]]  # see `coverage`; none if it is not noted
    touching: dict[int, list[int]]
    blocks: int


class Vectoriser(Resuming):
    """Emits one function for one shape."""

    def __init__(
        self,
        function: Function,
        shape: Shape,
        observers: frozenset[str] = frozenset(),
        *,
        brief: bool = False,
        packed: bool = False,
    ) -> None:
        super().__init__(function, shape, observers, brief=brief, packed=packed)
        self.memory = MemoryAccess(self)
        self.watch = Watch(self)
        self.bounds = Bounds(self)
        self.tape = TapeEvents(self)
        self.lanes = LaneOperations(self)
        self.arithmetic = Arithmetic(self.text)
        self._covers = bool(observers)
        self._looked_up: dict[Value, tuple[str, str]] = {}
        self.barrier_lines = {}

    def run(self) -> Code:
        """Generate the code.

        Raises:
            UnsupportedKernel: for what cannot be executed.
        """
        self.pending = self.find_pending()
        for block in self.cfg.order:
            self._emit_block(block)
        self.store_requested()
        resumes = self.save_and_resume()
        return Code(
            self._assemble(resumes),
            self.sites,
            self.slots.state_size,
            has_barriers=bool(self.barriers),
            watch_sites=self.watch_sites.all,
            watch_needs=self.watch.needs,
            lanes=self.kept,
            packs=max(self.groups) + 1,
            private_memory=self.function.private_memory,
            keeps_sums=bool(self.sums),
            streams=self.memory.streams,
            known=self.tape.known,
            loops=coverage.loops(self.cfg) if self._covers else [],
            touching=coverage.touching(self.function, self.cfg) if self._covers else {},
            blocks=len(self.cfg.order),
        )

    def _assemble(self, resumes: list[str]) -> str:
        first = f"b{self.cfg.index[self.cfg.order[0]]}"
        initial = self.slots.initial_stores(
            lambda: self.field_at_start("i64", c.FUEL),
            lambda: self.field_at_start("ptr", c.SCRATCH),
        )
        head = [
            f"define i32 @simdgroup({CONTEXT}, i32 %gx, i32 %gy, i32 %gz, i32 %sg, "
            "ptr %state) #0 {",
            "entry:",
            *self.text.slots,
            *self.entry.values(),
        ]
        if self.full_mask != ALL:
            head += _entry_mask(self.shape, self.kept)
        head += initial
        if self.barriers:
            cases = " ".join(f"i32 {n}, label %resume{n}" for n in self.barriers.values())
            head.append("  %pc = load i32, ptr %state")
            head.append(f"  switch i32 %pc, label %{first} [ {cases} ]")
        else:
            head.append(f"  br label %{first}")
        end = ["stopped:", "  ret i32 -1", "}", *sorted(self.text.declarations)]
        return "\n".join([*head, *resumes, *self._body(), *end])

    def _body(self) -> list[str]:
        """The lines of all blocks."""
        body: list[str] = []
        for number, line in enumerate(self.text.lines):
            body += self.insertions.get(number, [])
            body.append(line)
        return body + self.insertions.get(len(self.text.lines), [])

    def _emit_block(self, block: Block) -> None:
        self.block = block
        self._scalars, self._vectors = {}, {}
        self.text.computed = {}
        self.text.place(f"b{self.cfg.index[block]}")
        self.enter(block)
        if self._covers:
            self._note(block)
        if self.tapes:
            self.tape.begin(block)
        for phi in block.phis:
            self._emit_phi(phi)
        for phi in block.phis:
            if self.has_exact_form(phi):
                self.remember_linear(phi)
        for instruction in block.body:
            try:
                self._emit_instruction(instruction)
            except UnsupportedKernel as error:
                raise UnsupportedKernel(error.reason, error.site, self.function.name) from error
        if self.tapes:
            self.tape.end()
        if block in self.barriers:
            self.emit_barrier(block)
        else:
            self.emit_branch(block)

    def _note(self, block: Block) -> None:
        """Note that the block runs, see `coverage`."""
        reached = self.field("ptr", c.REACHED)
        place = self.text.let(f"getelementptr i8, ptr {reached}, i64 {self.cfg.index[block]}")
        self.text.do(f"store i8 1, ptr {place}")

    def _emit_phi(self, phi: Instruction) -> None:
        if self.has_exact_form(phi) or self.sums.hold(phi):
            return
        vector = self.divergence.is_varying(phi)
        type = self.text.wide(phi.type) if vector else phi.type
        name = self.take(self.slots.get("incoming", phi, type))
        self.define(phi, name, vector=vector)
        self.defined[phi] = name

    def _emit_instruction(self, instruction: Instruction) -> None:
        if self.has_exact_form(instruction):
            self.remember_linear(instruction)
            return
        if is_part(instruction, self.waiting):
            return
        if self.observers:
            self._observe(instruction)
        if self.tapes and instruction.operation.accesses_memory:
            self.tape.access(instruction)
        _EMITTERS[instruction.operation](self, instruction)

    def _emit_load(self, instruction: Instruction) -> None:
        parts = self.memory.load(instruction)
        if parts:
            self._finish_load(instruction, parts)

    def _emit_component(self, instruction: Instruction) -> None:
        source = instruction.operands[0]
        name = self._parts[source][instruction.index]
        self._finish(instruction, name, self.divergence.is_varying(source))

    def _emit_store(self, instruction: Instruction) -> None:
        self.memory.store(instruction)

    def _emit_address(self, instruction: Instruction) -> None:
        self._finish(instruction, self.memory.address_of(instruction), False)

    def _emit_arithmetic(self, instruction: Instruction) -> None:
        vector = any(self.varying(o) for o in instruction.operands)
        vector = vector or self.divergence.is_varying(instruction)
        get = self.vector if vector else self.scalar
        operands = [get(o) for o in instruction.operands]
        name = self.arithmetic.emit(instruction, operands, self.text.lanes if vector else 0)
        self._finish(instruction, name, vector)

    def _observe(self, instruction: Instruction) -> None:
        """Report what is about to happen."""
        operation = instruction.operation
        if operation.accesses_memory:
            writes = operation.writes_memory
            self.bounds.access(instruction, write=writes)
            self.watch.access(instruction, write=writes, atomic=operation.is_atomic)
        elif operation is SIMDGROUP_BARRIER:
            self.watch.simdgroup_wait(instruction)
        elif operation is FENCE:
            self.watch.fence(instruction)
        elif operation is ACCESS_KIND:
            self.watch.access_kind(instruction)

    def _finish(self, instruction: Instruction, name: str, vector: bool) -> None:
        self.define(instruction, name, vector=vector)
        self.defined[instruction] = (
            self._vectors if self.divergence.is_varying(instruction) else self._scalars
        )[instruction]

    def _finish_load(self, instruction: Instruction, parts: list[str]) -> None:
        self._parts[instruction] = parts
        self._finish(instruction, parts[0], self.divergence.is_varying(instruction))

    def _emit_lookup(self, instruction: Instruction) -> None:
        (address,) = instruction.operands
        if instruction.operation is LOOKUP_HOST:
            frozen = self.text.let(f"freeze i64 {self.scalar(address)}")
            self._looked_up[address] = self.memory.look_up(frozen)
        host, available = self._looked_up[address]
        name = host if instruction.operation is LOOKUP_HOST else available
        self._finish(instruction, name, False)

    def _emit_select(self, instruction: Instruction) -> None:
        condition, first, second = instruction.operands
        if not any(self.varying(o) for o in instruction.operands):
            name = self.text.let(
                f"select i1 {self.scalar(condition)}, {instruction.type} {self.scalar(first)}, "
                f"{instruction.type} {self.scalar(second)}"
            )
            self._finish(instruction, name, False)
            return
        kind = self.text.wide(instruction.type)
        chooser = (
            f"{self.text.mask} {self.vector(condition)}"
            if self.varying(condition)
            else f"i1 {self.scalar(condition)}"
        )
        name = self.text.let(
            f"select {chooser}, {kind} {self.vector(first)}, {kind} {self.vector(second)}"
        )
        self._finish(instruction, name, True)

    def _emit_observation(self, instruction: Instruction) -> None:
        self.watch.observe(instruction)

    def _emit_read_origin(self, instruction: Instruction) -> None:
        vector = self.divergence.is_varying(instruction)
        self._finish(instruction, self.watch.read_origin(instruction, vector=vector), vector)

    def _emit_uninitialised(self, instruction: Instruction) -> None:
        self._finish(instruction, zero_of(instruction.type), False)

    def _emit_atomic(self, instruction: Instruction) -> None:
        result = self.memory.atomic(instruction)
        if instruction.type != "void":
            self._finish(instruction, result, True)

    def _emit_ordering(self, instruction: Instruction) -> None:
        """Nothing: lanes run in lock step, simdgroups one after the other."""

    def _emit_position(self, instruction: Instruction) -> None:
        of_lane = instruction.operation.result is Variation.ALWAYS
        position = POSITIONS[instruction.operation](self, instruction)
        self._finish(instruction, position, of_lane)

    def _emit_lanes(self, instruction: Instruction) -> None:
        if self.sums.compute(instruction):
            return
        self._finish(instruction, *self.lanes.emit(instruction))
        if self.sums.hold(instruction):
            self.sums.write([(instruction, self._vectors.pop(instruction))])

    def _pass_on(self, instruction: Instruction) -> None:
        """What a function of mathematics gives was computed already."""
        result = instruction.operands[0]
        vector = self.divergence.is_varying(instruction)
        self._finish(instruction, (self.vector if vector else self.scalar)(result), vector)

    def _emit_call(self, instruction: Instruction) -> None:
        """Call a function that stands apart, which is done on all lanes even if they are equal."""
        vector = self.divergence.is_varying(instruction)
        passed = [f"{self.text.wide(o.type)} {self.vector(o)}" for o in instruction.operands]
        context = ["ptr %ctx", f"{self.text.mask} {self.mask if vector else ALL}"]
        kind = self.text.wide(instruction.type)
        name = self.text.let(
            f"call {kind} @{instruction.function}({', '.join([*context, *passed])})"
        )
        if not vector:
            name = self.text.let(f"extractelement {kind} {name}, i64 0")
        self._finish(instruction, name, vector)

    def _emit_parameter(self, instruction: Instruction) -> None:
        self._finish(instruction, f"%p{instruction.index}", True)

    def _emit_return(self, instruction: Instruction) -> None:
        slot = self._result()
        old, new = self.take(slot), self.vector(instruction.operands[0])
        kept = self.text.let(
            f"select {self.text.mask} {self.mask}, {slot.type} {new}, {slot.type} {old}"
        )
        self.put(slot, kept, whole=False)

    def _result(self) -> Slot:
        """Where a function that stands apart collects what it gives."""
        returns = (i for i in self.function.instructions() if i.operation is RETURN)
        return self.slots.get("result", None, self.text.wide(next(returns).operands[0].type))


def _entry_mask(shape: Shape, kept: tuple[int, ...]) -> list[str]:
    """The live lanes: all but in the last simdgroup."""
    rest = sum(1 << place for place, lane in enumerate(kept) if lane < shape.last_lanes)
    bits = f"i{len(kept)}"
    return [
        f"  %last = icmp eq i32 %sg, {shape.simdgroups - 1}",
        f"  %live = select i1 %last, {bits} {rest}, {bits} -1",
        f"  %mask0 = bitcast {bits} %live to {vector_of('i1', len(kept))}",
    ]


# What passes before the emission replace: sizes, and marks of what only they look at.
_GONE = frozenset(
    {*PLAIN, UNIFORM, EXPECT_UNIFORM, EXPECT_SIMDGROUPS, EXPECT_INSIDE, LANE_OF, NARROWED, IN_ROW}
)


def _is_emitted(operation: Operation) -> bool:
    of_known_size = isinstance(operation.meaning, OfThread) and not POSITIONS.covers(operation)
    return operation is not PHI and operation not in _GONE and not of_known_size


_EMITTERS: Handlers[Callable[[Vectoriser, Instruction], None]] = Handlers(
    "the emission", _is_emitted
)
_EMITTERS.put((LOAD,), Vectoriser._emit_load)
_EMITTERS.put((COMPONENT,), Vectoriser._emit_component)
_EMITTERS.put((STORE,), Vectoriser._emit_store)
_EMITTERS.put((ADDRESS,), Vectoriser._emit_address)
_EMITTERS.put((LOOKUP_HOST, LOOKUP_AVAILABLE), Vectoriser._emit_lookup)
_EMITTERS.put((SELECT,), Vectoriser._emit_select)
_EMITTERS.put(ARITHMETIC, Vectoriser._emit_arithmetic)
_EMITTERS.put(POSITIONS, Vectoriser._emit_position)
_EMITTERS.put(LANE_OPERATIONS, Vectoriser._emit_lanes)
_EMITTERS.put(ATOMIC_BODIES, Vectoriser._emit_atomic)
_ORDERINGS = (THREADGROUP_BARRIER, SIMDGROUP_BARRIER, FENCE, ACCESS_KIND)
_EMITTERS.put(_ORDERINGS, Vectoriser._emit_ordering)
_EMITTERS.put(EVENTS, Vectoriser._emit_observation)
_EMITTERS.put((READ_ORIGIN,), Vectoriser._emit_read_origin)
_EMITTERS.put((UNINITIALISED,), Vectoriser._emit_uninitialised)
_EMITTERS.put((CALL,), Vectoriser._emit_call)
_EMITTERS.put((PARAMETER,), Vectoriser._emit_parameter)
_EMITTERS.put((RETURN,), Vectoriser._emit_return)
_EMITTERS.put(FUNCTIONS, Vectoriser._pass_on)
