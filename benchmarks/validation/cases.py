"""What is predicted for each published row, and whether it counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from .machine import Machine
from .published import Row

Predict = Callable[[Machine], float]


class Status(Enum):
    """What a row is for."""

    FITTED = "fitted"  # constants of the model come from it
    COUNTED = "counted"
    SHOWN = "shown"  # predicted, but the source itself does not trust the number
    OUT = "out"  # nothing to predict, see `why`


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A row and its prediction.

    Attributes:
        row: what was published.
        chip: key of the chip.
        group: which summary it belongs to.
        status: whether it counts.
        why: why it is not counted; empty where it is.
        predict: the same quantity as the row's, in its unit; None where there is no prediction.
    """

    row: Row
    chip: str
    group: str
    status: Status
    why: str = ""
    predict: Predict | None = None


_PLAIN = {
    "M1": "m1",
    "M1 Pro": "m1-pro",
    "M1 Max": "m1-max",
    "M2": "m2",
    "M2 Pro": "m2-pro",
    "M2 Ultra": "m2-ultra",
    "M3": "m3",
    "M3 Pro": "m3-pro",
    "M4": "m4",
    "M4 Pro": "m4-pro",
    "M4 Max": "m4-max",
    "M5": "m5",
    "M5 Max": "m5-max",
    "A14": "a14",
}
_MOST_CORES = {
    "m1": 8,
    "m1-pro": 16,
    "m1-max": 32,
    "m2": 10,
    "m2-pro": 19,
    "m2-ultra": 76,
    "m3": 10,
    "m3-pro": 18,
    "m4": 10,
    "m4-pro": 20,
    "m4-max": 40,
    "m5": 10,
    "m5-max": 40,
    "a14": 4,
}


def chip_key(text: str) -> str | None:
    """The chip that a source means by `text` ("M1 Pro (14c)"); None if it is none that is known.

    Where it says nothing of cores, the largest variant.
    """
    found = re.match(r"(A14|M\d(?: Pro| Max| Ultra)?)(?![\w-])", text)
    if found is None or found[1] not in _PLAIN:
        return None
    key = _PLAIN[found[1]]
    cores = re.search(r"(\d+)(?:c\)|GPU)", text)
    if cores is None or int(cores[1]) == _MOST_CORES[key]:
        return key
    return f"{key}-{cores[1]}"
