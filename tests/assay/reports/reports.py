"""A report with a race, a warning and a kernel that could not be checked."""

from assay.checks import KernelRecord, Report
from assay.reports.suppressions import Suppression
from assay.sim.check import Finding, Party
from assay.sim.site import Site

SOURCE = """kernel void reduce(device float* y, threadgroup float* s) {
    s[lid] = x[gid];
\tfloat v = s[lid + 1];
    y[gid] = v;
}
"""
RACE = Finding(
    check="race",
    kind="race-read-write",
    kernel="reduce",
    message="a read and a write of threadgroup array 's' with no barrier between them",
    parties=(
        Party(
            what="read of 4 bytes",
            site=Site("k.metal", 3, 12, "load", (Site("k.metal", 4, 5, "reduce"),)),
            threadgroup=(1, 0, 0),
            thread=(31, 0, 0),
            simdgroup=0,
            lane=31,
            epoch=2,
        ),
        Party(
            what="write of 4 bytes",
            site=Site("k.metal", 2, 5, "reduce"),
            threadgroup=(1, 0, 0),
            thread=(32, 0, 0),
            simdgroup=1,
            lane=0,
            epoch=2,
        ),
    ),
    memory="s",
    offset=128,
    hint="put a threadgroup_barrier between the two",
    count=7,
)
OUTSIDE = Finding(
    check="bounds",
    kind="out-of-bounds-read",
    kernel="copy",
    message="out-of-bounds read of 4 bytes at byte 16384 of x, which has 16384 bytes",
    parties=(Party(what="read of 4 bytes", site=Site("k.metal", 4, 5)),),
    memory="x",
    offset=16384,
)


def example(*suppressions: Suppression) -> Report:
    report = Report(["bounds", "race"], suppressions=suppressions)
    report.add_sources({"k.metal": SOURCE})
    report.add_kernel(KernelRecord(name="reduce", file="k.metal", line=1, runs=("3 threadgroups",)))
    report.add_kernel(
        KernelRecord(
            name="copy",
            file="k.metal",
            line=4,
            assumptions=("x: 4096 x float, random",),
            assumed_memory=frozenset({"x"}),
        )
    )
    report.add_kernel(KernelRecord(name="blur", file="k.metal", line=5, problem="takes a texture"))
    report.add(RACE)
    report.add(OUTSIDE)
    return report
