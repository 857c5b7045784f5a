"""One lane of the reference engine: a generator that stops at operations across lanes."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass

from ...site import Site
from ..ir.faults import FaultPlace, KernelFault
from ..ir.llvm_types import bits
from ..ir.nodes import AddressRoot, Block, Constant, Function, Instruction, Root, Value
from ..read.constant_data import scalar_bytes
from . import ieee as floats
from .arithmetic import evaluate, integer_binary, signed
from .memory import BadAccess, Bytes, Memories, element_size
from .order import Clock, Moment
from .simdgroup import matrix_column, matrix_row


@dataclass(frozen=True, slots=True)
class Crossing:
    """A lane waits at an operation across lanes, with its operands."""

    moment: Moment
    instruction: Instruction
    operands: tuple[int, ...]

    @property
    def is_threadgroup_barrier(self) -> bool:
        """Whether the whole threadgroup meets here."""
        return self.instruction.callee == "threadgroup_barrier"

    @property
    def is_pause(self) -> bool:
        """Whether the lane only stops here and needs nothing of the others."""
        return not _crosses(self.instruction)


@dataclass(slots=True)
class Fuel:
    """Blocks that the dispatch may still enter."""

    left: int


Positions = Mapping[str, tuple[int, ...]]


class Lane:
    """A thread: its values, its memory, its place in the grid."""

    def __init__(
        self,
        function: Function,
        memories: Memories,
        positions: Positions,
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
            positions: the value of each position operation, by name and dimension.
            place: who this is, for faults.
            fuel: shared by all lanes of the dispatch.
            clock: tells where the thread is in the program.
            pauses: further instructions to stop before.
        """
        self._function = function
        self._memories = memories
        self._positions = positions
        self._place = place
        self._fuel = fuel
        self._clock = clock
        self._pauses = pauses
        self._values: dict[Value, int] = {}
        self._parts: dict[Value, list[int]] = {}

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
                if _crosses(instruction):
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
        match instruction.op:
            case "load":
                self._load(instruction)
            case "store":
                self._store(instruction)
            case "component":
                self._values[instruction] = self._parts[instruction.operands[0]][instruction.index]
            case "address":
                assert instruction.root is not None
                self._values[instruction] = self._memories.address(instruction.root)
            case "intrinsic":
                self._intrinsic(instruction)
            case _:
                operands = [self._value(operand) for operand in instruction.operands]
                self._values[instruction] = evaluate(instruction, operands)

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

    # -- operations of the machine that concern one lane --------------------------------------

    def _intrinsic(self, instruction: Instruction) -> None:
        name = instruction.callee
        if name.startswith("atomic_"):
            self._atomic(instruction, *name.removeprefix("atomic_").rsplit("_", 1))
        elif name == "matrix_row":
            self._values[instruction] = matrix_row(self._place.lane)
        elif name == "matrix_column":
            self._values[instruction] = matrix_column(self._place.lane)
        elif name in self._positions:
            dimension = self._value(instruction.operands[0]) if instruction.operands else 0
            self._values[instruction] = self._positions[name][dimension]
        elif name != "fence":
            raise NotImplementedError(f"the machine operation '{name}'")

    def _atomic(self, instruction: Instruction, op: str, kind: str) -> None:
        size = element_size(instruction.element)
        operands = [self._value(operand) for operand in instruction.operands[1:]]
        where = self._find(instruction, size, write=op != "load")
        old = int.from_bytes(where.tobytes(), "little")
        where[:] = memoryview(_updated(op, kind, old, operands).to_bytes(size, "little"))
        self._values[instruction] = old


def _crosses(instruction: Instruction) -> bool:
    return instruction.op == "intrinsic" and instruction.callee.startswith(
        ("simd_", "mma_", "threadgroup_barrier", "simdgroup_barrier")
    )


def _updated(op: str, kind: str, old: int, operands: list[int]) -> int:
    """What an atomic operation leaves in memory."""
    match op:
        case "load":
            return old
        case "store" | "xchg":
            return operands[0]
        case "cmpxchg":
            return operands[1] if old == operands[0] else old
    if kind == "f32":
        if op in ("min", "max"):
            both = (old, operands[0])
            return floats.choose(both, "float", smallest=op == "min", nan_wins=False)
        return floats.binary({"add": "fadd", "sub": "fsub"}[op], old, operands[0], "float")
    prefix = "llvm.s" if kind.startswith("i") else "llvm.u"
    name = prefix + op if op in ("min", "max") else op
    return integer_binary(name, old, operands[0], bits(f"i{kind[1:]}"))
