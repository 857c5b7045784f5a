"""Commands of indirect command buffers are recorded one by one, as dispatches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.hal.recordings import Recording
from assay.recordings import replay
from tests.support.recorded import as_floats, counted, floats, record

SOURCE = """
kernel void add(device float* a [[buffer(0)]], constant float& n [[buffer(1)]],
                uint i [[thread_position_in_grid]]) { a[i] += n; }
"""
ONE = (1, 1, 1)
COUNT = 4


class Adds:
    """Commands that each add a number of their own to an element of `target`."""

    def __init__(self, metal: Any, *, inherits: bool) -> None:
        device = self.device = metal.MTLCreateSystemDefaultDevice()
        library, error = device.newLibraryWithSource_options_error_(SOURCE, None, None)
        assert library is not None, error
        described = metal.MTLComputePipelineDescriptor.new()
        described.setComputeFunction_(library.newFunctionWithName_("add"))
        described.setSupportIndirectCommandBuffers_(True)
        make = device.newComputePipelineStateWithDescriptor_options_reflection_error_
        self.pipeline, _, error = make(described, 0, None, None)
        assert self.pipeline is not None, error
        kind = metal.MTLIndirectCommandBufferDescriptor.new()
        kind.setCommandTypes_(metal.MTLIndirectCommandTypeConcurrentDispatchThreads)
        kind.setInheritPipelineState_(inherits)
        kind.setInheritBuffers_(inherits)
        kind.setMaxKernelBufferBindCount_(4)
        indirect = device.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_
        self.commands = indirect(kind, COUNT, 0)
        self.target = floats(device, np.zeros(COUNT))
        self.amounts = [floats(device, [10.0 + index]) for index in range(COUNT)]
        for index in range(COUNT):
            command = self.commands.indirectComputeCommandAtIndex_(index)
            if not inherits:
                command.setComputePipelineState_(self.pipeline)
                command.setKernelBuffer_offset_atIndex_(self.target, 4 * index, 0)
                command.setKernelBuffer_offset_atIndex_(self.amounts[index], 0, 1)
            command.concurrentDispatchThreads_threadsPerThreadgroup_(ONE, ONE)
        self.commands.resetWithRange_((2, 1))


def run(metal: Any, *, inherits: bool, by: str) -> list[float]:
    """Execute commands 1 to 3 of four, of which 2 was reset; what they computed."""
    adds = Adds(metal, inherits=inherits)
    buffers = adds.device.newCommandQueue().commandBuffer()
    encoder = buffers.computeCommandEncoder()
    if inherits:
        encoder.setComputePipelineState_(adds.pipeline)
        encoder.setBuffer_offset_atIndex_(adds.target, 0, 0)
        encoder.setBuffer_offset_atIndex_(adds.amounts[0], 0, 1)
    usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
    encoder.useResources_count_usage_([adds.target, *adds.amounts], 1 + COUNT, usage)
    if by == "range":
        encoder.executeCommandsInBuffer_withRange_(adds.commands, (1, 3))
    else:
        words = np.array([1, 3], np.uint32)
        span = adds.device.newBufferWithBytes_length_options_(words, 8, 0)
        encoder.executeCommandsInBuffer_indirectBuffer_indirectBufferOffset_(adds.commands, span, 0)
    encoder.endEncoding()
    buffers.commit()
    buffers.waitUntilCompleted()
    assert buffers.error() is None, buffers.error().localizedDescription()
    return as_floats(adds.target)


@pytest.mark.parametrize("by", ["range", "buffer"])
@pytest.mark.parametrize("inherits", [False, True])
def test_each_command_is_a_dispatch_of_its_own(tmp_path: Path, inherits: bool, by: str) -> None:
    found: list[list[float]] = []
    dispatches = record(
        tmp_path / "a", lambda metal: found.append(run(metal, inherits=inherits, by=by))
    )
    assert found == [[20, 0, 0, 0] if inherits else [0, 11, 0, 13]]
    assert len(dispatches) == 2
    with Recording(tmp_path / "a") as recording:
        assert recording.header.left_out == {}
    result = replay(tmp_path / "a")
    assert result.passed, str(result)


def test_commands_that_the_device_copied_run_and_are_counted(tmp_path: Path) -> None:
    def copied(metal: Any) -> None:
        adds, other = Adds(metal, inherits=False), Adds(metal, inherits=False)
        buffers = adds.device.newCommandQueue().commandBuffer()
        blit = buffers.blitCommandEncoder()
        copy = "copyIndirectCommandBuffer_sourceRange_destination_destinationIndex_"
        getattr(blit, copy)(adds.commands, (0, 1), other.commands, 2)
        blit.endEncoding()
        encoder = buffers.computeCommandEncoder()
        usage = metal.MTLResourceUsageRead | metal.MTLResourceUsageWrite
        encoder.useResources_count_usage_([adds.target, *adds.amounts], 1 + COUNT, usage)
        encoder.executeCommandsInBuffer_withRange_(other.commands, (2, 1))
        encoder.endEncoding()
        buffers.commit()
        buffers.waitUntilCompleted()
        assert as_floats(adds.target) == [10, 0, 0, 0]

    found, others = counted(tmp_path / "a", copied)
    assert found == []
    (reason,) = others
    assert "indirect command buffers" in reason
