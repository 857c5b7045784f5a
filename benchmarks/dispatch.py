"""Host cost of one dispatch: many small ones through the Metal API, and on the engine alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.compiler.msl import compile_library
from assay.hal.metal import api
from assay.sim.simt import Memory, dispatch

from .measure import Row, median_seconds

BAR = 0.3e-3  # seconds per dispatch
_COUNT = 500  # dispatches that share one command buffer
_SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void increment(device uint* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] += 1;
}
"""


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure both ways."""
    engine, metal = _engine_seconds(repetitions), _metal_seconds(repetitions)
    return [
        Row(
            what="dispatch of one simdgroup",
            who="Metal API",
            seconds=metal,
            bar=f"< {BAR * 1e3:g} ms",
            passed=metal < BAR,
        ),
        Row(what="", who="engine alone", seconds=engine),
    ]


def _engine_seconds(repetitions: int) -> float:
    program = compile_library(_SOURCE).function("increment").program()
    executable = program.specialise((32, 1, 1))
    memory = Memory()
    address = memory.register(np.zeros(128, np.uint8), name="a")

    def run() -> None:
        for _ in range(_COUNT):
            dispatch(executable, memory, [address], threadgroups=(1, 1, 1))

    return median_seconds(run, repetitions) / _COUNT


def _metal_seconds(repetitions: int) -> float:
    metal: Any = api.load("emulated")
    device = metal.MTLCreateSystemDefaultDevice()
    library, error = device.newLibraryWithSource_options_error_(_SOURCE, None, None)
    if library is None:
        raise SystemExit(error.localizedDescription())
    function = library.newFunctionWithName_("increment")
    pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
    if pipeline is None:
        raise SystemExit(error.localizedDescription())
    buffer = device.newBufferWithLength_options_(128, metal.MTLResourceStorageModeShared)
    queue = device.newCommandQueue()
    one, lanes = metal.MTLSizeMake(1, 1, 1), metal.MTLSizeMake(32, 1, 1)

    def run() -> None:
        command_buffer = queue.commandBuffer()
        encoder = command_buffer.computeCommandEncoder()
        for _ in range(_COUNT):
            encoder.setComputePipelineState_(pipeline)
            encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(one, lanes)
        encoder.endEncoding()
        command_buffer.commit()
        command_buffer.waitUntilCompleted()

    seconds = median_seconds(run, repetitions) / _COUNT
    done = np.frombuffer(buffer.contents().as_buffer(128), np.uint32)
    if not (done == (repetitions + 1) * _COUNT).all():
        raise SystemExit(
            f"dispatch: wrong result, {done[0]} instead of {(repetitions + 1) * _COUNT}"
        )
    return seconds
