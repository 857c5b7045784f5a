"""What an Assay module says, as records; `module.fbs` is the same for other languages.

A field's type says how the file keeps it: `Int` is 32 bits and, where nothing else is said, the
number of a record in one of the module's vectors; `Long` is 64 bits. -1 stands for none.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Annotated, Final

Int = Annotated[int, "int"]
Long = Annotated[int, "long"]
Ints = Annotated[tuple[int, ...], "[int]"]
Longs = Annotated[tuple[int, ...], "[long]"]

IDENTIFIER: Final = b"ASM1"
VERSION: Final = 3
NONE: Final = -1
UNKNOWN: Final = -1
"""A dimension that is known only when the model runs."""
LARGEST_DIMENSION: Final = 1 << 40
MOST_DIMENSIONS: Final = 16


class Place(IntEnum):
    """Where a tensor's memory is; the meaning of `Tensor.where` and `Tensor.offset`."""

    PLANNED = 0
    """In an arena: `where` is the arena, `offset` the byte in it, `size` the bytes set aside."""
    DYNAMIC = 1
    """Allocated when the model runs; kept while the next shape fits, grown otherwise."""
    INPUT = 2
    """Memory from outside: `where` is the model's input."""
    WEIGHT = 3
    """`where` is the module's weight."""
    VIEW = 4
    """Some other tensor's memory, as the last `Forward` to this one said."""


def is_assay(head: bytes) -> bool:
    """Whether a file that starts with `head` (12 bytes) is an Assay module."""
    return head[8:12] == IDENTIFIER


@dataclass(frozen=True, slots=True)
class Segment:
    """Bytes behind the FlatBuffer; `offset` counts from where they begin, in steps of 64."""

    offset: Long
    size: Long
    sha256: bytes


@dataclass(frozen=True, slots=True)
class Symbol:
    """A named dimension. A maximum of 0 is none: sizes are then known when the model runs."""

    name: str
    minimum: Long
    maximum: Long
    multiple_of: Long


@dataclass(frozen=True, slots=True)
class Location:
    """What of the source model something comes from."""

    file: str
    operator: str
    name: str


@dataclass(frozen=True, slots=True)
class Weight:
    """Constant elements, row by row, kept once for all device models."""

    name: str
    element_type: Int
    """IREE's code: numerical type << 24 | bits."""
    shape: Longs
    segment: Int


@dataclass(frozen=True, slots=True)
class Argument:
    """What a stage is passed of its kernel's operands, at `[[buffer(index)]]` or buffer `index`.

    Operands are inputs, outputs, constants and the workspace, in this order. A constant becomes a
    number of `element_type` at byte `offset` of what is set at the index. Of the workspace `offset`
    is the operand, a constant, that says at which byte the argument begins; -1 is its first.
    """

    operand: Int
    index: Int
    element_type: Int
    offset: Int


@dataclass(frozen=True, slots=True)
class FunctionConstant:
    """The value of `[[function_constant(index)]]`, by its bits."""

    index: Int
    element_type: Int
    bits: Long


@dataclass(frozen=True, slots=True)
class Stage:
    """A dispatch: a function of MSL, or an executable of the NPU.

    It is in the kernel's segment, or in one of its own.
    """

    entry: str
    segment: Int
    arguments: tuple[Argument, ...]
    function_constants: tuple[FunctionConstant, ...]
    threadgroup_memory: Longs
    """Bytes of `[[threadgroup(0)]]` and so on."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of a program for a device: tensors in, integers, places for results."""

    device: Int
    format: str
    """`vmfb`: an IREE module, whose function `entry` takes inputs, constants (i64) and places for
    outputs; `vmfb-returning`: one whose function gives them; `vmfb-consuming`: one that may
    also work in the memory of its inputs, so that it gets copies; `msl`: a text, `torq`: an
    executable of the NPU, or a container of some; both do what `stages` say."""
    segment: Int
    entry: str
    inputs: Int
    """How many tensors it reads."""
    constants: Int
    """How many integers it takes."""
    outputs: Int
    """How many tensors it writes."""
    stages: tuple[Stage, ...] = ()

    @property
    def takes_workspace(self) -> bool:
        """Whether a stage uses memory for the kernel alone; of other formats calls say that."""
        own = self.inputs + self.outputs + self.constants
        return any(each.operand == own for stage in self.stages for each in stage.arguments)


@dataclass(frozen=True, slots=True)
class Expression:
    """A host computation on whole numbers: words in postfix order, see `expressions`."""

    code: Longs


