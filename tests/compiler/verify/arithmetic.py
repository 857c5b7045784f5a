"""What operations of random kernels give, of all threads at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .random_kernels import DATA as _NUMBERS
from .random_kernels import TYPES

Array = Any  # of NumPy, a number for each thread, or one number that all have
WORDS = 0xFFFFFFFF

DATA = np.asarray(_NUMBERS, np.int64)
ORDERS: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
}
PLAIN: dict[str, Callable[[Array, Array], Array]] = {
    "udiv": lambda a, b: a // b,  # by constants that are not 0
    "urem": lambda a, b: a % b,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "lshr": lambda a, b: a >> (b & 31),
    "umin": np.minimum,
    "umax": np.maximum,
    "usub.sat": lambda a, b: np.maximum(a - b, 0),
}
ATOMIC: dict[str, Callable[[Array, Array], Array]] = {
    "add": lambda old, new: old + new,
    "max": np.maximum,
    "or": lambda old, new: old | new,
    "xchg": lambda old, new: new,
    "store": lambda old, new: new,
}


def turns(places: Array) -> Iterator[Array]:
    """Indices of places such that no two of one turn are the same."""
    order = np.argsort(places, kind="stable")
    place = places[order]
    firsts = np.flatnonzero(np.concatenate(([True], place[1:] != place[:-1])))
    rank = np.arange(len(place)) - np.repeat(firsts, np.diff(np.append(firsts, len(place))))
    for turn in range(int(rank.max()) + 1):
        yield order[rank == turn]


def signed(number: Array) -> Array:
    return np.where(np.asarray(number) >> 31 != 0, np.asarray(number) - (1 << 32), number)


def bytes_of(values: Array, kind: str) -> Array:
    """What threads write of a type, all components the same; of 8 bytes, the upper are 0."""
    component, count = TYPES[kind]
    one = values.astype("<i8").view(np.uint8).reshape(len(values), 8)[:, :component]
    return np.tile(one, (1, count))


def across(op: str, values: Array, lanes: Array, simdgroups: Array) -> Array:
    """What each thread finds across those of its simdgroup, which come one behind another."""
    firsts = np.flatnonzero(np.concatenate(([True], simdgroups[1:] != simdgroups[:-1])))
    if op == "first":
        found = values[firsts]
    elif op == "ballot":
        found = np.add.reduceat((values & 1) << lanes, firsts)
    else:
        found = _ACROSS[op].reduceat(values, firsts)
    return np.repeat(found, np.diff(np.append(firsts, len(values)))) & WORDS


_ACROSS = {"sum": np.add, "min": np.minimum, "max": np.maximum, "or": np.bitwise_or}
