"""LLVM's types as far as kernels use them, with their sizes and layouts on x86-64."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scalar:
    """An integer (`i1` to `i128`) or floating-point type, by LLVM's name."""

    name: str


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer into a space: 0 private or generic, 1 device, 3 threadgroup, 6 constant."""

    space: int = 0


@dataclass(frozen=True, slots=True)
class Vector:
    """A first-class vector of scalars or pointers."""

    count: int
    element: Type


@dataclass(frozen=True, slots=True)
class Array:
    """An array in memory or an aggregate value."""

    count: int
    element: Type


@dataclass(frozen=True, slots=True)
class Struct:
    """A structure in memory or an aggregate value."""

    fields: tuple[Type, ...]
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """Anything that holds no data here: void, labels, metadata, tokens."""

    name: str


Type = Scalar | Pointer | Vector | Array | Struct | Opaque

DEVICE_SPACE = 1
THREADGROUP_SPACE = 3

_SHORT = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}
FLOAT_BITS = {"half": 16, "bfloat": 16, "float": 32, "double": 64}


def bits(name: str) -> int:
    """Width of a scalar type in bits."""
    return FLOAT_BITS[name] if name in FLOAT_BITS else int(name[1:])


def is_float(name: str) -> bool:
    """Whether a scalar type is a floating-point one."""
    return name in FLOAT_BITS


def size_of(kind: Type) -> int:
    """Bytes between consecutive objects of the type in memory."""
    match kind:
        case Scalar(name):
            stored = (bits(name) + 7) // 8
            return 1 << (stored - 1).bit_length()
        case Pointer():
            return 8
        case Vector(count, element):
            stored = (count * element_bits(element) + 7) // 8
            return 1 << (stored - 1).bit_length()
        case Array(count, element):
            return count * size_of(element)
        case Struct():
            return _struct_layout(kind)[1]
    raise ValueError(f"{kind} has no size")


def element_bits(kind: Type) -> int:
    """Width in bits of a vector's element."""
    return bits(kind.name) if isinstance(kind, Scalar) else 64


def align_of(kind: Type) -> int:
    """Natural alignment in bytes."""
    match kind:
        case Array(_, element):
            return align_of(element)
        case Struct(fields, packed):
            return 1 if packed else max((align_of(field) for field in fields), default=1)
        case _:
            return size_of(kind)


def field_offset(kind: Struct, index: int) -> int:
    """Byte offset of a structure's field."""
    return _struct_layout(kind)[0][index]


def _struct_layout(kind: Struct) -> tuple[list[int], int]:
    offsets, end = [], 0
    for field in kind.fields:
        align = 1 if kind.packed else align_of(field)
        end = -(-end // align) * align
        offsets.append(end)
        end += size_of(field)
    align = align_of(kind)
    return offsets, -(-end // align) * align


def leaves(kind: Type) -> list[Scalar | Pointer]:
    """The scalars that a value of the type is made of, in order."""
    match kind:
        case Scalar() | Pointer():
            return [kind]
        case Vector(count, element) | Array(count, element):
            return leaves(element) * count
        case Struct(fields):
            return [leaf for field in fields for leaf in leaves(field)]
    return []


def leaf_range(kind: Type, indices: list[int]) -> tuple[int, Type]:
    """Position of the first leaf of a nested member, and the member's type."""
    start = 0
    for index in indices:
        if isinstance(kind, Struct):
            start += sum(len(leaves(field)) for field in kind.fields[:index])
            kind = kind.fields[index]
        elif isinstance(kind, Array | Vector):
            start += index * len(leaves(kind.element))
            kind = kind.element
        else:
            raise ValueError(f"{kind} has no members")
    return start, kind


def mangled(type: str) -> str:
    """A type in an intrinsic's name: `float` -> `f32`, `<4 x half>` -> `v4f16`."""
    count, _, element = type.strip("<>").rpartition(" x ")
    return (f"v{count}" if count else "") + _SHORT.get(element, element)
