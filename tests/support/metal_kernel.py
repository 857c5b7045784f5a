"""Runs kernels of `tests/programs/kernels` through the emulated Metal API, arrays as buffers."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.hal.metal import emulated as Metal

SOURCES = Path(__file__).parents[1] / "programs" / "kernels"
Size = int | tuple[int, int] | tuple[int, int, int]
Array = np.ndarray
_CONSTANT_TYPES = {
    np.dtype(np.bool_): Metal.MTLDataTypeBool,
    np.dtype(np.int32): Metal.MTLDataTypeInt,
    np.dtype(np.uint32): Metal.MTLDataTypeUInt,
    np.dtype(np.int16): Metal.MTLDataTypeShort,
    np.dtype(np.uint16): Metal.MTLDataTypeUShort,
    np.dtype(np.float32): Metal.MTLDataTypeFloat,
}


@dataclass(frozen=True, slots=True)
class Scratch:
    """A [[threadgroup(n)]] argument of so many bytes; numbered in the order of the arguments."""

    bytes: int


Argument = Array | np.generic | bytes | Scratch | Metal.MTLBuffer | None


@functools.cache
def device() -> Metal.MTLDevice:
    """One device for all tests of a process."""
    return Metal.MTLDevice()


@functools.cache
def library(name: str, macros: tuple[tuple[str, str | int], ...] = ()) -> Metal.MTLLibrary:
    """`kernels/NAME.metal`, compiled with macros as MTLCompileOptions gives them."""
    return library_of((SOURCES / f"{name}.metal").read_text(), macros)


def library_of(source: str, macros: tuple[tuple[str, str | int], ...] = ()) -> Metal.MTLLibrary:
    """A library of source that a test composes itself."""
    options = Metal.MTLCompileOptions()
    options.setPreprocessorMacros_(dict(macros))
    made, error = device().newLibraryWithSource_options_error_(source, options, None)
    assert made is not None, error
    return made


def pipeline(
    library: Metal.MTLLibrary,
    name: str,
    constants: Mapping[int, bool | np.generic] | None = None,
) -> Metal.MTLComputePipelineState:
    """The kernel `name`, its function constants set: bool, or NumPy's scalars for their type."""
    if constants is None:
        function = library.newFunctionWithName_(name)
        assert function is not None, f"no {name} in {library.functionNames()}"
    else:
        values = Metal.MTLFunctionConstantValues()
        for index, value in constants.items():
            array = np.array([value])
            values.setConstantValue_type_atIndex_(array, _CONSTANT_TYPES[array.dtype], index)
        function, error = library.newFunctionWithName_constantValues_error_(name, values, None)
        assert function is not None, error
    state, error = device().newComputePipelineStateWithFunction_error_(function, None)
    assert state is not None, error
    return state


def kernel(
    file: str,
    name: str,
    constants: Mapping[int, bool | np.generic] | None = None,
    **macros: str | int,
) -> Metal.MTLComputePipelineState:
    """The kernel `name` of `kernels/FILE.metal`."""
    return pipeline(library(file, tuple(sorted(macros.items()))), name, constants)


def run(
    state: Metal.MTLComputePipelineState,
    *arguments: Argument,
    threadgroup: Size,
    threads: Size | None = None,
    threadgroups: Size | None = None,
    resources: Sequence[Metal.MTLBuffer] = (),
) -> None:
    """Run to the end; arrays are buffers, changed in place; scalars and bytes go by setBytes.

    `resources` are what the arguments hold the addresses of.
    """
    commands = device().newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    outputs = _bind(encoder, arguments)
    for resource in resources:
        encoder.useResource_usage_(
            resource, Metal.MTLResourceUsageRead | Metal.MTLResourceUsageWrite
        )
    if threads is not None:
        encoder.dispatchThreads_threadsPerThreadgroup_(_size(threads), _size(threadgroup))
    else:
        assert threadgroups is not None, "give threads or threadgroups"
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(_size(threadgroups), _size(threadgroup))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert commands.status() == Metal.MTLCommandBufferStatusCompleted, commands.error()
    for array, buffer in outputs:
        array[...] = contents(buffer, array)


def _bind(
    encoder: Metal.MTLComputeCommandEncoder, arguments: tuple[Argument, ...]
) -> list[tuple[Array, Metal.MTLBuffer]]:
    outputs = []
    index = scratch = 0
    for argument in arguments:
        if isinstance(argument, Scratch):
            encoder.setThreadgroupMemoryLength_atIndex_(argument.bytes, scratch)
            scratch += 1
            continue
        if isinstance(argument, Array):
            buffer = buffer_of(argument)
            encoder.setBuffer_offset_atIndex_(buffer, 0, index)
            outputs.append((argument, buffer))
        elif isinstance(argument, Metal.MTLBuffer):
            encoder.setBuffer_offset_atIndex_(argument, 0, index)
        elif argument is not None:
            data = argument if isinstance(argument, bytes) else argument.tobytes()
            encoder.setBytes_length_atIndex_(data, len(data), index)
        index += 1
    return outputs


def buffer_of(array: Array) -> Metal.MTLBuffer:
    """A shared buffer with the array's bytes."""
    data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return device().newBufferWithBytes_length_options_(
        data, data.nbytes, Metal.MTLResourceStorageModeShared
    )


def contents(buffer: Metal.MTLBuffer, like: Array) -> Array:
    """What the buffer holds, with the shape and type of `like`."""
    data = np.frombuffer(buffer.contents().as_buffer(like.nbytes), dtype=np.uint8)
    return data.view(like.dtype).reshape(like.shape)


def _size(size: Size) -> tuple[int, int, int]:
    lengths = (size,) if isinstance(size, int) else size
    x, y, z = (*lengths, 1, 1)[:3]
    return (x, y, z)
