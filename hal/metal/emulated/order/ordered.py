"""Whether one touch is ordered after another: what Metal promises, and nothing beyond.

Sources, at developer.apple.com/documentation/metal: MTLHazardTrackingMode and its cases (Metal
orders passes that use a tracked resource; heaps are untracked unless asked; what is untracked is
the program's own care), MTLDispatchType (so are concurrent dispatches), memoryBarrier(scope:) and
memoryBarrier(resources:), MTLFence, MTLEvent. Metal tracks hazards for a whole device, but does not
say which of two queues comes first: github.com/gpuweb/gpuweb/issues/1065.
"""

from __future__ import annotations

from .touches import HostStep, Step, Touch


def is_ordered(later: Touch, earlier: Touch) -> bool:
    """Whether `later`, which came second in this run, does so in every run."""
    second, first = later.step, earlier.step
    if isinstance(second, HostStep):
        return isinstance(first, HostStep) or second.clock.covers(first.run.queue, first.run.number)
    if isinstance(first, HostStep):
        return second.run.before.host >= first.clock.host
    if first is second:
        return True  # threads of one dispatch among each other are another matter
    if first.run is second.run:
        return _is_ordered_inside(second, first, later)
    if second.run.before.covers(first.run.queue, first.run.number):
        return True
    return first.run.queue == second.run.queue and _is_tracked(later, earlier)


def _is_tracked(later: Touch, earlier: Touch) -> bool:
    """Whether Metal itself orders two passes of one queue because of this memory."""
    assert isinstance(later.step, Step) and isinstance(earlier.step, Step)
    for touch, step in ((later, later.step), (earlier, earlier.step)):
        if not step.run.notes.is_complete:
            return True
        if not touch.resource.is_tracked or touch.resource.handle not in step.run.notes.declared:
            return False
    return True


def _is_ordered_inside(second: Step, first: Step, touch: Touch) -> bool:
    """Whether two commands of one pass are ordered."""
    notes = second.run.notes
    if second.number == first.number:  # of one indirect command buffer, or a copy
        return second.group != first.group or not second.group
    if not notes.is_complete:
        return second.group != first.group
    if not notes.is_concurrent:
        return True
    return any(
        first.number <= barrier.after < second.number and barrier.covers(touch.resource)
        for barrier in notes.barriers
    )
