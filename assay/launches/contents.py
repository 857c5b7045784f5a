"""What an argument's memory holds, made from what a person wrote or from what is assumed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import LaunchInputError
from .inputs import MOST_BYTES, Exact, Fields, Filled, Given, Literal, Members, Number, Raw
from .scalars import axes_of, dtype_named, element_of

if TYPE_CHECKING:
    from assay.compiler.msl import Argument

Bytes = NDArray[np.uint8]
_MOST_RANDOM_INTEGER = 8  # small, so that random integers do as indices
_PERIOD = 262_139  # a prime: rows of no power of two are alike


def contents(given: Given, argument: Argument, seed: int, where: str) -> Bytes:
    """The bytes of a buffer argument. Raises LaunchInputError.

    Args:
        given: what was written for it.
        argument: what the kernel says about it.
        seed: of random values.
        where: place of `given`, for messages.
    """
    what = f"{where}: argument '{argument.name}'"
    match given:
        case Raw():
            data: NDArray[Any] = np.zeros(_affordable(given.bytes, what), np.uint8)
        case Exact():
            data = given.array
        case Fields():
            data = _struct(given)
        case Members():
            raise LaunchInputError(
                f"{what} is of type {argument.type_name}, whose members are not known; give dtype, "
                "shape and fill, or fields"
            )
        case Literal():
            data = _literal(given, argument, what)
        case Filled():
            data = _filled(given, argument, seed, what)
    raw = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    if raw.nbytes < argument.size:
        raise LaunchInputError(
            f"{what} is of type {argument.type_name}, {argument.size} bytes; {raw.nbytes} are given"
        )
    return raw


def random_array(dtype: np.dtype[Any], count: int, seed: int) -> NDArray[Any]:
    """Floats from -1 to 1, integers from 0 to 7; the same each time."""
    random = np.random.default_rng(seed)
    if dtype.kind == "b":
        return random.integers(0, 2, count).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(0, _MOST_RANDOM_INTEGER, count).astype(dtype)
    return random.uniform(-1, 1, count).astype(dtype)


def assumed_array(dtype: np.dtype[Any], count: int, seed: int) -> NDArray[Any]:
    """As `random_array`, but beyond `_PERIOD` elements they come again: copying is quicker."""
    drawn = random_array(dtype, min(count, _PERIOD), seed)
    return drawn if count <= _PERIOD else np.resize(drawn, count)


def _filled(given: Filled, argument: Argument, seed: int, what: str) -> NDArray[Any]:
    dtype, per_element = _dtype(given, argument, what)
    if isinstance(given.fill, Path):
        return _loaded(given, dtype if given.dtype else None, what)
    if isinstance(given.fill, tuple):
        values = numbers(given.fill, dtype, what)
        if given.shape is not None and values.size != _count(given.shape) * per_element:
            raise LaunchInputError(
                f"{what}: {values.size} values for a shape of {_count(given.shape)} elements"
            )
        return values
    assert given.shape is not None
    count = _count(given.shape) * per_element
    _affordable(count * dtype.itemsize, what)
    if given.fill == "random":
        return random_array(dtype, count, seed)
    if given.fill == "iota":
        return np.arange(count).astype(dtype)
    if isinstance(given.fill, str):
        return np.full(count, 1 if given.fill == "ones" else 0).astype(dtype)
    return np.full(count, numbers((given.fill,), dtype, what)[0], dtype)


def _affordable(size: int, what: str) -> int:
    """As many bytes. Raises LaunchInputError if no buffer has so many."""
    if size > MOST_BYTES:
        raise LaunchInputError(f"{what}: {size} bytes are more than the {MOST_BYTES} allowed")
    return size


def _dtype(given: Filled, argument: Argument, what: str) -> tuple[np.dtype[Any], int]:
    """(type of the elements in memory, how many of them the shape counts as one)."""
    named = dtype_named(given.dtype) if given.dtype else None
    if named is not None:
        return named, 1
    own = element_of(argument.type_name)
    if own is None:
        if isinstance(given.fill, Path):
            return np.dtype(np.uint8), 1
        raise LaunchInputError(
            f'{what} is of type {argument.type_name}: say what its memory holds with dtype = "..."'
        )
    return own, max(1, argument.size // own.itemsize)


def _loaded(given: Filled, dtype: np.dtype[Any] | None, what: str) -> NDArray[Any]:
    path = given.fill
    try:
        array = np.load(str(path), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise LaunchInputError(f"{what}: {path} cannot be read as .npy: {reason}") from None
    if not isinstance(array, np.ndarray) or array.dtype.hasobject:
        raise LaunchInputError(f"{what}: {path} does not hold one array of numbers")
    if given.shape is not None and array.shape != given.shape:
        raise LaunchInputError(f"{what}: {path} has shape {array.shape}, not {given.shape}")
    if dtype is not None and array.dtype != dtype and array.dtype.kind != "V":
        raise LaunchInputError(f"{what}: {path} holds {array.dtype}, not {dtype}")
    return array


def _literal(given: Literal, argument: Argument, what: str) -> NDArray[Any]:
    own = element_of(argument.type_name)
    if own is None:
        raise LaunchInputError(
            f"{what} is of type {argument.type_name}: give its members by name, such as "
            '{ n = 64, scale = 0.5 }, or {"n": 64, "scale": 0.5} in Python'
        )
    values = numbers(given.values, own, what)
    room = argument.size // own.itemsize
    if len(values) == 1 and room > 1:
        return np.full(room, values[0], own)
    if argument.is_reference and len(values) > room:
        raise LaunchInputError(
            f"{what} is one {argument.type_name}; {len(values)} values are given"
        )
    if argument.is_reference and len(values) < axes_of(argument.type_name):
        raise LaunchInputError(
            f"{what} is one {argument.type_name}; only {len(values)} values are given"
        )
    padding = -len(values) % room  # a float3 is followed by four bytes of nothing
    return np.concatenate([values, np.zeros(padding, own)])


def _struct(given: Fields) -> NDArray[np.uint8]:
    """Members one after the other, each at a multiple of its size, as C lays them out."""
    raw = bytearray()
    widest = 1
    for name, number in given.members:
        dtype = dtype_named(name)
        assert dtype is not None
        widest = max(widest, dtype.itemsize)
        raw += bytes(-len(raw) % dtype.itemsize)
        raw += numbers((number,), dtype, name).tobytes()
    raw += bytes(-len(raw) % widest)
    return np.frombuffer(bytes(raw), np.uint8)


def numbers(values: tuple[Number, ...], dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    """Values as `dtype`. Raises LaunchInputError for those that do not fit."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        for value in values:
            if math.isfinite(value) and value != int(value):
                raise LaunchInputError(f"{what}: {value} is no whole number, as {dtype} takes it")
            if not limits.min <= value <= limits.max:
                raise LaunchInputError(
                    f"{what}: {value} is not in {limits.min}..{limits.max}, the values of {dtype}"
                )
    with np.errstate(over="ignore"):
        return np.array(values).astype(dtype)


def _count(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
