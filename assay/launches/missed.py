"""What of a kernel never ran, so that nothing can be said of it: loops, and uses of buffers."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from assay.sim.names import listed

if TYPE_CHECKING:
    from assay.sim.simt.run.executable import Coverage

    from .plan import Plan

_SHOWN = 3


def missed(plan: Plan, files: Collection[str]) -> tuple[str, ...]:
    """Sentences about a kernel that has run; `files` are those of its source."""
    found = plan.kernel.program().coverage()
    said = []
    if lines := _loops(found, files):
        what = "loop" if len(lines) == 1 else "loops"
        said.append(f"never entered: the {what} at {listed(lines, most=_SHOWN)}")
    if names := _buffers(plan, found):
        said.append(f"never touched: {listed(names, most=_SHOWN)}")
    if _is_empty(plan, found):
        said.append("its code has no access of any of its buffers")
    return tuple(said)


def _is_empty(plan: Plan, found: Collection[Coverage]) -> bool:
    """Whether nothing is left of a kernel, as where assumed constants switch all of it off."""
    is_plain = all(argument.kind == "buffer" for argument in plan.kernel.arguments)
    reaches_memory = any(each.buffers or each.follows_pointers for each in found)
    return is_plain and bool(plan.kernel.arguments) and not reaches_memory


def _loops(found: Collection[Coverage], files: Collection[str]) -> list[str]:
    """Lines of the loops that nobody entered, in whatever copy of the code."""
    entered: dict[tuple[str, int], bool] = {}
    for coverage in found:
        for site, ran in coverage.loops:
            if site.file in files and site.line:
                key = (site.file, site.line)
                entered[key] = ran or entered.get(key, False)
    return [f"{file}:{line}" for (file, line), ran in sorted(entered.items()) if not ran]


def _buffers(plan: Plan, found: Collection[Coverage]) -> list[str]:
    """Names of the buffers that the code has accesses of, none of which ran."""
    touched: dict[int, bool] = {}
    for coverage in found:
        for number, ran in coverage.buffers.items():
            touched[number] = ran or touched.get(number, False)
    names = [argument.name for argument in plan.kernel.arguments]
    return [
        f"'{names[number]}'"
        for number, ran in sorted(touched.items())
        if not ran and number < len(names)
    ]
