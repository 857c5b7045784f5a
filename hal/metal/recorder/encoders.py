"""Encoders whose calls are kept until their command buffer is committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .proxy import bytes_given, real_of

if TYPE_CHECKING:
    from .commands import CommandBuffer
    from .running import Run

Step = Callable[["Run"], None]
# What is said of an encoder as a whole, and groups, which may not be cut in two.
_GROUPS = ("pushDebugGroup_", "popDebugGroup", "insertDebugSignpost_")


class Pass:
    """An encoder as it will be made: by which method of the command buffer, with what."""

    def __init__(self, make: str, given: tuple[Any, ...]) -> None:
        self.make = make
        self.given = given
        self.label = ""

    @property
    def is_compute(self) -> bool:
        """Whether it takes dispatches."""
        return self.make.startswith("compute")


class Encoder:
    """Stands for an encoder; nothing is encoded before the commit."""

    def __init__(self, owner: CommandBuffer, made: Pass) -> None:
        self._owner = owner
        self._pass = made
        self._groups: list[str] = []

    def commandBuffer(self) -> CommandBuffer:
        """The command buffer that is encoded into."""
        return self._owner

    def device(self) -> Any:
        """The device that will run the commands."""
        return self._owner.device()

    def label(self) -> str | None:
        """The name given by setLabel_, or None."""
        return self._pass.label or None

    def setLabel_(self, label: str | None) -> None:
        """Name the encoder."""
        self._pass.label = str(label or "")

    def pushDebugGroup_(self, name: str) -> None:
        """Open a named group."""
        self._groups.append(str(name))

    def popDebugGroup(self) -> None:
        """Close the group opened last."""
        if self._groups:
            self._groups.pop()

    def insertDebugSignpost_(self, _text: str) -> None:
        """Accepted and ignored."""

    def endEncoding(self) -> None:
        """Finish."""
        self._owner.add(lambda run: run.end_pass(self._pass))

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("_"):
            raise AttributeError(name)

        def later(*given: Any) -> None:
            kept = _kept(name, given)
            if name.startswith("dispatch"):
                words = [self._pass.label, *self._groups]
                label = " / ".join(word for word in words if word)
                self._owner.add(lambda run: run.dispatch(self._pass, name, kept, label))
            else:
                self._owner.add(lambda run: run.encode(self._pass, name, kept))

        return later


_OF_PROXIES = (
    "copyIndirectCommandBuffer",
    "executeCommands",
    "resetCommandsInBuffer",
    "setComputePipelineState_",
    "setSampler",
    "setVisibleFunctionTable",
    "useHeap",
    "useResource",
)


def _kept(name: str, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call was given, with copies of what the program may change before the commit."""
    if name == "setBytes_length_atIndex_":
        return (bytes_given(given[0], int(given[1])), *given[1:])
    if name.startswith(_OF_PROXIES):
        return tuple(list(each) if isinstance(each, list) else each for each in given)  # proxies
    return tuple(list(each) if isinstance(each, list) else real_of(each) for each in given)
