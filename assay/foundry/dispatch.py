"""Runs a kernel through the Metal API: the emulated one, or a Mac's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.kernels import Declared, Grid, Output, Updated

from ..launch import LaunchError

_SHARED = 0  # MTLResourceStorageModeShared


class Dispatch:
    """A kernel's pipeline, made when it is first run, and its launches."""

    def __init__(self, kernel: Declared, device: str) -> None:
        self._kernel = kernel
        self._name = device

    def run(self, values: Mapping[str, NDArray[Any]], grid: Grid) -> None:
        """Run to the end; arrays of outputs are filled. Raises LaunchError."""
        if 0 in grid.threadgroups:
            return
        queue = self._device.newCommandQueue()
        commands = queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(self._pipeline)
        buffers = {name: self._buffer(array) for name, array in values.items()}
        for name, buffer in buffers.items():
            encoder.setBuffer_offset_atIndex_(buffer, 0, self._kernel.indices[name])
        size = self._metal.MTLSizeMake
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(
            size(*grid.threadgroups), size(*grid.threads)
        )
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        if commands.error() is not None:
            raise LaunchError(str(commands.error().localizedDescription()))
        for name, array in values.items():
            if isinstance(self._kernel.arguments[name], Output | Updated) and array.size:
                contents = buffers[name].contents().as_buffer(array.nbytes)
                array.reshape(-1).view(np.uint8)[:] = np.frombuffer(contents, np.uint8)

    @cached_property
    def _metal(self) -> Any:
        from assay.hal.metal.api import load

        return load(self._name)

    @cached_property
    def _device(self) -> Any:
        return self._metal.MTLCreateSystemDefaultDevice()

    @cached_property
    def _pipeline(self) -> Any:
        _ = self._kernel.indices  # Compiled by us, for errors at the user's lines.
        options = self._metal.MTLCompileOptions.alloc().init()
        library, error = self._device.newLibraryWithSource_options_error_(
            self._kernel.source, options, None
        )
        if library is None:
            raise self._refused(error)
        function = library.newFunctionWithName_(self._kernel.function)
        pipeline, error = self._device.newComputePipelineStateWithFunction_error_(function, None)
        if pipeline is None:
            raise self._refused(error)
        return pipeline

    def _refused(self, error: Any) -> FoundryError:
        text = "" if error is None else str(error.localizedDescription())
        return FoundryError("kernel-source", f"{self._kernel.function}: Metal refuses it: {text}")

    def _buffer(self, array: NDArray[Any]) -> Any:
        # Metal has no empty buffers; a kernel that reads one reads out of bounds in any case.
        data = array.tobytes() or bytes(4)
        return self._device.newBufferWithBytes_length_options_(data, len(data), _SHARED)
