"""The numbers of a run that assumptions may name: sizes of its grid, integers that it is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..launches.grid import size_in_threads
from ..launches.inputs import Size

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
    sizes = _named(plan.grid.size, plan.grid.threadgroup)

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


def sizes_of(groups: Size, threadgroup: Size) -> dict[str, int]:
    """What a grid of whole threadgroups has in each dimension, by the names of assumptions."""
    return _named(size_in_threads(None, groups, threadgroup), threadgroup)


def _named(threads: Size, threadgroup: Size) -> dict[str, int]:
    """What a grid has in each dimension, in threads and in threadgroups."""
    found: dict[str, int] = {}
    for axis, of, size in zip("xyz", threads, threadgroup, strict=True):
        found |= {f"groups.{axis}": -(-of // size), f"grid.{axis}": of}
    return found
