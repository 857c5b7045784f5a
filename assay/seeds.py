"""Seeded inputs for functions whose signature is known."""

import numpy as np

from .elements import ELEMENTS, Value
from .signatures import Signature, Slot

DYNAMIC_SIZE = 4
"""The size given to dimensions that a signature leaves open."""


class UnknownInput(ValueError):
    """No input can be made up for an argument; `slot` is which, `str()` tells people."""

    def __init__(self, slot: Slot, why: str) -> None:
        super().__init__(f"{slot.name}: {slot.type}: {why}")
        self.slot = slot


def seeded_inputs(signature: Signature, seed: int, *, quantised: bool = False) -> list[Value]:
    """One value per argument: normal floats, small integers, random booleans.

    What a function does not look at is one zero. Integers of models that are `quantised` are of
    the whole range of their type.
    """
    random = np.random.default_rng(seed)
    return [_value(slot, random, quantised) for slot in signature.arguments]


def _value(slot: Slot, random: np.random.Generator, quantised: bool) -> Value:
    if slot.is_open:
        return np.zeros(1, np.float32)
    if not slot.is_tensor:
        if slot.type.startswith("f"):
            return float(np.float32(random.standard_normal()))
        if slot.type.startswith("i"):
            return int(random.integers(0, 8)) if slot.type != "i1" else int(random.integers(0, 2))
        raise UnknownInput(slot, "give it with --input")
    dtype = ELEMENTS.get(slot.element)
    if dtype is None:
        raise UnknownInput(slot, "this element type is not known")
    shape = tuple(DYNAMIC_SIZE if size is None else size for size in slot.shape)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        if quantised:
            limits = np.iinfo(dtype)
            return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
        # Small and not negative: such integers are often indices or sizes.
        return random.integers(0, 8, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)
