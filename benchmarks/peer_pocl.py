"""PoCL in a process whose environment sets its threads.

Called as `peer_pocl list` or `peer_pocl run PLATFORM REPETITIONS`.

Needs `pyopencl` and some PoCL: the wheel `pocl-binary-distribution`, a distribution's package
(`pocl-opencl-icd`), or one of conda-forge.
"""

from __future__ import annotations

import json
import sys

import pyopencl as cl

from .opencl import OpenCL
from .workloads import softmax, tiled_gemm, vector_add


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
    name, repetitions = sys.argv[2], int(sys.argv[3])
    peer = OpenCL(platforms[name])
    works = (tiled_gemm(), softmax(), vector_add())
    found = {w.kernel: peer.seconds(w, repetitions, who=name) for w in works}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
