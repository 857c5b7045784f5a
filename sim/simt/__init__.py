"""The lane-vector engine: runs kernels of simdgroups of lanes, written as LLVM IR, on the CPU."""

from ..site import Site
from .boxes import DispatchError
from .dispatch import dispatch
from .faults import FaultPlace, KernelFault, UnsupportedKernel
from .memory import Memory
from .program import Executable, Program
from .record import record
from .recording import Recording
from .roots import Parameter

__all__ = [
    "DispatchError",
    "Executable",
    "FaultPlace",
    "KernelFault",
    "Memory",
    "Parameter",
    "Program",
    "Recording",
    "Site",
    "UnsupportedKernel",
    "dispatch",
    "record",
]
