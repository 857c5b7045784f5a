"""The lines of programs where kernels and stages are declared."""

from __future__ import annotations

import inspect
import sys
from typing import TYPE_CHECKING, Final

from assay.sim.site import shortened

if TYPE_CHECKING:
    from .stages import Stage

_OURS: Final = "assay"


def line_of_caller() -> str:
    """`file:line` of the program, outside of this package; "" for what is made without one."""
    frame = sys._getframe(1)
    while frame.f_back is not None:
        module, file = frame.f_globals.get("__name__", ""), frame.f_code.co_filename
        if module != _OURS and not module.startswith(f"{_OURS}."):
            return f"{shortened(file)}:{frame.f_lineno}"
        if frame.f_code.co_name == "<module>":
            return ""  # one of ours is being imported, by Python or by pytest
        frame = frame.f_back
    return ""


def shown(stage: Stage) -> str:
    """A stage's name, and where it was declared; hand-written ones by their class."""
    place = getattr(stage, "declared_at", None)
    if place is None:
        place = _line_of_class(type(stage))
    return f"{stage.name} ({place})" if place else stage.name


def _line_of_class(kind: type) -> str:
    if kind.__module__.startswith(f"{_OURS}."):
        return ""
    try:
        _, line = inspect.getsourcelines(kind)
        return f"{shortened(inspect.getfile(kind))}:{line}"
    except (OSError, TypeError):  # typed at a prompt
        return ""
