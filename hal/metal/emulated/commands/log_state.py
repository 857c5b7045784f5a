"""MTLLogState: where the messages of os_log go."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from assay.hw.apple.facts.limits import limits

from ..constants import MTLLogLevelUndefined
from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of
from ..structs import as_integer
from ..worker import run_handler
from . import shader_log

if TYPE_CHECKING:
    from ..device import MTLDevice
    from .commands import DispatchCommand, IndirectDispatchCommand

Handler = Callable[[str | None, str | None, int, str], None]
_LIMITS = limits()
_LEVELS: Final = ("", "debug", "info", "notice", "error", "fault")
_CONSTANT_HANDLE: Final = 3  # of addresses in a kernel's constant data, in assay.sim.simt.context
_HANDLE_SHIFT: Final = 48


class MTLLogStateDescriptor(UserMade):
    """How a log state is to be."""

    _level = MTLLogLevelUndefined
    _size = _LIMITS.shader_log_buffer

    def level(self) -> int:
        """The least MTLLogLevel that is kept."""
        return self._level

    def setLevel_(self, level: int) -> None:
        """Set the least MTLLogLevel that is kept."""
        where = call_of(self)
        level = as_integer(where, "the level", level)
        if not 0 <= level < len(_LEVELS):
            raise MetalValidationError(f"{where}: {level} is no MTLLogLevel")
        self._level = level

    def bufferSize(self) -> int:
        """Bytes for the messages of one dispatch."""
        return self._size

    def setBufferSize_(self, size: int) -> None:
        """Set the bytes for the messages of one dispatch."""
        where = call_of(self)
        size = as_integer(where, "the size", size)
        if not _LIMITS.shader_log_buffer_at_least <= size <= _LIMITS.shader_log_buffer_at_most:
            raise MetalValidationError(
                f"{where}: {size} B is not in {_LIMITS.shader_log_buffer_at_least}.."
                f"{_LIMITS.shader_log_buffer_at_most}"
            )
        self._size = size


class MTLLogState(MetalObject):
    """Where messages go: to handlers, or without any to the standard error stream.

    Deviation: command buffers without a log state print their messages too.
    """

    def __init__(self, descriptor: MTLLogStateDescriptor | None = None):
        chosen = descriptor or MTLLogStateDescriptor.new()
        self._least_level = chosen.level()
        self.buffer_size = chosen.bufferSize()
        self._handlers: list[Handler] = []

    def addLogHandler_(self, handler: Handler) -> None:
        """Call handler(subsystem, category, level, message) for each message."""
        if not callable(handler):
            raise MetalValidationError(
                f"MTLLogState.addLogHandler_: the handler must be callable, and is {handler!r}"
            )
        self._handlers.append(handler)

    def deliver_messages(self, kernel: str, found: list[shader_log.Message], dropped: int) -> None:
        """Hand a dispatch's messages to the handlers, or print them."""
        for message in found:
            if message.level < self._least_level:
                continue
            for handler in self._handlers:
                run_handler(
                    handler,
                    message.subsystem or None,
                    message.category or None,
                    message.level,
                    message.text,
                )
            if not self._handlers:
                print(_line(kernel, message), file=sys.stderr)
        if dropped:
            print(
                f"kernel {kernel!r}: {dropped} messages of os_log found no room in the log's "
                f"{self.buffer_size} B; MTLLogStateDescriptor.setBufferSize_ gives more",
                file=sys.stderr,
            )


def _line(kernel: str, message: shader_log.Message) -> str:
    source = ":".join(part for part in (message.subsystem, message.category) if part)
    who = f"[{source}] " if source else ""
    return f"kernel {kernel!r}: {who}{_LEVELS[message.level]}: {message.text}"


def with_log(
    command: "DispatchCommand | IndirectDispatchCommand", state: MTLLogState
) -> "DispatchCommand | IndirectDispatchCommand | LoggedCommand":
    """The command, with a buffer for messages if its kernel logs."""
    return LoggedCommand(command, state) if command.pipeline.logs else command


@dataclass(slots=True)
class LoggedCommand:
    """A dispatch of a kernel that logs."""

    command: "DispatchCommand | IndirectDispatchCommand"
    state: MTLLogState

    def run(self, device: "MTLDevice") -> None:
        """Dispatch with a buffer for messages, and deliver them even if the kernel failed."""
        pipeline = self.command.pipeline
        data = shader_log.new_buffer(self.state.buffer_size)
        memory = device.memory
        address = memory.inline("os_log", data, "the log buffer")
        self.command.arguments = [*self.command.arguments, address]
        if (reach := self.command.reach) is not None:
            self.command.reach = replace(reach, addresses=(*reach.addresses, address))

        def read_text(place: int) -> str:
            handle, offset = place >> _HANDLE_SHIFT, place & ((1 << _HANDLE_SHIFT) - 1)
            if handle == _CONSTANT_HANDLE:
                return shader_log.text_in(pipeline.program.needs.constants, offset)
            return f"<text at {place:#x}>" if place else ""

        try:
            self.command.run(device)
        finally:
            memory.release_inline([address])
            found, dropped = shader_log.messages(data, read_text)
            self.state.deliver_messages(pipeline.kernel.name, found, dropped)
