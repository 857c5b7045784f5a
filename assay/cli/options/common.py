"""Groups of options that several commands share, and what they are turned into."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..failures import USAGE, CommandError
from .iree import IreeOptions
from .shared import (
    NPU,
    IncludeFolders,
    Inputs,
    Macros,
    Parameters,
    SkipHostCode,
    TorqHardware,
    macro,
    refuse_torq_options,
)

if TYPE_CHECKING:
    from ...elements import Value
    from ..torq.run import TorqOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelOptions:
    """For MSL source: how it is compiled, and a file that says what its kernels are given."""

    args: Annotated[
        Path | None,
        typer.Option("--args", help="A TOML file with grids and arguments of the kernels."),
    ] = None
    include: IncludeFolders = None
    define: Macros = None

    def macros(self) -> dict[str, str]:
        """Macros by name. Raises CommandError."""
        return dict(macro(text) for text in self.define or [])


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleOptions(IreeOptions):
    """For modules and models: how they are compiled and loaded, and the inputs of a function."""

    input: Inputs = None
    parameters: Parameters = None

    def values(self) -> "list[Value]":
        """The inputs. Raises CommandError."""
        from ...text_values import InputError, parse_inputs

        try:
            return parse_inputs(self.input or [])
        except InputError as error:
            raise CommandError(str(error), code=USAGE) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class NpuOptions:
    """For Torq executables: the NPU that they run on."""

    torq_hw: TorqHardware = None
    skip_host_code: SkipHostCode = False

    def program(self, path: Path, function: str | None, device: str) -> "TorqOptions | None":
        """An executable, or a model that `--device torq` makes one of; None for all that is not
        for the NPU.

        Raises CommandError for options that are not for what it is.
        """
        from ..torq.inspect import is_torq
        from ..torq.run import TorqOptions

        is_executable = is_torq(path)
        if not is_executable and device != NPU:
            refuse_torq_options(self.torq_hw, self.skip_host_code)
            return None
        if device not in (NPU, "emulated"):
            raise CommandError(f"--device is not {device} for Torq executables", code=USAGE)
        return TorqOptions(
            path=path,
            function=function,
            hardware=self.torq_hw,
            skip_host_code=self.skip_host_code,
            # A module without an executable for the NPU, or cut before it, is no model.
            is_model=not is_executable and path.suffix != ".vmfb",
        )
