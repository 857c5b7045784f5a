"""Models compiled to executables of the NPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.compiler.torq.schedule.compile import Compiled
    from assay.compiler.torq.schedule.options import Options
    from assay.hal.torq.format import Executable

Say = Callable[[str], None]
MODULE = ".vmfb"
"""The suffix of files that have a host program beside the executable."""


@dataclass(frozen=True, kw_only=True)
class NpuModel:
    """A model that was compiled: the executable, and what its schedule is expected to do."""

    executable: Executable
    compiled: Compiled

    def file(self, suffix: str = "") -> bytes:
        """The contents of a file of it: an executable, or for `.vmfb` a module that runs it.

        Raises StatusError for a module that IREE's HAL could not call.
        """
        from assay.hal.torq.write import write_executable

        if suffix == MODULE:
            from assay.hal.vm.build.torq import torq_module

            return torq_module(self.executable, self.compiled.function)
        return write_executable(self.executable)


def compile_npu_model(
    path: str | Path, say: Say | None = None, options: Options | None = None
) -> NpuModel:
    """A quantised model (`.tflite`, TOSA or linalg as `.mlir`), or TorqHL, for the NPU.

    Args:
        path: the model's file.
        say: is called with what is done now.
        options: how it is scheduled.

    Raises:
        ModelError: for a model that is damaged, or has what no kernel of the NPU can do; all
            operators of that kind are named at once.
    """
    from assay.compiler.torq.schedule.compile import compiled
    from assay.compiler.torq.schedule.options import USUAL
    from assay.hal.torq.pack import pack

    source = Path(path)
    made = compiled(source, say, options or USUAL)
    return NpuModel(executable=pack(made.program, source.stem), compiled=made)


def compile_executable(
    path: str | Path, say: Say | None = None, *, hardware: str | None = None
) -> bytes:
    """The executable of a model, as `compile_npu_model` makes it, for a profile or a custom
    hardware string; the SL2610 if None. Warns of what the model leaves undefined; raises
    ModelError."""
    model = compile_npu_model(path, say, usual_options(hardware))
    for doubt in model.compiled.doubts:
        warnings.warn(f"{path}: {doubt}", stacklevel=2)
    return model.file()


def usual_options(hardware: str | None) -> Options:
    """The usual schedule for some hardware."""
    from assay.compiler.torq.schedule.options import USUAL

    return USUAL if hardware is None else replace(USUAL, hardware=hardware)
