"""Reads `.metallib` files: a list of functions, each with a module of bitcode of its own.

The layout is what public files show: a header of 88 bytes, a function list of tagged fields, two
sections of metadata by tags, and the bitcode. Files of 2018 to 2026 (versions 2.2 to 2.9) differ in
the order of tags and in whether a group's length counts itself, so groups are read by their tags.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from mmap import mmap

from ..msl.errors import CompileError

MAGIC = b"MTLB"
_HEADER = struct.Struct("<4sHHHBBHHQ8Q")
_PLACE = struct.Struct("<QQ")
# Around bitcode: magic, version, where it begins, its size, the machine; then filled up.
_WRAPPER = struct.Struct("<5I")
_CODE_ALIGNMENT = 16
_MACOS = 0x8000
_PLATFORMS = (0x8001, 0x0001)
_END = b"ENDT"
_MOST_FUNCTIONS = 1 << 17  # public libraries have up to 20,000, with 13 tags at most
_MOST_TAGS = 64
_KINDS = {0: "vertex", 1: "fragment", 2: "kernel", 4: "visible", 5: "extern", 6: "intersection"}
# MTLDataType of function constants, as Metal's headers number them.
_CONSTANT_TYPES = {
    3: "float",
    4: "float2",
    5: "float3",
    6: "float4",
    16: "half",
    29: "int",
    30: "int2",
    31: "int3",
    32: "int4",
    33: "uint",
    34: "uint2",
    35: "uint3",
    36: "uint4",
    37: "short",
    41: "ushort",
    45: "char",
    49: "uchar",
    53: "bool",
}


# A file's bytes, perhaps as they lie on disk.
Data = bytes | memoryview | mmap


class AirFormatError(CompileError):
    """A library or its bitcode cannot be what it claims to be; `str()` says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredConstant:
    """A function constant that reaches a function: `required` if it must be given a value."""

    name: str
    index: int
    type_name: str
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFunction:
    """One function of a library.

    Attributes:
        name: as the host asks for it.
        kind: `kernel`, `vertex`, `fragment`, `visible`, ...
        stored: an LLVM module with Apple's wrapper around it, as it lies in the file.
        digest: SHA-256 of that, by the file.
        air_version: of the intermediate language, major and minor.
        language_version: of MSL, major and minor.
        constants: those that it depends on.
        line: where it stands in `path`; 0 if the file does not say.
    """

    name: str
    kind: str
    stored: memoryview = field(repr=False)
    digest: bytes = field(repr=False)
    air_version: tuple[int, int]
    language_version: tuple[int, int]
    constants: tuple[StoredConstant, ...] = ()
    path: str = ""
    line: int = 0

    def true_digest(self) -> bytes:
        """SHA-256 of what lies in the file."""
        return hashlib.sha256(self.stored).digest()

    def bitcode(self) -> bytes:
        """The module. Raises AirFormatError if it is not what its hash says."""
        found = bytes(self.stored)
        if self.true_digest() != self.digest:
            raise AirFormatError(
                f"damaged Metal library: the bitcode of '{self.name}' is not what its hash says"
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """A `.metallib` file.

    Attributes:
        version: of the format, major and minor.
        platform: `macOS` or `iOS` and its relatives.
        os_version: the oldest system that it is for, major and minor.
        functions: by name, in the order of the file.
        embedded: the section with sources, see `embedded.py`; empty if there is none.
    """

    version: tuple[int, int]
    platform: str
    os_version: tuple[int, int]
    functions: Mapping[str, StoredFunction]
    embedded: bytes = field(default=b"", repr=False)


def find_containers(data: bytes | mmap) -> Iterator[memoryview]:
    """The Metal libraries that lie in a program's file, such as those of PyTorch's `.dylib`.

    The names of Metal's classes begin like a library does; what is none has no size that fits.
    """
    view, at = memoryview(data), 0
    while (at := data.find(MAGIC, at)) >= 0:
        if len(data) - at >= _HEADER.size:
            _, platform, _, _, _, _, _, _, size, *_ = _HEADER.unpack_from(data, at)
            if platform in _PLATFORMS and _HEADER.size <= size <= len(data) - at:
                yield view[at : at + size]
                at += size
                continue
        at += len(MAGIC)


class Cutter:
    """Takes functions out of a library, which is read once.

    Raises:
        AirFormatError: as `read_container`.
    """

    def __init__(self, data: Data, name: str) -> None:
        self._reader = _Reader(data, name)
        self._whole = self._reader.container()
        self._name = name
        self._listed = self._reader.listed()

    def only(self, function: str) -> bytes:
        """A library with a function, and the visible ones, which it may call.

        Raises:
            AirFormatError: for a name that is not there.
        """
        functions = self._whole.functions
        if function not in functions:
            raise AirFormatError(f"{self._name}: there is no function '{function}'")
        kept = [x for x in functions.values() if x.name == function or x.kind == "visible"]
        return self._reader.joined(
            [(self._listed[each.name], each.stored) for each in kept], self._whole.embedded
        )


def read_container(data: Data, name: str) -> Container:
    """Read a `.metallib` file; `name` is what messages call it.

    Raises:
        AirFormatError: if it is none, or is damaged.
    """
    return _Reader(data, name).container()


class _Reader:
    def __init__(self, data: Data, name: str) -> None:
        self._data = data
        self._name = name

    def container(self) -> Container:
        head = bytes(self._data[:4])
        if head != MAGIC:
            raise AirFormatError(
                f"{self._name}: not a Metal library: it begins with {head!r}, not {MAGIC!r}"
            )
        if len(self._data) < _HEADER.size:
            raise self._damaged(f"its header ends after {len(self._data)} bytes")
        _, platform, major, minor, _, _, os_major, os_minor, size, *places = _HEADER.unpack_from(
            self._data
        )
        if size != len(self._data):
            raise self._damaged(f"it says that it has {size} bytes, and has {len(self._data)}")
        functions, public, private, code = zip(places[::2], places[1::2], strict=True)
        found: dict[str, StoredFunction] = {}
        for group in self._groups(functions[0]):
            function = self._function(group, public[0], private[0], code)
            found.setdefault(function.name, function)
        return Container(
            version=(major, minor),
            platform="macOS" if platform & _MACOS else "iOS",
            os_version=(os_major, os_minor),
            functions=found,
            embedded=self._embedded(functions, public[0]),
        )

    def listed(self) -> dict[str, Mapping[bytes, bytes]]:
        """The tagged fields of each function in the list, by name."""
        groups = self._groups(_HEADER.unpack_from(self._data)[9])
        found: dict[str, Mapping[bytes, bytes]] = {}
        for tags in groups:
            found.setdefault(self._text(self._field(tags, b"NAME")), tags)
        return found

    def joined(
        self, kept: Iterable[tuple[Mapping[bytes, bytes], bytes | memoryview]], sources: bytes
    ) -> bytes:
        """A file of functions of this one, each with its module, and of sources."""
        fields = _HEADER.unpack_from(self._data)
        head, (_, public, private, _) = list(fields[:8]), fields[9::2]
        listed, told, own, modules, count = b"", b"", b"", b"", 0
        for tags, stored in kept:
            at = struct.unpack("<3Q", self._field(tags, b"OFFT"))
            offsets = struct.pack("<3Q", len(told), len(own), len(modules))
            group = _packed({**tags, b"OFFT": offsets})
            listed += struct.pack("<I", len(group) + 4) + group
            told += self._section(public + at[0])
            own += self._section(private + at[1])
            modules += bytes(stored)
            modules += bytes(-len(modules) % _CODE_ALIGNMENT)
            count += 1
        return _joined(head, struct.pack("<I", count) + listed, told, own, modules, sources)

    def _section(self, at: int) -> bytes:
        """A function's part of a section of metadata."""
        raw = _packed(self._tags(at + 4, "the metadata of a function"))
        return struct.pack("<I", len(raw) + 4) + raw

    def _embedded(self, functions: tuple[int, ...], public: int) -> bytes:
        """The section of sources, which the header's extension names behind the function list."""
        start = functions[0] + 4 + functions[1]
        if start >= public:  # libraries of 2018 have no extension
            return b""
        place = self._tags(start, "the header's extension").get(b"HSRD", b"")
        if len(place) != _PLACE.size:
            return b""
        offset, size = _PLACE.unpack(place)
        return self._bytes(offset, size, "the section of sources")

    def _damaged(self, detail: str) -> AirFormatError:
        return AirFormatError(f"{self._name}: damaged or truncated Metal library: {detail}")

    def _inside(self, start: int, count: int, what: str) -> None:
        if not 0 <= start <= start + count <= len(self._data):
            raise self._damaged(
                f"{what} lies at bytes {start} to {start + count} of {len(self._data)}"
            )

    def _bytes(self, start: int, count: int, what: str) -> bytes:
        self._inside(start, count, what)
        return bytes(self._data[start : start + count])

    def _number(self, start: int, code: str, what: str) -> int:
        raw = self._bytes(start, struct.calcsize(code), what)
        return int(struct.unpack("<" + code, raw)[0])

    def _groups(self, start: int) -> Iterator[Mapping[bytes, bytes]]:
        """The tagged fields of each function in the list."""
        count = self._number(start, "I", "the function list")
        if count > _MOST_FUNCTIONS:
            raise self._damaged(f"it lists {count} functions")
        at = start + 4
        for number in range(count):
            what = f"entry {number} of the function list"
            size = self._number(at, "I", what)
            if size < 8:
                raise self._damaged(f"{what} has {size} bytes")
            yield self._tags(at + 4, what)
            at += size

    def _tags(self, at: int, what: str) -> Mapping[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for _ in range(_MOST_TAGS):
            tag = self._bytes(at, 4, what)
            if tag == _END:
                return found
            length = self._number(at + 4, "H", what)
            found[tag] = self._bytes(at + 6, length, f"field {tag!r} of {what}")
            at += 6 + length
        raise self._damaged(f"{what} has more than {_MOST_TAGS} fields")

    def _function(
        self, tags: Mapping[bytes, bytes], public: int, private: int, code: tuple[int, ...]
    ) -> StoredFunction:
        name = self._text(self._field(tags, b"NAME"))
        kind = self._unpacked(tags, b"TYPE", "B", name)[0]
        places = self._unpacked(tags, b"OFFT", "3Q", name)
        size = self._code_size(tags, code[0] + places[2], name)
        if places[2] + size > code[1]:
            raise self._damaged(f"the bitcode of '{name}' ends behind its section")
        self._inside(code[0] + places[2], size, f"the bitcode of '{name}'")
        versions = self._unpacked(tags, b"VERS", "4H", name)
        what = f"the metadata of '{name}'"
        told = self._tags(public + places[0] + 4, what)
        path, line = self._place(self._tags(private + places[1] + 4, what))
        return StoredFunction(
            name=name,
            kind=_KINDS.get(kind, f"function of type {kind}"),
            stored=memoryview(self._data)[code[0] + places[2] :][:size],
            digest=self._field(tags, b"HASH"),
            air_version=(versions[0], versions[1]),
            language_version=(versions[2], versions[3]),
            constants=tuple(self._constants(told.get(b"CNST", b""), name)),
            path=path,
            line=line,
        )

    def _code_size(self, tags: Mapping[bytes, bytes], start: int, name: str) -> int:
        """Bytes of a function's module, which libraries for systems before iOS 10 do not say."""
        if b"MDSZ" in tags:
            return self._unpacked(tags, b"MDSZ", "Q", name)[0]
        raw = self._bytes(start, _WRAPPER.size, f"the bitcode of '{name}'")
        offset, size = (int(number) for number in _WRAPPER.unpack(raw)[2:4])
        return -(-(offset + size) // _CODE_ALIGNMENT) * _CODE_ALIGNMENT

    def _field(self, tags: Mapping[bytes, bytes], tag: bytes) -> bytes:
        if tag not in tags:
            raise self._damaged(f"a function has no field {tag!r}")
        return tags[tag]

    def _unpacked(
        self, tags: Mapping[bytes, bytes], tag: bytes, code: str, name: str
    ) -> tuple[int, ...]:
        raw = self._field(tags, tag)
        if len(raw) != struct.calcsize("<" + code):
            raise self._damaged(f"field {tag!r} of '{name}' has {len(raw)} bytes")
        return struct.unpack("<" + code, raw)

    def _text(self, raw: bytes) -> str:
        return raw.rstrip(b"\0").decode("utf-8", "replace")

    def _place(self, tags: Mapping[bytes, bytes]) -> tuple[str, int]:
        """(file, line) of a function, from a library made with debug information."""
        raw = tags.get(b"DEBI", b"")
        if len(raw) < 5:
            return "", 0
        return self._text(raw[4:]), int(struct.unpack_from("<I", raw)[0])

    def _constants(self, raw: bytes, name: str) -> Iterator[StoredConstant]:
        if not raw:
            return
        what = f"the function constants of '{name}'"
        if len(raw) < 2:
            raise self._damaged(f"{what} have {len(raw)} bytes")
        at = 2
        for _ in range(struct.unpack_from("<H", raw)[0]):
            end = raw.find(b"\0", at)
            if end < 0 or end + 5 > len(raw):
                raise self._damaged(f"{what} end too soon")
            kind, index, required = struct.unpack_from("<BHB", raw, end + 1)
            yield StoredConstant(
                name=self._text(raw[at:end]),
                index=index,
                type_name=_CONSTANT_TYPES.get(kind, f"type {kind}"),
                required=bool(required),
            )
            at = end + 5


def _packed(tags: Mapping[bytes, bytes]) -> bytes:
    """Tagged fields with their end."""
    return b"".join(tag + struct.pack("<H", len(raw)) + raw for tag, raw in tags.items()) + _END


def _joined(
    head: list[int], functions: bytes, public: bytes, private: bytes, code: bytes, sources: bytes
) -> bytes:
    """A file of its sections, in the order in which Apple's have them."""
    extension = _packed({b"HSRD": bytes(_PLACE.size)} if sources else {})
    sections = (functions, public, private, code)
    starts = [_HEADER.size]
    starts.append(starts[0] + len(functions) + len(extension))
    for section in sections[1:]:
        starts.append(starts[-1] + len(section))
    if sources:
        extension = _packed({b"HSRD": _PLACE.pack(starts[-1], len(sources))})
    # The list's size does not count the number in front of it.
    sizes = [len(functions) - 4, *(len(section) for section in sections[1:])]
    places = [number for pair in zip(starts, sizes, strict=False) for number in pair]
    header = _HEADER.pack(*head, starts[-1] + len(sources), *places)
    return header + functions + extension + public + private + code + sources
