"""Reading what textures hold: their images, one after the other, whatever their storage."""

from __future__ import annotations

from typing import Any

from ...recordings import TextureRecord
from ...recordings.texels import images, length_of
from .memory import finish
from .programs import NotRecorded

_COPY = (
    "copyFromTexture_sourceSlice_sourceLevel_sourceOrigin_sourceSize_toBuffer_destinationOffset_"
    "destinationBytesPerRow_destinationBytesPerImage_"
)


def described(api: Any, texture: Any) -> TextureRecord:
    """What kind of texture it is. Raises NotRecorded."""
    kind = int(texture.textureType())
    if texture.sampleCount() > 1:
        raise NotRecorded("multisampled textures")
    cubes = (api.MTLTextureTypeCube, api.MTLTextureTypeCubeArray)
    red, green, blue, alpha = (int(each) for each in texture.swizzle())
    return TextureRecord(
        type=kind,
        format=int(texture.pixelFormat()),
        texel=_texel(int(texture.pixelFormat())),
        size=(int(texture.width()), int(texture.height()), int(texture.depth())),
        slices=int(texture.arrayLength()) * (6 if kind in cubes else 1),
        levels=int(texture.mipmapLevelCount()),
        usage=int(texture.usage()),
        swizzle=(red, green, blue, alpha),
    )


def texels_of(api: Any, queue: Any, texture: Any, kind: TextureRecord) -> memoryview:
    """All images of a texture that no command is writing, as blits copy them."""
    length = length_of(kind)
    shared = texture.device().newBufferWithLength_options_(length, api.MTLResourceStorageModeShared)
    root, first_level, first_slice = _root(texture)
    commands = queue.commandBuffer()
    encoder = commands.blitCommandEncoder()
    for image in images(kind):
        getattr(encoder, _COPY)(
            root,
            image.slice + first_slice,
            image.level + first_level,
            (0, 0, 0),
            image.size,
            shared,
            image.start,
            image.row,
            image.row * image.size[1],
        )
    finish(commands, encoder)
    return memoryview(shared.contents().as_buffer(length)).cast("B")


def _root(texture: Any) -> tuple[Any, int, int]:
    """The texture that a view is of, whose channels are where they are; its level and slice."""
    level = part = 0
    while (parent := texture.parentTexture()) is not None:
        level += int(texture.parentRelativeLevel())
        part += int(texture.parentRelativeSlice())
        texture = parent
    return texture, level, part


def _texel(format: int) -> int:
    """Bytes of a texel. Raises NotRecorded."""
    from ..emulated.textures.formats import FORMATS  # only here: it loads the emulated device

    found = FORMATS.get(format)
    if found is None:
        raise NotRecorded("textures of compressed or video formats")
    return found.size
