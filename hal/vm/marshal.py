"""Between Python values and what programs take: arrays as buffer views, numbers as numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .. import element_type as elements
from ..buffer import Buffer, BufferView
from ..device import BufferRef, Copy, Device
from ..flags import BufferUsage, MemoryType
from ..semaphore import Fence
from ..status import StatusError, invalid_argument
from .convention import VALUE_LETTERS
from .signature import FunctionInfo
from .values import VmBuffer, VmList, convert

Argument = Any
_KINDS = {"i": "i32", "I": "i64", "f": "f32", "F": "f64"}
_INPUT_MEMORY = MemoryType.DEVICE_LOCAL | MemoryType.HOST_VISIBLE
_INPUT_USAGE = BufferUsage.DEFAULT | BufferUsage.MAPPING
_DEEPEST_LIST = 32
_MOST_DIMENSIONS = 64
_READBACK_MEMORY = MemoryType.HOST_LOCAL | MemoryType.HOST_CACHED | MemoryType.DEVICE_VISIBLE


def to_program(
    device: Device, info: FunctionInfo, letters: str, arguments: tuple[Argument, ...]
) -> list[Any]:
    """Arguments as the function's calling convention wants them."""
    if len(arguments) != len(letters):
        raise invalid_argument(
            f"'{info.name}' takes {len(letters)} arguments "
            f"({', '.join(info.arguments) or 'none'}), {len(arguments)} were given"
        )
    scalars = info.scalar_dtypes
    values = []
    for index, (letter, argument) in enumerate(zip(letters, arguments, strict=True)):
        scalar = scalars[index] if index < len(scalars) else None
        where = f"'{info.name}' argument {index}"
        values.append(
            _reference(device, argument, scalar, where)
            if letter == "r"
            else _number(argument, letter, where)
        )
    return values


def _number(argument: Argument, letter: str, where: str) -> int | float:
    if letter not in VALUE_LETTERS:
        raise invalid_argument(f"{where}: values of kind '{letter}' cannot be passed")
    if isinstance(argument, np.ndarray | np.generic) and argument.ndim == 0:
        argument = argument.item()
    if isinstance(argument, bool | int) or (isinstance(argument, float) and letter in "fF"):
        return convert(argument, _KINDS[letter])
    raise invalid_argument(
        f"{where}: a number ({_KINDS[letter]}) is expected, {_described(argument)} was given"
    )


def _reference(device: Device, argument: Argument, scalar: np.dtype | None, where: str) -> Any:
    if isinstance(argument, bool | int | float):
        if scalar is None:
            raise invalid_argument(f"{where}: an array is expected, {argument!r} was given")
        argument = np.array(argument, scalar)
    if isinstance(argument, np.ndarray | np.generic):
        return array_view(device, np.asarray(argument))
    if isinstance(argument, list | tuple):
        items = VmList("?")
        items.items = [_reference(device, item, scalar, where) for item in argument]
        return items
    if argument is None or hasattr(argument, "type_name"):
        return argument
    raise invalid_argument(f"{where}: an array is expected, {_described(argument)} was given")


def _described(argument: Argument) -> str:
    if isinstance(argument, np.ndarray):
        return f"an array of shape {argument.shape}"
    return f"{type(argument).__name__} {argument!r}"


def array_view(device: Device, array: npt.NDArray[Any]) -> BufferView:
    """An array copied into device memory that the host can see."""
    code = elements.code_of(array.dtype)
    native = np.ascontiguousarray(array, array.dtype.newbyteorder("="))
    buffer = device.allocator.allocate(_INPUT_MEMORY, _INPUT_USAGE, native.nbytes)
    if native.nbytes:
        buffer.write(0, native.reshape(-1).view(np.uint8).data)
    exact = buffer.subspan(0, native.nbytes) if buffer.length != native.nbytes else buffer
    return BufferView(exact, array.shape, code, elements.DENSE_ROW_MAJOR)


def from_program(device: Device, value: Any, depth: int = 0) -> Any:
    """A result as a Python value: arrays are copies, lists become lists."""
    if isinstance(value, BufferView):
        return view_array(device, value)
    if isinstance(value, Buffer):
        return np.frombuffer(host_bytes(device, value, value.length), np.uint8)
    if isinstance(value, VmList):
        if depth == _DEEPEST_LIST:
            raise StatusError(
                "UNIMPLEMENTED", f"a result of lists nested deeper than {_DEEPEST_LIST}"
            )
        return [from_program(device, item, depth + 1) for item in value.items]
    if isinstance(value, VmBuffer):
        return bytes(value.data)
    return value


def view_array(device: Device, view: BufferView) -> npt.NDArray[Any]:
    """The contents of a buffer view as a new array."""
    dtype = elements.dtype_of(view.element_type)
    if len(view.shape) > _MOST_DIMENSIONS:
        raise StatusError(
            "UNIMPLEMENTED",
            f"a result of rank {len(view.shape)}; NumPy has at most {_MOST_DIMENSIONS}",
        )
    size = dtype.itemsize
    for dimension in view.shape:
        size *= dimension
    if size > view.buffer.length:
        raise StatusError(
            "OUT_OF_RANGE",
            f"a result of shape {view.shape} and type {dtype} takes {size} bytes, its buffer has "
            f"{view.buffer.length}",
        )
    return np.frombuffer(host_bytes(device, view.buffer, size), dtype).reshape(view.shape)


def host_bytes(device: Device, buffer: Buffer, length: int) -> bytearray:
    """The first bytes of a buffer, copied to the host; through the queue if it cannot be mapped."""
    if length == 0:
        return bytearray()
    if not (buffer.host_visible and buffer.usage & BufferUsage.MAPPING_SCOPED):
        source = BufferRef(buffer, 0, 0, length)
        buffer = device.allocator.allocate(_READBACK_MEMORY, _INPUT_USAGE, length)
        fence = Fence(((device.create_semaphore(0), 1),))
        # Copies may have to be whole words; the last word belongs to the allocation.
        device.queue_transfer(None, fence, Copy(source, BufferRef(buffer, 0, 0, length)))
        fence.wait()
    return bytearray(buffer.read(0, length))
