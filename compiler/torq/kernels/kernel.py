"""What a kernel is: pure functions of an operator and a region of its result.

A kernel says what it accepts, how its result may be cut into tiles, and for a tile which parts of
the operands it needs, which constants, how much memory and how many cycles, all without values or
addresses. Once everything has a place, `emit` makes the slice tasks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from assay.hw.torq.words.commands import SliceTask

from ..operators.operator import Operator
from ..operators.tensors import ELEMENT_BYTES, Region, TensorType
from ..slice.tensor import Tensor, dense

Values = Mapping[str, NDArray[np.generic]]
Places = Mapping[str, Tensor]
"""Operands, result, constants and scratch by name; tensors have the shape of their region."""
Op = TypeVar("Op", bound=Operator)


class Nest(Protocol):
    """A slice task that is still to be encoded."""

    @property
    def cycles(self) -> int:
        """How long it takes."""

    def task(self) -> SliceTask:
        """It as a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TileDim:
    """An axis of the result along which it may be cut.

    Attributes:
        granularity: tiles start at multiples of it, and have a multiple of it unless they are last.
        best: multiples of this many waste no lanes.
    """

    axis: int
    granularity: int = 1
    best: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRegion:
    """What is read of an operand, and how many elements of padding lie before and behind it."""

    operand: str
    region: Region
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantSpec:
    """A constant: its type and shape. What is in it `pack` says."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def bytes_(self) -> int:
        """Bytes in memory."""
        return int(np.prod(self.shape)) * ELEMENT_BYTES[self.dtype]


class Kernel(ABC, Generic[Op]):
    """One way to run an operator on a slice."""

    name: str

    @abstractmethod
    def accepts(self, op: Op) -> str | None:
        """None, or why it cannot run the operator."""

    @abstractmethod
    def tile_dims(self, op: Op) -> tuple[TileDim, ...]:
        """The axes of y along which tiles may be cut."""

    @abstractmethod
    def input_regions(self, op: Op, out: Region) -> tuple[InputRegion, ...]:
        """What is read of each operand for a region of y."""

    some_terms: tuple[int, int] | None = None
    """The first of the terms that are summed, and how many, if it is not all of them."""

    @property
    def stem(self) -> str:
        """The kernel's name, whatever terms it sums."""
        return self.name

    def terms(self, op: Op) -> tuple[int, int]:
        """How many parts a sum can be cut into, and how many steps of the ALU each of them takes;
        (1, 1) if what the result is made of is needed at once.
        """
        return 1, 1

    def over_terms(self, op: Op, out: Region, first: int, count: int) -> Kernel[Op] | None:
        """What sums over some of the `terms`: added to what is in PRAM unless they are the first,
        kept there unless they are the last.

        All of them one after the other, on one slice with nothing between, make the region. None
        if sums cannot be cut, or the region is more than PRAM holds.
        """
        return None

    def constants(self, op: Op, out: Region) -> tuple[ConstantSpec, ...]:
        """The constants of a region."""
        return ()

    def scratch(self, op: Op, out: Region) -> dict[str, TensorType]:
        """Memory that is needed only while the tasks run."""
        return {}

    def pack(self, op: Op, out: Region, values: Values) -> dict[str, NDArray[np.generic]]:
        """What is in each of the `constants`, from the operator's own, such as weights and bias."""
        return {}

    @abstractmethod
    def nests(self, op: Op, out: Region, places: Places) -> Sequence[Nest]:
        """The tasks of a region, not encoded yet; their number and cycles do not depend on places.

        Raises IllegalSliceProgram.
        """

    def footprint(self, op: Op, out: Region) -> dict[str, int]:
        """Bytes of everything that must be in LRAM, by name."""
        found = {
            need.operand: op.tensors[need.operand].of(need.region).bytes_
            for need in self.input_regions(op, out)
        }
        found["y"] = op.y.of(out).bytes_
        found |= {constant.name: constant.bytes_ for constant in self.constants(op, out)}
        return found | {name: kind.bytes_ for name, kind in self.scratch(op, out).items()}

    def cost(self, op: Op, out: Region) -> int:
        """Cycles of all tasks of a region, from the counts of their loops."""
        return sum(nest.cycles for nest in self.nests(op, out, self.unplaced(op, out)))

    def emit(self, op: Op, out: Region, places: Places) -> list[SliceTask]:
        """The tasks of a region whose tensors have places. Raises IllegalSliceProgram."""
        return [nest.task() for nest in self.nests(op, out, places)]

    def unplaced(self, op: Op, out: Region) -> dict[str, Tensor]:
        """Every tensor of a region by itself, at address 0."""
        kinds = {
            need.operand: op.tensors[need.operand].of(need.region)
            for need in self.input_regions(op, out)
        }
        kinds |= {"y": op.y.of(out), **self.scratch(op, out)}
        found = {name: placed(name, kind, 0) for name, kind in kinds.items()}
        for constant in self.constants(op, out):
            found[constant.name] = dense(constant.name, 0, constant.dtype, constant.shape)
        return found


def placed(name: str, kind: TensorType, address: int) -> Tensor:
    """A tensor by itself at an LRAM address."""
    return Tensor(
        name=name,
        address=address,
        dtype=kind.dtype,
        shape=kind.stored_shape,
        strides=kind.strides,
    )


def part(tensor: Tensor, kind: TensorType, region: Region) -> Tensor:
    """A region of a tensor of a type that is in LRAM as a whole.

    Of quadrants, rows and columns of a region start at even ones.
    """
    starts, sizes = region.starts, region.sizes
    if len(tensor.shape) == len(starts) + 1:
        rows, columns = (start // 2 for start in starts[2:])
        starts = (*starts[:2], 0, rows, columns)
    address = tensor.address + sum(
        start * stride for start, stride in zip(starts, tensor.strides, strict=True)
    )
    return Tensor(
        name=tensor.name,
        address=address,
        dtype=tensor.dtype,
        shape=kind.of(Region(starts=region.starts, sizes=sizes)).stored_shape,
        strides=tensor.strides,
    )
