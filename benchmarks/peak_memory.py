"""Peak memory of one vector add, in a process of its own: `peak_memory COUNT THREADS [CHECKS]`."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from assay.sim.check import Checker
from assay.sim.check.checker import parse_checks

from .contenders import OnAssay
from .workloads import vector_add

_STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The most memory this process had at once.

    Linux hands a parent's peak down to `ru_maxrss` of its children, but not to `VmHWM`.
    """
    if _STATUS.exists():
        line = next(x for x in _STATUS.read_text().splitlines() if x.startswith("VmHWM:"))
        return int(line.split()[1]) << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes, where there is no /proc


def main() -> None:
    count, threads = (int(word) for word in sys.argv[1:3])
    checks = parse_checks(sys.argv[3] if len(sys.argv) > 3 else "")
    workload = vector_add(count)
    prepared = OnAssay(workload, workers=threads)
    prepared.run(Checker(checks) if checks else None)
    peak = peak_bytes()  # before the comparison, which takes memory too
    prepared.check()
    print(json.dumps({"peak": peak, "data": sum(array.nbytes for array in workload.buffers)}))


if __name__ == "__main__":
    main()
