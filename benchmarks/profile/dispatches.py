"""What each dispatch of a model takes, and how its kernel uses lanes and reaches memory."""

from __future__ import annotations

import math
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from assay.sim import simt
from assay.sim.simt.analysis.windows import plan
from assay.sim.simt.emit.values import Values
from assay.sim.simt.ir.llvm_types import Scalar, size_of
from assay.sim.simt.ir.nodes import Instruction
from assay.sim.simt.ir.operations.operation import Lanes
from assay.sim.simt.run.executable import Executable

_EXTENTS = re.compile(r"_(\d+(?:x\d+)+)")


@dataclass(slots=True)
class Dispatches:
    """All dispatches of one kernel."""

    executable: Executable
    threadgroups: tuple[int, int, int]
    seconds: list[float] = field(default_factory=list)

    def median(self, calls: int) -> float:
        """What its dispatches of one call take together."""
        return statistics.median(self.seconds) * len(self.seconds) / calls


@contextmanager
def timed() -> Iterator[dict[str, Dispatches]]:
    """Note the processor time of all dispatches of what is loaded here, on one thread."""
    found: dict[str, Dispatches] = {}
    plain, together = simt.dispatch, simt.dispatch_together

    def dispatch(executable: Executable, *arguments: Any, **options: Any) -> None:
        name = executable.program.name
        groups = options.get("threadgroups") or (0, 0, 0)
        known = found.setdefault(name, Dispatches(executable, tuple(map(int, groups))))  # type: ignore[arg-type]
        start = time.thread_time()
        plain(executable, *arguments, **{**options, "workers": 1})
        known.seconds.append(time.thread_time() - start)

    def one_by_one(requests: Sequence[simt.Request], **options: Any) -> None:
        for each in requests:
            grid = {"threads": each.threads, "threadgroups": each.threadgroups}
            dispatch(each.executable, each.memory, each.arguments, **grid, **options)

    simt.dispatch, simt.dispatch_together = dispatch, one_by_one
    try:
        yield found
    finally:
        simt.dispatch, simt.dispatch_together = plain, together


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """How a kernel uses lanes: of 32, so many run, of so many threadgroups at once.

    `across` says that an operation across lanes or an atomic one lets all lanes run. `ways` counts
    the accesses in loops by how they reach memory.
    """

    lanes: int
    packs: int
    across: bool
    ways: Counter[str]


def use_of(executable: Executable) -> Use:
    """How a kernel is run at a shape."""
    function = executable.program.function
    values = Values(function, executable.shape, packed=True)
    ways: Counter[str] = Counter()
    for block in values.cfg.order:
        if values.cfg.innermost[block] is not None:
            values.block = block
            accesses = (each for each in block.body if each.operation.accesses_memory)
            ways.update(_way(values, each) for each in accesses)
    packs = max(values.groups) + 1
    across = any(
        each.operation.lanes is Lanes.CROSSING or each.operation.is_atomic
        for each in values.function.instructions()
    )
    return Use(lanes=len(values.kept) // packs, packs=packs, across=across, ways=ways)


def _way(values: Values, access: Instruction) -> str:
    if not values.varying(access.operands[0]):
        return "one place"
    form = values.form(access.operands[0])
    size = size_of(Scalar(access.element))
    writing = access.operation.writes_memory
    windows = plan(form, size, access.components, writing=writing) if form is not None else None
    return "lane by lane" if windows is None else "plain"


def elements(name: str) -> int:
    """The innermost operations of a dispatch, by the extents in the name that IREE gave it."""
    found = _EXTENTS.search(name)
    return math.prod(map(int, found[1].split("x"))) if found is not None else 0


def totals(found: dict[str, Dispatches], calls: int) -> dict[str, float]:
    """Seconds of each kernel in one call, the longest first."""
    taken: dict[str, float] = defaultdict(float)
    for name, each in found.items():
        taken[name] += each.median(calls)
    return dict(sorted(taken.items(), key=lambda pair: -pair[1]))
