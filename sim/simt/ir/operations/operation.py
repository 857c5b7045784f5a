"""What a row of the table says of an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import TYPE_CHECKING, NamedTuple

from .number import Number
from .signature import Signature, parse

if TYPE_CHECKING:
    from ..nodes import Instruction

Column = Sequence[int | None]
"""An operand of all 32 lanes; None where a lane takes no part."""


class Origin(Enum):
    """Who writes the operation."""

    INSTRUCTION = "an instruction of LLVM"
    INTRINSIC = "an intrinsic function of LLVM"
    MACHINE = "a function `__assay_...` that the MSL headers declare"
    MARK = (
        "a function `__assay_...` that the reader puts into a program to be reminded of something"
    )
    ENGINE = "passes over the IR"


class Lanes(Enum):
    """What lanes of a simdgroup see of each other."""

    OWN = "a lane computes with its own operands"
    CROSSING = "a lane's result depends on other lanes' operands, or on which lanes take part"


class Variation(Enum):
    """When a result may differ between lanes."""

    AS_OPERANDS = "if an operand does"
    NEVER = "never"
    ALWAYS = "always"
    AS_LAST = "if the last operand, which says which lane to read, does"
    IN_CLUSTERS = "unless the last operand, lanes of a cluster, is the whole simdgroup"
    AS_MEMORY = "if an operand or the memory does"
    AS_EDGES = "if lanes come from different blocks, or with different values"


class Effect(Flag):
    """What an operation does besides giving a result."""

    NONE = 0
    READS = auto()  # memory behind its root
    WRITES = auto()
    ORDERS = auto()  # what comes before it and what comes after it, in memory
    REPORTS = auto()  # to observers


class Spaces(Flag):
    """Memory that an access may go to."""

    NONE = 0
    DEVICE = auto()
    THREADGROUP = auto()
    PRIVATE = auto()
    CONSTANT = auto()


SHARED = Spaces.DEVICE | Spaces.THREADGROUP
WRITABLE = SHARED | Spaces.PRIVATE
ANYWHERE = WRITABLE | Spaces.CONSTANT


class Uninitialised(Enum):
    """What an operand that was never given a value does."""

    SPREADS = "the result is uninitialised"
    CHOOSES = "the condition spoils the result, of the others the one that is chosen"
    IN_PARTS = "the bits of the result that come from it are uninitialised"
    DECIDES_ALONE = "as in parts; of one bit, a side does not count where the other decides"
    MERGES = "the value that comes over the edge taken counts"
    TRAVELS = "it goes to the lanes that read it"
    SPOILS_CLUSTER = "the results of all lanes of the cluster are uninitialised"
    SPOILS_FOLLOWING = "the results of lanes behind are uninitialised"
    SPOILS_PRODUCT = "the elements of the matrix that it is multiplied into are uninitialised"
    DECIDES = "it decides what the kernel does, which is a mistake; the result counts as set"
    CLEAN = "nothing: the result counts as set"
    FROM_MEMORY = "the result is what memory holds, whose shadow says whether it was written"
    BEGINS = "the result is uninitialised from here on"


class Inactive(Enum):
    """What an operand of a lane that takes no part does for the others."""

    UNSEEN = "nothing: no other lane reads it"
    LEFT_OUT = "nothing: the lane counts as if it were not there"
    READ = "it may be read, and is what the register last held: in Metal, undefined"


class Meeting(Enum):
    """Who has to be at the operation together."""

    NONE = "nobody"
    SIMDGROUP = "the live lanes of the simdgroup that come here at all"
    THREADGROUP = "all simdgroups of the threadgroup: each returns to the scheduler here"


class Width(Enum):
    """The bits of a conversion's result beside those of its operand."""

    SAME = "as many"
    LESS = "fewer"
    MORE = "more"


class Types(NamedTuple):
    """Of a computation: type of the first operand, type of the result, predicate if it compares."""

    source: str
    result: str
    predicate: str = ""


@dataclass(frozen=True, slots=True)
class OfOperands:
    """Meaning: bits of the result from types and the bits of operands."""

    compute: Callable[[Types, Sequence[int]], int]


@dataclass(frozen=True, slots=True)
class OfLanes:
    """Meaning: a result for each of 32 lanes.

    An operation without operands gets one column that marks the lanes that take part.
    """

    compute: Callable[[Instruction, Sequence[Column]], list[int]]


