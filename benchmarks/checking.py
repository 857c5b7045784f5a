"""Kernels under the checks for races, bounds and initialisation, against Oclgrind and PoCL.

Everybody runs once before the time is taken: start-up, compilation and the first use of memory
count for nobody. What the first dispatch under a checker takes, which makes the shadow memory, is
shown besides.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

from assay.sim.check import Checker

from .contenders import OnAssay, Timing, against_pocl, on_assay, peer, plain_rows, pocl, runs_for
from .measure import Row, median_seconds
from .workloads import BY_KERNEL, SIZES, Workload

CHECKS = frozenset({"race", "init", "bounds"})
OCLGRIND_BAR = 1000.0  # times as fast as Oclgrind --data-races
FIRST_BAR = 500.0  # the same, of the first dispatch under a checker
# Shares of the speed of the best plain PoCL.
POCL_BARS = {"tiled_gemm": 0.8, "softmax_rows": 0.8, "vector_add": 0.6}
MEMORY_FACTOR, MEMORY_BASE = 4.0, 200e6  # memory for checking: times the data, and bytes more

# The sizes that Oclgrind is given take it seconds, nothing but work; with --full it gets those that
# the others run on, which take it minutes and, for the vector add, 10 GB.
_OCLGRIND_SIZES = {"tiled_gemm": 128, "softmax_rows": 1024, "vector_add": 1 << 22}
_FULL_SIZES = SIZES
_FIRST = "assay, checked, first time"
_OCLGRIND_TIMEOUT = 1800  # seconds for one kernel
_GET_OCLGRIND = (
    "Oclgrind is not installed, so nothing is compared with it: `apt-get install oclgrind` on "
    "Debian and Ubuntu, or build https://github.com/jrprice/Oclgrind"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """Median seconds of a checked dispatch: the first one under a checker, and later ones."""

    first: float
    later: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """The most memory a process had, in bytes, plain and checked, and the bytes of its buffers."""

    plain: float
    checked: float
    data: float

    @property
    def extra(self) -> float:
        """What checking took, in bytes."""
        return max(self.checked - self.plain, 0.0)

    @property
    def allowed(self) -> float:
        """What checking may take, in bytes."""
        return MEMORY_FACTOR * self.data + MEMORY_BASE


def rows(*, threads: int, repetitions: int, full: bool = False) -> list[Row]:
    """Measure everything; `full` gives Oclgrind the sizes that the others run on."""
    oclgrind = _oclgrind_version()
    if oclgrind is None:
        print(_GET_OCLGRIND, file=sys.stderr)
    sizes = _FULL_SIZES if full else _OCLGRIND_SIZES
    found: list[Row] = []
    for kernel, size in sizes.items():
        workload = BY_KERNEL[kernel](size)
        ours = on_assay_checked(workload, workers=threads, repetitions=repetitions)
        theirs = _on_oclgrind(oclgrind, kernel, size, threads) if oclgrind else None
        found += against_oclgrind(workload, ours, theirs)
    found += _all_against_pocl(threads, repetitions)
    peak = _peak(_FULL_SIZES["vector_add"], threads)
    return found if peak is None else [*found, memory_row(peak)]


class UnderChecks:
    """A workload under the checks, compiled already."""

    def __init__(self, workload: Workload, *, workers: int) -> None:
        self._prepared = OnAssay(workload, workers=workers)
        self._title = workload.title
        self._lasting = Checker(CHECKS)
        self.run_first()

    def run_first(self) -> None:
        """Run it under a checker of its own.

        Raises:
            SystemExit: if a check reports something: the kernels are right.
        """
        self._run(Checker(CHECKS))

    def run(self) -> None:
        """Run it under the checker that it ran under before; raises what `run_first` does."""
        self._run(self._lasting)

    def first(self, repetitions: int) -> float:
        """Median seconds of a first dispatch under a checker."""
        return median_seconds(self.run_first, min(repetitions, 5), warm_up=0)

    def check(self) -> None:
        """Compare the result with NumPy's; see `Workload.check`."""
        self._prepared.check("assay, checked")

    def _run(self, checker: Checker) -> None:
        self._prepared.run(checker)
        if checker.findings:
            raise SystemExit(
                f"{self._title}: a check reports {checker.findings[0].kind} in a kernel that "
                "is right; that is a defect of the check"
            )


