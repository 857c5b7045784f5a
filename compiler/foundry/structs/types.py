"""Types of MSL as they lie in memory: size, alignment, and how a Python value becomes bytes.

Sizes and alignments: Metal Shading Language Specification, section 2, "Data Types" (tables of
scalar, vector and packed vector types). A vector of three takes the room of four; a packed one
only that of its elements, and is aligned like one.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, SupportsFloat, SupportsIndex

import numpy as np

from ..errors import FoundryError
from ..numbers import bfloat_bits

_BFLOAT_INFINITY: Final = 0x7F80

Values = Mapping[str, Any]


class MslType(Protocol):
    """A type of MSL that can be a member of a struct."""

    @property
    def size(self) -> int:
        """Bytes that one value takes, padding within it included."""

    @property
    def alignment(self) -> int:
        """Bytes; addresses are multiples of it."""

    def declaration(self, name: str) -> str:
        """The member called `name`, such as `uint window[4]`."""

    def pack(self, value: Any, where: str, values: Values) -> bytes:
        """The bytes of a value; `where` names it in errors. Raises FoundryError.

        `values` are those that dispatch gives to dynamic fields of structs in it.
        """


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or truth value; `dtype` is NumPy's, little-endian."""

    name: str
    dtype: str

    @property
    def size(self) -> int:
        """Bytes."""
        return np.dtype(self.dtype).itemsize

    @property
    def alignment(self) -> int:
        """Bytes: as large as the value."""
        return self.size

    def declaration(self, name: str) -> str:
        """Such as `uint n`."""
        return f"{self.name} {name}"

    def pack(self, value: Any, where: str, values: Values) -> bytes:
        """The bytes of a number that the type can hold."""
        kind = np.dtype(self.dtype).kind
        if kind == "b":
            if not isinstance(value, bool | np.bool_):
                raise _no_value(value, self.name, where)
            return bytes([bool(value)])
        if kind in "iu":
            return self._integer(value, where)
        return bytes(self._real(value, where).astype(self.dtype))

    def _integer(self, value: Any, where: str) -> bytes:
        if isinstance(value, bool) or not isinstance(value, SupportsIndex):
            raise _no_value(value, self.name, where)
        number, limits = operator.index(value), np.iinfo(self.dtype)
        if not limits.min <= number <= limits.max:
            raise FoundryError(
                "struct-value",
                f"{where} = {number} does not fit into {self.name}, which holds {limits.min} to "
                f"{limits.max}",
            )
        return number.to_bytes(self.size, "little", signed=limits.min < 0)

    def _real(self, value: Any, where: str) -> np.float64:
        if isinstance(value, str | bytes) or not isinstance(value, SupportsFloat | SupportsIndex):
            raise _no_value(value, self.name, where)
        number = np.float64(value)
        if self.dtype == "<f8":
            return number
        largest = float(np.finfo(np.dtype(self.dtype)).max)
        if np.isfinite(number) and abs(number) > largest:
            raise FoundryError(
                "struct-value", f"{where} = {value} exceeds the largest {self.name}, {largest:g}"
            )
        return number


@dataclass(frozen=True, slots=True)
class Bfloat(Scalar):
    """`bfloat`: the upper half of a float, rounded to nearest even; its `dtype` is its bits'."""

    def pack(self, value: Any, where: str, values: Values) -> bytes:
        """The two bytes of a number that the type can hold."""
        number = Scalar(self.name, "<f4")._real(value, where).astype(np.float32)
        bits = int(bfloat_bits(number))
        if np.isfinite(number) and bits & 0x7FFF == _BFLOAT_INFINITY:
            raise FoundryError("struct-value", f"{where} = {value} exceeds the largest bfloat")
        return bits.to_bytes(2, "little")


@dataclass(frozen=True, slots=True)
class Vector:
    """`float3`, or `packed_float3`."""

    element: Scalar
    count: int
    packed: bool = False

    @property
    def name(self) -> str:
        """As MSL spells it."""
        return f"{'packed_' if self.packed else ''}{self.element.name}{self.count}"

    @property
    def size(self) -> int:
        """Bytes; three take the room of four unless packed."""
        return self.element.size * (4 if self.count == 3 and not self.packed else self.count)

    @property
    def alignment(self) -> int:
        """Bytes: as large as the vector, or as its element when packed."""
        return self.element.alignment if self.packed else self.size

    def declaration(self, name: str) -> str:
        """Such as `float4 scale`."""
        return f"{self.name} {name}"

    def pack(self, value: Any, where: str, values: Values) -> bytes:
        """The elements of a sequence, and zeros for padding."""
        parts = _elements(value, self.count, self.name, where)
        packed = b"".join(
            self.element.pack(each, f"{where}.{lane}", values)
            for each, lane in zip(parts, "xyzw", strict=False)
        )
        return packed.ljust(self.size, b"\0")


@dataclass(frozen=True, slots=True)
class Array:
    """A C array of anything."""

    element: MslType
    count: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.element.size * self.count

    @property
    def alignment(self) -> int:
        """Bytes: its element's."""
        return self.element.alignment

    def declaration(self, name: str) -> str:
        """Such as `uint window[4]`."""
        return f"{self.element.declaration(name)}[{self.count}]"

    def pack(self, value: Any, where: str, values: Values) -> bytes:
        """The elements of a sequence."""
        parts = _elements(value, self.count, f"array of {self.count}", where)
        return b"".join(
            self.element.pack(each, f"{where}[{i}]", values) for i, each in enumerate(parts)
        )


def _elements(value: Any, count: int, name: str, where: str) -> Sequence[Any]:
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        raise _no_value(value, name, where)
    if len(value) != count:
        raise FoundryError(
            "struct-value", f"{where} has {len(value)} elements; {name} takes {count}"
        )
    return list(value)


def _no_value(value: Any, name: str, where: str) -> FoundryError:
    return FoundryError("struct-value", f"{where} = {value!r} is no value for {name}")
