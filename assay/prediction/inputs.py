"""Inputs of a module's function: those that were given, or random ones of the right shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..elements import element_name
from ..seeds import UnknownInput, seeded_inputs
from .errors import TimeInputError

if TYPE_CHECKING:
    from ..module import Function
    from ..signatures import Slot

_SEED = 0  # the same inputs in every run


def inputs_of(function: Function, given: Sequence[Any]) -> tuple[Sequence[Any], tuple[str, ...]]:
    """The inputs to time a function with, and what was assumed of them, in sentences.

    Raises TimeInputError if none are given and of one the type is not known.
    """
    slots = function.signature.arguments
    if given or not slots:
        return given, ()
    try:
        values = seeded_inputs(function.signature, _SEED)
    except UnknownInput as error:
        raise TimeInputError(f"no inputs can be made up for {function.name}: {error}") from None
    pairs = zip(slots, values, strict=True)
    return values, tuple(f"{slot.name}: {_described(slot, value)}" for slot, value in pairs)


def _described(slot: Slot, value: Any) -> str:
    if slot.is_open:
        return "not looked at"
    if not isinstance(value, np.ndarray):
        return f"{slot.type}, random"
    taken = "x".join([*map(str, value.shape), element_name(value.dtype)])
    # Sizes that are known only at run time were chosen.
    return f"{slot.text} taken as {taken}, random" if "?" in slot.text else f"{slot.text}, random"
