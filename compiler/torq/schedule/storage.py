"""Tensors in XRAM: whose memory they are in, and where their elements lie there."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from ...graph.elements import NUMPY, Array
from ..kernels.kernel import Kernel
from ..operators.tensors import Layout, Region, TensorType

QUADRANTS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""First row and column of each."""


CallerType = tuple[str, tuple[int, ...]]
"""Element type, which may be "bool", and shape, which may be ()."""


@dataclass(frozen=True, kw_only=True)
class Packing:
    """Where packed constants come from: the kernel that reads them as `role` for a region of the
    result of the operator of that name."""

    job: str
    kernel: Kernel[Any]
    region: Region
    role: str


class Role(Enum):
    """Who fills memory, and for whom."""

    INPUT = "input"
    OUTPUT = "output"
    CONSTANT = "constant"
    WORK = "work"


@dataclass(frozen=True, eq=False, kw_only=True)
class Storage:
    """Bytes in XRAM.

    Attributes:
        data: elements of constants, if they are packed yet.
        packing: what is packed, of constants that kernels pack.
        caller: element type and shape of the caller's tensor, if it is the caller's.
    """

    name: str
    role: Role
    size: int
    data: bytes | None = None
    packing: Packing | None = None
    caller: CallerType | None = None


@dataclass(frozen=True, kw_only=True)
class Home:
    """Where a tensor is in XRAM; `strides` in bytes, of its dimensions in memory."""

    storage: Storage
    kind: TensorType
    strides: tuple[int, ...]

    @property
    def is_usual(self) -> bool:
        """Whether elements lie as the type says."""
        return self.strides == self.kind.strides


def stored(name: str, kind: TensorType, role: Role, caller: CallerType | None = None) -> Home:
    """A tensor with memory of its own."""
    storage = Storage(name=name, role=role, size=kind.bytes_, caller=caller)
    return Home(storage=storage, kind=kind, strides=kind.strides)


def constant(name: str, kind: TensorType, array: Array) -> Home:
    """A tensor of constants, laid out as its type says."""
    data = np.zeros(kind.bytes_, np.uint8)
    values = np.ascontiguousarray(array.reshape(kind.shape), NUMPY[kind.dtype])
    if kind.layout is Layout.QUADRANTS:
        values = np.stack([values[:, :, row::2, column::2] for row, column in QUADRANTS], axis=2)
    target = np.ndarray(kind.stored_shape, values.dtype, data.data, 0, kind.strides)
    target[...] = values
    storage = Storage(name=name, role=Role.CONSTANT, size=kind.bytes_, data=data.tobytes())
    return Home(storage=storage, kind=kind, strides=kind.strides)


def array_of(data: bytes, kind: TensorType) -> Array:
    """The tensor that bytes hold as its type lays them out, in its own shape."""
    stored = np.ndarray(kind.stored_shape, NUMPY[kind.dtype], data, 0, kind.strides)
    if kind.layout is not Layout.QUADRANTS:
        return stored.copy()
    values = np.empty(kind.shape, stored.dtype)
    for place, (row, column) in enumerate(QUADRANTS):
        values[:, :, row::2, column::2] = stored[:, :, place]
    return values


def packed(name: str, values: Array, packing: Packing) -> Storage:
    """Constants as a kernel packs them."""
    data = np.ascontiguousarray(values).tobytes()
    return Storage(name=name, role=Role.CONSTANT, size=len(data), data=data, packing=packing)
