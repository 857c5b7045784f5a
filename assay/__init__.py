"""Assay runs, checks and times programs for GPUs and an NPU on machines that have neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.compiler.models import CompiledModel, ModelError
    from assay.compiler.models import compile_model as compile

    from .checks import CheckFindings, Report, check, check_kernel, checking
    from .module import Function, Module, load
    from .npu import NpuFunction, NpuModule
    from .prediction import NpuTimeResult, ProgramTime, TimeInputError, TimeResult, time, timing

__version__ = "0.1.0"

__all__ = [
    "CheckFindings",
    "CompiledModel",
    "Function",
    "ModelError",
    "Module",
    "NpuFunction",
    "NpuModule",
    "NpuTimeResult",
    "ProgramTime",
    "Report",
    "TimeInputError",
    "TimeResult",
    "__version__",
    "check",
    "check_kernel",
    "checking",
    "compile",
    "load",
    "time",
    "timing",
]

_LAZY = {
    "CheckFindings": ("assay.checks", "CheckFindings"),
    "CompiledModel": ("assay.compiler.models", "CompiledModel"),
    "Function": ("assay.module", "Function"),
    "ModelError": ("assay.compiler.models", "ModelError"),
    "Module": ("assay.module", "Module"),
    "NpuFunction": ("assay.npu", "NpuFunction"),
    "NpuModule": ("assay.npu", "NpuModule"),
    "NpuTimeResult": ("assay.prediction", "NpuTimeResult"),
    "ProgramTime": ("assay.prediction", "ProgramTime"),
    "Report": ("assay.checks", "Report"),
    "TimeInputError": ("assay.prediction", "TimeInputError"),
    "TimeResult": ("assay.prediction", "TimeResult"),
    "check": ("assay.checks", "check"),
    "check_kernel": ("assay.checks", "check_kernel"),
    "checking": ("assay.checks", "checking"),
    "compile": ("assay.compiler.models", "compile_model"),
    "load": ("assay.module", "load"),
    "time": ("assay.prediction", "time"),
    "timing": ("assay.prediction", "timing"),
}


def __getattr__(name: str) -> Any:
    """Imports the parts of the API when they are first used: `assay --help` needs none of them."""
    if name not in _LAZY:
        raise AttributeError(f"module 'assay' has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _LAZY[name]
    return getattr(import_module(module), attribute)
