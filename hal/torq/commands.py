"""Command buffers of the Torq HAL: transfers between buffers, and runs of executables."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from ..device import BufferRef, Executable, ExecutableCache
from ..hosted.commands import Bindings, HostCommandBuffer
from ..hosted.memory import view
from ..status import StatusError, invalid_argument
from .archive import read_container
from .executable import LoadedExecutable
from .format import Executable as Contents

FORMAT = "torq-fb"


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
        self._lock = threading.Lock()

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
        with self._lock:
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


class TorqCommandBuffer(HostCommandBuffer):
    """A recording; `run` performs it with a submission's bindings."""

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

        self.add(run)
