"""Reading what buffers hold, wherever Metal keeps it."""

from __future__ import annotations

from typing import Any


def contents_of(api: Any, queue: Any, buffer: Any) -> memoryview:
    """The bytes of a buffer that no command is writing; a copy if the host cannot see it."""
    length = int(buffer.length())
    mode = buffer.storageMode()
    if mode == api.MTLStorageModePrivate:
        shared = buffer.device().newBufferWithLength_options_(
            length, api.MTLResourceStorageModeShared
        )
        commands = queue.commandBuffer()
        encoder = commands.blitCommandEncoder()
        encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
            buffer, 0, shared, 0, length
        )
        finish(commands, encoder)
        buffer = shared
    elif mode == api.MTLStorageModeManaged:
        commands = queue.commandBuffer()
        encoder = commands.blitCommandEncoder()
        encoder.synchronizeResource_(buffer)
        finish(commands, encoder)
    return memoryview(buffer.contents().as_buffer(length)).cast("B")


def is_buffer(resource: Any) -> bool:
    """Whether a resource is a buffer, rather than a texture or a table of functions."""
    return hasattr(resource, "contents")


def is_texture(resource: Any) -> bool:
    """Whether a resource is a texture."""
    return hasattr(resource, "textureType")


def finish(commands: Any, encoder: Any) -> None:
    """Run what was encoded, to its end."""
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
