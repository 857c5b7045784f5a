"""What a Torq executable says: XRAM segments, bindings and the host's actions, as plain data.

Schema facts: runtime/schemas/torq_executable_def.fbs of github.com/synaptics-torq/torq-compiler.
Addresses and sizes are bytes; XRAM addresses are those that the NPU sees.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from assay.hw.torq.notes import NO_NOTES, Notes

IDENTIFIER = b"SNPU"
RUNTIME_VERSION = 2
"""What the current compiler writes; executables of its 1.x releases have 0."""
NOTES = 8
"""The field of the root behind those of the vendor's schema, which others pass over: our notes."""
BLOCK_BYTES = 640
"""The compiler reads command blocks whole, so XRAM has as much behind the last segment."""


class BufferType(IntEnum):
    """Where a buffer lives."""

    LRAM = 0
    XRAM = 1
    ITCM = 2
    DTCM = 3
    OTHER = 4


class ElementType(IntEnum):
    """Elements of a buffer."""

    I8 = 0
    I16 = 1
    I32 = 2
    F32 = 3
    BF16 = 4
    OTHER = 5
    I64 = 6
    I1 = 7
    I2 = 8
    I4 = 9
    I6 = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """Bytes to put into XRAM once; `data` is None for memory that is only reserved."""

    address: int
    size: int
    data: bytes | memoryview | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Binding:
    """Where in XRAM the program expects `size` bytes of buffer `number`, from `offset` on."""

    number: int
    address: int
    offset: int
    size: int
    read_only: bool = False
    write_only: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class HostCopy:
    """The host copies elements of `element_bytes` between memories, with strides in bytes.

    A `constant_index` or `binding_index` of 0 or more names where a run-time index is, which moves
    the input (the output if `direction` is 1) by that many units of `index_bytes`.
    """

    source: BufferType
    target: BufferType
    source_address: int
    target_address: int
    source_strides: tuple[int, ...]
    target_strides: tuple[int, ...]
    shape: tuple[int, ...]
    element_bytes: int
    constant_index: int = -1
    binding_index: int = -1
    index_bytes: int = 1
    direction: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class StartNss:
    """The NPU's command stream starts at an LRAM address; the flags say which units it uses."""

    address: int
    slice0: bool = False
    slice1: bool = False
    dma_in: bool = False
    dma_out: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitNss:
    """The host waits for the end of the NPU's command stream."""

    returned_buffers: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class StartHost:
    """A function of the host code runs with pointers into XRAM; strides are those of all arguments
    together, `ranks` says how many belong to each."""

    function: str
    arguments: tuple[int, ...]
    sizes: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    shapes: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitHost:
    """The host function has ended."""

    returned_buffers: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Alloc:
    """A buffer begins to live."""

    number: int
    address: int
    size: int
    buffer_type: BufferType


@dataclass(frozen=True, kw_only=True, slots=True)
class Dealloc:
    """A buffer ends."""

    number: int


Action = HostCopy | StartNss | WaitNss | StartHost | WaitHost | Alloc | Dealloc
ACTIONS = (HostCopy, StartNss, WaitNss, StartHost, WaitHost, Alloc, Dealloc)
"""Their number in the file is the index plus 1."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BufferInfo:
    """What the compiler remembers of a buffer: lifetime in actions (-1 none), place, type."""

    number: int
    allocated: int
    deallocated: int
    last_use: int
    buffer_type: BufferType
    address: int
    size: int
    shape: tuple[int, ...]
    element_type: ElementType
    strides: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Executable:
    """One executable. `runtime_version` 0 with `old_segments` is the 1.x form."""

    name: str
    segments: tuple[Segment, ...]
    bindings: tuple[Binding, ...]
    actions: tuple[Action, ...]
    buffers: tuple[BufferInfo, ...] = ()
    host_code: bytes | memoryview | None = None
    runtime_version: int = RUNTIME_VERSION
    hw_id: int = 0
    old_segments: bool = False
    """Segments are {address, data} only, without a size of their own."""
    notes: Notes = NO_NOTES
    """What the compiler meant each task to touch."""

    def footprint(self) -> tuple[int, int]:
        """First XRAM address and the one behind the last that the program needs; (0, 0) if none."""
        ranges = [(s.address, s.address + s.size + BLOCK_BYTES) for s in self.segments]
        ranges += [(b.address, b.address + b.size) for b in self.bindings]
        ranges += [
            (a.address, a.address + a.size)
            for a in self.actions
            if isinstance(a, Alloc) and a.buffer_type == BufferType.XRAM
        ]
        if not ranges:
            return 0, 0
        return min(begin for begin, _ in ranges), max(end for _, end in ranges)
