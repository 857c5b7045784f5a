"""Metal libraries made of LLVM IR that is written by hand in AIR's conventions."""

from __future__ import annotations

import bz2
import hashlib
import io
import struct
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import flatbuffers

from assay.hal.flatbuffer_write import data_of, numbers, table, tables
from assay.sim.native.llvm_host import start_llvm
from assay.sim.native.llvm_modules import module_of

HEAD = 88
_TYPES = {"i32": ("int", 4), "float": ("float", 4), "half": ("half", 2), "i8": ("char", 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Buffer:
    """A buffer argument: its element's LLVM type, and its address space.

    `condition` and `members` are numbers of nodes: of a predicate, of a struct's description.
    """

    name: str
    element: str
    space: int = 1
    access: str = "read_write"
    condition: str = ""
    members: str = ""


def kernel(
    name: str,
    body: str,
    buffers: tuple[Buffer, ...],
    positions: Mapping[str, str] | None = None,
    *,
    declared: str = "",
    constants: str = "",
    threads: int | None = None,
) -> str:
    """A module with one kernel; `%b0` and so on are its buffers, `%p0` its positions.

    `positions` are kinds with LLVM types; `constants` is metadata of function constants.
    """
    positions = {"thread_position_in_grid": "i32"} if positions is None else positions
    spaces = [f"ptr addrspace({each.space}) %b{at}" for at, each in enumerate(buffers)]
    taken = [*spaces, *(f"{kind} %p{at}" for at, kind in enumerate(positions.values()))]
    nodes = [_buffer(at, each) for at, each in enumerate(buffers)]
    nodes += [
        f'!{{i32 {len(buffers) + at}, !"air.{what}", !"air.arg_type_name", !"uint", '
        f'!"air.arg_name", !"{what}"}}'
        for at, what in enumerate(positions)
    ]
    first = 100
    listed = ", ".join(f"!{first + at}" for at in range(len(nodes)))
    limit = ", !4" if threads else ""
    return "\n".join(
        [
            'target triple = "air64_v26-apple-macosx14.0.0"',
            declared,
            f'define void @{name}({", ".join(taken)}) "no-builtins" {{\n{body}\n  ret void\n}}',
            f"!air.kernel = !{{!1}}\n!1 = !{{ptr @{name}, !2, !3{limit}}}\n!2 = !{{}}",
            f"!3 = !{{{listed}}}",
            f'!4 = !{{!"air.max_work_group_size", i32 {threads}}}' if threads else "",
            *(f"!{first + at} = {node}" for at, node in enumerate(nodes)),
            constants,
        ]
    )


def _buffer(at: int, buffer: Buffer) -> str:
    kind, size = _TYPES[buffer.element]
    members = f'!"air.struct_type_info", !{buffer.members}, ' if buffer.members else ""
    what = "indirect_buffer" if buffer.members else "buffer"
    condition = f'!"air.function_constant", !{buffer.condition}, ' if buffer.condition else ""
    return (
        f'!{{i32 {at}, {condition}!"air.{what}", !"air.location_index", i32 {at}, i32 1, '
        f'!"air.{buffer.access}", !"air.address_space", i32 {buffer.space}, {members}'
        f'!"air.arg_type_size", i32 {size}, !"air.arg_type_align_size", i32 {size}, '
        f'!"air.arg_type_name", !"{kind}", !"air.arg_name", !"{buffer.name}"}}'
    )


def bitcode(text: str) -> bytes:
    """A module as it lies in libraries: LLVM puts a wrapper around bitcode for Apple's systems."""
    start_llvm()
    with module_of(text) as module:
        raw = bytes(module.as_bitcode())
    return raw + bytes(-len(raw) % 16)


def library(
    modules: Mapping[str, str],
    constants: Mapping[str, bytes] | None = None,
    sources: Mapping[str, str] | None = None,
    visible: Mapping[str, str] | None = None,
    *,
    says_sizes: bool = True,
) -> bytes:
    """A library of kernels, by name.

    `constants` are the `CNST` fields of some; `sources` are files that it carries, by their paths;
    `visible` are modules of visible functions. Old ones say no sizes of modules.
    """
    listed, public, code = b"", b"", b""
    for name, text in {**modules, **(visible or {})}.items():
        raw = bitcode(text)
        known = (constants or {}).get(name, b"")
        fields = [
            (b"NAME", name.encode() + b"\0"),
            (b"TYPE", b"\2" if name in modules else b"\4"),
            (b"HASH", hashlib.sha256(raw).digest()),
            (b"OFFT", struct.pack("<3Q", len(public), len(public), len(code))),
            (b"VERS", struct.pack("<4H", 2, 6, 3, 1)),
            (b"MDSZ", struct.pack("<Q", len(raw))),
        ]
        fields = fields if says_sizes else fields[:-1]
        group = b"".join(_tag(*each) for each in fields) + b"ENDT"
        listed += struct.pack("<I", len(group) + 4) + group
        told = (_tag(b"CNST", known) if known else b"") + b"ENDT"
        public += struct.pack("<I", len(told) + 4) + told
        code += raw
    carried = _carried(sources) if sources else b""
    count = len(modules) + len(visible or {})
    return _assembled(count, listed, public, _private(public, count), code, carried)


def _carried(sources: Mapping[str, str]) -> bytes:
    """The section of one archive of files, which the compiler made in the folder `/project`."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, text in {"metal-working-dir.txt": "/project", **sources}.items():
            entry = tarfile.TarInfo(path.lstrip("/"))
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    payload = b"0\0" + bz2.compress(raw.getvalue())
    group = b"SARC" + struct.pack("<I", len(payload)) + payload + b"ENDT"
    return struct.pack("<I", 1) + b"metal\0/project\0" + struct.pack("<I", len(group)) + group


def _private(public: bytes, count: int) -> bytes:
    """Empty groups at the places of the public ones."""
    filled = bytearray(len(public))
    at = 0
    for _ in range(count):
        (size,) = struct.unpack_from("<I", public, at)
        filled[at : at + 8] = struct.pack("<I", 8) + b"ENDT"
        at += size
    return bytes(filled)


def _assembled(
    count: int, listed: bytes, public: bytes, private: bytes, code: bytes, carried: bytes
) -> bytes:
    first = 4 + len(listed) + (26 if carried else 4)
    behind = HEAD + first + len(public) + len(private) + len(code)
    extension = _tag(b"HSRD", struct.pack("<QQ", behind, len(carried))) if carried else b""
    sections = [struct.pack("<I", count) + listed + extension + b"ENDT", public, private, code]
    places, at = [], HEAD
    for number, section in enumerate(sections):
        places += [at, len(section) if number else len(listed)]
        at += len(section)
    size = at + len(carried)
    head = struct.pack("<4sHHHBBHHQ8Q", b"MTLB", 0x8001, 2, 7, 0, 0x81, 14, 0, size, *places)
    return head + b"".join(sections) + carried


def _tag(name: bytes, value: bytes) -> bytes:
    return name + struct.pack("<H", len(value)) + value


def constant_field(*constants: tuple[str, int, int, bool]) -> bytes:
    """A `CNST` field: (name, MTLDataType, index, whether it is required) of each."""
    parts = [
        name.encode() + b"\0" + struct.pack("<BHB", kind, index, required)
        for name, kind, index, required in constants
    ]
    return struct.pack("<H", len(constants)) + b"".join(parts)


def bound(name: str, computed: str) -> str:
    """A kernel as IREE's are: bindings are members of an argument buffer.

    Each thread makes `%r` of its `%v`, which `computed` says.
    """
    return kernel(
        name,
        f"""  %x = load ptr addrspace(1), ptr addrspace(2) %b0
  %place = getelementptr i8, ptr addrspace(2) %b0, i64 8
  %y = load ptr addrspace(1), ptr addrspace(2) %place
  %i = zext i32 %p0 to i64
  %from = getelementptr float, ptr addrspace(1) %x, i64 %i
  %v = load float, ptr addrspace(1) %from
  {computed}
  %to = getelementptr float, ptr addrspace(1) %y, i64 %i
  store float %r, ptr addrspace(1) %to""",
        (Buffer(name="bindings", element="i8", space=2, access="read", members="60"),),
        constants="""!60 = !{i32 0, i32 8, i32 0, !"float", !"x", !"air.indirect_argument", !61,
  i32 8, i32 8, i32 0, !"float", !"y", !"air.indirect_argument", !62}
!61 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", \
!"air.address_space", i32 1, !"air.arg_type_name", !"float", !"air.arg_name", !"x"}
!62 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", \
!"air.address_space", i32 1, !"air.arg_type_name", !"float", !"air.arg_name", !"y"}""",
    )


def executable(metallib: bytes, kernel: str) -> bytes:
    """A `metal-msl-fb` executable with a kernel of two bindings, without source."""
    builder = flatbuffers.Builder(1024)
    stored = data_of(builder, metallib)
    libraries = tables(builder, [0], lambda b, _: table(b, [("table", 0, 0), ("table", stored, 0)]))
    name = builder.CreateString(kernel)
    bindings = numbers(builder, [0, 0], 8)

    def pipeline(builder: Any, _: object) -> int:
        builder.StartObject(9)
        builder.PrependUOffsetTRelativeSlot(1, name, 0)
        builder.Prep(4, 12)
        for size in (1, 1, 32):
            builder.PrependUint32(size)
        builder.PrependStructSlot(3, builder.Offset(), 0)
        builder.PrependUOffsetTRelativeSlot(6, bindings, 0)
        return int(builder.EndObject())

    pipelines = tables(builder, [0], pipeline)
    root = table(builder, [("table", pipelines, 0), ("table", libraries, 0)])
    builder.Finish(root, b"MTL1")
    raw = bytes(builder.Output())
    return struct.pack("<4sIQ", b"MTL1", 0, len(raw)).ljust(64, b"\0") + raw
