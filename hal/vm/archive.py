"""Reading a `.vmfb` archive: zip polyglot, FlatBuffer, external read-only data.

Yields a `ModuleDefinition`: what the file says, checked for bounds, not yet decoded.
Schema facts: `runtime/src/iree/schemas/bytecode_module_def.fbs` of iree-org/iree.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..flatbuffer import FlatBuffer, Table
from ..status import StatusError
from .convention import Convention, parse_convention
from .isa_table import BYTECODE_MAJOR

_ZIP_MAGIC = b"PK\x03\x04"
RODATA_ALIGNMENT = 64
"""Of read-only data outside of the FlatBuffer, counted from the start of the file."""
OPTIONAL = 2
"""ImportFlagBits.OPTIONAL and ModuleDependencyFlagBits.OPTIONAL."""
IDENTIFIER = b"IREE"


@dataclass(frozen=True, kw_only=True, slots=True)
class Import:
    """A function that another module must provide."""

    name: str
    convention: Convention
    optional: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Function:
    """One function of the module: where its bytecode is and how many registers it has."""

    ordinal: int
    convention: Convention
    attributes: Mapping[str, str]
    offset: int
    length: int
    requirements: int
    """What the VM must be able to do, as bits: `FunctionBits` of the schema."""
    blocks: int
    value_registers: int
    ref_registers: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Dependency:
    """A module that must be there, with the lowest version that will do."""

    name: str
    minimum_version: int
    optional: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ModuleDefinition:
    """Everything a module file says. Sizes are bytes."""

    name: str
    version: int
    types: tuple[str, ...]
    dependencies: tuple[Dependency, ...]
    imports: tuple[Import, ...]
    exports: Mapping[str, int]
    functions: tuple[Function, ...]
    function_names: Mapping[int, str] = field(repr=False)
    rodata: tuple[memoryview, ...] = field(repr=False)
    global_bytes: int
    global_refs: int
    bytecode: memoryview = field(repr=False)
    attributes: Mapping[str, str]


def read_module(data: bytes | bytearray | memoryview, name: str = "module") -> ModuleDefinition:
    """Parse an archive; `name` says in messages which file it is.

    Raises StatusError for anything that is not a module this VM can run, saying what it found.
    """
    contents = memoryview(data).cast("B").toreadonly()
    start = _flatbuffer_start(contents, name)
    size = struct.unpack_from("<I", contents, start)[0]
    end = start + 4 + size
    if end > len(contents):
        raise StatusError(
            "INVALID_ARGUMENT",
            f"{name}: truncated module: its FlatBuffer needs {size} bytes from offset {start + 4}, "
            f"the file has {len(contents) - start - 4}",
        )
    buffer = FlatBuffer(contents[start + 4 : end], name)
    root = buffer.root(IDENTIFIER)
    _check_version(root, name)
    external = contents[-(-end // RODATA_ALIGNMENT) * RODATA_ALIGNMENT :]
    return _read_root(root, external)


def _flatbuffer_start(contents: memoryview, name: str) -> int:
    start = 0
    if bytes(contents[:4]) == _ZIP_MAGIC:
        if len(contents) < 30:
            raise StatusError("INVALID_ARGUMENT", f"{name}: zip header is truncated")
        name_length, extra_length = struct.unpack_from("<HH", contents, 26)
        start = 30 + name_length + extra_length
    if len(contents) < start + 16 or bytes(contents[start + 8 : start + 12]) != IDENTIFIER:
        raise StatusError(
            "INVALID_ARGUMENT",
            f"{name}: not an IREE module: no FlatBuffer with the identifier 'IREE' in its "
            f"{len(contents)} bytes; expected a .vmfb written by iree-compile",
        )
    return start


def _check_version(root: Table, name: str) -> None:
    version = root.number(13, "I")
    major, minor = version >> 16, version & 0xFFFF
    if major == BYTECODE_MAJOR:
        return
    raise StatusError(
        "INCOMPATIBLE",
        f"{name}: VM bytecode version {major}.{minor} cannot be run: this VM knows "
        f"{BYTECODE_MAJOR}.x (IREE 3.11 to 3.13); compile the model again with "
        "`pip install iree-base-compiler==3.13.0`, or run it with the IREE release that wrote it",
    )


def _read_root(root: Table, external: memoryview) -> ModuleDefinition:
    damaged = root.buffer.damaged
    bytecode = root.bytes(14)
    bytecode = memoryview(b"") if bytecode is None else bytecode
    signatures = root.tables(8, lambda item: (_convention(item), _attributes(item, 1)))
    functions = _functions(root, signatures, len(bytecode))
    exports = dict(root.tables(7, lambda item: (item.text(0) or "", item.number(1, "i"))))
    for export, ordinal in exports.items():
        if not 0 <= ordinal < len(functions):
            raise damaged(f"export '{export}' names function {ordinal} of {len(functions)}")
    state = root.table(11)
    global_bytes = state.number(0, "i") if state else 0
    global_refs = state.number(1, "i") if state else 0
    if not (0 <= global_bytes < 1 << 24 and 0 <= global_refs < 1 << 24):
        raise damaged(f"it asks for {global_bytes} bytes and {global_refs} refs of globals")
    return ModuleDefinition(
        name=root.text(0) or "module",
        version=root.number(1, "I"),
        types=root.tables(4, lambda item: item.text(0) or ""),
        dependencies=root.tables(5, _dependency),
        imports=root.tables(6, _import),
        exports=exports,
        functions=functions,
        function_names=_function_names(root, exports),
        rodata=root.tables(9, lambda item: _rodata(item, external)),
        global_bytes=global_bytes,
        global_refs=global_refs,
        bytecode=bytecode,
        attributes=_attributes(root, 3),
    )


def _functions(
    root: Table, signatures: tuple[tuple[Convention, dict[str, str]], ...], size: int
) -> tuple[Function, ...]:
    descriptors = root.structs(12, "iiIhHHH")
    if len(descriptors) != len(signatures):
        raise root.buffer.damaged(
            f"{len(descriptors)} function descriptors for {len(signatures)} signatures"
        )
    functions = []
    for ordinal, (offset, length, needs, _, blocks, values, refs) in enumerate(descriptors):
        if offset < 0 or length < 0 or offset + length > size:
            raise root.buffer.damaged(f"function {ordinal} lies outside the bytecode")
        if values > 0x7FFF or refs > 0x3FFF:
            raise root.buffer.damaged(f"function {ordinal} has {values} + {refs} registers")
        convention, attributes = signatures[ordinal]
        functions.append(
            Function(
                ordinal=ordinal,
                convention=convention,
                attributes=attributes,
                offset=offset,
                length=length,
                requirements=needs & 0xFFFFFFFF,
                blocks=blocks,
                value_registers=values,
                ref_registers=refs,
            )
        )
    return tuple(functions)


def _function_names(root: Table, exports: Mapping[str, int]) -> dict[int, str]:
    names: dict[int, str] = {}
    database = root.table(15)
    if database is not None:
        names.update(enumerate(database.tables(2, lambda item: item.text(0) or "")))
    names.update({ordinal: name for name, ordinal in exports.items()})
    return names


def _convention(item: Table) -> Convention:
    return parse_convention(item.text(0) or "", item.buffer.name)


def _attributes(item: Table, slot: int) -> dict[str, str]:
    return dict(item.tables(slot, lambda pair: (pair.text(0) or "", pair.text(1) or "")))


def _dependency(item: Table) -> Dependency:
    return Dependency(
        name=item.text(0) or "",
        minimum_version=item.number(1, "I"),
        optional=bool(item.number(2, "I", 1) & OPTIONAL),
    )


def _import(item: Table) -> Import:
    signature = item.table(1)
    return Import(
        name=item.text(0) or "",
        convention=parse_convention(
            (signature.text(0) if signature else None) or "", item.buffer.name
        ),
        optional=bool(item.number(2, "I", 1) & OPTIONAL),
    )


def _rodata(item: Table, external: memoryview) -> memoryview:
    embedded = item.bytes(2)
    if embedded is not None:
        return embedded
    offset, length = item.number(3, "Q"), item.number(4, "Q")
    if offset + length > len(external):
        raise item.buffer.damaged(
            f"read-only data at {offset} of {length} bytes lies outside the file "
            f"(it has {len(external)} bytes of such data)"
        )
    return external[offset : offset + length]
