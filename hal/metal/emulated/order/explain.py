"""Findings about the order of commands, in words."""

from __future__ import annotations

from typing import Final

from assay.sim.check import Finding, Party

from .touches import Clash, HostStep, PassRun, Step, Touch, Way

_CHECK = "race"
_NAMELESS = "a buffer without a label"
_HINTS: Final = {
    "unordered-dispatches": "call memoryBarrierWithScope_(MTLBarrierScopeBuffers) of the encoder "
    "between the two dispatches, or use a serial encoder",
    "unordered-passes": "update an MTLFence in the first encoder and wait for it in the second, "
    "or make the resource with MTLResourceHazardTrackingModeTracked",
    "undeclared": "call useResource_usage_ in both encoders, or update an MTLFence in the first "
    "and wait for it in the second",
    "unordered-queues": "signal an MTLEvent on the first queue and wait for it on the second, or "
    "use one queue",
    "host-read-early": "call waitUntilCompleted() of that command buffer before, or read in a "
    "handler of addCompletedHandler_",
    "host-write-in-flight": "write before commit or after waitUntilCompleted() of that command "
    "buffer, or use a second buffer",
    "aliased-use": "call makeAliasable after the last command that uses the resource was encoded",
}


def clash_finding(found: Clash) -> Finding:
    """That two commands, or the host and a command, touch the same bytes without an order."""
    kind, message, hint = _judged(found)
    steps = found.later.step, found.earlier.step
    kernels = [step.kernel for step in steps if isinstance(step, Step)]
    return Finding(
        check=_CHECK,
        kind=kind,
        kernel=next(filter(None, kernels), ""),
        message=message,
        parties=(
            _party(found.later, found.later_way, found.address),
            _party(found.earlier, found.earlier_way, found.address),
        ),
        memory=_memory(found),
        offset=found.address - found.later.resource.start,
        hint=_HINTS[hint or kind],
    )


def aliased_finding(touch: Touch) -> Finding:
    """That a command was encoded that uses what was given up."""
    way = touch.ways[0]
    address = int(way.spans[0, 0])
    memory = _name(touch, way, address)
    step = touch.step
    assert isinstance(step, Step)
    return Finding(
        check=_CHECK,
        kind="aliased-use",
        kernel=step.kernel,
        message=f"{step.what} uses {memory}, which makeAliasable had given up when it was encoded",
        parties=(_party(touch, way, address),),
        memory=memory,
        offset=address - touch.resource.start,
        hint=_HINTS["aliased-use"],
    )


def _judged(found: Clash) -> tuple[str, str, str]:
    """The kind, the message, and which hint if it is not that of the kind."""
    memory = _memory(found)
    first, second = found.earlier.step, found.later.step
    if isinstance(first, HostStep) or isinstance(second, HostStep):
        return _judged_host(found, memory)
    if first.run is second.run:
        both = f"{first.what} and {second.what} of {_encoder(first.run)}"
        if first.what == second.what:
            both = f"two commands of {first.what} of {_encoder(first.run)}"
        elsewhere = any(
            first.number <= each.after < second.number for each in first.run.notes.barriers
        )
        why = (
            "the barrier between them is not for that memory"
            if elsewhere
            else "no barrier is between them"
        )
        return "unordered-dispatches", f"{both} touch {memory}, and {why}", ""
    both = f"{_encoder(first.run)} and {_encoder(second.run)}"
    if first.run.queue != second.run.queue:
        return (
            "unordered-queues",
            f"{both}, of different queues, touch {memory}, and no event orders them",
            "",
        )
    if found.later.resource.is_tracked and found.earlier.resource.is_tracked:
        return (
            "unordered-passes",
            f"{both} touch {memory} through its address alone, so that Metal does not track it, "
            "and no fence orders them",
            "undeclared",
        )
    where = "lies in an untracked heap" if found.later.resource.is_in_heap else "is untracked"
    return "unordered-passes", f"{both} touch {memory}, which {where}, and no fence orders them", ""


def _judged_host(found: Clash, memory: str) -> tuple[str, str, str]:
    is_later = isinstance(found.later.step, HostStep)
    way = found.later_way if is_later else found.earlier_way
    device, its_way = (
        (found.earlier, found.earlier_way) if is_later else (found.later, found.later_way)
    )
    assert isinstance(device.step, Step)
    commands = device.step.run.commands
    verb = "writes" if way.write else "reads"
    does = "writes" if its_way.write else "reads"
    message = f"the host {verb} {memory} while {commands.name}, which {does} it, may still run"
    return ("host-write-in-flight" if way.write else "host-read-early"), message, ""


def _party(touch: Touch, way: Way, address: int) -> Party:
    step = touch.step
    if isinstance(step, HostStep):
        where = f", {step.what}" if step.what else ""
        return Party(what=f"{'write' if way.write else 'read'} by the host{where}", site=step.site)
    access = way.site_at(address)
    action = "write" if way.write else "read"
    if access is None:
        return Party(what=f"{action} by {step.what} of {_encoder(step.run)}", site=step.site)
    size = f" of {access.size} byte{'' if access.size == 1 else 's'}" if access.size else ""
    line = f", encoded at {step.site.file}:{step.site.line}" if step.site.file else ""
    return Party(
        what=f"{action}{size} by {step.what} of {_encoder(step.run)}{line}", site=access.site
    )


def _encoder(run: PassRun) -> str:
    name = f"'{run.notes.label}'" if run.notes.label else str(run.notes.number)
    return f"encoder {name} of {run.commands.name}"


def _memory(found: Clash) -> str:
    """The resource's label, or what a kernel calls it."""
    for touch in (found.later, found.earlier):
        if touch.resource.label:
            return f"'{touch.resource.label}'"
    for touch, way in ((found.later, found.later_way), (found.earlier, found.earlier_way)):
        name = _name(touch, way, found.address)
        if name != _NAMELESS:
            return name
    return _NAMELESS


def _name(touch: Touch, way: Way, address: int) -> str:
    if touch.resource.label:
        return f"'{touch.resource.label}'"
    access = way.site_at(address)
    return f"'{access.memory}'" if access is not None and access.memory else _NAMELESS
