"""What the host learns about a kernel: its arguments and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ArgumentKind = Literal["buffer", "threadgroup", "texture", "sampler", "function_table", "tensor"]
AddressSpace = Literal["device", "constant", "threadgroup"]
Access = Literal["read", "write", "read_write"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentBufferMember:
    """A member of an argument buffer's struct: its `[[id(n)]]` and its place in bytes."""

    name: str
    id: int
    offset: int
    kind: str
    address_space: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StructField:
    """Numbers in the struct of an argument, as the compiler lays them out.

    `count` elements of the MSL type `type_name` (`uint`, `packed_float3`) begin at byte `offset`.
    Those of a struct in it are called `inner.n`, those of one of several structs `many.0.n`.
    """

    name: str
    type_name: str
    count: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One argument of a kernel.

    `size` and `alignment` are bytes of what the argument points to; `size` is 0 if unknown (void).
    `is_reference` tells `constant T& x`, one element, from `constant T* x`, any number.
    `count` is how many an array of textures or samplers has, each with an index of its own.
    `texture_type` and `data_type` are Metal's numbers (MTLTextureType, MTLDataType) of a texture.
    A tensor that the host binds has `rank` dimensions of elements of `data_type`.
    `fields` are all of a struct's members, or none if there is anything but numbers among them.
    """

    name: str
    kind: ArgumentKind
    index: int
    address_space: AddressSpace
    type_name: str
    size: int
    alignment: int
    access: Access
    members: tuple[ArgumentBufferMember, ...] = ()
    is_reference: bool = False
    count: int = 1
    texture_type: int = 0
    data_type: int = 0
    is_depth: bool = False
    rank: int = 0
    fields: tuple[StructField, ...] = ()
