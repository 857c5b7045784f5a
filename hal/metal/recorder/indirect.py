"""Indirect command buffers that the host encodes: what each of their commands does."""

from __future__ import annotations

from typing import Any

from .bindings import Bindings
from .proxy import Proxy, real_of


class Command(Proxy):
    """Stands for a command of an indirect command buffer.

    Attributes:
        dispatch: the method by which it was told its grid, without "concurrent", and what that was
            given; None if it does nothing.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._state = Bindings()
        self.dispatch: tuple[str, tuple[Any, ...]] | None = None

    def reset(self) -> None:
        """Forget all of it."""
        self.real.reset()
        self.forget()

    def forget(self) -> None:
        """It was reset."""
        self._state = Bindings()
        self.dispatch = None

    def bindings(self, encoder: Bindings, *, pipeline: bool, buffers: bool) -> Bindings:
        """What it runs with, where an encoder lends its pipeline state or its buffers."""
        found = Bindings()
        found.pipeline = encoder.pipeline if pipeline else self._state.pipeline
        lending = encoder if buffers else self._state
        found.buffers = dict(lending.buffers)
        found.inline = dict(lending.inline)
        lengths = encoder.threadgroup_memory if buffers else {}
        found.threadgroup_memory = {**lengths, **self._state.threadgroup_memory}
        found.used = list(encoder.used)
        return found

    def __getattr__(self, name: str) -> Any:
        target = super().__getattr__(name)
        if not name.startswith(("set", "concurrent")) or name == "setBarrier":
            return target

        def note(*given: Any) -> Any:
            result = target(*given)
            if name.startswith("set"):
                self._state.take(name.replace("Kernel", ""), given)
            else:
                self.dispatch = (f"dispatch{name.removeprefix('concurrentDispatch')}", given)
            return result

        return note


class IndirectCommands(Proxy):
    """Stands for an indirect command buffer.

    Attributes:
        is_known: whether the host alone wrote it.
    """

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        described = real_of(self.given[0])
        self._lends = {
            "pipeline": bool(described.inheritPipelineState()),
            "buffers": bool(described.inheritBuffers()),
        }
        self._commands: dict[int, Command] = {}
        self.is_known = True

    def device_writes(self) -> None:
        """From here on the device may change commands."""
        self.is_known = False

    def indirectComputeCommandAtIndex_(self, index: int) -> Command:
        """One command, always the same object."""
        found = self._commands.get(int(index))
        if found is None:
            real = self.real.indirectComputeCommandAtIndex_(index)
            found = self._commands[int(index)] = Command(real, self.session, self)
        return found

    def resetWithRange_(self, span: Any) -> None:
        """Let commands do nothing."""
        self.real.resetWithRange_(span)
        for index in range(int(span[0]), int(span[0]) + int(span[1])):
            if index in self._commands:
                self._commands[index].forget()

    def command(self, index: int, encoder: Bindings) -> tuple[Bindings, Command] | None:
        """What a command runs with; None if it does nothing."""
        found = self._commands.get(index)
        if found is None or found.dispatch is None:
            return None
        return found.bindings(encoder, **self._lends), found
