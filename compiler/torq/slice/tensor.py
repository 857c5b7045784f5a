"""Tensors in LRAM as slice programs see them: an address, a shape, strides in bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..operators.tensors import ELEMENT_BYTES
from .errors import IllegalSliceProgram
from .loops import Index, Loop, index

_INTEGERS = {"bfloat16": "int16", "float32": "int32"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """Elements of one type at an LRAM address; `strides` in bytes, one per dimension.

    Subscripts, from the left, are loops, expressions of loops, or numbers; what is left over is the
    block that one transfer moves.
    """

    name: str
    address: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def element(self) -> int:
        """Bytes of an element."""
        return ELEMENT_BYTES[self.dtype]

    @property
    def size(self) -> int:
        """Bytes from the first element's first to the last one's last."""
        steps = zip(self.shape, self.strides, strict=True)
        return sum((count - 1) * stride for count, stride in steps) + self.element

    @property
    def bits(self) -> Tensor:
        """The same memory as integers, for what moves elements whatever they stand for."""
        return replace(self, dtype=_INTEGERS.get(self.dtype, self.dtype))

    def __getitem__(self, subscripts: Index | Loop | int | tuple[Index | Loop | int, ...]) -> View:
        given = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        if len(given) > len(self.shape):
            raise IllegalSliceProgram(
                "subscripts", f"'{self.name}' has {len(self.shape)} dimensions, not {len(given)}"
            )
        place = Index()
        for subscript, stride in zip(given, self.strides, strict=False):
            place = place + index(subscript) * stride
        rest = len(given)
        return View(tensor=self, place=place, shape=self.shape[rest:], strides=self.strides[rest:])


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A block of a tensor whose start moves with loops: `place` is in bytes from the tensor's."""

    tensor: Tensor
    place: Index
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def at(self, offset: Index | Loop | int) -> View:
        """The same block, `offset` bytes further on."""
        return View(
            tensor=self.tensor,
            place=self.place + offset,
            shape=self.shape,
            strides=self.strides,
        )

    def with_block(self, *shape_and_strides: tuple[int, int]) -> View:
        """Another block from the same start: (count, stride in bytes) per dimension."""
        return View(
            tensor=self.tensor,
            place=self.place,
            shape=tuple(count for count, _ in shape_and_strides),
            strides=tuple(stride for _, stride in shape_and_strides),
        )

    @property
    def address(self) -> int:
        """LRAM address of the block's first element when all loops are at 0."""
        return self.tensor.address + self.place.constant

    @property
    def bytes_(self) -> int:
        """Bytes of the block's elements."""
        count = self.tensor.element
        for n in self.shape:
            count *= n
        return count

    def stride_of(self, loop: Loop) -> int:
        """Bytes by which the block moves with each step of a loop."""
        return self.place.terms.get(loop, 0)


def dense(name: str, address: int, dtype: str, shape: tuple[int, ...]) -> Tensor:
    """A tensor without gaps, the last dimension innermost."""
    strides = []
    step = ELEMENT_BYTES[dtype]
    for count in reversed(shape):
        strides.append(step)
        step *= count
    return Tensor(
        name=name, address=address, dtype=dtype, shape=shape, strides=tuple(reversed(strides))
    )
