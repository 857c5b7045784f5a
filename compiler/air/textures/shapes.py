"""The kinds of textures in AIR, and in what order functions on them take their operands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..names import AirFunction, vector_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A kind of texture.

    Attributes:
        axes: coordinates of a texel, of a face for cubes.
        number: MTLTextureType.
        msl: the class in MSL.
        has_levels: whether its functions take a mipmap level.
    """

    axes: int
    number: int
    msl: str
    is_array: bool = False
    is_cube: bool = False
    is_depth: bool = False
    is_multisampled: bool = False
    has_levels: bool = True

    @property
    def sampled_axes(self) -> int:
        """Coordinates of a place to sample: a direction for cubes."""
        return 3 if self.is_cube else self.axes

    @property
    def has_offset(self) -> bool:
        """Whether places can be moved by texels."""
        return not self.is_cube


SHAPES = {
    "texture_1d": Shape(axes=1, number=0, msl="texture1d"),
    "texture_1d_array": Shape(axes=1, number=1, msl="texture1d_array", is_array=True),
    "texture_2d": Shape(axes=2, number=2, msl="texture2d"),
    "texture_2d_array": Shape(axes=2, number=3, msl="texture2d_array", is_array=True),
    "texture_2d_ms": Shape(
        axes=2, number=4, msl="texture2d_ms", is_multisampled=True, has_levels=False
    ),
    "texture_cube": Shape(axes=2, number=5, msl="texturecube", is_cube=True),
    "texture_cube_array": Shape(
        axes=2, number=6, msl="texturecube_array", is_cube=True, is_array=True
    ),
    "texture_3d": Shape(axes=3, number=7, msl="texture3d"),
    "texture_2d_ms_array": Shape(
        axes=2,
        number=8,
        msl="texture2d_ms_array",
        is_array=True,
        is_multisampled=True,
        has_levels=False,
    ),
    "texture_buffer_1d": Shape(axes=1, number=9, msl="texture_buffer", has_levels=False),
    "depth_2d": Shape(axes=2, number=2, msl="depth2d", is_depth=True),
    "depth_2d_array": Shape(axes=2, number=3, msl="depth2d_array", is_depth=True, is_array=True),
    "depth_2d_ms": Shape(
        axes=2, number=4, msl="depth2d_ms", is_depth=True, is_multisampled=True, has_levels=False
    ),
    "depth_2d_ms_array": Shape(
        axes=2,
        number=8,
        msl="depth2d_ms_array",
        is_depth=True,
        is_array=True,
        is_multisampled=True,
        has_levels=False,
    ),
    "depth_cube": Shape(axes=2, number=5, msl="depthcube", is_depth=True, is_cube=True),
    "depth_cube_array": Shape(
        axes=2, number=6, msl="depthcube_array", is_depth=True, is_cube=True, is_array=True
    ),
}


class Unlike(Exception):
    """A function does not take the operands that one of its name is known to take."""


class Operands:
    """A function's parameters in order, as what `flat.flattened` calls them in C++."""

    def __init__(self, function: AirFunction) -> None:
        self._kinds = function.parameters
        self._at = 0

    @property
    def left(self) -> int:
        """How many are still to be taken."""
        return len(self._kinds) - self._at

    def is_next(self, *kinds: str) -> bool:
        """Whether the next one is of one of these types."""
        return self.left > 0 and self._kinds[self._at] in kinds

    def pointer(self, space: str) -> str:
        """A texture (`1`), a sampler (`6`) or private memory (empty)."""
        return self._scalar(f"ptr addrspace({space})" if space else "ptr")

    def integer(self) -> str:
        """A number that is not negative."""
        return f"uint({self._scalar('i32', 'i16')})"

    def real(self) -> str:
        """A float."""
        return self._scalar("float")

    def flag(self) -> str:
        """A boolean, as 0 or 1."""
        return self._scalar("i1")

    def texel(self, element: str) -> list[str]:
        """The four channels of a texel."""
        return self._vector(4, (element,))

    def places(self, count: int) -> list[str]:
        """Coordinates of a texel."""
        return [f"uint({each})" for each in self._vector(count, ("i32", "i16"))]

    def offsets(self, count: int) -> list[str]:
        """Numbers of texels, which may be negative."""
        cast = "int(short({}))" if self._is_short() else "int({})"
        return [cast.format(each) for each in self._vector(count, ("i32", "i16"))]

    def reals(self, count: int) -> list[str]:
        """Coordinates of a place to sample."""
        return self._vector(count, ("float",))

    def end(self) -> None:
        """Raise Unlike if some are left."""
        if self.left:
            raise Unlike

    def _scalar(self, *kinds: str) -> str:
        if not self.is_next(*kinds):
            raise Unlike
        self._at += 1
        return f"p{self._at - 1}"

    def _is_short(self) -> bool:
        return self.left > 0 and self._kinds[self._at].strip("<>").endswith("i16")

    def _vector(self, count: int, elements: tuple[str, ...]) -> list[str]:
        if count == 1:
            return [self._scalar(*elements)]
        parts = vector_parts(self._kinds[self._at]) if self.left else None
        if parts is None or parts[0] != count or parts[1] not in elements:
            raise Unlike
        self._at += 1
        return [f"p{self._at - 1}_{at}" for at in range(count)]


def shapes_by_length() -> Iterator[tuple[str, Shape]]:
    """Names and shapes, longer names first, so that one that begins another is not found."""
    yield from sorted(SHAPES.items(), key=lambda item: -len(item[0]))