def on_assay_checked(workload: Workload, *, workers: int, repetitions: int) -> Checked:
    """A workload under the checks; raises what `UnderChecks` does."""
    checked = UnderChecks(workload, workers=workers)
    first = checked.first(repetitions)
    runs = max(repetitions, runs_for(checked.run))
    found = Checked(first=first, later=median_seconds(checked.run, runs))
    checked.check()
    return found


# -- Oclgrind -------------------------------------------------------------------------------------


def _oclgrind_version() -> str | None:
    """The version of the Oclgrind that is installed, if one is."""
    program = shutil.which("oclgrind")
    if program is None:
        return None
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    version = re.search(r"Oclgrind (\S+)", done.stdout)
    return version[1] if version else "of an unknown version"


def _on_oclgrind(version: str, kernel: str, size: int, threads: int) -> Timing | None:
    found = peer(
        ["benchmarks.peer_oclgrind", kernel, str(size)],
        launcher=["oclgrind", "--data-races", "--num-threads", str(threads)],
        timeout=_OCLGRIND_TIMEOUT,
    )
    if found is None:
        return None
    return Timing(who=f"Oclgrind {version} --data-races", seconds=found["seconds"])


def against_oclgrind(workload: Workload, ours: Checked, theirs: Timing | None) -> list[Row]:
    """The rows of one workload on the size that Oclgrind is given."""

    def ratio(seconds: float) -> str:
        return f"{theirs.seconds / seconds:,.0f} x Oclgrind" if theirs else "no Oclgrind here"

    checked = Row(
        what=workload.title,
        who="assay, checked",
        seconds=ours.later,
        rate=workload.rate(ours.later),
        ratio=ratio(ours.later),
        bar=f">= {OCLGRIND_BAR:g} x",
        passed=theirs.seconds / ours.later >= OCLGRIND_BAR if theirs else None,
    )
    first = Row(
        what="",
        who=_FIRST,
        seconds=ours.first,
        rate=workload.rate(ours.first),
        ratio=ratio(ours.first),
        bar=f">= {FIRST_BAR:g} x",
        passed=theirs.seconds / ours.first >= FIRST_BAR if theirs else None,
    )
    return [checked, first, *plain_rows(workload, [theirs] if theirs else [])]


# -- PoCL -----------------------------------------------------------------------------------------


def _all_against_pocl(threads: int, repetitions: int) -> list[Row]:
    found: list[Row] = []
    with pocl(threads) as peers:
        for kernel, size in _FULL_SIZES.items():
            workload = BY_KERNEL[kernel](size)
            checked = UnderChecks(workload, workers=threads)
            first = Timing(who=_FIRST, seconds=checked.first(repetitions))
            row, theirs = against_pocl(
                workload,
                checked.run,
                peers(kernel, size),
                who="assay, checked",
                bar=POCL_BARS[kernel],
                repetitions=repetitions,
            )
            checked.check()
            plain = on_assay(workload, workers=threads, repetitions=repetitions)
            unchecked = Timing(who="assay, no checks", seconds=plain.seconds)
            found += [row, *plain_rows(workload, [first, unchecked, *theirs])]
    return found


# -- memory ---------------------------------------------------------------------------------------


def _peak(count: int, threads: int) -> Peak | None:
    """Peak memory of a vector add in fresh processes; its kernel is in the cache by now."""
    found = []
    for checks in ("", ",".join(sorted(CHECKS))):
        arguments = ["benchmarks.peak_memory", str(count), str(threads), checks]
        measured = peer(arguments)
        if measured is None:
            return None
        found.append(measured)
    plain, checked = found
    return Peak(plain=plain["peak"], checked=checked["peak"], data=plain["data"])


def memory_row(peak: Peak) -> Row:
    """The row about the memory that checking takes."""
    return Row(
        what=f"memory for checking, {peak.data / 1e6:.0f} MB of data",
        who="assay, checked",
        rate=f"{peak.extra / 1e6:.0f} MB",
        ratio=f"{peak.extra / peak.data:.2f} x the data",
        bar=f"<= {MEMORY_FACTOR:g} x + {MEMORY_BASE / 1e6:g} MB",
        passed=peak.extra <= peak.allowed,
    )
