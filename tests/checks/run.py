"""Runs a case on the emulated device, as a program for a Mac would."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from assay.hal.metal import emulated as metal
from assay.sim.check import Checker, Finding

from .cases import Case

_FUEL = "100000000"


def findings_of(case: Case, checks: Iterable[str], *, seed: int | None = None) -> list[Finding]:
    """What the checks say to one run of the kernel."""
    checker = Checker(checks, seed=seed)
    with metal.checking(checker):
        run(case)
    return list(checker.findings)


def run(case: Case) -> dict[str, np.ndarray]:
    """Run the kernel; the buffers' contents by argument name. A fault ends it early."""
    pipeline, bindings = _pipeline(case.path, case.kernel)
    device = pipeline.device()
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline)
    buffers = {}
    arguments = dict(case.settings.get("arguments", {}))
    for binding in bindings:
        given = arguments.pop(binding.name())
        index = binding.index()
        if isinstance(given, dict) and "bytes" in given:
            encoder.setThreadgroupMemoryLength_atIndex_(given["bytes"], index)
        elif isinstance(given, dict):
            buffers[binding.name()] = buffer = _buffer(device, given)
            encoder.setBuffer_offset_atIndex_(buffer, 0, index)
        else:
            value = (np.float32 if isinstance(given, float) else np.int32)(given)
            encoder.setBytes_length_atIndex_(value.tobytes(), value.nbytes, index)
    assert not arguments, f"{case.name}: no such arguments: {', '.join(arguments)}"
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
    run.error = command_buffer.error()
    return {
        name: np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.uint8).copy()
        for name, buffer in buffers.items()
    }


@functools.cache
def _device():
    return metal.MTLCreateSystemDefaultDevice()


@functools.lru_cache(maxsize=8)
def _library(path):
    library, error = _device().newLibraryWithSource_options_error_(path.read_text(), None, None)
    assert library is not None, error.localizedDescription()
    return library


@functools.lru_cache(maxsize=64)
def _pipeline(path, kernel):
    function = _library(path).newFunctionWithName_(kernel)
    state, reflection, error = (
        _device().newComputePipelineStateWithFunction_options_reflection_error_(
            function, metal.MTLPipelineOptionArgumentInfo, None, None
        )
    )
    assert state is not None, error.localizedDescription()
    return state, reflection.bindings()


def _buffer(device, given: dict[str, Any]):
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
        array = np.empty(count, dtype)
        array[:] = {"zeros": 0, "ones": 1}.get(fill, fill) if isinstance(fill, str) else fill
    return device.newBufferWithBytes_length_options_(array.tobytes(), array.nbytes, 0)


def _three(size: list[int]) -> tuple[int, int, int]:
    x, y, z = (*size, 1, 1)[:3]
    return x, y, z
