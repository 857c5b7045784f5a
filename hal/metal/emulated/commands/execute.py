"""How a queue runs the commands of an indirect command buffer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import MetalError
from ..structs import threadgroups_of
from .commands import Command, DispatchCommand
from .indirect import Inherited, MTLIndirectCommandBuffer, MTLIndirectComputeCommand, check_supports
from .log_state import with_log
from .ordering import new_group
from .together import run_each

if TYPE_CHECKING:
    from ..device import MTLDevice
    from ..programs.pipeline import MTLComputePipelineState
    from ..resources.buffer import MTLBuffer


class IndirectCommandError(MetalError):
    """A command of an indirect command buffer cannot run as it was encoded."""


@dataclass(slots=True)
class ExecuteCommand:
    """Commands `start` and on, `length` of them; with `where`, a buffer holds both at `start`."""

    commands: MTLIndirectCommandBuffer
    start: int
    length: int
    where: "MTLBuffer | None"
    inherited: Inherited

    def run(self, device: "MTLDevice") -> None:
        """Run the commands as they are encoded by now. Raises IndirectCommandError."""
        commands, error = self._encoded()
        run_each(commands, device)
        if error is not None:
            raise error

    def _encoded(self) -> "tuple[list[Command], Exception | None]":
        """The commands that can run, up to the first that cannot, and why it cannot."""
        start, length = self._range()
        group = self.inherited.group
        found: list[Command] = []
        for command in self.commands.commands_within(start, length):
            if command.has_barrier:
                group = new_group()
            try:
                dispatch = self._dispatch(command, group)
            except Exception as error:
                return found, error
            if dispatch is not None:
                found.append(with_log(dispatch, self.inherited.log_state))
        return found, None

    def _range(self) -> tuple[int, int]:
        if self.where is None:
            return self.start, self.length
        words = self.where.data[self.start : self.start + 8].view("<u4")
        start, length = int(words[0]), int(words[1])
        if start + length > self.commands.size():
            raise IndirectCommandError(
                f"commands {start}..{start + length}, read at byte {self.start} of "
                f"{self.where!r}, of an indirect command buffer that has {self.commands.size()}"
            )
        return start, length

    def _dispatch(self, command: MTLIndirectComputeCommand, group: int) -> DispatchCommand | None:
        """The command's grid; None for a command that was never encoded."""
        groups = command.threadgroups
        if command.threads is not None:
            groups = threadgroups_of(command.threads, command.threadgroup_size)
        if groups is None:
            return None
        where = f"command {command.index} of {self.commands!r}"
        inherited, descriptor = self.inherited, self.commands.descriptor
        pipeline = self._pipeline(where, command)
        pipeline.check_size(where, command.threadgroup_size)
        pipeline.check_grid(
            lambda: f"{where}: a grid of {groups} threadgroups", groups, command.threadgroup_size
        )
        bindings = inherited.bindings if descriptor.inheritBuffers() else command.bindings
        lengths = {**inherited.threadgroup_lengths, **command.threadgroup_lengths}
        return DispatchCommand(
            pipeline,
            pipeline.gather_arguments(where, bindings, lengths, inherited.find_resource),
            command.threads,
            command.threadgroups,
            command.threadgroup_size,
            group,
            inherited.reach,
        )

    def _pipeline(
        self, where: str, command: MTLIndirectComputeCommand
    ) -> "MTLComputePipelineState":
        if not self.commands.descriptor.inheritPipelineState():
            if command.pipeline is None:
                raise IndirectCommandError(
                    f"{where} has a grid but no pipeline state; call setComputePipelineState_"
                )
            return command.pipeline
        pipeline = self.inherited.pipeline
        if pipeline is None:
            raise IndirectCommandError(
                f"{where} inherits the pipeline state, and the encoder had none; call its "
                "setComputePipelineState_ before executeCommandsInBuffer_withRange_"
            )
        check_supports(where, pipeline)
        return pipeline


@dataclass(slots=True)
class ResetCommand:
    """Commands of an indirect command buffer that are to do nothing from now on."""

    commands: MTLIndirectCommandBuffer
    start: int
    length: int

    def run(self, device: "MTLDevice") -> None:
        """Reset."""
        self.commands.reset_commands(self.start, self.length)


@dataclass(slots=True)
class CopyCommandsCommand:
    """Commands of one indirect command buffer that are copied to another."""

    source: MTLIndirectCommandBuffer
    start: int
    length: int
    destination: MTLIndirectCommandBuffer
    index: int

    def run(self, device: "MTLDevice") -> None:
        """Copy, as if through a third buffer."""
        stored = []
        for command in self.source.commands_within(self.start, self.length):
            copy = MTLIndirectComputeCommand(self.destination, command.index)
            copy.copy_from(command)
            stored.append(copy)
        self.destination.reset_commands(self.index, self.length)
        for copy in stored:
            self.destination.command_at(copy.index - self.start + self.index).copy_from(copy)
