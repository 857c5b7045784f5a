"""Tables of visible functions are recorded and filled anew where they are replayed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.hal.recordings import Recording
from assay.recordings import replay
from tests.support.recorded import SIZE, as_floats, floats, record

SOURCE = """
#include <metal_stdlib>
using namespace metal;
constant float shift [[function_constant(0)]];
[[visible]] float twice(float x) { return 2 * x; }
[[visible]] float square(float x) { return x * x + shift; }
typedef float Map(float);
struct Tables { visible_function_table<Map> maps [[id(0)]]; };
kernel void apply(device float* out [[buffer(0)]],
                  visible_function_table<Map> maps [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
  out[i] = maps[i % maps.size()](float(i));
}
kernel void nested(device float* out [[buffer(0)]], constant Tables& tables [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  out[i] = tables.maps[i % 2](float(i));
}
"""
EXPECTED = [0.0, 1.5, 4.0, 9.5, 8.0, 25.5, 12.0, 49.5]


class Linked:
    """A kernel that is linked with two functions, which a table holds, and its output."""

    def __init__(self, metal: Any, kernel: str) -> None:
        self.device = metal.MTLCreateSystemDefaultDevice()
        library, error = self.device.newLibraryWithSource_options_error_(SOURCE, None, None)
        assert library is not None, error
        values = metal.MTLFunctionConstantValues.new()
        values.setConstantValue_type_atIndex_(np.float32(0.5).tobytes(), metal.MTLDataTypeFloat, 0)
        make = library.newFunctionWithName_constantValues_error_
        self.function = make(kernel, values, None)[0]
        visible = [make(name, values, None)[0] for name in ("twice", "square")]
        linked = metal.MTLLinkedFunctions.new()
        linked.setFunctions_(visible[::-1])
        described = metal.MTLComputePipelineDescriptor.new()
        described.setComputeFunction_(self.function)
        described.setLinkedFunctions_(linked)
        pipeline = self.device.newComputePipelineStateWithDescriptor_options_reflection_error_
        self.state, _, error = pipeline(described, 0, None, None)
        assert self.state is not None, error
        wanted = metal.MTLVisibleFunctionTableDescriptor.new()
        wanted.setFunctionCount_(2)
        self.table = self.state.newVisibleFunctionTableWithDescriptor_(wanted)
        self.handles = [self.state.functionHandleWithFunction_(each) for each in visible]
        self.out = floats(self.device, np.zeros(8))

    def bind(self, metal: Any, encoder: Any, how: str) -> None:
        """Fill the table and pass it."""
        if how == "ranges":
            self.table.setFunctions_withRange_(self.handles, (0, 2))
            encoder.setVisibleFunctionTables_withBufferRange_([self.table], (1, 1))
            return
        for place, handle in enumerate(self.handles):
            self.table.setFunction_atIndex_(handle, place)
        if how == "places":
            encoder.setVisibleFunctionTable_atBufferIndex_(self.table, 1)
            return
        arguments = self.function.newArgumentEncoderWithBufferIndex_(1)
        buffer = self.device.newBufferWithLength_options_(arguments.encodedLength(), 0)
        arguments.setArgumentBuffer_offset_(buffer, 0)
        arguments.setVisibleFunctionTable_atIndex_(self.table, 0)
        encoder.useResource_usage_(self.table, metal.MTLResourceUsageRead)
        encoder.setBuffer_offset_atIndex_(buffer, 0, 1)


def mapped(metal: Any, how: str) -> list[float]:
    """Maps numbers by functions of a table, twice."""
    linked = Linked(metal, "nested" if how == "argument buffer" else "apply")
    commands = linked.device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(linked.state)
    encoder.setBuffer_offset_atIndex_(linked.out, 0, 0)
    linked.bind(metal, encoder, how)
    for _ in range(2):
        encoder.dispatchThreads_threadsPerThreadgroup_(SIZE, SIZE)
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert commands.error() is None
    return as_floats(linked.out)


@pytest.mark.parametrize("how", ["places", "ranges", "argument buffer"])
def test_functions_are_called_by_the_places_that_the_program_gave_them(
    tmp_path: Path, how: str
) -> None:
    found: list[list[float]] = []
    dispatches = record(tmp_path / "a", lambda metal: found.append(mapped(metal, how)))
    assert found == [EXPECTED]
    assert len(dispatches) == 2
    with Recording(tmp_path / "a") as recording:
        assert recording.header.left_out == {}
        names = [each.name for each in recording.header.kernels]
    assert names == ["square", "twice", "nested" if how == "argument buffer" else "apply"]
    result = replay(tmp_path / "a")
    assert result.passed, str(result)
