"""PoCL in a process whose environment sets its threads.

Called as `peer_pocl list`, or as `peer_pocl run PLATFORM`, which runs a kernel for each line
with its name, its size and the number of repetitions.

Needs `pyopencl` and some PoCL: the wheel `pocl-binary-distribution`, a distribution's package
(`pocl-opencl-icd`), or one of conda-forge.
"""

from __future__ import annotations

import json
import sys

import pyopencl as cl

from .measure import median_seconds
from .opencl import OpenCL, Prepared
from .turns import answer_each
from .workloads import BY_KERNEL


def _platforms() -> dict[str, cl.Platform]:
    found = {}
    for platform in cl.get_platforms():
        if "portable" in platform.name.lower():
            version = next(
                w for w in platform.version.split("PoCL", 1)[1].split() if w[0].isdigit()
            )
            found[f"PoCL {version}"] = platform
    return found


def main() -> None:
    platforms = _platforms()
    if sys.argv[1] == "list":
        print(json.dumps(dict.fromkeys(platforms, 0.0)))
        return
    opencl = OpenCL(platforms[sys.argv[2]])
    prepared: dict[tuple[str, str], Prepared] = {}  # by kernel and size

    def measure(line: str) -> float:
        kernel, size, repetitions = line.split()
        work = prepared.get((kernel, size))
        if work is None:
            work = prepared[kernel, size] = opencl.prepare(BY_KERNEL[kernel](int(size)))
            work.check(sys.argv[2])
        return median_seconds(work.run, int(repetitions))

    answer_each(measure)


if __name__ == "__main__":
    main()
