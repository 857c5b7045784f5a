"""What a kernel is passed, in the order of the signature that MLX generates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Input
from .signature import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """An array: its bytes, and where among them its first element is."""

    name: str
    data: NDArray[np.uint8]
    offset: int
    is_output: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """Numbers passed by value: the shape, strides or dimensions of an input."""

    data: NDArray[Any]


def passed(
    source: Source, inputs: Sequence[Input], outputs: Sequence[NDArray[Any]]
) -> Iterator[Memory | Value]:
    """The arguments of a call by index: inputs with what the body names of them, then outputs."""
    for name, given in zip(source.input_names, inputs, strict=True):
        data, offset = given.memory()
        yield Memory(name=name, data=data, offset=offset, is_output=False)
        if given.elements.ndim == 0:
            continue
        if source.wants(name, "shape"):
            yield Value(data=np.array(given.elements.shape, np.int32))
        if source.wants(name, "strides"):
            yield Value(data=np.array(given.strides, np.int64))
        if source.wants(name, "ndim"):
            yield Value(data=np.array(given.elements.ndim, np.int32))
    for name, output in zip(source.output_names, outputs, strict=True):
        data = output.reshape(-1).view(np.uint8)
        yield Memory(name=name, data=data, offset=0, is_output=True)
