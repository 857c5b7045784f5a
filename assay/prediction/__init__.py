"""How long programs would take on an Apple GPU or on the NPU, and why."""

from .api import time
from .common import Part, ProgramTime
from .errors import TimeInputError
from .npu import NpuTimeResult
from .programs import Timing, timing
from .result import DispatchResult, TimeResult
from .sites import FunctionTime, LineTime

__all__ = [
    "DispatchResult",
    "FunctionTime",
    "LineTime",
    "NpuTimeResult",
    "Part",
    "ProgramTime",
    "TimeInputError",
    "TimeResult",
    "Timing",
    "time",
    "timing",
]
