"""What happened, when, and why it waited: events, recorders, writers, readers, comparison."""

from .clock import Clock
from .errors import TraceError
from .recorder import Recorder
from .schema import Argument, Cause, Form, Group, Kind, Role, Track, Type
from .trace import Counters, Flows, Instants, Row, Slices, Trace

__all__ = [
    "Argument",
    "Cause",
    "Clock",
    "Counters",
    "Flows",
    "Form",
    "Group",
    "Instants",
    "Kind",
    "Recorder",
    "Role",
    "Row",
    "Slices",
    "Trace",
    "TraceError",
    "Track",
    "Type",
]
