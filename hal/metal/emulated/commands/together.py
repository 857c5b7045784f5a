"""Which dispatches of a command buffer the engine is given together, to run them at one time.

They are neighbours of a concurrent encoder, or of one that IREE's command buffers became, or in an
indirect command buffer, with no barrier among them. Where kernels find memory through addresses,
textures among it, a forgotten barrier would show in results: then somebody has to vouch for them.
Checks and timers see dispatches one by one: then there are none.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ....observe import watch_of_work
from ..resources.residency import within
from ..worker import at_work, running
from .commands import Command, DispatchCommand
from .timing import place_of_dispatch

if TYPE_CHECKING:
    from ..device import MTLDevice

# So many at a time: the engine compares each with all before it.
_MOST = 16


def unordered(commands: Sequence[Command], start: int) -> int:
    """How many dispatches from `start` on may be given together; 0 if there is none to go with it.

    Those whose code is still to be made are left out: the ones before need not wait for that.
    """
    if not _is_unordered(commands, start):
        return 0
    end = start + 1
    while end - start < _MOST and _is_unordered(commands, end - 1):
        end += 1
    for index in range(start, end):
        command = commands[index]
        assert isinstance(command, DispatchCommand)
        if not command.pipeline.has_executable(command.threads_per_threadgroup):
            end = index
            break
    return end - start if end - start > 1 else 0


def _is_unordered(commands: Sequence[Command], index: int) -> bool:
    """Whether nothing orders a command and the next one: quick, since each command is asked."""
    if index + 1 >= len(commands):
        return False
    one, other = commands[index], commands[index + 1]
    return (
        type(one) is DispatchCommand
        and type(other) is DispatchCommand
        and one.ordering == other.ordering
        and _meets_in_order(one)
        and _meets_in_order(other)
    )


def _meets_in_order(command: DispatchCommand) -> bool:
    """Whether buffers that are bound, or barriers, order all that a dispatch reaches."""
    return not command.pipeline.follows_pointers or (
        command.reach is not None and command.reach.is_ordered
    )


def run_each(commands: Sequence[Command], device: "MTLDevice") -> None:
    """Run commands in order, those together that nothing orders. Raises the first failure."""
    is_followed = watch_of_work() is not None or place_of_dispatch() is not None
    done = 0
    while done < len(commands):
        count = 0 if is_followed else unordered(commands, done)
        if count:
            run_together(commands[done : done + count], device)
        else:
            commands[done].run(device)
        done += count or 1


def run_together(commands: Sequence[Command], device: "MTLDevice") -> None:
    """Run dispatches that nothing orders. Raises the first KernelFault."""
    from assay.sim.simt import Request

    dispatch_together = device.engine.dispatch_together
    if dispatch_together is None:
        for command in commands:
            command.run(device)
        return
    # Or the kernels could still reach buffers that are gone.
    device.memory.settle()
    requests = []
    with ExitStack() as stack:
        stack.enter_context(at_work(running))
        for command in commands:
            assert isinstance(command, DispatchCommand)
            if 0 in (command.threads or command.threadgroups or ()):
                continue
            memory = stack.enter_context(within(command.reach, device))
            requests.append(
                Request(
                    command.pipeline.executable_for(command.threads_per_threadgroup),
                    memory,
                    command.arguments,
                    command.threads,
                    command.threadgroups,
                )
            )
        dispatch_together(requests, workers=device.options.workers, fuel=device.options.fuel)
