"""Whether a kernel's results depend on the schedule: found by running it, without any check."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.launches.plan import Bound, Plan
from assay.sim.simt import KernelFault
from assay.sim.simt.ir.context import FIRST_BUFFER_HANDLE, HANDLE_SHIFT
from assay.sim.simt.oracle.interleaved import BarrierMismatch, run_interleaved

Words = npt.NDArray[np.uint32]
_FUEL = 30_000  # blocks; the correct kernels need 6,000 at most


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one run left: the words of each buffer and which of them were written, or a failure."""

    words: tuple[Words, ...] = ()
    written: tuple[npt.NDArray[np.bool_], ...] = ()
    failure: str = ""

    def equals(self, other: Result) -> bool:
        """Whether a program could not tell the two apart."""
        if self.failure or other.failure:
            return self.failure == other.failure
        return all(
            np.array_equal(mine, theirs) and np.array_equal(a[mine], b[mine])
            for mine, theirs, a, b in zip(
                self.written, other.written, self.words, other.words, strict=True
            )
        )


def depends_on_schedule(plan: Plan, seeds: range) -> int | None:
    """The first seed whose run ends otherwise than that of the seed before; None if all agree."""
    last = run_once(plan, seeds[0])
    for seed in seeds[1:]:
        result = run_once(plan, seed)
        if not result.equals(last):
            return seed
        last = result
    return None


def run_once(plan: Plan, seed: int) -> Result:
    """Run under the schedule of a seed; fresh memory holds bytes that it chooses."""
    chance = np.random.default_rng(seed)
    program = plan.kernel.program()
    buffers: dict[int, tuple[npt.NDArray[np.uint8], str]] = {}
    before: list[Words] = []
    arguments: list[int] = []
    for bound in plan.bound:
        if bound.data is None:
            arguments.append(bound.length)
            continue
        handle = FIRST_BUFFER_HANDLE + len(buffers)
        data = _contents(bound, chance)
        buffers[handle] = (data, bound.argument.name)
        before.append(_words(data).copy())
        arguments.append(handle << HANDLE_SHIFT)
    try:
        run_interleaved(
            program.function,
            program.parameters,
            arguments,
            buffers,
            threadgroup_size=plan.grid.threadgroup,
            grid=_threads(plan),
            seed=seed,
            fuel=_FUEL,
        )
    except (KernelFault, BarrierMismatch) as error:
        return Result(failure=getattr(error, "kind", "barrier"))
    after = tuple(_words(data) for data, _ in buffers.values())
    fresh = [not bound.is_initialised for bound in plan.bound if bound.data is not None]
    written = tuple(
        (new != old) if is_fresh else np.ones(len(new), np.bool_)
        for new, old, is_fresh in zip(after, before, fresh, strict=True)
    )
    return Result(words=after, written=written)


def _contents(bound: Bound, chance: np.random.Generator) -> npt.NDArray[np.uint8]:
    assert bound.data is not None
    if bound.is_initialised:
        return bound.data.copy()
    return chance.integers(0, 256, len(bound.data), np.uint8)


def _words(data: npt.NDArray[np.uint8]) -> Words:
    return data[: len(data) // 4 * 4].view(np.uint32)


def _threads(plan: Plan) -> tuple[int, int, int]:
    if plan.grid.threads is not None:
        return plan.grid.threads
    assert plan.grid.threadgroups is not None
    x, y, z = (n * s for n, s in zip(plan.grid.threadgroups, plan.grid.threadgroup, strict=True))
    return x, y, z
