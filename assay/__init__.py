"""Assay runs, checks and times programs for GPUs and an NPU on machines that have neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .lazy import lazy_exports

if TYPE_CHECKING:
    from assay.compiler.models import CompiledModel, ModelError

    from .assay_module import AssayModule, build
    from .checks import CheckFindings, Report, check, check_kernel, checking
    from .compiling import compile_model as compile
    from .module import Function, Module, load
    from .npu import NpuFunction, NpuModule
    from .prediction import NpuTimeResult, ProgramTime, TimeInputError, TimeResult, time, timing
    from .proofs import NotProved, Proofs, prove
    from .scripts import patch
    from .sweeps import (
        Loss,
        Selector,
        Space,
        SweepError,
        SweepResult,
        Tuned,
        loss,
        read_selector,
        space,
        sweep,
        tune,
    )

__version__ = "0.1.0"

__all__ = [
    "AssayModule",
    "CheckFindings",
    "CompiledModel",
    "Function",
    "Loss",
    "ModelError",
    "Module",
    "NotProved",
    "NpuFunction",
    "NpuModule",
    "NpuTimeResult",
    "ProgramTime",
    "Proofs",
    "Report",
    "Selector",
    "Space",
    "SweepError",
    "SweepResult",
    "TimeInputError",
    "TimeResult",
    "Tuned",
    "__version__",
    "build",
    "check",
    "check_kernel",
    "checking",
    "compile",
    "load",
    "loss",
    "patch",
    "prove",
    "read_selector",
    "space",
    "sweep",
    "time",
    "timing",
    "tune",
]

_find = lazy_exports(
    __name__,
    {
        "AssayModule": ".assay_module",
        "CheckFindings": ".checks",
        "CompiledModel": ".compiler.models",
        "Function": ".module",
        "ModelError": ".compiler.models",
        "Module": ".module",
        "NpuFunction": ".npu",
        "NpuModule": ".npu",
        "NpuTimeResult": ".prediction",
        "ProgramTime": ".prediction",
        "Report": ".checks",
        "Loss": ".sweeps",
        "Selector": ".sweeps",
        "Space": ".sweeps",
        "Tuned": ".sweeps",
        "loss": ".sweeps",
        "read_selector": ".sweeps",
        "tune": ".sweeps",
        "SweepError": ".sweeps",
        "SweepResult": ".sweeps",
        "TimeInputError": ".prediction",
        "TimeResult": ".prediction",
        "build": ".assay_module",
        "check": ".checks",
        "check_kernel": ".checks",
        "checking": ".checks",
        "load": ".module",
        "time": ".prediction",
        "timing": ".prediction",
        "NotProved": ".proofs",
        "Proofs": ".proofs",
        "prove": ".proofs",
        "patch": ".scripts",
        "space": ".sweeps",
        "sweep": ".sweeps",
        "compile_model": ".compiling",
    },
)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext assay`: cells that begin with `%%assay` are kernels."""
    from .notebook.magic import register

    register(shell)


def __getattr__(name: str) -> Any:
    """A part of the API; `compile` has another name where it is made, which hides no built-in."""
    return _find("compile_model" if name == "compile" else name)
