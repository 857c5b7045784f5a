"""Recordings of what Metal devices did: made by `assay record`, replayed here and compared."""

from .recording import recording
from .replay import replay
from .result import ReplayedDispatch, ReplayResult
from .tolerances import Limits, ToleranceError, Tolerances

__all__ = [
    "Limits",
    "ReplayResult",
    "ReplayedDispatch",
    "ToleranceError",
    "Tolerances",
    "recording",
    "replay",
]
