"""Kernels encoded one behind the other into a command buffer, over arrays of the device."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.kernels import Declared, Output, Params
from assay.compiler.foundry.library import Ready
from assay.hal.metal.api import load

from ...launch import LaunchError
from .stored import Bytes, whole_pages

_SHARED = 0  # MTLResourceStorageModeShared
_ALIGNED = 4  # bytes, that every Metal device takes for offsets of buffers


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """An array in a buffer of the device."""

    buffer: Any
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def size(self) -> int:
        """Elements."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes."""
        return self.size * self.dtype.itemsize

    def reshaped(self, *shape: int) -> Placed:
        """The same elements in another shape; -1 is what is left."""
        if -1 in shape:
            rest = self.size // -prod(shape)
            shape = tuple(rest if each == -1 else each for each in shape)
        return Placed(self.buffer, self.offset, shape, self.dtype)

    def last(self) -> Placed:
        """The last row, as [1, ...]."""
        row = self.nbytes // self.shape[0]
        return Placed(
            self.buffer, self.offset + self.nbytes - row, (1, *self.shape[1:]), self.dtype
        )

    def numpy(self) -> NDArray[Any]:
        """A copy, once the stream has run."""
        contents = self.buffer.contents().as_buffer(self.offset + self.nbytes)
        found = np.frombuffer(contents, np.uint8)[self.offset :]
        return found.copy().view(self.dtype).reshape(self.shape)


class Stream:
    """A queue of a device, and what lies in its memory.

    What `call` makes holds until the next `run` has come to its end; buffers are used again then.
    """

    def __init__(self, device: str) -> None:
        self._metal = load(device)
        self._device = self._metal.MTLCreateSystemDefaultDevice()
        self._queue = self._device.newCommandQueue()
        self._pipelines: dict[tuple[str, str], Any] = {}
        self._mapped: list[tuple[Bytes, Any]] = []
        self._scratch: list[Any] = []
        self._used = 0
        self._commands: Any = None
        self._encoder: Any = None

    def map(self, data: Bytes) -> None:
        """Lets arrays that lie in mapped `data` be used where they are."""
        pages = whole_pages(data)
        buffer = self._device.newBufferWithBytesNoCopy_length_options_deallocator_(
            pages, pages.size, _SHARED, None
        )
        if buffer is None:
            raise LaunchError(f"the device cannot map {pages.size} bytes")
        self._mapped.append((data, buffer))

    def place(self, array: NDArray[Any]) -> Placed:
        """An array on the device: where it lies if that is mapped, else as a copy."""
        for data, buffer in self._mapped:
            offset = array.ctypes.data - data.ctypes.data
            inside = offset >= 0 and offset + array.nbytes <= data.nbytes
            if inside and offset % _ALIGNED == 0 and array.flags.c_contiguous and array.size:
                return Placed(buffer, offset, array.shape, array.dtype)
        given = np.ascontiguousarray(array).tobytes() or bytes(_ALIGNED)
        made = self._device.newBufferWithBytes_length_options_(given, len(given), _SHARED)
        return Placed(made, 0, array.shape, array.dtype)

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Placed:
        """Room that stays."""
        kind = np.dtype(dtype)
        return Placed(self._room(prod(shape) * kind.itemsize), 0, shape, kind)

    def grown(self, old: Placed, shape: tuple[int, ...]) -> Placed:
        """Room that stays, which begins with what `old` holds once the stream has run."""
        self.run()
        made = self.zeros(shape, old.dtype)
        commands = self._queue.commandBuffer()
        encoder = commands.blitCommandEncoder()
        encoder.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
            old.buffer, old.offset, made.buffer, 0, _whole(old.nbytes)
        )
        encoder.endEncoding()
        self._finish(commands)
        return made

    def call(self, ready: Ready, **given: Any) -> Any:
        """Encodes a kernel; its output, or a tuple of them. Raises FoundryError, CompileError."""
        declared, grid_of = ready
        values: dict[str, Any] = dict(given)
        outputs = []
        for name, argument in declared.arguments.items():
            if isinstance(argument, Output):
                values[name] = self._output(argument, values)
                outputs.append(values[name])
        for name, argument in declared.arguments.items():
            if isinstance(argument, Params) and argument.make is not None:
                values[name] = argument.make(values)
        grid = grid_of(values)
        encoder = self._encoding()
        encoder.setComputePipelineState_(self._pipeline(declared))
        for name, argument in declared.arguments.items():
            index, value = declared.indices[name], values[name]
            if isinstance(argument, Params):
                data = argument.layout.pack(value, f"{declared.function}: {name}", {})
                encoder.setBytes_length_atIndex_(data, len(data), index)
            else:
                encoder.setBuffer_offset_atIndex_(value.buffer, value.offset, index)
        size = self._metal.MTLSizeMake
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(
            size(*grid.threadgroups), size(*grid.threads)
        )
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def run(self) -> None:
        """Runs what was encoded to the end. Raises LaunchError."""
        if self._encoder is None:
            return
        commands, encoder = self._commands, self._encoder
        self._commands = self._encoder = None
        self._used = 0
        encoder.endEncoding()
        self._finish(commands)

    def _finish(self, commands: Any) -> None:
        commands.commit()
        commands.waitUntilCompleted()
        if commands.error() is not None:
            raise LaunchError(str(commands.error().localizedDescription()))

    def _encoding(self) -> Any:
        if self._encoder is None:
            self._commands = self._queue.commandBuffer()
            self._encoder = self._commands.computeCommandEncoder()
        return self._encoder

    def _output(self, argument: Output, values: dict[str, Any]) -> Placed:
        shape = argument.shape
        if isinstance(shape, str):
            sizes = values[shape].shape
        else:
            sizes = tuple(shape(values) if callable(shape) else shape)
        length = prod(sizes) * argument.dtype.itemsize
        if self._used == len(self._scratch):
            self._scratch.append(self._room(length))
        elif self._scratch[self._used].length() < length:
            self._scratch[self._used] = self._room(length)
        self._used += 1
        return Placed(self._scratch[self._used - 1], 0, tuple(sizes), argument.dtype)

    def _room(self, length: int) -> Any:
        return self._device.newBufferWithLength_options_(max(_whole(length), _ALIGNED), _SHARED)

    def _pipeline(self, declared: Declared) -> Any:
        key = (declared.source, declared.function)
        if key not in self._pipelines:
            self._pipelines[key] = self._compiled(declared)
        return self._pipelines[key]

    def _compiled(self, declared: Declared) -> Any:
        options = self._metal.MTLCompileOptions.alloc().init()
        library, error = self._device.newLibraryWithSource_options_error_(
            declared.source, options, None
        )
        if library is not None:
            function = library.newFunctionWithName_(declared.function)
            made, error = self._device.newComputePipelineStateWithFunction_error_(function, None)
            if made is not None:
                return made
        text = "" if error is None else str(error.localizedDescription())
        raise FoundryError("kernel-source", f"{declared.function}: Metal refuses it: {text}")


def _whole(length: int) -> int:
    """Bytes that copies of every Metal device can take."""
    return -(-length // _ALIGNED) * _ALIGNED
