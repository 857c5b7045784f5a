"""Predicts the dispatches of one run of a program on several chips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .prediction import Prediction, Predictor
from .timer import BufferLog, Dispatched, PassLog

if TYPE_CHECKING:
    from ..emulated import MTLDevice
    from ..emulated.commands.commands import DispatchCommand
    from .order import Event
    from .timer import Copied


class SeveralChips:
    """Asks each predictor; the first one's answer has those of the others with it."""

    def __init__(self, predictors: Sequence[Predictor]) -> None:
        self._predictors = tuple(predictors)
        self._known: dict[tuple[Prediction, ...], Prediction] = {}

    def __call__(self, device: MTLDevice, command: DispatchCommand) -> Prediction:
        """The predictions for a dispatch that is about to run, and is next in the program."""
        return self._joined(each(device, command) for each in self._predictors)

    def later(self, device: MTLDevice, command: DispatchCommand) -> Callable[[], Prediction]:
        """Look at a dispatch that runs before its turn; what tells the predictions at its turn."""
        asked = [each.later(device, command) for each in self._predictors]
        return lambda: self._joined(each() for each in asked)

    def _joined(self, predictions: Iterable[Prediction]) -> Prediction:
        """The same object for the same predictions: equal dispatches are told by that."""
        made = tuple(predictions)
        if made not in self._known:
            self._known[made] = replace(made[0], others=made[1:])
        return self._known[made]


def logs_of_chip(buffers: Sequence[BufferLog], number: int) -> list[BufferLog]:
    """What was logged, with the predictions of chip `number`; 0 is the first one."""
    if not number:
        return list(buffers)
    return [
        replace(buffer, steps=[_step_of_chip(step, number) for step in buffer.steps])
        for buffer in buffers
    ]


def _step_of_chip(step: PassLog | Event, number: int) -> PassLog | Event:
    if not isinstance(step, PassLog):
        return step
    return replace(step, work=[_work_of_chip(work, number) for work in step.work])


def _work_of_chip(work: Dispatched | Copied, number: int) -> Dispatched | Copied:
    if not isinstance(work, Dispatched):
        return work
    return replace(work, prediction=work.prediction.others[number - 1])
