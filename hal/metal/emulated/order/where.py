"""The line of the host program that called us."""

from __future__ import annotations

import os
import sys
from types import FrameType

from assay.sim.site import Site

_OURS = "assay"


def caller() -> Site:
    """The innermost line that is not Assay's own."""
    return site_of(sys._getframe(1))


def site_of(frame: FrameType | None) -> Site:
    """The innermost line of a frame and its callers that is not Assay's own."""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != _OURS and not name.startswith(f"{_OURS}."):
            file = frame.f_code.co_filename
            return Site(_shortened(file), frame.f_lineno, 1, frame.f_code.co_name)
        frame = frame.f_back
    return Site()


def _shortened(file: str) -> str:
    """A path from the current folder on, if it lies there."""
    try:
        short = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if short.startswith("..") else short
