"""What kernels are checked with: grids, arguments and constants, as files and comments say it.

The same TOML stands in a file of its own or in comment lines of the source that begin with `//!`.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..reports.suppressions import Suppression
from .errors import CheckInputError
from .scalars import DTYPES, dtype_named

Size = tuple[int, int, int]
Number = bool | int | float
ConstantValue = Number | tuple[Number, ...]

_KEYS = ("threads", "threadgroups", "threadgroup", "arguments", "constants")
_FILLS = "random, zeros, ones, iota, uninitialised, a number, a list of values, or @file.npy"
_FILL_WORDS = ("random", "zeros", "ones", "iota", "uninitialised")
_DEEP = re.compile(r"[\[{](?:\s*[\[{]){99}")  # brackets in a row
_ANNOTATION = re.compile(r"\s*//!(.*)")
_HEADER = re.compile(r"\s*\[\[?\s*(?:kernel\s*\.|suppress)")
MOST_BYTES = 1 << 32
"""Bytes of the largest argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """An array: element type (None: the argument's own), shape, and what is in it.

    `fill` is one of the words of the schema, a number for all elements, a list of all values, or
    the path of a `.npy` file.
    """

    dtype: str | None = None
    shape: tuple[int, ...] | None = None
    fill: str | Number | Path | tuple[Number, ...] = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """So many bytes: of threadgroup memory, or of a zeroed buffer."""

    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """A struct as (type, value) of its members, each aligned to its own size."""

    members: tuple[tuple[str, Number], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """One value, or the components of a vector, in the argument's own type."""

    values: tuple[Number, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Exact:
    """An array as a program has it; its bytes are taken whatever the argument's type."""

    array: NDArray[Any]
    is_initialised: bool = True


Given = Filled | Raw | Fields | Literal | Exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What one run of a kernel is given; what is missing is assumed.

    `where` names the place for messages.
    """

    where: str = ""
    threads: Size | None = None
    threadgroups: Size | None = None
    threadgroup: Size | None = None
    arguments: Mapping[str, Given] = field(default_factory=dict)
    constants: Mapping[int | str, ConstantValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """All that a file or the comments of a source say: setups by kernel, and suppressions."""

    setups: Mapping[str, tuple[Setup, ...]] = field(default_factory=dict)
    suppressions: tuple[Suppression, ...] = ()


def read_file(path: Path) -> Inputs:
    """The inputs in a TOML file. Raises CheckInputError."""
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CheckInputError(f"{path}: cannot be read: {reason}") from None
    return _read(text, str(path), path.parent)


def read_annotations(source: str, file_name: str) -> Inputs:
    """The inputs in the `//!` lines of MSL source. Raises CheckInputError.

    A block of such lines counts if it begins with a header: documentation is written so as well.
    """
    lines: list[str] = []
    inside = False
    for line in source.split("\n"):
        match = _ANNOTATION.match(line)
        if match is None:
            inside = False
        elif _HEADER.match(match[1]):
            inside = True
        lines.append(match[1] if match is not None and inside else "")
    if not any(lines):
        return Inputs()
    # Empty lines stand for the code, so that line numbers are the source's.
    return _read("\n".join(lines), file_name, Path(file_name).parent)


def _read(text: str, name: str, folder: Path) -> Inputs:
    # How deep the parser itself goes depends on the interpreter's limit, which others may change.
    if _DEEP.search(text):
        raise CheckInputError(f"{name}: the TOML is nested too deeply")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.fullmatch(r"(.*?) \(at line (\d+), column (\d+)\)", str(error), re.S)
        place, why = (f"{name}:{match[2]}:{match[3]}", match[1]) if match else (name, str(error))
        raise CheckInputError(f"{place}: not valid TOML: {why}") from None
    except RecursionError:
        raise CheckInputError(f"{name}: the TOML is nested too deeply") from None
    return _Reader(text, name, folder).inputs(document)


class _Reader:
    """Turns one document into `Inputs`; keeps what messages need."""

    def __init__(self, text: str, name: str, folder: Path) -> None:
        self._lines = text.split("\n")
        self._name = name
        self._folder = folder

    def inputs(self, document: dict[str, Any]) -> Inputs:
        self._only_keys(document, ("kernel", "suppress"), ())
        kernels = document.get("kernel", {})
        if not isinstance(kernels, dict):
            raise self._error(("kernel",), "expected tables [kernel.NAME]")
        setups = {name: self._setups(name, value) for name, value in kernels.items()}
        entries = document.get("suppress", [])
        if not isinstance(entries, list):
            raise self._error(("suppress",), "expected tables [[suppress]]")
        return Inputs(
            setups=setups, suppressions=tuple(self._suppression(entry) for entry in entries)
        )

    def _setups(self, kernel: str, value: Any) -> tuple[Setup, ...]:
        """One table, or an array of tables for several runs."""
        tables = value if isinstance(value, list) else [value]
        if not tables or not all(isinstance(table, dict) for table in tables):
            raise self._error(("kernel", kernel), "expected a table with threads, arguments, ...")
        return tuple(self._setup(("kernel", kernel), table) for table in tables)

    def _setup(self, path: tuple[str, ...], table: dict[str, Any]) -> Setup:
        self._only_keys(table, _KEYS, path)
        if "threads" in table and "threadgroups" in table:
            raise self._error(
                (*path, "threadgroups"), "give threads or threadgroups, not both: each is the grid"
            )
        sizes = {
            key: self._size((*path, key), table[key])
            for key in ("threads", "threadgroups", "threadgroup")
            if key in table
        }
        arguments = self._table((*path, "arguments"), table.get("arguments", {}))
        constants = self._table((*path, "constants"), table.get("constants", {}))
        return Setup(
            where=self._place(path),
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
            **sizes,
        )

    def _size(self, path: tuple[str, ...], value: Any) -> Size:
        sizes = value if isinstance(value, list) else [value]
        if not 1 <= len(sizes) <= 3 or not all(_is_count(size) for size in sizes):
            raise self._error(path, f"expected 1 to 3 positive integers, not {value!r}")
        x, y, z = (*sizes, 1, 1)[:3]
        return x, y, z

    def _given(self, path: tuple[str, ...], value: Any) -> Given:
        if isinstance(value, list) and value and all(_is_number(item) for item in value):
            return Literal(values=tuple(value))
        if _is_number(value):
            return Literal(values=(value,))
        if not isinstance(value, dict):
            raise self._error(
                path,
                "expected a number, a list of numbers, or a table with dtype, shape and fill, "
                f"with bytes, or with fields; not {value!r}",
            )
        if "bytes" in value:
            self._only_keys(value, ("bytes",), path)
            return Raw(bytes=self._bytes((*path, "bytes"), value["bytes"]))
        if "fields" in value:
            self._only_keys(value, ("fields",), path)
            return self._fields((*path, "fields"), value["fields"])
        self._only_keys(value, ("dtype", "shape", "fill"), path)
        return self._filled(path, value)

    def _filled(self, path: tuple[str, ...], value: dict[str, Any]) -> Filled:
        dtype = value.get("dtype")
        if dtype is not None and (not isinstance(dtype, str) or dtype_named(dtype) is None):
            raise self._error((*path, "dtype"), f"{dtype!r} is none of {', '.join(DTYPES)}")
        shape = value.get("shape")
        if shape is not None:
            shape = tuple(shape) if isinstance(shape, list) else (shape,)
            if not shape or not all(_is_count(size) for size in shape):
                raise self._error((*path, "shape"), "expected positive integers")
            self._bytes((*path, "shape"), _product(shape))
        fill = self._fill((*path, "fill"), value.get("fill", "random"))
        if shape is None and not isinstance(fill, Path | tuple):
            raise self._error(path, "a shape is missing, such as shape = [64]")
        return Filled(dtype=dtype, shape=shape, fill=fill)

    def _fill(self, path: tuple[str, ...], value: Any) -> str | Number | Path | tuple[Number, ...]:
        if isinstance(value, str):
            if value in _FILL_WORDS:
                return value
            if value.startswith("@") and len(value) > 1:
                return self._folder / value[1:]
        elif _is_number(value):
            number: Number = value
            return number
        elif isinstance(value, list):
            flat = _flatten(value)
            if flat and all(_is_number(item) for item in flat):
                return tuple(flat)
        raise self._error(path, f"{value!r} is no fill; expected {_FILLS}")

    def _fields(self, path: tuple[str, ...], value: Any) -> Fields:
        expected = 'expected [["uint32", 64], ["float32", 0.5]]: type and value of each member'
        if not isinstance(value, list) or not value:
            raise self._error(path, expected)
        for member in value:
            if not isinstance(member, list) or len(member) != 2 or not _is_number(member[1]):
                raise self._error(path, f"{member!r}: {expected}")
            if not isinstance(member[0], str) or dtype_named(member[0]) is None:
                raise self._error(path, f"{member[0]!r} is none of {', '.join(DTYPES)}")
        return Fields(members=tuple((name, number) for name, number in value))

    def _bytes(self, path: tuple[str, ...], value: Any) -> int:
        if not _is_count(value) or value > MOST_BYTES:
            raise self._error(path, f"expected 1 to {MOST_BYTES} bytes, not {value!r}")
        return int(value)

    def _constant(self, path: tuple[str, ...], value: Any) -> ConstantValue:
        if _is_number(value):
            number: Number = value
            return number
        if isinstance(value, list) and value and all(_is_number(item) for item in value):
            return tuple(value)
        raise self._error(path, f"expected a number, true, false or a list, not {value!r}")

    def _suppression(self, entry: Any) -> Suppression:
        table = self._table(("suppress",), entry)
        self._only_keys(table, ("kind", "kernel", "file", "line", "reason"), ("suppress",))
        for key in ("kind", "reason"):
            if not isinstance(table.get(key), str) or not table[key].strip():
                raise self._error(("suppress",), f'each [[suppress]] needs {key} = "..."')
        for key in ("kernel", "file"):
            if not isinstance(table.get(key, ""), str):
                raise self._error(("suppress", key), "expected text")
        if not _is_count(table.get("line", 1)):
            raise self._error(("suppress", "line"), "expected a line number")
        return Suppression(
            kind=table["kind"],
            kernel=table.get("kernel", ""),
            file=table.get("file", ""),
            line=table.get("line", 0),
            reason=table["reason"],
            origin=self._place(("suppress", "kind"), table["kind"]),
        )

    def _table(self, path: tuple[str, ...], value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self._error(path, "expected a table")
        return value

    def _only_keys(
        self, table: Mapping[str, Any], known: Sequence[str], path: tuple[str, ...]
    ) -> None:
        for key in table:
            if key not in known:
                raise self._error((*path, key), f"unknown key; expected {', '.join(known)}")

    def _error(self, path: tuple[str, ...], message: str) -> CheckInputError:
        return CheckInputError(f"{self._place(path)}: {'.'.join(path)}: {message}")

    def _place(self, path: tuple[str, ...], value: str = "") -> str:
        """File and line of a key: the last of its words that can be found, in order."""
        found = 0
        start = 0
        for word in path:
            matching = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])(?=.*{re.escape(value)})")
            lines = range(start, len(self._lines))
            at = next((n for n in lines if matching.search(self._lines[n])), None)
            if at is not None:
                found, start = at + 1, at
        return f"{self._name}:{found}" if found else self._name


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 40


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
