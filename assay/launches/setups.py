"""Reads what kernels are run with: grids, arguments and constants, as files and comments say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .documents import Document, document_in_file, document_in_source, is_count
from .errors import LaunchInputError
from .inputs import (
    MOST_BYTES,
    ConstantValue,
    Fields,
    Filled,
    Given,
    Literal,
    Members,
    Number,
    Raw,
    Setup,
    Size,
)
from .members import MemberError, is_number, members_given
from .scalars import DTYPES, dtype_named

Setups = Mapping[str, tuple[Setup, ...]]
"""The runs of each kernel, by its name."""

_KEYS = ("threads", "threadgroups", "threadgroup", "arguments", "constants")
_FILLS = "random, zeros, ones, iota, uninitialised, a number, a list of values, or @file.npy"
_GIVEN_KEYS = ("bytes", "fields", "dtype", "shape", "fill")
_FILL_WORDS = ("random", "zeros", "ones", "iota", "uninitialised")


def setups_in_file(path: Path) -> Setups:
    """The setups in a TOML file. Raises LaunchInputError."""
    return read_setups(document_in_file(path))


def setups_in_source(source: str, file_name: str) -> Setups:
    """The setups in the `//!` lines of MSL source. Raises LaunchInputError."""
    return read_setups(document_in_source(source, file_name))


def read_setups(document: Document) -> Setups:
    """What the tables `[kernel.NAME]` say. Raises LaunchInputError."""
    kernels = document.get("kernel", {})
    if not isinstance(kernels, dict):
        raise document.error(("kernel",), "expected tables [kernel.NAME]")
    reader = _Reader(document)
    return {name: _setups(document, reader, name, value) for name, value in kernels.items()}


def _setups(document: Document, reader: _Reader, name: str, value: Any) -> tuple[Setup, ...]:
    """What one table says; a mistake in it is told when its kernel is to run."""
    try:
        return reader.setups(name, value)
    except LaunchInputError as error:
        return (Setup(where=document.place(("kernel", name)), problem=str(error)),)


class _Reader:
    """Turns the tables of a document into setups."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def setups(self, kernel: str, value: Any) -> tuple[Setup, ...]:
        """One table, or an array of tables for several runs."""
        tables = value if isinstance(value, list) else [value]
        if not tables or not all(isinstance(table, dict) for table in tables):
            raise self._document.error(
                ("kernel", kernel), "expected a table with threads, arguments, ..."
            )
        return tuple(self._setup(("kernel", kernel), table) for table in tables)

    def _setup(self, path: tuple[str, ...], table: dict[str, Any]) -> Setup:
        self._document.only_keys(table, _KEYS, path)
        if "threads" in table and "threadgroups" in table:
            raise self._document.error(
                (*path, "threadgroups"), "give threads or threadgroups, not both: each is the grid"
            )
        sizes = {
            key: self._size((*path, key), table[key])
            for key in ("threads", "threadgroups", "threadgroup")
            if key in table
        }
        arguments = self._document.table((*path, "arguments"), table.get("arguments", {}))
        constants = self._document.table((*path, "constants"), table.get("constants", {}))
        return Setup(
            where=self._document.place(path),
            arguments={
                name: self._given((*path, "arguments", name), value)
                for name, value in arguments.items()
            },
            constants={
                int(name) if name.isdigit() else name: self._constant(
                    (*path, "constants", name), value
                )
                for name, value in constants.items()
            },
            threads=sizes.get("threads"),
            threadgroups=sizes.get("threadgroups"),
            threadgroup=sizes.get("threadgroup"),
        )

    def _size(self, path: tuple[str, ...], value: Any) -> Size:
        sizes = value if isinstance(value, list) else [value]
        if not 1 <= len(sizes) <= 3 or not all(is_count(size) for size in sizes):
            raise self._document.error(path, f"expected 1 to 3 positive integers, not {value!r}")
        x, y, z = (*sizes, 1, 1)[:3]
        return x, y, z

    def _given(self, path: tuple[str, ...], value: Any) -> Given:
        if isinstance(value, list) and value and all(is_number(item) for item in value):
            return Literal(values=tuple(value))
        if is_number(value):
            return Literal(values=(value,))
        if not isinstance(value, dict):
            raise self._document.error(
                path,
                "expected a number, a list of numbers, or a table with dtype, shape and fill, "
                f"with bytes, with fields, or with members by name; not {value!r}",
            )
        if _is_struct(value):
            return self._members(path, value)
        if "bytes" in value:
            self._document.only_keys(value, ("bytes",), path)
            if value["bytes"] == 0 and not isinstance(value["bytes"], bool):
                return Raw(bytes=0)  # of threadgroup memory that this run does not use
            return Raw(bytes=self._bytes((*path, "bytes"), value["bytes"]))
        if "fields" in value:
            self._document.only_keys(value, ("fields",), path)
            return self._fields((*path, "fields"), value["fields"])
        self._document.only_keys(value, ("dtype", "shape", "fill"), path)
        return self._filled(path, value)

    def _members(self, path: tuple[str, ...], value: dict[str, Any]) -> Members:
        try:
            return Members(values=members_given(value))
        except MemberError as error:
            raise self._document.error((*path, *error.path), str(error)) from None

    def _filled(self, path: tuple[str, ...], value: dict[str, Any]) -> Filled:
        dtype = value.get("dtype")
        if dtype is not None and (not isinstance(dtype, str) or dtype_named(dtype) is None):
            raise self._document.error(
                (*path, "dtype"), f"{dtype!r} is none of {', '.join(DTYPES)}"
            )
        shape = value.get("shape")
        if shape is not None:
            shape = tuple(shape) if isinstance(shape, list) else (shape,)
            if not shape or not all(is_count(size) for size in shape):
                raise self._document.error((*path, "shape"), "expected positive integers")
            self._bytes((*path, "shape"), _product(shape))
        fill = self._fill((*path, "fill"), value.get("fill", "random"))
        if shape is None and not isinstance(fill, Path | tuple):
            raise self._document.error(path, "a shape is missing, such as shape = [64]")
        return Filled(dtype=dtype, shape=shape, fill=fill)

    def _fill(self, path: tuple[str, ...], value: Any) -> str | Number | Path | tuple[Number, ...]:
        if isinstance(value, str):
            if value in _FILL_WORDS:
                return value
            if value.startswith("@") and len(value) > 1:
                return self._document.folder / value[1:]
        elif is_number(value):
            number: Number = value
            return number
        elif isinstance(value, list):
            flat = _flatten(value)
            if flat and all(is_number(item) for item in flat):
                return tuple(flat)
        raise self._document.error(path, f"{value!r} is no fill; expected {_FILLS}")

    def _fields(self, path: tuple[str, ...], value: Any) -> Fields:
        expected = 'expected [["uint32", 64], ["float32", 0.5]]: type and value of each member'
        if not isinstance(value, list) or not value:
            raise self._document.error(path, expected)
        for member in value:
            if not isinstance(member, list) or len(member) != 2 or not is_number(member[1]):
                raise self._document.error(path, f"{member!r}: {expected}")
            if not isinstance(member[0], str) or dtype_named(member[0]) is None:
                raise self._document.error(path, f"{member[0]!r} is none of {', '.join(DTYPES)}")
        return Fields(members=tuple((name, number) for name, number in value))

    def _bytes(self, path: tuple[str, ...], value: Any) -> int:
        if not is_count(value) or value > MOST_BYTES:
            raise self._document.error(path, f"expected 1 to {MOST_BYTES} bytes, not {value!r}")
        return int(value)

    def _constant(self, path: tuple[str, ...], value: Any) -> ConstantValue:
        if is_number(value):
            number: Number = value
            return number
        if isinstance(value, list) and value and all(is_number(item) for item in value):
            return tuple(value)
        raise self._document.error(path, f"expected a number, true, false or a list, not {value!r}")


def _is_struct(value: dict[str, Any]) -> bool:
    """Whether a table names members, which may be called as keys are that describe an array."""
    known = [key in _GIVEN_KEYS for key in value]
    if any(isinstance(each, str) for each in value.values()):
        return False  # no member is a word: one of the keys is misspelt
    return not all(known) or isinstance(value.get("shape"), dict)


def _product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def _flatten(values: list[Any]) -> list[Any]:
    """The leaves of nested lists; a deep nest is bounded by TOML's own parser."""
    flat: list[Any] = []
    for value in values:
        flat.extend(_flatten(value) if isinstance(value, list) else [value])
    return flat
