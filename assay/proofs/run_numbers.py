"""The numbers of a run that assumptions may name: sizes of its grid, integers that it is given."""

from __future__ import annotations

from collections.abc import Callable
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.compiler.verify import Names

    from ..launches.plan import Plan


def numbers_of(plan: Plan, names: Names) -> Callable[[str], int | None]:
    """What finds the number of a name in a run; None if the run has none.

    Args:
        plan: the run.
        names: what assumptions may speak of.
    """
    data = {each.argument.name: each.data for each in plan.bound}
    sizes = _sizes(plan)

    def find(name: str) -> int | None:
        scalar = names.scalar(name)
        if scalar is None:
            return sizes.get(name)
        raw, size = data.get(scalar.argument), scalar.width // 8
        own = b"" if raw is None else raw[scalar.offset : scalar.offset + size].tobytes()
        if len(own) < size:
            return None
        return int.from_bytes(own, "little", signed=scalar.is_signed)

    return find


def _sizes(plan: Plan) -> dict[str, int]:
    """What the grid has in each dimension, in threads and in threadgroups."""
    found: dict[str, int] = {}
    grid = plan.grid
    sizes = grid.threads or tuple(map(mul, grid.threadgroups or (1, 1, 1), grid.threadgroup))
    for axis, threads, size in zip("xyz", sizes, grid.threadgroup, strict=True):
        found |= {f"groups.{axis}": -(-threads // size), f"grid.{axis}": threads}
    return found
