"""Predicts how long dispatches take while a program hands them to the emulated device.

A `ProgramTimer` is called for all that a program commits, and asks a `Predictor` about each
dispatch; `schedule_of` puts what it logged onto the queues of a chip. `ChipCosts` answers
compilers, which ask about kernels that no program runs yet. Knows nothing of how results are shown.
"""

from .costs import ChipCosts
from .predict import ChipPredictor
from .prediction import Prediction, Predictor
from .schedule import Scheduled, schedule_of
from .several import SeveralChips, logs_of_chip
from .timer import Copied, Dispatched, ProgramTimer

__all__ = [
    "ChipCosts",
    "ChipPredictor",
    "Copied",
    "Dispatched",
    "Prediction",
    "Predictor",
    "ProgramTimer",
    "Scheduled",
    "SeveralChips",
    "logs_of_chip",
    "schedule_of",
]
