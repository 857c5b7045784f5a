"""One workload on Oclgrind, in a process that Oclgrind was told to start.

Called as `oclgrind [OPTIONS] python -m benchmarks.peer_oclgrind KERNEL SIZE`.

Only the run of the kernel is timed, neither Oclgrind's start nor its compiler. One run after one to
warm up, since each takes seconds.
"""

from __future__ import annotations

import json
import sys

import pyopencl as cl

from .measure import median_seconds
from .opencl import OpenCL
from .workloads import BY_KERNEL


def main() -> None:
    work = BY_KERNEL[sys.argv[1]](int(sys.argv[2]))
    platform = next((p for p in cl.get_platforms() if "oclgrind" in p.name.lower()), None)
    if platform is None:
        raise SystemExit("Oclgrind's OpenCL is not what this process sees; start it by `oclgrind`")
    prepared = OpenCL(platform).prepare(work)
    prepared.check("Oclgrind")
    print(json.dumps({"seconds": median_seconds(prepared.run, 1, warm_up=0)}))


if __name__ == "__main__":
    main()
