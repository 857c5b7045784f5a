"""PoCL in a process whose environment sets its threads.

Called as `peer_pocl list` or `peer_pocl run PLATFORM REPETITIONS`.

Needs `pyopencl` and some PoCL: the wheel `pocl-binary-distribution`, a distribution's package
(`pocl-opencl-icd`), or one of conda-forge.
"""

from __future__ import annotations

import json
import sys

import numpy as np
import pyopencl as cl

from .measure import median_seconds
from .sources import OPENCL
from .workloads import Workload, softmax, tiled_gemm, vector_add


def _platforms() -> dict[str, cl.Platform]:
    found = {}
    for platform in cl.get_platforms():
        if "portable" in platform.name.lower():
            version = next(
                w for w in platform.version.split("PoCL", 1)[1].split() if w[0].isdigit()
            )
            found[f"PoCL {version}"] = platform
    return found


def _seconds(queue: cl.CommandQueue, program: cl.Program, work: Workload, times: int) -> float:
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [
        cl.Buffer(queue.context, flags, hostbuf=array)
        if array.size > 1
        else np.uint32(array.reshape(-1)[0])
        for array in work.buffers
    ]
    kernel = cl.Kernel(program, work.kernel)

    def run() -> None:
        kernel(queue, work.threads, work.threadgroup, *buffers)
        queue.finish()

    seconds = median_seconds(run, times)
    result = np.empty_like(work.buffers[work.result])
    cl.enqueue_copy(queue, result, buffers[work.result])
    work.check(result, "PoCL")
    return seconds


def main() -> None:
    platforms = _platforms()
    if sys.argv[1] == "list":
        print(json.dumps(dict.fromkeys(platforms, 0.0)))
        return
    name, repetitions = sys.argv[2], int(sys.argv[3])
    context = cl.Context(platforms[name].get_devices()[:1])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, OPENCL).build()
    works = (tiled_gemm(), softmax(), vector_add())
    print(json.dumps({w.kernel: _seconds(queue, program, w, repetitions) for w in works}))


if __name__ == "__main__":
    main()
