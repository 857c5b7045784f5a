"""Spaces of kernels, sizes and chips: swept, shown, and the best of them chosen."""

from typing import TYPE_CHECKING

from ..lazy import lazy_exports

if TYPE_CHECKING:
    from .declaration import space
    from .errors import SweepError
    from .points import Space
    from .running import SweepResult, sweep
    from .selector import Selector, read_selector
    from .tuning import Loss, Tuned, loss, tune

__all__ = [
    "Loss",
    "Selector",
    "Space",
    "SweepError",
    "SweepResult",
    "Tuned",
    "loss",
    "read_selector",
    "space",
    "sweep",
    "tune",
]

__getattr__ = lazy_exports(
    __name__,
    {
        "Loss": ".tuning",
        "Selector": ".selector",
        "Space": ".points",
        "SweepError": ".errors",
        "SweepResult": ".running",
        "Tuned": ".tuning",
        "loss": ".tuning",
        "read_selector": ".selector",
        "space": ".declaration",
        "sweep": ".running",
        "tune": ".tuning",
    },
)
