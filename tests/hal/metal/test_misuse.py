"""Calls with any arguments are refused in words or obeyed; the device works on afterwards."""

import inspect
import random
import threading
from typing import Any

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalError, MTLBuffer, MTLDevice
from assay.hal.metal.emulated.manual import methods
from tests.support.metal_fakes import fake_device

CALLS = 3000
MOST_OBJECTS = 60
# They block, by their nature, until somebody else acts.
BLOCKING = {
    "waitUntilCompleted",
    "waitUntilScheduled",
    "waitUntilSignaledValue_timeoutMS_",
}
NUMBERS = (0, 1, -1, 4, 16, 31, 32, 2**31, 2**32, 2**63, 2**64, -(2**70), 1.5, 2.0, float("nan"))
OTHERS: tuple[Any, ...] = (
    None,
    True,
    "",
    "add_one",
    b"",
    b"1234",
    bytearray(64),
    np.arange(8),
    np.float32(1),
    np.int64(8),
    (1, 1, 1),
    (0, 0, 0),
    (1, 2),
    (2**40, 1, 1),
    ("a", 1, 1),
    [],
    {},
    object(),
    (0, 4),
    (4, 2**60),
    print,
)


def objects(device: MTLDevice) -> list[Any]:
    """One object of each kind."""
    library, _ = device.newLibraryWithSource_options_error_("", None, None)
    assert library is not None
    function = library.newFunctionWithName_("add_one")
    assert function is not None
    state, _ = device.newComputePipelineStateWithFunction_error_(function, None)
    queue = device.newCommandQueueWithMaxCommandBufferCount_(10_000)
    first, second = queue.commandBuffer(), queue.commandBuffer()
    heap = Metal.MTLHeapDescriptor.new()
    heap.setSize_(4096)
    heap.setStorageMode_(Metal.MTLStorageModeShared)
    made = [device, library, function, state, queue, first, second, queue.commandBuffer(), heap]
    made += [first.computeCommandEncoder(), second.blitCommandEncoder(), device.newEvent()]
    made += [device.newHeapWithDescriptor_(heap), device.newSharedEvent(), device.newFence()]
    made += [Metal.MTLSharedEventListener.new(), Metal.MTLFunctionConstantValues.new()]
    made += [Metal.MTLCompileOptions.new(), Metal.MTLComputePipelineDescriptor.new()]
    made += [Metal.MTLArgumentDescriptor.new(), device.newBufferWithLength_options_(64, 0)]
    return [*made, device.newBufferWithLength_options_(64, Metal.MTLResourceStorageModePrivate)]


@pytest.mark.parametrize("seed", range(4))
def test_any_call_is_refused_in_words_or_obeyed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Handlers and blocks are among the arguments, and what they are called with confuses them.
    monkeypatch.setattr(threading, "excepthook", lambda report: None)
    chance = random.Random(seed)
    device = fake_device(memory=1 << 24)
    there = objects(device)
    for _ in range(CALLS):
        target = chance.choice(there)
        names = [name for name, _ in methods(type(target)) if name not in BLOCKING]
        call = getattr(target, chance.choice(names))
        arguments = [
            chance.choice(chance.choice((NUMBERS, OTHERS, there)))
            for _ in inspect.signature(call).parameters
        ]
        try:
            result = call(*arguments)
        except MetalError as refusal:
            assert str(refusal)
        except ValueError as error:  # NumPy arrays have no truth value, in Python's own words
            assert "truth value of an array" in str(error)
        else:
            if isinstance(result, MTLBuffer) and len(there) < MOST_OBJECTS:
                there.append(result)
    command_buffer = device.newCommandQueue().commandBuffer()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    assert command_buffer.status() == Metal.MTLCommandBufferStatusCompleted
