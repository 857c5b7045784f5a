"""A workload's OpenCL C kernel on some OpenCL implementation; needs `pyopencl`."""

from __future__ import annotations

import numpy as np
import pyopencl as cl

from .measure import median_seconds
from .sources import OPENCL
from .workloads import Workload


class OpenCL:
    """The first device of a platform, with the measured kernels built for it."""

    def __init__(self, platform: cl.Platform) -> None:
        context = cl.Context(platform.get_devices()[:1])
        self._queue = cl.CommandQueue(context)
        self._program = cl.Program(context, OPENCL).build()

    def seconds(self, work: Workload, times: int, *, who: str) -> float:
        """Median seconds of a run, after one, on buffers that are on the device already."""
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        buffers = {
            number: cl.Buffer(self._queue.context, flags, hostbuf=array)
            for number, array in enumerate(work.buffers)
            if array.size > 1
        }
        arguments = [
            buffers[number] if number in buffers else np.uint32(array.reshape(-1)[0])
            for number, array in enumerate(work.buffers)
        ]
        kernel = cl.Kernel(self._program, work.kernel)

        def run() -> None:
            kernel(self._queue, work.threads, work.threadgroup, *arguments)
            self._queue.finish()

        seconds = median_seconds(run, times)
        result = np.empty_like(work.buffers[work.result])
        cl.enqueue_copy(self._queue, result, buffers[work.result])
        work.check(result, who)
        return seconds