@dataclass(frozen=True, slots=True)
class OfMemory:
    """Meaning: what an atomic operation leaves in memory; its result is what was there."""

    compute: Callable[[Instruction, int, Sequence[int]], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """Where a thread is: what positions are found from."""

    position_in_grid: tuple[int, int, int]
    position_in_threadgroup: tuple[int, int, int]
    threadgroup: tuple[int, int, int]
    size: tuple[int, int, int]  # of this threadgroup, which at the grid's edge is smaller
    full_size: tuple[int, int, int]
    grid: tuple[int, int, int]  # in threads
    threadgroups: tuple[int, int, int]
    index: int
    lane: int
    simdgroup: int
    simdgroups: int
    full_simdgroups: int


@dataclass(frozen=True, slots=True)
class OfThread:
    """Meaning: a position, by dimension if it has several."""

    compute: Callable[[Thread], tuple[int, ...]]


class Structural(Enum):
    """Meaning: what the engines themselves are about, so that no function stands for it."""

    STRUCTURAL = "memory, control flow and what stands for nothing"


STRUCTURAL = Structural.STRUCTURAL
Meaning = OfOperands | OfLanes | OfMemory | OfThread | Structural


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reduction:
    """How a reduction or a scan combines lanes.

    Attributes:
        integer, floating: the operation of two operands; of integers one each for signed ones and
            for those without signs.
        identity: bits of what changes nothing, for a kind of number.
        scans: whether every lane gets the result of the lanes up to it, in which case
        exclusive: says that its own operand is not in it.
    """

    integer: tuple[Operation, Operation]
    floating: Operation | None
    identity: Callable[[Number], int]
    scans: bool = False
    exclusive: bool = False

    def combines(self, number: Number) -> Operation:
        """The operation of two operands for a kind of number."""
        if number.is_float:
            assert self.floating is not None
            return self.floating
        return self.integer[0 if number.is_signed else 1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Operation:
    """One row. Rows are compared by identity, and there is one of each.

    Attributes:
        name: what people and programs call it, less the kind of number.
        signature: types of operands and result.
        numbers: the kinds of numbers that it exists for; none if its types say all.
        is_typed: its name in a program ends in the type of its result.
        is_listed: its name in a program ends in the types of its operands, behind points.
        width: of a conversion.
        spaces: memory that it may access through its root.
        has_root: whether an instruction has a root, accessed or not.
        is_atomic: whether an access is indivisible.
        commutes: whether the order in which threads do it cannot show in memory, but for floats.
        makes_nan: whether NaN or infinity can come out of operands that are neither.
        reduction: of reductions and scans.
    """

    name: str
    origin: Origin
    types: str = field(repr=False)
    meaning: Meaning
    numbers: tuple[Number, ...] = ()
    is_typed: bool = False
    is_listed: bool = False
    width: Width | None = None
    lanes: Lanes = Lanes.OWN
    result: Variation = Variation.AS_OPERANDS
    effect: Effect = Effect.NONE
    spaces: Spaces = Spaces.NONE
    is_atomic: bool = False
    commutes: bool = False
    uninitialised: Uninitialised = Uninitialised.SPREADS
    inactive: Inactive = Inactive.UNSEEN
    meeting: Meeting = Meeting.NONE
    makes_nan: bool = False
    has_root: bool = False
    reduction: Reduction | None = None
    # Said by the columns above; here, because passes ask of every instruction.
    signature: Signature = field(init=False, repr=False)
    reads_memory: bool = field(init=False, repr=False)
    writes_memory: bool = field(init=False, repr=False)
    accesses_memory: bool = field(init=False, repr=False)
    orders_memory: bool = field(init=False, repr=False)
    crosses_lanes: bool = field(init=False, repr=False)
    meets: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        reads, writes = (bool(self.effect & way) for way in (Effect.READS, Effect.WRITES))
        derived = {
            "signature": parse(self.types),
            "reads_memory": reads,
            "writes_memory": writes,
            "accesses_memory": reads or writes,
            "orders_memory": bool(self.effect & Effect.ORDERS),
            "crosses_lanes": self.lanes is Lanes.CROSSING,
            "meets": self.meeting is not Meeting.NONE,
        }
        if reads or writes:
            derived["has_root"] = True
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], Operation], tuple[str]]:
        """Copies and pickles are the row itself."""
        return _row, (self.name,)


def _row(name: str) -> Operation:
    from .table import OPERATIONS

    return OPERATIONS[name]
