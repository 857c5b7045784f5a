"""Tracebacks that end where the user's own code calls Assay.

What goes wrong with a kernel or with arguments is said in the message: frames of ours help nobody
to find it. Internal errors keep all of theirs, and with `ASSAY_TRACEBACK=full` everything does.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_VARIABLE = "ASSAY_TRACEBACK"
_HERE = str(Path(__file__).parent)
_INTERNAL = (AssertionError, AttributeError, KeyError, IndexError, NameError, NotImplementedError)


def is_full() -> bool:
    """Whether tracebacks keep all frames."""
    return os.environ.get(_VARIABLE, "") == "full"


def ends_in_caller(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose errors have one frame below the caller's, which is not shown.

    Notebooks and pytest leave it out, and so does Python at the end of a program.
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True  # IPython and pytest leave this frame out
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if is_full() or isinstance(error, _INTERNAL):
                raise
            short = error.with_traceback(None)
        _shorten_uncaught()
        raise short

    return call


def _shorten_uncaught() -> None:
    """Let Python and notebooks show errors without our last frames, if nobody else shows them."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _show
    if "IPython" in sys.modules:
        _shorten_in_notebook(sys.modules["IPython"].get_ipython())


def _shorten_in_notebook(shell: Any) -> None:
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_in_notebook)


def _show_in_notebook(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    place: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    shell.showtraceback((kind, error, without_our_end(place)), tb_offset=tb_offset)


def _show(kind: type[BaseException], error: BaseException, place: TracebackType | None) -> None:
    sys.__excepthook__(kind, error.with_traceback(without_our_end(place)), None)


def without_our_end(place: TracebackType | None) -> TracebackType | None:
    """A traceback up to the last frame that is not of Assay's own; all of it if there is none."""
    frames = []
    while place is not None:
        frames.append(place)
        place = place.tb_next
    kept = len(frames)
    while kept and is_ours(frames[kept - 1].tb_frame.f_code.co_filename):
        kept -= 1
    if is_full() or not kept:
        return frames[0] if frames else None
    shown: TracebackType | None = None
    for frame in reversed(frames[:kept]):
        shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shown


def is_ours(file: str) -> bool:
    """Whether a file of Python source is a part of Assay."""
    return file.startswith(_HERE + os.sep)
