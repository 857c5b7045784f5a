"""Pixel formats: how many bytes a texel has, which bits are which channel, what they mean.

The layouts of bits are those of Apple's reference of MTLPixelFormat: packed formats are named from
the least significant bit on.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from .. import texture_constants as texture_constants
from ..errors import MetalValidationError
from ..structs import as_integer


class Kind(IntEnum):
    """What a channel's bits stand for, by the numbers of `__texel_kind` in texture_data.h."""

    UNORM = 0
    SNORM = 1
    UINT = 2
    SINT = 3
    REAL = 4
    SRGB = 5
    SHARED_EXPONENT = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Channel:
    """The bits of one channel in a texel; no width: the format has no such channel."""

    first: int = 0
    width: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelFormat:
    """One pixel format: `size` is the bytes of a texel, `channels` are red to alpha."""

    name: str
    value: int
    size: int
    kind: Kind
    channels: tuple[Channel, Channel, Channel, Channel]
    is_depth: bool = False

    @property
    def is_integer(self) -> bool:
        """Whether kernels read it as integers."""
        return self.kind in (Kind.UINT, Kind.SINT)


def pixel_format(where: str, value: int) -> PixelFormat:
    """The format with Metal's number `value`. Raises MetalValidationError."""
    value = as_integer(where, "the pixel format", value)
    found = FORMATS.get(value)
    if found is None:
        raise MetalValidationError(
            f"{where}: pixel format {value} is not emulated; these are: the ordinary and packed "
            "formats of 8 to 128 bits, Depth16Unorm, Depth32Float and Stencil8 (compressed and "
            "video formats are not)"
        )
    return found


_KINDS: Final = {
    "Unorm": Kind.UNORM,
    "Unorm_sRGB": Kind.SRGB,
    "Snorm": Kind.SNORM,
    "Uint": Kind.UINT,
    "Sint": Kind.SINT,
    "Float": Kind.REAL,
}
# Ordinary formats: channels from the first byte on, bits of each, kinds there are.
_ORDINARY: Final = (
    ("A", 8, ("Unorm",)),
    ("R", 8, ("Unorm", "Unorm_sRGB", "Snorm", "Uint", "Sint")),
    ("RG", 8, ("Unorm", "Unorm_sRGB", "Snorm", "Uint", "Sint")),
    ("RGBA", 8, ("Unorm", "Unorm_sRGB", "Snorm", "Uint", "Sint")),
    ("BGRA", 8, ("Unorm", "Unorm_sRGB")),
    ("R", 16, ("Unorm", "Snorm", "Uint", "Sint", "Float")),
    ("RG", 16, ("Unorm", "Snorm", "Uint", "Sint", "Float")),
    ("RGBA", 16, ("Unorm", "Snorm", "Uint", "Sint", "Float")),
    ("R", 32, ("Uint", "Sint", "Float")),
    ("RG", 32, ("Uint", "Sint", "Float")),
    ("RGBA", 32, ("Uint", "Sint", "Float")),
)
# Packed formats: channels and their widths from the least significant bit on.
_PACKED: Final = (
    ("B5G6R5Unorm", "B5 G6 R5", Kind.UNORM),
    ("A1BGR5Unorm", "A1 B5 G5 R5", Kind.UNORM),
    ("ABGR4Unorm", "A4 B4 G4 R4", Kind.UNORM),
    ("BGR5A1Unorm", "B5 G5 R5 A1", Kind.UNORM),
    ("RGB10A2Unorm", "R10 G10 B10 A2", Kind.UNORM),
    ("RGB10A2Uint", "R10 G10 B10 A2", Kind.UINT),
    ("BGR10A2Unorm", "B10 G10 R10 A2", Kind.UNORM),
    ("RG11B10Float", "R11 G11 B10", Kind.REAL),
    ("RGB9E5Float", "R9 G9 B9", Kind.SHARED_EXPONENT),
)


def _channels(widths: list[tuple[str, int]]) -> tuple[Channel, Channel, Channel, Channel]:
    found = dict.fromkeys("RGBA", Channel())
    first = 0
    for name, width in widths:
        found[name] = Channel(first=first, width=width)
        first += width
    return found["R"], found["G"], found["B"], found["A"]


def _format(
    name: str, size: int, kind: Kind, widths: list[tuple[str, int]], *, is_depth: bool = False
) -> PixelFormat:
    return PixelFormat(
        name=name,
        value=getattr(texture_constants, f"MTLPixelFormat{name}"),
        size=size,
        kind=kind,
        channels=_channels(widths),
        is_depth=is_depth,
    )


def _all() -> list[PixelFormat]:
    found = [
        _format(
            f"{order}{bits}{suffix}",
            len(order) * bits // 8,
            _KINDS[suffix],
            [(name, bits) for name in order],
        )
        for order, bits, suffixes in _ORDINARY
        for suffix in suffixes
    ]
    for name, fields, kind in _PACKED:
        widths = [(field[0], int(field[1:])) for field in fields.split()]
        size = 2 if sum(width for _, width in widths) == 16 else 4
        found.append(_format(name, size, kind, widths))
    found.append(_format("Depth16Unorm", 2, Kind.UNORM, [("R", 16)], is_depth=True))
    found.append(_format("Depth32Float", 4, Kind.REAL, [("R", 32)], is_depth=True))
    found.append(_format("Stencil8", 1, Kind.UINT, [("R", 8)]))
    return found


FORMATS: Final = {found.value: found for found in _all()}
