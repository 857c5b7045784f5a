"""Writing modules: a FlatBuffer, and the archive around it and its large read-only data.

The mirror of `archive`, in which `read_module` gives back what is written here. Schema facts:
`runtime/src/iree/schemas/bytecode_module_def.fbs` of iree-org/iree.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any

import flatbuffers

from ...flatbuffer_write import data_of, table, tables
from ...stored_zip import stored_zip
from ..archive import (
    IDENTIFIER,
    OPTIONAL,
    RODATA_ALIGNMENT,
    Dependency,
    Function,
    Import,
    ModuleDefinition,
)
from ..isa_table import BYTECODE_MAJOR

MEMBER = "module.fb"
_REQUIRED = 1
_DESCRIPTOR_BYTES = 20
_Range = tuple[int, int]


def write_module(module: ModuleDefinition, members: Mapping[int, str] | None = None) -> bytes:
    """The archive of a module.

    Args:
        module: what to write; all of it but names of functions that are not exported.
        members: names of archive members for read-only data that is kept outside of the FlatBuffer,
            by number.
    """
    outside = dict(members or {})
    ranges: dict[int, _Range] = dict.fromkeys(outside, (0, 0))
    # The FlatBuffer says where data behind it is, which its own size decides: that stays the same.
    for _ in range(2):
        buffer = _flatbuffer(module, ranges)
        files = [(MEMBER, buffer)]
        files += [(name, bytes(module.rodata[number])) for number, name in outside.items()]
        data, starts = stored_zip(files)
        end = starts[0] + len(buffer)
        base = -(-end // RODATA_ALIGNMENT) * RODATA_ALIGNMENT
        ranges = {
            number: (start - base, len(module.rodata[number]))
            for number, start in zip(outside, starts[1:], strict=True)
        }
    return data


def _flatbuffer(module: ModuleDefinition, outside: Mapping[int, _Range]) -> bytes:
    builder = flatbuffers.Builder(4096)
    # Offsets are written even when they are 0: a buffer's size must not depend on them.
    builder.ForceDefaults(True)
    functions = module.functions
    needs = reduce(or_, (function.requirements for function in functions), 0)
    offsets = {
        0: builder.CreateString(module.name),
        3: _attributes(builder, module.attributes),
        4: tables(builder, module.types, _type),
        5: tables(builder, module.dependencies, _dependency),
        6: tables(builder, module.imports, _import),
        7: tables(builder, list(module.exports.items()), _export),
        8: tables(builder, functions, _signature),
        9: tables(
            builder,
            [(data, outside.get(number)) for number, data in enumerate(module.rodata)],
            _rodata,
        ),
        11: table(builder, [("Int32", module.global_bytes, 0), ("Int32", module.global_refs, 0)]),
        12: _descriptors(builder, functions),
        14: data_of(builder, module.bytecode),
    }
    plain = {1: module.version, 2: needs, 13: BYTECODE_MAJOR << 16}
    slots = [
        ("Uint32", plain[slot], 0) if slot in plain else ("table", offsets.get(slot, 0), 0)
        for slot in range(15)
    ]
    builder.FinishSizePrefixed(table(builder, slots), file_identifier=IDENTIFIER)
    return bytes(builder.Output())


def _attributes(builder: Any, attributes: Mapping[str, str]) -> int:
    def pair(_: Any, item: tuple[str, str]) -> int:
        key, value = (builder.CreateString(text) for text in item)
        return table(builder, [("table", key, 0), ("table", value, 0)])

    return tables(builder, list(attributes.items()), pair) if attributes else 0


def _type(builder: Any, name: str) -> int:
    return table(builder, [("table", builder.CreateString(name), 0)])


def _flags(optional: bool) -> int:
    return OPTIONAL if optional else _REQUIRED


def _dependency(builder: Any, dependency: Dependency) -> int:
    name = builder.CreateString(dependency.name)
    flags = _flags(dependency.optional)
    return table(
        builder,
        [("table", name, 0), ("Uint32", dependency.minimum_version, 0), ("Uint32", flags, 0)],
    )


def _import(builder: Any, wanted: Import) -> int:
    name = builder.CreateString(wanted.name)
    convention = builder.CreateString(wanted.convention.text)
    signature = table(builder, [("table", convention, 0)])
    flags = _flags(wanted.optional)
    return table(builder, [("table", name, 0), ("table", signature, 0), ("Uint32", flags, 0)])


def _export(builder: Any, export: tuple[str, int]) -> int:
    name, ordinal = export
    return table(builder, [("table", builder.CreateString(name), 0), ("Int32", ordinal, 0)])


def _signature(builder: Any, function: Function) -> int:
    attributes = _attributes(builder, function.attributes)
    convention = builder.CreateString(function.convention.text)
    return table(builder, [("table", convention, 0), ("table", attributes, 0)])


def _rodata(builder: Any, item: tuple[memoryview, _Range | None]) -> int:
    data, outside = item
    none = ("table", 0, 0)
    if outside is None:
        return table(builder, [none, none, ("table", data_of(builder, data), 0)])
    offset, length = outside
    return table(builder, [none, none, none, ("Uint64", offset, 0), ("Uint64", length, 0)])


def _descriptors(builder: Any, functions: tuple[Function, ...]) -> int:
    builder.StartVector(_DESCRIPTOR_BYTES, len(functions), 4)
    for each in reversed(functions):
        builder.Prep(4, _DESCRIPTOR_BYTES)
        for count in (each.ref_registers, each.value_registers, each.blocks):
            builder.PrependUint16(count)
        builder.PrependInt16(0)
        builder.PrependUint32(each.requirements)
        builder.PrependInt32(each.length)
        builder.PrependInt32(each.offset)
    return int(builder.EndVector())
