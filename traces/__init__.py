"""What happened, when, and why it waited: events, recorders, writers, readers, comparison."""

from .events.clock import Clock
from .events.errors import TraceError
from .events.schema import Argument, Cause, Form, Group, Kind, Role, Track, Type
from .events.trace import Counters, Flows, Instants, Row, Slices, Trace
from .record.recorder import Recorder

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
