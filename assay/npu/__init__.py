"""Executables of the NPU as Python objects: loaded, run, checked and timed like modules."""

from .files import is_executable
from .module import NpuFunction, NpuInputError, NpuModule, load_npu

__all__ = ["NpuFunction", "NpuInputError", "NpuModule", "is_executable", "load_npu"]
