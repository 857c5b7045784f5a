"""Runs a case on the emulated device, as a program for a Mac would."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from assay.hal.metal import emulated as metal
from assay.sim.check import Checker, Finding

from .cases import Case

Constants = tuple[tuple[str, bool | int], ...]


def findings_of(case: Case, checks: Iterable[str], *, seed: int | None = None) -> list[Finding]:
    """What the checks say to one run of the kernel."""
    checker = Checker(checks, seed=seed)
    with metal.checking(checker):
        _run(case)
    return list(checker.findings)


def _run(case: Case) -> None:
    """Run the kernel to its end or to its first fault."""
    constants = tuple(case.settings.get("constants", {}).items())
    pipeline, bindings = _pipeline(case.path, case.kernel, constants)
    device = pipeline.device()
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline)
    arguments = dict(case.settings.get("arguments", {}))
    for binding in bindings:
        _bind(device, encoder, binding.index(), arguments.pop(binding.name()))
    assert not arguments, f"{case.name}: the kernel has no {', '.join(arguments)}"
    size = metal.MTLSizeMake(*_three(case.settings["threadgroup"]))
    if "threads" in case.settings:
        grid = metal.MTLSizeMake(*_three(case.settings["threads"]))
        encoder.dispatchThreads_threadsPerThreadgroup_(grid, size)
    else:
        grid = metal.MTLSizeMake(*_three(case.settings["threadgroups"]))
        encoder.dispatchThreadgroups_threadsPerThreadgroup_(grid, size)
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()


def _bind(
    device: metal.MTLDevice, encoder: metal.MTLComputeCommandEncoder, index: int, given: Any
) -> None:
    if isinstance(given, dict) and "bytes" in given:
        encoder.setThreadgroupMemoryLength_atIndex_(given["bytes"], index)
    elif isinstance(given, dict):
        encoder.setBuffer_offset_atIndex_(_buffer(device, given), 0, index)
    else:
        value = np.array(given).astype(_scalar_type(given))
        encoder.setBytes_length_atIndex_(value.tobytes(), value.nbytes, index)


def _scalar_type(value: float) -> type[np.generic]:
    if isinstance(value, float):
        return np.float32
    return np.int32 if abs(value) < 1 << 31 else np.int64


def _buffer(device: metal.MTLDevice, given: dict[str, Any]) -> metal.MTLBuffer:
    dtype = np.dtype(given["dtype"])
    count = int(np.prod(given["shape"]))
    fill = given["fill"]
    if fill == "uninitialised":
        return device.newBufferWithLength_options_(count * dtype.itemsize, 0)
    if fill == "iota":
        array = np.arange(count).astype(dtype)
    elif fill == "random":
        array = (np.random.default_rng(1).random(count) * 1000).astype(dtype)
    else:
        array = np.full(count, {"zeros": 0, "ones": 1}.get(fill, fill), dtype)
    return device.newBufferWithBytes_length_options_(array.tobytes(), array.nbytes, 0)


def _three(size: list[int]) -> tuple[int, int, int]:
    x, y, z = (*size, 1, 1)[:3]
    return x, y, z


@functools.cache
def _device() -> metal.MTLDevice:
    return metal.MTLCreateSystemDefaultDevice()


@functools.lru_cache(maxsize=8)
def _library(path: Path) -> metal.MTLLibrary:
    library, error = _device().newLibraryWithSource_options_error_(path.read_text(), None, None)
    assert library is not None, error and error.localizedDescription()
    return library


@functools.lru_cache(maxsize=8)
def _pipeline(
    path: Path, kernel: str, constants: Constants
) -> tuple[metal.MTLComputePipelineState, list[metal.MTLBinding]]:
    values = metal.MTLFunctionConstantValues.new()
    for index, value in constants:
        is_bool = isinstance(value, bool)
        data = np.array(value, bool if is_bool else np.int32).tobytes()
        kind = metal.MTLDataTypeBool if is_bool else metal.MTLDataTypeInt
        values.setConstantValue_type_atIndex_(data, kind, int(index))
    function, error = _library(path).newFunctionWithName_constantValues_error_(kernel, values, None)
    assert function is not None, error and error.localizedDescription()
    make = _device().newComputePipelineStateWithFunction_options_reflection_error_
    state, reflection, error = make(function, metal.MTLPipelineOptionBindingInfo, None, None)
    assert state is not None and reflection is not None, error and error.localizedDescription()
    return state, list(reflection.bindings())
