"""Reference values of the VM itself: byte buffers and lists."""

from __future__ import annotations

import struct
from typing import Any, ClassVar, TypeVar, cast

from ..status import StatusError, invalid_argument, out_of_range

T = TypeVar("T")

_WRAPS = {"i8": "b", "i16": "h", "i32": "i", "i64": "q"}


ANY_REFERENCE = "!?"
_OPAQUE = ("?", "!vm.opaque")  # how the type table spells "anything"


def reference_type(text: str) -> str:
    """A type of the module's table as `!name`: parameters and `!vm.ref` around it removed."""
    inner = text.removeprefix("!vm.ref<").removesuffix(">") if "!vm.ref<" in text else text
    return ANY_REFERENCE if inner in _OPAQUE else inner.partition("<")[0]


class VmBuffer:
    """`!vm.buffer`: bytes that the host program can address."""

    type_name: ClassVar[str] = "vm.buffer"
    __slots__ = ("__weakref__", "data")

    def __init__(self, data: memoryview | bytearray | bytes) -> None:
        self.data = memoryview(data)

    def text(self) -> str:
        """The contents as text, for names and messages."""
        return bytes(self.data).decode("utf-8", "replace")

    def span(self, offset: int, length: int, *, write: bool = False) -> memoryview:
        """A view of a byte range; the errors are IREE's."""
        return self.elements(offset, length, 1, write=write)

    def elements(self, offset: int, count: int, size: int, *, write: bool = False) -> memoryview:
        """A view of `count` elements of `size` bytes, the offset counted in elements."""
        if write and self.data.readonly:
            raise StatusError(
                "PERMISSION_DENIED", "buffer is read-only and cannot be mapped for mutation"
            )
        if offset < 0 or count < 0 or (offset + count) * size > len(self.data):
            raise out_of_range(
                f"out-of-bounds access detected (offset={offset * size}, length={count * size}, "
                f"alignment={size}, buffer length={len(self.data)})"
            )
        return self.data[offset * size : (offset + count) * size]


class VmList:
    """`!vm.list`: a growable list of one type, or of anything (element type `?`)."""

    type_name: ClassVar[str] = "vm.list"
    __slots__ = ("element_type", "items")

    limit: ClassVar[int] = 1 << 24
    """Most items a list may have; a damaged program could otherwise ask for any number."""

    def __init__(self, element_type: str) -> None:
        self.element_type = "?" if element_type in _OPAQUE else element_type
        self.items: list[Any] = []

    def resize(self, size: int) -> None:
        """Grow with zeros or nulls, or cut."""
        size &= 0xFFFFFFFF
        self.check_capacity(size)
        del self.items[size:]
        filler = 0 if self.element_type in _WRAPS or self.element_type[0] == "f" else None
        self.items.extend([filler] * (size - len(self.items)))

    def check_capacity(self, size: int) -> None:
        """Refuse capacities that no sound program asks for."""
        if size & 0xFFFFFFFF > self.limit:
            raise StatusError(
                "RESOURCE_EXHAUSTED",
                f"a list of {size & 0xFFFFFFFF} elements is over the limit of {self.limit}",
            )

    def get(self, index: int) -> Any:
        """The item at an index."""
        index &= 0xFFFFFFFF
        if index >= len(self.items):
            raise out_of_range(f"index {index} out of bounds ({len(self.items)})")
        return self.items[index]

    def get_value(self, index: int, kind: str) -> int | float:
        """The number at an index converted to `i32`, `i64`, `f32` or `f64`."""
        value = self.get(index)
        if not isinstance(value, int | float):
            raise StatusError(
                "FAILED_PRECONDITION", f"variant at index {index} is not a value type"
            )
        return convert(value, kind)

    def set(self, index: int, value: Any) -> None:
        """Store at an index, converted to the element type if that is a number."""
        index &= 0xFFFFFFFF
        if index >= len(self.items):
            raise out_of_range(f"index {index} out of bounds ({len(self.items)})")
        if isinstance(value, int | float):
            if self.element_type[0] == "!":
                raise invalid_argument("cannot store a value type into a list of references")
            value = value if self.element_type == "?" else convert(value, self.element_type)
        elif value is not None:
            self._check_reference(value)
        self.items[index] = value

    def _check_reference(self, value: Any) -> None:
        expected = reference_type(self.element_type)
        if expected not in (ANY_REFERENCE, "!" + value.type_name):
            raise invalid_argument(
                f"list element type mismatch; a {self.element_type} list cannot hold a "
                f"!{value.type_name}"
            )


def convert(value: int | float, kind: str) -> int | float:
    """A number as C would convert it to `i8` ... `i64`, `f32` or `f64`."""
    if kind[0] == "f":
        code = "f" if kind == "f32" else "d"
        try:
            return float(struct.unpack(code, struct.pack(code, value))[0])
        except OverflowError:
            return float("inf") if value > 0 else float("-inf")
    code = _WRAPS[kind]
    bits = 8 * struct.calcsize(code)
    half = 1 << (bits - 1)
    return ((int(value) + half) & ((1 << bits) - 1)) - half


def require(kind: type[T], reference: object) -> T:
    """The reference as the type a function needs; null or another type is the caller's error."""
    expected = getattr(kind, "type_name", kind.__name__)
    # By name: abstract classes make isinstance several times slower, and every import call asks.
    if getattr(reference, "type_name", None) == expected:
        return cast(T, reference)
    if reference is None:
        raise invalid_argument(f"ref is null; a !{expected} is expected")
    found = getattr(reference, "type_name", type(reference).__name__)
    raise invalid_argument(f"ref type mismatch; have !{found} but a !{expected} is expected")


def optional(kind: type[T], reference: object) -> T | None:
    """Like `require`, with null allowed."""
    return None if reference is None else require(kind, reference)
