"""What the host programs beside this file share: a device, kernels, buffers and bindings."""

import sys

import Metal
import numpy as np

FIXED = "fixed" in sys.argv[1:]
SHARED = Metal.MTLResourceStorageModeShared
UNTRACKED = SHARED | Metal.MTLResourceHazardTrackingModeUntracked
CONCURRENT = Metal.MTLDispatchTypeConcurrent
device = Metal.MTLCreateSystemDefaultDevice()
queue = device.newCommandQueue()


def kernels(source):
    """A pipeline state for each kernel of the source, by name."""
    library, error = device.newLibraryWithSource_options_error_(source, None, None)
    assert library is not None, error
    states = {}
    for name in library.functionNames():
        function = library.newFunctionWithName_(name)
        state, error = device.newComputePipelineStateWithFunction_error_(function, None)
        assert state is not None, error
        states[name] = state
    return states


def buffer(label, data=64, options=SHARED):
    """A buffer of so many floats, or of the bytes of an array."""
    if isinstance(data, int):
        made = device.newBufferWithLength_options_(4 * data, options)
    else:
        made = device.newBufferWithBytes_length_options_(data, data.nbytes, options)
    made.setLabel_(label)
    return made


def view(made, kind=np.float32):
    """The buffer's contents as an array, without a copy."""
    return np.frombuffer(made.contents().as_buffer(made.length()), kind)


def bind(encoder, state, *buffers):
    """Set the kernel and its buffers from index 0 on."""
    encoder.setComputePipelineState_(state)
    for index, each in enumerate(buffers):
        encoder.setBuffer_offset_atIndex_(each, 0, index)
