"""A GPU as programs see it: queues, command buffers, passes, dispatches, and what they cost."""

from .overheads import Overheads, overheads
from .run import Gpu, run
from .work import (
    Commit,
    EventSignal,
    EventWait,
    HostCall,
    HostSpan,
    Pass,
    PassSpan,
    Schedule,
    Submission,
    SubmissionSpan,
    WaitForEnd,
    Work,
    WorkSpan,
)

__all__ = [
    "Commit",
    "EventSignal",
    "EventWait",
    "Gpu",
    "HostCall",
    "HostSpan",
    "Overheads",
    "Pass",
    "PassSpan",
    "Schedule",
    "Submission",
    "SubmissionSpan",
    "WaitForEnd",
    "Work",
    "WorkSpan",
    "overheads",
    "run",
]
