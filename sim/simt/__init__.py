"""The lane-vector engine: runs kernels of simdgroups of lanes, written as LLVM IR, on the CPU."""

from .dispatch import DispatchError, dispatch
from .faults import FaultPlace, KernelFault, UnsupportedKernel
from .ir import Site
from .lower import Parameter
from .memory import Memory
from .program import Executable, Program

__all__ = [
    "DispatchError",
    "Executable",
    "FaultPlace",
    "KernelFault",
    "Memory",
    "Parameter",
    "Program",
    "Site",
    "UnsupportedKernel",
    "dispatch",
]
