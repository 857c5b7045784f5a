"""What a kernel calls the memory of a dispatch, and what lies in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from assay.compiler.msl import KernelFunction
from assay.hal.metal.emulated.textures.formats import FORMATS, Kind
from assay.hal.recordings import DispatchRecord, TextureRecord

from ..launches.scalars import element_of

Element = np.dtype[Any] | None
_KINDS: Final = {
    Kind.UNORM: "u",
    Kind.SRGB: "u",
    Kind.UINT: "u",
    Kind.SNORM: "i",
    Kind.SINT: "i",
    Kind.REAL: "f",
}


def argument_of(record: DispatchRecord, kernel: KernelFunction, memory: int) -> tuple[str, Element]:
    """What a kernel calls a buffer or texture, "" if it does not; its elements' type, if known."""
    texture = record.memories[memory].texture
    for name, type_name in _names(record, kernel, memory):
        return name, element_of(type_name) if texture is None else _channel(texture)
    return "", None if texture is None else _channel(texture)


def is_only_read(record: DispatchRecord, kernel: KernelFunction, memory: int) -> bool:
    """Whether a buffer is bound, and only where the kernel says that it writes nothing."""
    indices = {each.index for each in record.bound if each.memory == memory}
    access = [
        each.access for each in kernel.arguments if each.kind == "buffer" and each.index in indices
    ]
    return bool(access) and all(each == "read" for each in access)


def _names(
    record: DispatchRecord, kernel: KernelFunction, memory: int
) -> Iterator[tuple[str, str]]:
    """Names of arguments, and members, that are this memory, with the types of elements."""
    bound = [("buffer", each.index) for each in record.bound if each.memory == memory]
    bound += [("texture", each.index) for each in record.textures if each.memory == memory]
    for argument in kernel.arguments:
        if (argument.kind, argument.index) in bound:
            yield argument.name, argument.type_name
        for encoded in record.encoded:
            if (argument.kind, argument.index) != ("buffer", encoded.index):
                continue
            members = [each.index for each in encoded.members if each.memory == memory]
            members += [each.index for each in encoded.textures if each.memory == memory]
            for member in argument.members:
                if member.id in members:
                    yield f"{argument.name}.{member.name}", ""


def _channel(texture: TextureRecord) -> Element:
    """The type of a texture's channels, if they are whole numbers of bytes, all alike."""
    found = FORMATS.get(texture.format)
    if found is None:
        return None
    widths = {each.width for each in found.channels if each.width}
    kind = _KINDS.get(found.kind)
    if len(widths) != 1 or kind is None:
        return None
    (width,) = widths
    return np.dtype(f"{kind}{width // 8}") if width in (8, 16, 32) else None
