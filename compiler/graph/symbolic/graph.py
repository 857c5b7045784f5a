"""One model for one set of input shapes: tensors with their sizes, and what is done to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..elements import Array
from .dims import Dim, Dims


@dataclass(frozen=True, kw_only=True, slots=True)
class Tensor:
    """A tensor that is computed or given: its element type and shape."""

    name: str
    dtype: np.dtype[Any]
    dims: Dims


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Operator:
    """A node of the model that a kernel does."""

    node: Any
    """The node as ONNX has it."""
    name: str
    inputs: tuple[str, ...]
    """Of computed and constant tensors; "" is none."""
    outputs: tuple[str, ...]
    ranges: Mapping[int, tuple[Dim, Dim]] = field(default_factory=dict)
    """Of a slice between places that are sizes: (start, end) by axis. Its input is its first."""
    numbers: tuple[Dim, ...] = ()
    """Integers that a kernel takes instead of the operator's other inputs."""
    checks: tuple[tuple[Dim, str], ...] = ()
    """What must not be 0 when it runs, and what is said otherwise."""

    @property
    def takes_sizes(self) -> bool:
        """Whether its kernel is told sizes, and so is one of its own."""
        return bool(self.ranges or self.numbers)


@dataclass(frozen=True, kw_only=True, slots=True)
class Forward:
    """A tensor that is another's memory, from element `offset` on, in another shape."""

    name: str
    operator: str
    source: str
    target: str
    offset: Dim = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Graph:
    """A typed graph; steps are in an order in which they can be done."""

    name: str
    opsets: tuple[tuple[str, int], ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[str, ...]
    tensors: Mapping[str, Tensor]
    constants: Mapping[str, Array]
    steps: tuple[Operator | Forward, ...]
    reads: tuple[str, ...] = field(default=())
    """Tensors whose elements shapes depend on: the host waits for them."""
