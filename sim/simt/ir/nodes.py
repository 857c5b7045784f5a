"""The IR that the engines execute: scalars only, memory as (root, byte offset), explicit blocks.

A kernel arrives as LLVM IR; `lower` turns it into this form, in which vectors and aggregates are
split into scalars and every pointer is a known root plus an `i64` offset. Both the lane-vector
engine and the reference interpreter read it. What instructions do is declared in `operations/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...site import Site
from .llvm_types import bits, is_float
from .operations.control import PHI
from .operations.number import Number
from .operations.operation import Operation
from .operations.table import spelling


@dataclass(frozen=True, slots=True)
class BufferRoot:
    """A buffer bound to a device or constant argument of the kernel."""

    parameter: int
    name: str
    is_constant: bool = False  # declared const or constant
    alignment: int = 1  # what the host makes sure that its address is a multiple of


@dataclass(frozen=True, slots=True)
class ThreadgroupRoot:
    """A threadgroup variable: `size` bytes at `start` of the threadgroup's arena."""

    start: int
    size: int
    name: str


@dataclass(frozen=True, slots=True)
class ThreadgroupParameterRoot:
    """A threadgroup argument whose length the host sets."""

    parameter: int
    name: str


@dataclass(frozen=True, slots=True)
class ThreadgroupArenaRoot:
    """Some threadgroup variable, which one is not known; offsets count from the arena's start."""

    name: str = "threadgroup memory"


@dataclass(frozen=True, slots=True)
class PrivateRoot:
    """A thread's own array: `size` bytes at `start` of the thread's arena."""

    start: int
    size: int
    name: str


@dataclass(frozen=True, slots=True)
class PrivateArenaRoot:
    """Some private array, which one is not known; offsets count from the arena's start."""

    name: str = "private memory"


@dataclass(frozen=True, slots=True)
class ConstantRoot:
    """A table of constants in the program; `start` counts in the program's constant data."""

    start: int
    size: int
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class AddressRoot:
    """Memory at a GPU address that the kernel computed or loaded; `space` 0 means any."""

    address: Value
    space: int
    name: str = "a pointer from memory"


@dataclass(frozen=True, slots=True)
class ShadowRoot:
    """The shadow of a root: of equal layout, not 0 where nothing has been written yet."""

    of: Root

    @property
    def name(self) -> str:
        """What people call it."""
        return f"shadow of {self.of.name}"


Root = (
    BufferRoot
    | ThreadgroupRoot
    | ThreadgroupParameterRoot
    | ThreadgroupArenaRoot
    | PrivateRoot
    | PrivateArenaRoot
    | ConstantRoot
    | AddressRoot
    | ShadowRoot
)

PRIVATE_ROOTS = (PrivateRoot, PrivateArenaRoot)
THREADGROUP_ROOTS = (ThreadgroupRoot, ThreadgroupParameterRoot, ThreadgroupArenaRoot)


_NO_FLAGS: frozenset[str] = frozenset()
_COPIED = (
    "function",
    "precise",
    "predicate",
    "root",
    "components",
    "element",
    "index",
    "align",
    "flags",
    "demand",
    "contract",
)


class Value:
    """Anything an instruction can use; `type` is an LLVM scalar type's name."""

    __slots__ = ("type",)

    def __init__(self, type: str) -> None:
        self.type = type


class Constant(Value):
    """A literal, as LLVM writes it; integers also as a number modulo 2**bits."""

    __slots__ = ("literal", "number")

    def __init__(self, type: str, literal: str, number: int | None) -> None:
        super().__init__(type)
        self.literal = literal
        self.number = number

    def __repr__(self) -> str:
        return f"{self.type} {self.literal}"


def integer(type: str, number: int) -> Constant:
    """An integer constant, reduced modulo the type's width."""
    width = bits(type)
    number &= (1 << width) - 1
    if width == 1:
        return Constant(type, "true" if number else "false", number)
    signed = number - (1 << width) if number >> (width - 1) else number
    return Constant(type, str(signed), number)


def zero(type: str) -> Constant:
    """The zero of a type."""
    return Constant(type, "0.0", None) if is_float(type) else integer(type, 0)


class Instruction(Value):
    """One use of an operation, of which the table (`operations/`) says all that passes ask.

    Attributes:
        number: the kind of number that it is done on, if the operation has several.
        precise: of a marked function, that fast mathematics is off.
        predicate: of a comparison.
        root: memory that it is about; if it is accessed, the first operand is a byte offset.
        components, element: scalars that a load or store moves, and their type.
        index: of a component or a parameter, which one.
        function: of a call, the name of a function that stands apart.
        align: what the address is a multiple of, as far as is known.
        demand: what it must be a multiple of by the kernel's own types.
        contract: whether it may be fused with a neighbour and rounded once.
        flags: LLVM's promises, such as `nsw`.
    """

    __slots__ = (
        "align",
        "block",
        "components",
        "contract",
        "demand",
        "element",
        "flags",
        "function",
        "index",
        "name",
        "number",
        "operands",
        "operation",
        "precise",
        "predicate",
        "root",
        "site",
    )

    def __init__(
        self,
        operation: Operation,
        type: str,
        operands: list[Value],
        site: Site | None = None,
        number: Number | None = None,
    ) -> None:
        super().__init__(type)
        self.operation = operation
        self.number = number
        self.precise = False
        self.operands = operands
        self.site = site or Site()
        self.predicate = ""
        self.function = ""
        self.root: Root | None = None
        self.components = 1
        self.element = type
        self.index = 0
        self.flags = _NO_FLAGS
        self.contract = False
        self.align = 1
        self.demand = 1
        self.block: Block | None = None
        self.name = ""

    @property
    def spelling(self) -> str:
        """What is done, as programs call it: `simd_min_u32`."""
        return spelling(self.operation, self.number)

    def __repr__(self) -> str:
        return f"%{self.name or hex(id(self))[-5:]}"


