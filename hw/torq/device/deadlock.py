"""Why nothing happens any more: which unit waits for which, and whether they wait in a circle."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..facts.registers import registers
from ..faults import Deadlock
from . import status
from .core import Core
from .slice_unit import SliceUnit, agent_names
from .stream_agent import StreamAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiter:
    """A unit that waits, where, and for which; the names are those of `status` or of agents."""

    unit: str
    where: str
    names: tuple[str, ...]


def waiters(
    nss: StreamAgent, pending: int, core: Core, slices: Sequence[SliceUnit]
) -> list[Waiter]:
    """All who wait; `pending` is what the command stream could go on with."""
    found = []
    if nss.waiting is not None:
        names = status.names(nss.waiting[0] & ~pending)
        found.append(Waiter(unit="NSS", where=f"at {nss.pc:#x}", names=names))
    if core.task is not None and core.waiting:
        where = f"with task {core.task.name} at {core.task.pc:#x}"
        found.append(Waiter(unit="CSS", where=where, names=status.names(core.waiting)))
    for unit in slices:
        if unit.agent.waiting is not None:
            mask, _ = unit.agent.waiting
            missing = mask & ~unit.words.get(registers("slice").address("STATUS.dr"), 0)
            where = f"at {unit.agent.pc:#x}"
            found.append(Waiter(unit=unit.name, where=where, names=agent_names(missing)))
    return found


def deadlock(found: Sequence[Waiter], ended: Collection[str]) -> Deadlock:
    """The error that says who waits; `ended` are units that were started, and are done."""
    stuck = {waiter.unit for waiter in found}
    chain = []
    for waiter in found:
        who = f"{waiter.unit} {waiter.where} waits for"
        if waiter.unit in ("NSS", "CSS"):
            chain += [f"{who} {name}, {_why(name, stuck, ended)}" for name in waiter.names]
        else:
            chain.append(f"{who} {', '.join(waiter.names)}, not started")
    circle = _circle(found, stuck)
    if circle:
        chain.append(f"a circle: {circle}")
    if not chain:
        chain.append("the host waits for an interrupt, but no unit runs")
    return Deadlock("; ".join(chain), unit="NPU", chain=chain)


def _why(name: str, stuck: Collection[str], ended: Collection[str]) -> str:
    unit = status.unit_of(name)
    if unit in stuck:
        return "which waits itself"
    if unit.startswith("mailbox"):
        return "which nobody rang"
    if unit in ended:
        return "which has ended: that was cleared before, or is not enabled"
    return "which is not running: it was never started"


def _circle(found: Sequence[Waiter], stuck: Collection[str]) -> str:
    """The first circle of several units in words, from the first of them that waits, or nothing.

    Who was not started waits for the command stream, which alone starts units and rings mailboxes.
    """
    after = {waiter.unit: _followers(waiter, stuck) for waiter in found}
    for first in after:
        for second, text in after[first].items():
            path = _path(second, first, after, {first})
            if second != first and path:
                return "; ".join([text, *path])
    return ""


def _followers(waiter: Waiter, stuck: Collection[str]) -> dict[str, str]:
    """Units that the waiter waits for, directly or because they would start another; in words."""
    found: dict[str, str] = {}
    for name in waiter.names if waiter.unit in ("NSS", "CSS") else ():
        unit = status.unit_of(name)
        who = f"{waiter.unit} waits for {unit}"
        if unit in stuck:
            found.setdefault(unit, who)
        elif "NSS" in stuck:
            verb = "ring" if unit.startswith("mailbox") else "start"
            found.setdefault("NSS", f"{who}, which NSS would {verb}")
    return found


def _path(
    begin: str, end: str, after: dict[str, dict[str, str]], seen: set[str]
) -> list[str] | None:
    """The steps from one unit to another, or None."""
    for unit, text in after.get(begin, {}).items():
        if unit == end:
            return [text]
        if unit not in seen:
            rest = _path(unit, end, after, seen | {begin})
            if rest is not None:
                return [text, *rest]
    return None
