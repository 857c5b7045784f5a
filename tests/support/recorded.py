"""Programs that are recorded: they take a Metal API and dispatch kernels with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from assay.hal.metal import emulated
from assay.hal.metal.recorder import Chosen, RecordingMetal, Session
from assay.hal.recordings import DeviceInfo, DispatchRecord, Recording, RecordingWriter

SCALE = """
#include <metal_stdlib>
using namespace metal;
kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant float& by [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    y[i] = x[i] * by;
}
"""
INFO = DeviceInfo(name="Apple M1", kind="emulated", system="here", recorder="0")
SIZE = (8, 1, 1)
Program = Callable[[Any], Any]


def record(path: Path, program: Program, chosen: Chosen | None = None) -> list[DispatchRecord]:
    """What a program's recording has, which lies at `path` then, if it has any."""
    return counted(path, program, chosen)[0]


def counted(
    path: Path, program: Program, chosen: Chosen | None = None
) -> tuple[list[DispatchRecord], dict[str, int]]:
    """The same, and how many dispatches were left out for each reason."""
    writer = RecordingWriter(path, INFO, "program")
    metal = RecordingMetal(Session(emulated, writer, chosen))
    program(metal)
    assert metal.finish(60)
    if not writer.dispatches:
        return [], writer.left_out
    with Recording(path) as recording:
        return list(recording.dispatches()), recording.header.left_out


def pipeline(metal: Any, device: Any, source: str, name: str) -> Any:
    """The kernel `name` of a source, ready to run."""
    library, error = device.newLibraryWithSource_options_error_(source, None, None)
    assert library is not None, error
    function = library.newFunctionWithName_(name)
    state, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert state is not None, error
    return state


def floats(device: Any, values: Any, options: int = 0) -> Any:
    """A buffer of floats."""
    data = np.asarray(values, np.float32)
    return device.newBufferWithBytes_length_options_(data, data.nbytes, options)


def encode_scale(metal: Any, encoder: Any, x: Any, y: Any, by: float = 2.0) -> None:
    """Sets all that `SCALE` takes."""
    encoder.setComputePipelineState_(pipeline(metal, encoder.device(), SCALE, "scale"))
    encoder.setBuffer_offset_atIndex_(x, 0, 0)
    encoder.setBuffer_offset_atIndex_(y, 0, 1)
    encoder.setBytes_length_atIndex_(np.float32(by).tobytes(), 4, 2)


def ran(commands: Any, encoder: Any) -> None:
    """Ends what was encoded and waits for it."""
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()


def scale(metal: Any, times: int = 1, by: float = 2.0) -> Any:
    """Scales numbers, each time the result of the time before; the buffer of the last result."""
    device = metal.MTLCreateSystemDefaultDevice()
    state = pipeline(metal, device, SCALE, "scale")
    x = floats(device, np.arange(1, 9))
    queue = device.newCommandQueue()
    for _ in range(times):
        y = floats(device, np.zeros(8))
        commands = queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setLabel_("scaling")
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(x, 0, 0)
        encoder.setBuffer_offset_atIndex_(y, 0, 1)
        encoder.setBytes_length_atIndex_(np.float32(by).tobytes(), 4, 2)
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        x = y
    return x


def as_floats(buffer: Any) -> list[float]:
    """What a buffer of floats holds."""
    return np.frombuffer(buffer.contents().as_buffer(buffer.length()), np.float32).tolist()
