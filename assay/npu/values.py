"""Arrays to the bytes of an executable's buffers, and back."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..elements import Value
from ..signatures import Signature, Slot

if TYPE_CHECKING:
    from assay.hal.torq.executable import LoadedExecutable
    from assay.hal.torq.format import BufferInfo

Bytes = NDArray[np.uint8]


class NpuInputError(ValueError):
    """Arrays do not fit the buffers that a program reads; the message says which would."""


def buffers_of(loaded: LoadedExecutable, values: Sequence[Any]) -> list[Bytes]:
    """A buffer per number, zeros at first.

    Inputs are, in order, all buffers that are read, or those that are only read: older compilers
    do not say which are only written.
    """
    sizes, inputs = loaded.buffer_sizes(), loaded.inputs()
    if len(values) != len(inputs):
        inputs = tuple(number for number in inputs if number not in loaded.outputs())
    if len(values) != len(inputs):
        wanted = ", ".join(f"{sizes[number]} bytes" for number in inputs) or "none"
        raise NpuInputError(
            f"{loaded.program}: {len(values)} inputs for {len(inputs)} buffers that are read "
            f"({wanted})"
        )
    buffers = [
        np.zeros(sizes.get(number, 0), np.uint8) for number in range(max(sizes, default=-1) + 1)
    ]
    for number, value in zip(inputs, values, strict=True):
        data = np.frombuffer(np.ascontiguousarray(value).tobytes(), np.uint8)
        if len(data) != sizes[number]:
            raise NpuInputError(
                f"{loaded.program}: an input of {len(data)} bytes for buffer {number}, which has "
                f"{sizes[number]}"
            )
        buffers[number][:] = data
    return buffers


def zeros_for(loaded: LoadedExecutable) -> list[Value]:
    """An input of zeros for every buffer that is read."""
    sizes = loaded.buffer_sizes()
    return [np.zeros(sizes[number], np.int8) for number in loaded.inputs()]


def typed(data: Bytes, info: BufferInfo | None) -> Value:
    """A buffer with the type and shape that the executable states, else as bytes."""
    kind = _element(info)
    if info is None or kind is None or prod(info.shape) * kind.itemsize != len(data):
        return data.view(np.int8)
    return data.view(kind).reshape(info.shape)


def signature_of(loaded: LoadedExecutable) -> Signature:
    """What goes in and comes out, buffer by buffer."""
    return Signature(
        name=loaded.program,
        arguments=_slots(loaded, "input", loaded.inputs()),
        results=_slots(loaded, "output", loaded.outputs()),
    )


def _slots(loaded: LoadedExecutable, name: str, numbers: Sequence[int]) -> tuple[Slot, ...]:
    sizes = loaded.buffer_sizes()
    return tuple(
        Slot(name=f"{name}{at}", type=_type(loaded.described(number), sizes[number]))
        for at, number in enumerate(numbers)
    )


def _type(info: BufferInfo | None, size: int) -> str:
    """The type of a buffer as IREE writes it."""
    from ..elements import element_name

    kind = _element(info)
    if info is None or kind is None or prod(info.shape) * kind.itemsize != size:
        return f"tensor<{size}xi8>"
    return f"tensor<{''.join(f'{steps}x' for steps in info.shape)}{element_name(kind)}>"


def _element(info: BufferInfo | None) -> np.dtype[Any] | None:
    import ml_dtypes

    from assay.hal.torq.format import ElementType

    types: dict[ElementType, Any] = {
        ElementType.I1: np.bool_,
        ElementType.I8: np.int8,
        ElementType.I16: np.int16,
        ElementType.I32: np.int32,
        ElementType.I64: np.int64,
        ElementType.F32: np.float32,
        ElementType.BF16: ml_dtypes.bfloat16,
    }
    if info is None or info.element_type not in types:
        return None
    found: np.dtype[Any] = np.dtype(types[info.element_type])
    return found
