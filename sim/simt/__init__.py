"""The lane-vector engine: runs kernels of simdgroups of lanes, written as LLVM IR, on the CPU."""

from ..site import Site
from .emit.tape import Recording
from .ir.faults import FaultPlace, KernelFault, UnsupportedKernel
from .read.roots import Parameter
from .run.boxes import DispatchError
from .run.dispatch import dispatch
from .run.memory import Memory
from .run.program import Executable, Program
from .run.taping import record

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
