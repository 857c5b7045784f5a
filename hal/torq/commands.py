"""Command buffers of the Torq HAL: transfers between buffers, and runs of executables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from ..device import Binding, BufferRef, CommandBuffer, Executable, ExecutableCache
from ..status import StatusError, invalid_argument
from .archive import read_container
from .executable import LoadedExecutable
from .format import Executable as Contents
from .memory import Bytes, view

FORMAT = "torq-fb"
Bindings = tuple[Binding, ...]
Command = Callable[[Bindings], None]


class Loader(Protocol):
    """Who loads executables: a device."""

    def check_executable(self, executable: Contents, name: str) -> None:
        """Raises StatusError if an executable cannot run there."""

    def load_executable(self, executable: Contents, name: str, program: str) -> LoadedExecutable:
        """Loads an executable. Raises StatusError."""


class TorqExecutable(Executable):
    """The executables of a container, each loaded into the device's NPU when it is first used.

    `source` is what messages call the container, if it has a name.
    """

    def __init__(self, data: memoryview, loader: Loader, source: str = "") -> None:
        found = read_container(data, source or "executable").executables
        self._source = source
        self._names = [(member, executable.name) for member, executable in found]
        self._executables = [executable for _, executable in found]
        self._loader = loader
        self._loaded: dict[int, LoadedExecutable] = {}

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the container's members that are executables, by their numbers."""
        return tuple(member for member, _ in self._names)

    @property
    def names(self) -> tuple[str, ...]:
        """The executables' own names."""
        return tuple(own for _, own in self._names)

    def lookup(self, name: str) -> int:
        """The number of the executable with this name (its own or its member's)."""
        for index, names in enumerate(self._names):
            if name in names:
                return index
        listed = ", ".join(own or member for member, own in self._names)
        raise StatusError(
            "NOT_FOUND", f"executable function '{name}' not found; there are: {listed}"
        )

    def contents(self, function: int) -> Contents:
        """What an executable says, by number, checked but not loaded. Raises StatusError."""
        if not 0 <= function < len(self._executables):
            raise StatusError(
                "OUT_OF_RANGE",
                f"executable function {function} out of range; there are {len(self._executables)}",
            )
        self._loader.check_executable(self._executables[function], self._name(function))
        return self._executables[function]

    def loaded(self, function: int) -> LoadedExecutable:
        """An executable in the NPU, by number. Raises StatusError."""
        if function not in self._loaded:
            self._loaded[function] = self._loader.load_executable(
                self.contents(function), self._name(function), self._names[function][0]
            )
        return self._loaded[function]

    def _name(self, function: int) -> str:
        member, own = self._names[function]
        return f"{self._source}: {member}" if self._source else own


class TorqExecutableCache(ExecutableCache):
    """Prepares Torq executables."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def can_prepare(self, executable_format: str) -> bool:
        """Whether this is Torq's executable format."""
        return executable_format == FORMAT

    def prepare(
        self, executable_format: str, data: memoryview, constants: Sequence[int]
    ) -> TorqExecutable:
        """The executable in `data`. Raises StatusError."""
        del constants
        if not self.can_prepare(executable_format):
            raise StatusError(
                "NOT_FOUND", f"executables of format {executable_format!r}; only {FORMAT!r} runs"
            )
        return TorqExecutable(data, self._loader)


class TorqCommandBuffer(CommandBuffer):
    """A recording; `run` performs it with a submission's bindings."""

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._finalized = False

    def run(self, bindings: Sequence[Binding]) -> None:
        """Performs all commands in order. Raises StatusError."""
        if not self._finalized:
            raise StatusError("FAILED_PRECONDITION", "the command buffer is still being recorded")
        for command in self._commands:
            command(tuple(bindings))

    def finalize(self) -> None:
        """End the recording."""
        self._record_allowed()
        self._finalized = True

    def begin_debug_group(self, label: str) -> None:
        """Groups leave no trace."""
        del label
        self._record_allowed()

    def end_debug_group(self) -> None:
        """Groups leave no trace."""
        self._record_allowed()

    def execution_barrier(self) -> None:
        """Commands run one after the other anyway."""
        self._record_allowed()

    def fill(self, target: BufferRef, pattern: bytes) -> None:
        """Fill a range with a repeated pattern."""
        self._add(lambda bindings: _fill(view(target, bindings), pattern))

    def update(self, source: bytes, target: BufferRef) -> None:
        """Copy host bytes, taken now, into a range."""
        data = np.frombuffer(bytes(source), np.uint8)
        self._add(lambda bindings: _copy(data, view(target, bindings)))

    def copy(self, source: BufferRef, target: BufferRef) -> None:
        """Copy between ranges of equal length."""
        self._add(lambda bindings: _copy(view(source, bindings), view(target, bindings)))

    def dispatch(
        self,
        executable: Executable,
        function: int,
        workgroups: tuple[int, int, int] | BufferRef,
        constants: Sequence[int],
        bindings: Sequence[BufferRef],
    ) -> None:
        """Run an executable: one dispatch is one run, whatever the number of workgroups."""
        del workgroups
        if not isinstance(executable, TorqExecutable):
            raise invalid_argument("the executable was made for another device")
        references, words = tuple(bindings), tuple(constants)
        loaded = executable.loaded(function)

        def run(table: Bindings) -> None:
            loaded.run([view(reference, table) for reference in references], words)

        self._add(run)

    def _add(self, command: Command) -> None:
        self._record_allowed()
        self._commands.append(command)

    def _record_allowed(self) -> None:
        if self._finalized:
            raise StatusError("FAILED_PRECONDITION", "command buffer is not in a recording state")


def _fill(target: Bytes, pattern: bytes) -> None:
    if not pattern or len(target) % len(pattern):
        raise invalid_argument(
            f"a fill of {len(target)} bytes with a pattern of {len(pattern)} bytes"
        )
    target[:] = np.tile(np.frombuffer(pattern, np.uint8), len(target) // len(pattern))


def _copy(source: Bytes, target: Bytes) -> None:
    if len(source) != len(target):
        raise invalid_argument(f"a copy of {len(source)} bytes into {len(target)}")
    if np.may_share_memory(source, target):
        raise invalid_argument("attempted to copy between overlapping ranges of one buffer")
    target[:] = source
