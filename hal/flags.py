"""The HAL's bit fields as IREE numbers them, and how it prints them.

Plain integers: these are tested on every call of a program, where enum classes would cost more
than the work. Source: `runtime/src/iree/hal/buffer.h`, `command_buffer.h` of iree-org/iree.
"""

from __future__ import annotations

from typing import Final


class MemoryType:
    """Where memory lives and who sees it."""

    OPTIMAL: Final = 1 << 0
    HOST_VISIBLE: Final = 1 << 1
    HOST_COHERENT: Final = 1 << 2
    HOST_CACHED: Final = 1 << 3
    HOST_LOCAL: Final = HOST_VISIBLE | HOST_COHERENT | 1 << 6
    DEVICE_VISIBLE: Final = 1 << 4
    DEVICE_LOCAL: Final = DEVICE_VISIBLE | 1 << 5


class BufferUsage:
    """What a buffer may be used for."""

    TRANSFER_SOURCE: Final = 1 << 0
    TRANSFER_TARGET: Final = 1 << 1
    TRANSFER: Final = TRANSFER_SOURCE | TRANSFER_TARGET
    DISPATCH_INDIRECT_PARAMETERS: Final = 1 << 8
    DISPATCH_UNIFORM_READ: Final = 1 << 9
    DISPATCH_STORAGE_READ: Final = 1 << 10
    DISPATCH_STORAGE_WRITE: Final = 1 << 11
    DISPATCH_STORAGE: Final = DISPATCH_STORAGE_READ | DISPATCH_STORAGE_WRITE
    DISPATCH_IMAGE_READ: Final = 1 << 12
    DISPATCH_IMAGE_WRITE: Final = 1 << 13
    DISPATCH_IMAGE: Final = DISPATCH_IMAGE_READ | DISPATCH_IMAGE_WRITE
    DISPATCH: Final = (
        DISPATCH_INDIRECT_PARAMETERS | DISPATCH_UNIFORM_READ | DISPATCH_STORAGE | DISPATCH_IMAGE
    )
    SHARING_EXPORT: Final = 1 << 16
    SHARING_REPLICATE: Final = 1 << 17
    SHARING_CONCURRENT: Final = 1 << 18
    SHARING_IMMUTABLE: Final = 1 << 19
    MAPPING_SCOPED: Final = 1 << 24
    MAPPING_PERSISTENT: Final = 1 << 25
    MAPPING_OPTIONAL: Final = 1 << 26
    MAPPING_ACCESS_RANDOM: Final = 1 << 27
    MAPPING_ACCESS_SEQUENTIAL_WRITE: Final = 1 << 28
    MAPPING: Final = MAPPING_SCOPED | MAPPING_ACCESS_RANDOM
    DEFAULT: Final = TRANSFER | DISPATCH_STORAGE


class CommandBufferMode:
    """How a command buffer will be used."""

    ONE_SHOT: Final = 1 << 0


_MEMORY_NAMES: Final = (
    ("HOST_LOCAL", MemoryType.HOST_LOCAL),
    ("DEVICE_LOCAL", MemoryType.DEVICE_LOCAL),
    ("OPTIMAL", MemoryType.OPTIMAL),
    ("HOST_VISIBLE", MemoryType.HOST_VISIBLE),
    ("HOST_COHERENT", MemoryType.HOST_COHERENT),
    ("HOST_CACHED", MemoryType.HOST_CACHED),
    ("DEVICE_VISIBLE", MemoryType.DEVICE_VISIBLE),
)

_USAGE_NAMES: Final = (
    ("TRANSFER", BufferUsage.TRANSFER),
    ("DISPATCH", BufferUsage.DISPATCH),
    ("DISPATCH_STORAGE", BufferUsage.DISPATCH_STORAGE),
    ("DISPATCH_IMAGE", BufferUsage.DISPATCH_IMAGE),
    ("MAPPING", BufferUsage.MAPPING),
    *(
        (name, value)
        for name, value in vars(BufferUsage).items()
        if name.isupper() and value.bit_count() == 1
    ),
)


def memory_type_text(bits: int) -> str:
    """Memory type bits as IREE writes them, e.g. `DEVICE_LOCAL|HOST_VISIBLE`."""
    return _text(bits, _MEMORY_NAMES)


def buffer_usage_text(bits: int) -> str:
    """Buffer usage bits as IREE writes them."""
    return _text(bits, _USAGE_NAMES)


def _text(bits: int, names: tuple[tuple[str, int], ...]) -> str:
    parts = []
    for name, value in names:
        if bits & value == value:
            parts.append(name)
            bits &= ~value
    if bits:
        parts.append(f"{bits:X}h")
    return "|".join(parts) or "NONE"
