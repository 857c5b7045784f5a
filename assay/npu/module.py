"""Executables of the NPU as a module: what can be called of them, and of their host program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ..by_name import ByName
from .executable import NpuExecutable
from .function import NpuFunction
from .values import NpuInputError

if TYPE_CHECKING:
    from assay.hal.torq.commands import TorqExecutable
    from assay.hal.torq.driver import TorqDevice
    from assay.hal.torq.host_calls import HostFunction

    from .program import HostProgram

__all__ = ["NpuFunction", "NpuInputError", "NpuModule", "load_npu"]

_MAIN = "main"


class NpuModule(ByName[NpuFunction]):
    """A file's executables, loaded into one NPU: `module[name](x)`, or `module.name(x)`.

    Functions of the host program come first, if there is one; executables can be called without.
    """

    def __init__(
        self,
        name: str,
        device: TorqDevice,
        executable: TorqExecutable,
        program: HostProgram | None = None,
    ) -> None:
        self._name = name
        self._device = device
        self._program = program
        self._executables = {
            member: NpuExecutable(device, executable, number)
            for number, member in enumerate(executable.members)
        }
        self._exports = {each.name: each for each in program.functions()} if program else {}
        super().__init__(name, "executable", {**self._executables, **self._exports})

    @property
    def name(self) -> str:
        """The file's name."""
        return self._name

    @property
    def device(self) -> TorqDevice:
        """The NPU."""
        return self._device

    @property
    def host_program(self) -> HostProgram | None:
        """The module that runs the executables, if the file has one that can be run here."""
        return self._program

    def find(self, part: str | None) -> NpuFunction:
        """The function of the host program with this name, or the executable whose name, or its
        member's, contains it; None if there is only one, or one is called `main`.

        Raises NpuInputError.
        """
        if part is None:
            # What IREE imports from ONNX comes twice, the second time asynchronous.
            calls = {name: f for name, f in self._exports.items() if not name.endswith("$async")}
            if len(calls) == 1 or _MAIN in calls:
                return calls.get(_MAIN) or next(iter(calls.values()))
            found: list[NpuFunction] = list(calls.values() or self._executables.values())
        elif part in self._exports:
            return self._exports[part]
        else:
            found = [
                function
                for function in self._executables.values()
                if part in function.name or part in function.own_name
            ]
        if len(found) != 1:
            listed = ", ".join(self._functions)
            kind = "functions" if self._exports else "executables"
            problem = f"several {kind} are there" if found else f"none of the {kind} matches"
            raise NpuInputError(f"function {part or 'is not given'}: {problem}: {listed}")
        return found[0]

    def __repr__(self) -> str:
        return f"<assay NPU module {self.name}: {', '.join(self)}>"


def load_npu(
    source: str | Path | bytes,
    *,
    hardware: str | None = None,
    name: str | None = None,
    host_functions: Mapping[str, HostFunction] | None = None,
    skip_host_code: bool = False,
) -> NpuModule:
    """Loads executables (a path, or a file's bytes) into an emulated NPU.

    Args:
        source: `.torq`, `.fb`, `.synap`, or a `.vmfb` that holds one.
        hardware: which NPU: a profile or a custom hardware string; the SL2610 if None.
        name: what messages call it; the path if None.
        host_functions: Python functions for the executable's host code, by name.
        skip_host_code: leave out host code that has no such function.

    Raises:
        StatusError: for a file that is none, and hardware that is not known.
    """
    from assay.hal.torq.archive import host_archive
    from assay.hal.torq.driver import TorqDriver

    device = TorqDriver(host_functions, skip_host_code=skip_host_code).open(hardware)
    if isinstance(source, str | Path):
        data, name = Path(source).read_bytes(), name or str(source)
    else:
        data, name = bytes(source), name or "executable"
    view = memoryview(data)
    executable = device.open(view, name)
    archive = host_archive(view, name)
    program = None
    if archive is not None:  # the VM brings the GPU's driver with it
        from .program import host_program

        program = host_program(device, archive, name)
    return NpuModule(name, device, executable, program)
