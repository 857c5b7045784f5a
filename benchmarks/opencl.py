"""A workload's OpenCL C kernel on some OpenCL implementation; needs `pyopencl`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyopencl as cl

from .sources import OPENCL
from .workloads import Workload


class OpenCL:
    """The first device of a platform, with the measured kernels built for it."""

    def __init__(self, platform: cl.Platform) -> None:
        context = cl.Context(platform.get_devices()[:1])
        self._queue = cl.CommandQueue(context)
        self._program = cl.Program(context, OPENCL).build()

    def prepare(self, work: Workload) -> Prepared:
        """A kernel with its buffers on the device already."""
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = {
            number: cl.Buffer(self._queue.context, flags, hostbuf=array)
            for number, array in enumerate(work.buffers)
            if array.size > 1
        }
        return Prepared(work, self._queue, cl.Kernel(self._program, work.kernel), buffers)


class Prepared:
    """A workload that can be run again and again."""

    def __init__(
        self,
        work: Workload,
        queue: cl.CommandQueue,
        kernel: cl.Kernel,
        buffers: Mapping[int, cl.Buffer],
    ) -> None:
        self._work, self._queue, self._kernel, self._buffers = work, queue, kernel, buffers
        self._arguments = [
            buffers[number] if number in buffers else np.uint32(array.reshape(-1)[0])
            for number, array in enumerate(work.buffers)
        ]

    def run(self) -> None:
        """Run it, and wait until it is done."""
        work = self._work
        self._kernel(self._queue, work.threads, work.threadgroup, *self._arguments)
        self._queue.finish()

    def check(self, who: str) -> None:
        """Run it and compare the result with NumPy's; see `Workload.check`."""
        self.run()
        result = np.empty_like(self._work.buffers[self._work.result])
        cl.enqueue_copy(self._queue, result, self._buffers[self._work.result])
        self._work.check(result, who)
