"""The line of the host program that called us."""

from __future__ import annotations

import functools
import os
import sys
import sysconfig
from types import FrameType

from assay.sim.site import Site, shortened

_OURS = "assay"
# What runs kernels without a host program.
_LAUNCHERS = ("assay.checks.", "assay.launches.", "assay.cli.")


def caller() -> Site:
    """The innermost line of the program: not Assay's own, and of no installed library."""
    return site_of(sys._getframe(1))


def line_of_program() -> Site:
    """The line of a program whose call it is; no place where Assay itself launches kernels."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(_LAUNCHERS):
            return Site()
        if name != _OURS and not name.startswith(f"{_OURS}."):
            return site_of(frame)
        frame = frame.f_back
    return Site()


def site_of(frame: FrameType | None) -> Site:
    """The innermost line of the program among a frame and its callers; else of a library."""
    outside: FrameType | None = None
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != _OURS and not name.startswith(f"{_OURS}."):
            outside = outside or frame
            if not _is_installed(frame.f_code.co_filename):
                return _site(frame)
        frame = frame.f_back
    return _site(outside) if outside is not None else Site()


def _site(frame: FrameType) -> Site:
    code = frame.f_code
    return Site(shortened(code.co_filename), frame.f_lineno, 1, code.co_name)


@functools.lru_cache(maxsize=1 << 12)
def _is_installed(file: str) -> bool:
    """Whether a file is of a library or of Python itself."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = [os.path.join(sysconfig.get_path(name), "") for name in names]
    return file.startswith((*folders, "<frozen")) or f"{os.sep}site-packages{os.sep}" in file
