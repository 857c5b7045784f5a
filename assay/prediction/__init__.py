"""How long programs would take on an Apple GPU or on the NPU, and why."""

from typing import TYPE_CHECKING

from ..lazy import lazy_exports

if TYPE_CHECKING:
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

__getattr__ = lazy_exports(
    __name__,
    {
        "DispatchResult": ".result",
        "FunctionTime": ".sites",
        "LineTime": ".sites",
        "NpuTimeResult": ".npu",
        "Part": ".common",
        "ProgramTime": ".common",
        "TimeInputError": ".errors",
        "TimeResult": ".result",
        "Timing": ".programs",
        "time": ".api",
        "timing": ".programs",
    },
)
