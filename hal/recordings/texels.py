"""Where the texels of a recorded texture lie in its contents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .records import Size, TextureRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """A slice of a level, with all its planes: rows without gaps from byte `start` on."""

    level: int
    slice: int
    size: Size
    start: int
    row: int
    length: int


def images(texture: TextureRecord) -> Iterator[Image]:
    """All images, level by level."""
    start = 0
    for level in range(texture.levels):
        width, height, depth = (max(1, each >> level) for each in texture.size)
        row = width * texture.texel
        length = row * height * depth
        for number in range(texture.slices):
            yield Image(
                level=level,
                slice=number,
                size=(width, height, depth),
                start=start,
                row=row,
                length=length,
            )
            start += length


def length_of(texture: TextureRecord) -> int:
    """Bytes of all images."""
    found = 0
    for level in range(texture.levels):
        width, height, depth = (max(1, each >> level) for each in texture.size)
        found += width * height * depth * texture.texel * texture.slices
    return found


def place_of(texture: TextureRecord, byte: int) -> str:
    """Where a byte lies, for people: "texel (3, 1), level 0"."""
    for image in images(texture):
        if byte < image.start + image.length:
            break
    width, height, depth = image.size
    texel = (byte - image.start) // texture.texel
    place = [texel % width, texel // width % height, texel // width // height]
    shown = place if depth > 1 else place[: 2 if height > 1 else 1]
    words = [f"texel ({', '.join(map(str, shown))})"]
    words += [f"level {image.level}"] if texture.levels > 1 else []
    words += [f"slice {image.slice}"] if texture.slices > 1 else []
    return ", ".join(words)
