"""Executables of the NPU as Python objects: loaded, run, checked and timed like modules."""

from typing import TYPE_CHECKING

from ..lazy import lazy_exports

if TYPE_CHECKING:
    from .files import is_executable
    from .models import compile_executable
    from .module import NpuFunction, NpuInputError, NpuModule, load_npu

__all__ = [
    "NpuFunction",
    "NpuInputError",
    "NpuModule",
    "compile_executable",
    "is_executable",
    "load_npu",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "NpuFunction": ".module",
        "NpuInputError": ".module",
        "NpuModule": ".module",
        "compile_executable": ".models",
        "is_executable": ".files",
        "load_npu": ".module",
    },
)
