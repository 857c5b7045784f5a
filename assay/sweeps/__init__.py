"""Spaces of kernels, sizes and chips: swept, shown, and the best of them chosen."""

from typing import TYPE_CHECKING

from ..lazy import lazy_exports

if TYPE_CHECKING:
    from .declaration import space
    from .errors import SweepError
    from .points import Space
    from .running import SweepResult, sweep

__all__ = ["Space", "SweepError", "SweepResult", "space", "sweep"]

__getattr__ = lazy_exports(
    __name__,
    {
        "Space": ".points",
        "SweepError": ".errors",
        "SweepResult": ".running",
        "space": ".declaration",
        "sweep": ".running",
    },
)
