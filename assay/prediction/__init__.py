"""How long programs would take on an Apple GPU, and why."""

from .api import time
from .errors import TimeInputError
from .programs import Timing, timing
from .result import DispatchResult, TimeResult
from .sites import FunctionTime, LineTime

__all__ = [
    "DispatchResult",
    "FunctionTime",
    "LineTime",
    "TimeInputError",
    "TimeResult",
    "Timing",
    "time",
    "timing",
]