@dataclass(slots=True, eq=False)
class Block:
    """Straight-line code. Ends by `condition` choosing of two `targets`, one target, or none."""

    name: str
    phis: list[Instruction] = field(default_factory=list)
    body: list[Instruction] = field(default_factory=list)
    condition: Value | None = None
    targets: list[Block] = field(default_factory=list)
    predecessors: list[Block] = field(default_factory=list)
    site: Site = field(default_factory=Site)

    def __repr__(self) -> str:
        return self.name

    def instructions(self) -> Iterator[Instruction]:
        """Phis, then the body."""
        yield from self.phis
        yield from self.body


@dataclass(slots=True, eq=False)
class Function:
    """A kernel ready to execute; `blocks[0]` is the entry and has no predecessors."""

    name: str
    blocks: list[Block]
    threadgroup_memory: int  # bytes of static threadgroup variables
    private_memory: int  # bytes of a thread's private arena
    constants: bytes  # data of constant tables
    # Functions that stand apart, by the names that calls have; no pass changes them.
    apart: dict[str, Function] = field(default_factory=dict)

    def instructions(self) -> Iterator[Instruction]:
        """All instructions of all blocks."""
        for block in self.blocks:
            yield from block.instructions()


def block_of(instruction: Instruction) -> Block:
    """The block of an instruction that is in one."""
    assert instruction.block is not None
    return instruction.block


def is_private(root: Root | None) -> bool:
    """Whether a root is a thread's own memory, or the shadow of that."""
    return isinstance(root.of if isinstance(root, ShadowRoot) else root, PRIVATE_ROOTS)


def link_predecessors(blocks: list[Block]) -> None:
    """Recompute every block's predecessors; only valid while there are no phis to keep in step."""
    for block in blocks:
        block.predecessors = []
    for block in blocks:
        for target in block.targets:
            target.predecessors.append(block)


def dump(function: Function) -> str:
    """The function as text, for debugging and tests."""
    names: dict[Value, str] = {}

    def show(value: Value) -> str:
        if isinstance(value, Constant):
            return value.literal
        return "%" + names.setdefault(value, str(len(names)))

    lines = []
    for block in function.blocks:
        lines.append(f"{block.name}: ; from {', '.join(p.name for p in block.predecessors)}")
        for instruction in block.instructions():
            root = f" [{instruction.root.name}]" if instruction.root else ""
            what = (
                f"{instruction.spelling} {instruction.predicate or instruction.function}".rstrip()
            )
            operands = ", ".join(show(o) for o in instruction.operands)
            count = f" x{instruction.components}" if instruction.components > 1 else ""
            lines.append(
                f"  {show(instruction)} = {what} {instruction.type}{count}{root} {operands}"
            )
        condition = f"{show(block.condition)}, " if block.condition is not None else ""
        lines.append(f"  goto {condition}{', '.join(t.name for t in block.targets) or 'end'}")
    return "\n".join(lines)


def clone(function: Function) -> Function:
    """A copy that can be changed without changing the original; constants are shared."""
    values: dict[Value, Value] = {}
    blocks = {block: Block(block.name, site=block.site) for block in function.blocks}
    for block, copy in blocks.items():
        copy.targets = [blocks[t] for t in block.targets]
        copy.predecessors = [blocks[p] for p in block.predecessors]
        for instruction in block.instructions():
            fresh = _copy_instruction(instruction, copy)
            values[instruction] = fresh
            (copy.phis if instruction.operation is PHI else copy.body).append(fresh)
    for block, copy in blocks.items():
        if block.condition is not None:
            copy.condition = values.get(block.condition, block.condition)
        for instruction in copy.instructions():
            instruction.operands = [values.get(o, o) for o in instruction.operands]
            if isinstance(instruction.root, AddressRoot):
                root = instruction.root
                address = values.get(root.address, root.address)
                instruction.root = AddressRoot(address, root.space, root.name)
    return Function(
        function.name,
        list(blocks.values()),
        function.threadgroup_memory,
        function.private_memory,
        function.constants,
        function.apart,
    )


def _copy_instruction(instruction: Instruction, block: Block) -> Instruction:
    fresh = Instruction(
        instruction.operation,
        instruction.type,
        list(instruction.operands),
        instruction.site,
        instruction.number,
    )
    for slot in _COPIED:
        setattr(fresh, slot, getattr(instruction, slot))
    fresh.block = block
    return fresh
