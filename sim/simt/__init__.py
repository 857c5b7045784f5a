"""The lane-vector engine: runs kernels of simdgroups of lanes, written as LLVM IR, on the CPU."""

from ..site import Site
from .emit.tape import Tape
from .ir.faults import FaultPlace, KernelFault, UndefinedFunction, UnsupportedKernel
from .read.roots import Parameter
from .run.boxes import DispatchError
from .run.dispatch import dispatch
from .run.executable import Executable
from .run.memory import Memory
from .run.program import Program
from .run.taping import tape_dispatch
from .run.together import Request, dispatch_together

__all__ = [
    "DispatchError",
    "Executable",
    "FaultPlace",
    "KernelFault",
    "Memory",
    "Parameter",
    "Program",
    "Request",
    "Site",
    "Tape",
    "UndefinedFunction",
    "UnsupportedKernel",
    "dispatch",
    "dispatch_together",
    "tape_dispatch",
]
