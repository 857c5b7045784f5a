"""What a recording says, as records.

What buffers held are parts of `PART` bytes, the last one of a buffer as long as it is. Parts that
are equal are there once: contents are numbers of parts. `chunks` says how all of it lies in a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from msgspec import Meta

SUFFIX: Final = ".assay-recording"
VERSION: Final = 3
INCOMPLETE: Final = (
    "it is incomplete: what recorded it was killed, or the file is cut short; it has what was "
    "written until then"
)
PART: Final = 1 << 16
"""Bytes of a part but for the last one of a buffer."""

Count = Annotated[int, Meta(ge=0, lt=1 << 62)]
Address = Annotated[int, Meta(ge=0)]  # up to 64 bits
Size = tuple[Count, Count, Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """Contents that lie in the file: `length` bytes, in parts by number."""

    length: Count
    parts: tuple[Count, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceInfo:
    """Which device made a recording.

    Attributes:
        name: as the device calls itself: "Apple M1".
        kind: "native" for Apple's Metal, "emulated" for Assay's.
        system: operating system and its version.
        recorder: Assay's version.
    """

    name: str
    kind: str
    system: str
    recorder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryRecord:
    """What kernels were compiled from.

    Attributes:
        data: MSL text in UTF-8, or a Metal library.
        compiled: whether it is a Metal library.
        options: what MTLCompileOptions' methods said, by name: `mathMode`, `languageVersion`.
        macros: `preprocessorMacros`.
    """

    data: Bytes
    compiled: bool
    options: dict[str, int] = field(default_factory=dict)
    macros: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """Values of function constants: by index or name, an MTLDataType, bytes in hexadecimal.

    There are `count` of them, of successive indices from `key` on.
    """

    key: Count | str
    type: Count
    value: str
    count: Count = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRecord:
    """A function of a library with its constants.

    Attributes:
        linked: numbers of the functions that its tables may hold.
        private: numbers of those that it calls by name.
    """

    library: Count
    name: str
    constants: tuple[Constant, ...] = ()
    linked: tuple[Count, ...] = ()
    private: tuple[Count, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextureRecord:
    """How a texture was made.

    Attributes:
        type, format: MTLTextureType and MTLPixelFormat.
        texel: bytes of one.
        size: width, height, depth of its first level.
        slices: of a level; a cube has six.
        levels: how many.
        usage: MTLTextureUsage.
        swizzle: what reads give as red, green, blue and alpha.
    """

    type: Count
    format: Count
    texel: Count
    size: Size
    slices: Count
    levels: Count
    usage: Count
    swizzle: tuple[Count, Count, Count, Count]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """A buffer or a texture that a dispatch could reach.

    Attributes:
        label: as the program calls it; "" for none.
        before, after: what it held, a texture its images in the order of `texels.images`; `after`
            is None if nothing changed.
        address: gpuAddress on the device that was recorded, of a texture its gpuResourceID; 0 if
            it has none.
        texture: what kind of texture it is; None of a buffer.
    """

    label: str
    before: Bytes
    after: Bytes | None
    address: Address = 0
    texture: TextureRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTexture:
    """The texture that is the memory numbered `memory`, at an index."""

    index: Count
    memory: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundSampler:
    """A sampler at an index: what its descriptor's methods said, by name: `minFilter`."""

    index: Count
    settings: dict[str, int | float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Byte `offset` of the memory numbered `memory`, at an index."""

    index: Count
    memory: Count
    offset: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Inline:
    """Bytes that a program passed by value, at an index."""

    index: Count
    value: Bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundTable:
    """A table of visible functions at an index: by place, the function's number or nothing."""

    index: Count
    functions: tuple[Count | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedRecord:
    """What an argument encoder wrote into an argument buffer.

    Attributes:
        memory, offset: the argument buffer.
        length: bytes that the device's encoder took, which mean nothing elsewhere.
        index: of the kernel's argument that the encoder was made for.
        members: buffers by `[[id(n)]]`.
        textures, samplers, tables: the same of these.
    """

    memory: Count
    offset: Count
    length: Count
    index: Count
    members: tuple[Bound, ...]
    textures: tuple[BoundTexture, ...] = ()
    samplers: tuple[BoundSampler, ...] = ()
    tables: tuple[BoundTable, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DispatchRecord:
    """One dispatch, all that it could reach, and how it went.

    Attributes:
        kernel: number of its kernel.
        grid: threads if `in_threads`, else threadgroups.
        threadgroup: threads of one.
        memories: buffers and textures, each once.
        bound: buffers at the kernel's indices.
        inline: bytes at the kernel's indices.
        threadgroup_memory: (index, bytes).
        encoded: argument buffers.
        textures, samplers, tables: those at the kernel's indices.
        label: of the encoder and the debug groups around.
        begin, end: GPU times in seconds, which a file has in whole nanoseconds; both 0 if the
            device does not tell.
        error: what the device said was wrong; "" for nothing.
    """

    kernel: Count
    grid: Size
    in_threads: bool
    threadgroup: Size
    memories: tuple[MemoryRecord, ...] = ()
    bound: tuple[Bound, ...] = ()
    inline: tuple[Inline, ...] = ()
    threadgroup_memory: tuple[tuple[Count, Count], ...] = ()
    encoded: tuple[EncodedRecord, ...] = ()
    textures: tuple[BoundTexture, ...] = ()
    samplers: tuple[BoundSampler, ...] = ()
    tables: tuple[BoundTable, ...] = ()
    label: str = ""
    begin: float = 0.0
    end: float = 0.0
    error: str = ""

    @property
    def seconds(self) -> float:
        """How long the device took; 0 if it does not tell."""
        return max(0.0, self.end - self.begin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What is said once.

    Attributes:
        left_out: dispatches that ran and are not in the file, by the reason.
    """

    device: DeviceInfo
    program: str
    libraries: tuple[LibraryRecord, ...]
    kernels: tuple[KernelRecord, ...]
    left_out: dict[str, Count] = field(default_factory=dict)
