"""Captures of HAL calls, as IREE's tools write them (`--device_replay_output=FILE.ireereplay`).

A capture has the executables, the inputs that the host wrote and all that queues were given, but
nothing of what a device gave back.
"""

from .errors import CaptureError
from .execute import Execution, HostRead
from .file import SUFFIX, Capture

__all__ = ["SUFFIX", "Capture", "CaptureError", "Execution", "HostRead"]
