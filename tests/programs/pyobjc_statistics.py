"""Mean and variance on the GPU: private buffers, blits, two kernels, handlers and semaphores.

The kernels lie in a file beside the script; the size of threadgroups is a function constant.
"""

import ctypes
import os

import Foundation
import libdispatch
import Metal
import numpy as np
import objc

THREADS = 128


class Statistics:
    def __init__(self):
        self.device = Metal.MTLCreateSystemDefaultDevice()
        if self.device is None:
            raise SystemExit("this machine has no Metal device")
        path = os.path.join(os.path.dirname(__file__), "pyobjc_statistics.metal")
        url = Foundation.NSURL.fileURLWithPath_(path)
        source, error = Foundation.NSString.stringWithContentsOfFile_encoding_error_(
            url.path(), Foundation.NSUTF8StringEncoding, None
        )
        if source is None:
            raise SystemExit(error.localizedDescription())
        self.library, error = self.device.newLibraryWithSource_options_error_(source, None, None)
        if self.library is None:
            raise SystemExit(error.localizedDescription())
        self.queue = self.device.newCommandQueueWithMaxCommandBufferCount_(8)
        self.partial = self.pipeline("partial_sums")
        self.final = self.pipeline("finish")

    def pipeline(self, name):
        values = Metal.MTLFunctionConstantValues.alloc().init()
        threads = ctypes.c_uint32(THREADS)
        values.setConstantValue_type_atIndex_(threads, Metal.MTLDataTypeUInt, 0)
        function, error = self.library.newFunctionWithName_constantValues_error_(name, values, None)
        if function is None:
            raise SystemExit(error.localizedDescription())
        state, error = self.device.newComputePipelineStateWithFunction_error_(function, None)
        if state is None:
            raise SystemExit(error.localizedDescription())
        return state

    def __call__(self, values):
        groups = -(-values.size // THREADS)
        staging = self.device.newBufferWithBytes_length_options_(
            Foundation.NSData.dataWithBytes_length_(values, values.nbytes),
            values.nbytes,
            Metal.MTLResourceStorageModeShared,
        )
        private = Metal.MTLResourceStorageModePrivate
        data = self.device.newBufferWithLength_options_(values.nbytes, private)
        sums = self.device.newBufferWithLength_options_(groups * 8, private)
        result = self.device.newBufferWithLength_options_(8, Metal.MTLResourceStorageModeShared)
        data.setLabel_("data")

        with objc.autorelease_pool():
            commands = self.queue.commandBuffer()
            blit = commands.blitCommandEncoder()
            blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
                staging, 0, data, 0, values.nbytes
            )
            blit.endEncoding()
            encoder = commands.computeCommandEncoder()
            encoder.setComputePipelineState_(self.partial)
            encoder.setBuffer_offset_atIndex_(data, 0, 0)
            encoder.setBuffer_offset_atIndex_(sums, 0, 1)
            count = np.array([values.size], np.uint32)
            encoder.setBytes_length_atIndex_(count, count.nbytes, 2)
            encoder.dispatchThreadgroups_threadsPerThreadgroup_((groups, 1, 1), (THREADS, 1, 1))
            encoder.setComputePipelineState_(self.final)
            encoder.setBuffer_offset_atIndex_(sums, 0, 0)
            encoder.setBuffer_offset_atIndex_(result, 0, 1)
            encoder.setBytes_length_atIndex_(np.array([groups], np.uint32), 4, 3)
            encoder.setThreadgroupMemoryLength_atIndex_(THREADS * 8, 0)
            encoder.dispatchThreadgroups_threadsPerThreadgroup_(
                Metal.MTLSize(1, 1, 1), Metal.MTLSize(THREADS, 1, 1)
            )
            encoder.endEncoding()

        finished = libdispatch.dispatch_semaphore_create(0)
        commands.addCompletedHandler_(
            lambda _: libdispatch.dispatch_semaphore_signal(finished) and None
        )
        commands.commit()
        libdispatch.dispatch_semaphore_wait(finished, libdispatch.DISPATCH_TIME_FOREVER)
        if commands.status() == Metal.MTLCommandBufferStatusError:
            raise SystemExit(commands.error().localizedDescription())
        total, squares = np.frombuffer(result.contents().as_buffer(8), np.float32)
        mean = total / values.size
        return mean, squares / values.size - mean**2


def main():
    values = np.random.default_rng(5).normal(2, 3, 5000).astype(np.float32)
    mean, variance = Statistics()(values)
    print("mean is right:", bool(np.isclose(mean, values.mean(), rtol=1e-4)))
    print("variance is right:", bool(np.isclose(variance, values.var(), rtol=1e-3)))


if __name__ == "__main__":
    pool = Foundation.NSAutoreleasePool.alloc().init()
    main()
    del pool
