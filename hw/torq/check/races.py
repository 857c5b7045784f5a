"""Races: two pieces of work that nothing orders touch the same bytes, and one writes."""

from __future__ import annotations

from assay.sim.check import Party, UnitPlace

from .matter import matters
from .ranges import Ranges, overlap
from .reports import action
from .touch import Touch


def raced(one: Touch, other: Touch) -> Ranges:
    """The bytes that two touches, which nothing orders, race for."""
    if one.memory != other.memory or not (one.writes or other.writes):
        return ()
    shared = overlap(one.ranges, other.ranges)
    readers = [touch for touch in (one, other) if not touch.writes]
    return shared if shared and all(_matters(reader, shared) for reader in readers) else ()


def race_message(one: Touch, other: Touch) -> str:
    """What findings say of a race."""
    mine, its = (f"{t.unit} {'writes' if t.writes else 'reads'}" for t in (one, other))
    return f"{mine} what {its} ({_agent_of(other)}), and nothing makes one wait for the other"


def party(touch: Touch) -> Party:
    """The other side of a race."""
    place = UnitPlace(
        unit=touch.unit,
        agent=touch.agent,
        task=touch.task,
        address=touch.descriptor,
        operation=touch.operation,
    )
    return Party(what=action(touch), unit=place)


def _matters(touch: Touch, ranges: Ranges) -> bool:
    """Whether results depend on bytes that are read."""
    if touch.plan is None or touch.before is None:
        return True
    return matters(touch.plan, touch.before, ranges)


def _agent_of(touch: Touch) -> str:
    """Who touched, and since which task; the host and the stream have no agents."""
    return f"{touch.agent} of task {touch.task}" if touch.agent else f"task {touch.task}"