@dataclass(frozen=True, slots=True)
class Arena:
    """Memory of a device that a device model's planned tensors share. `size` is bytes."""

    device: Int
    size: Long


@dataclass(frozen=True, slots=True)
class Tensor:
    """Elements of one type, row by row; the rank is always known."""

    name: str
    element_type: Int
    shape: Longs
    """-1 where `Deduce` or `Forward` says it when the model runs."""
    device: Int
    place: Int
    where: Int
    offset: Long
    size: Long
    """Bytes set aside in an arena; 0 elsewhere."""
    location: Int


@dataclass(frozen=True, slots=True)
class Input:
    """What a device model is given: `dims` are a number or a symbol each, as expressions."""

    name: str
    tensor: Int
    dims: Ints


@dataclass(frozen=True, slots=True)
class Output:
    """What a device model gives."""

    name: str
    tensor: Int


@dataclass(frozen=True, slots=True)
class Deduce:
    """The shape of a tensor from expressions, all of which must be in range."""

    tensor: Int
    dims: Ints


@dataclass(frozen=True, slots=True)
class Check:
    """Stops the run with a message if an expression is 0."""

    expression: Int
    message: str


@dataclass(frozen=True, slots=True)
class Reserve:
    """Memory for a dynamic tensor, as its shape is now."""

    tensor: Int


@dataclass(frozen=True, slots=True)
class Release:
    """Gives a dynamic tensor's memory back."""

    tensor: Int


@dataclass(frozen=True, slots=True)
class Call:
    """Runs a kernel on its device. `constants` are expressions.

    `workspace` is one, too: bytes that the kernel gets behind its outputs, for itself alone while
    it runs; -1 if it takes none. MSL takes three expressions for each of its stages: how many
    threadgroups there are along x, y and z, and how many threads a threadgroup has.
    """

    kernel: Int
    inputs: Ints
    constants: Ints
    outputs: Ints
    workspace: Int = NONE
    threadgroups: Ints = ()
    threads: Ints = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The expressions that the kernel's program takes: sizes of grids, then constants."""
        return (*self.threadgroups, *self.threads, *self.constants)


@dataclass(frozen=True, slots=True)
class Forward:
    """MemForward: `target` becomes `source`'s memory from byte `offset` on, as shape `dims`.

    No byte is moved. `offset` and `dims` are expressions; -1 is an offset of 0.
    """

    source: Int
    target: Int
    offset: Int
    dims: Ints


@dataclass(frozen=True, slots=True)
class Copy:
    """The elements of a tensor into another of the same type and shape, on any device."""

    source: Int
    target: Int


@dataclass(frozen=True, slots=True)
class Signal:
    """A point of the device model is reached when the device's work so far is done."""

    device: Int
    point: Int


@dataclass(frozen=True, slots=True)
class Wait:
    """The device's work from here on waits for a point."""

    device: Int
    point: Int


@dataclass(frozen=True, slots=True)
class Read:
    """Elements of a tensor for expressions; the only instruction for which the host waits."""

    tensor: Int


@dataclass(frozen=True, slots=True)
class If:
    """One of two regions (-1: none), the first unless the expression is 0."""

    condition: Int
    then: Int
    otherwise: Int


@dataclass(frozen=True, slots=True)
class While:
    """A region again and again until an expression, computed before each time, is 0."""

    condition: Int
    body: Int


Instruction = (
    Deduce | Check | Reserve | Release | Call | Forward | Copy | Signal | Wait | Read | If | While
)
INSTRUCTIONS: Final[tuple[type[Instruction], ...]] = (
    Deduce,
    Check,
    Reserve,
    Release,
    Call,
    Forward,
    Copy,
    Signal,
    Wait,
    Read,
    If,
    While,
)
"""In the order of the file's union, whose first member has the number 1."""


@dataclass(frozen=True, slots=True)
class Region:
    """Instructions, one after the other."""

    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class Model:
    """A device model: the model for one set of input shapes on some of the module's devices.

    Its first region is what a run does; `points` is how many points it signals.
    """

    name: str
    devices: Ints
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    arenas: tuple[Arena, ...]
    tensors: tuple[Tensor, ...]
    regions: tuple[Region, ...]
    points: Int


@dataclass(frozen=True, slots=True)
class Module:
    """A whole module; `devices` are names such as `metal`."""

    version: Int
    name: str
    producer: str
    devices: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    weights: tuple[Weight, ...]
    kernels: tuple[Kernel, ...]
    expressions: tuple[Expression, ...]
    models: tuple[Model, ...]
    locations: tuple[Location, ...]
    segments: tuple[Segment, ...]
