"""What is predicted of one dispatch, and who predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from assay.hw.apple.core.result import DispatchTime
    from assay.sim.simt.emit.tape import Tape

    from ..emulated import MTLDevice
    from ..emulated.commands.commands import DispatchCommand


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Prediction:
    """What one dispatch takes, and all that equal it.

    Attributes:
        time: what the core model says.
        share: part of the GPU that the dispatch can keep busy, (0, 1].
        tape: what its first sampled threadgroups did, with places, if it was to be kept.
        others: the same dispatch on further chips, if those were asked for.
    """

    time: DispatchTime
    share: float
    tape: Tape | None = None
    others: tuple[Prediction, ...] = ()


class Predictor(Protocol):
    """What a timer asks about each dispatch, before it runs; memory is left as it was."""

    def __call__(self, device: MTLDevice, command: DispatchCommand) -> Prediction:
        """The prediction of the dispatch that is next in the program's order."""

    def later(self, device: MTLDevice, command: DispatchCommand) -> Callable[[], Prediction]:
        """Look at a dispatch that runs before its turn; what tells the prediction at its turn."""
