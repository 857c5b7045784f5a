"""Recordings of what Metal devices did: made by `assay record`, replayed here and compared."""

from .captures import CaptureResult, replay_capture
from .recording import recording
from .replay import replay
from .result import ReplayedDispatch, ReplayResult
from .tolerances import Limits, ToleranceError, Tolerances

__all__ = [
    "CaptureResult",
    "Limits",
    "ReplayResult",
    "ReplayedDispatch",
    "ToleranceError",
    "Tolerances",
    "recording",
    "replay",
    "replay_capture",
]
