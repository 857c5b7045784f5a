"""Running IREE programs: the bytecode VM, the modules programs import, parameters, sessions."""

from __future__ import annotations

from .interpreter import Invocation
from .session import LoadedModule, Session
from .signature import FunctionInfo
from .state import Limits
from .status import VmError

__all__ = ["FunctionInfo", "Invocation", "Limits", "LoadedModule", "Session", "VmError"]
