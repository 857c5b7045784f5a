"""What instructions do to tensors, followed once from beginning to end before anything runs.

Shapes must be known before memory is taken, memory be there before a kernel writes, elements be
written before they are read. Regions are entered from one place each, which stands before them:
so there are no cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatchmethod

from .. import element_type as elements
from ..status import StatusError, invalid_argument
from . import expressions
from .expressions import Op
from .kernels import check_call
from .records import (
    NONE,
    UNKNOWN,
    Call,
    Check,
    Copy,
    Deduce,
    Forward,
    If,
    Instruction,
    Model,
    Module,
    Place,
    Read,
    Release,
    Reserve,
    Signal,
    Tensor,
    Wait,
    While,
)

_INTEGERS = (elements.INTEGER, 0x11, 0x12, elements.BOOLEAN)
_MOST_NESTED = 64


@dataclass
class _Known:
    """Numbers of tensors of which something is certain, and of points that are signalled."""

    shaped: set[int]
    placed: set[int]
    filled: set[int]
    read: set[int]
    points: set[int]

    def copy(self) -> _Known:
        return _Known(*(set(each) for each in self.all()))

    def all(self) -> tuple[set[int], ...]:
        return self.shaped, self.placed, self.filled, self.read, self.points

    def keep(self, others: Sequence[_Known]) -> None:
        """What is certain whichever of several ways was taken."""
        for at, mine in enumerate(self.all()):
            mine.clear()
            mine.update(set.intersection(*(other.all()[at] for other in others)))


def check_flow(module: Module, model: Model) -> None:
    """Raises StatusError, saying at which instruction, if something is used before it is there."""
    _Follower(module, model).run()


class _Follower:
    def __init__(self, module: Module, model: Model) -> None:
        self._module, self._model = module, model
        self._tensors = model.tensors
        self._entered: set[int] = set()
        self._depth = 0
        given = self._at(Place.INPUT) | self._at(Place.WEIGHT)
        static = {n for n, tensor in enumerate(self._tensors) if UNKNOWN not in tensor.shape}
        self._now = _Known(
            shaped=given | static,
            placed=self._at(Place.PLANNED) | given,
            filled=set(given),
            read=set(),
            points=set(),
        )

    def _at(self, place: Place) -> set[int]:
        return {n for n, tensor in enumerate(self._tensors) if tensor.place == place}

    def run(self) -> None:
        self._region(0, NONE)
        for output in self._model.outputs:
            if output.tensor not in self._now.filled:
                raise invalid_argument(f"nothing writes output {output.name}")

    def _region(self, number: int, parent: int) -> None:
        if not parent < number < len(self._model.regions) or number in self._entered:
            raise invalid_argument(f"region {number} is entered from two places, or in a cycle")
        self._entered.add(number)
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise invalid_argument(f"regions are nested more than {_MOST_NESTED} deep")
        for at, instruction in enumerate(self._model.regions[number].instructions):
            try:
                if isinstance(instruction, If):
                    self._if(instruction, number)
                elif isinstance(instruction, While):
                    self._while(instruction, number)
                else:
                    self._step(instruction)
            except StatusError as error:
                if error.message.startswith("region "):
                    raise
                kind = type(instruction).__name__
                raise invalid_argument(
                    f"region {number}, instruction {at} ({kind}): {error.message}"
                ) from None
        self._depth -= 1

    def _if(self, item: If, region: int) -> None:
        self._expression(item.condition)
        ends = []
        before = self._now
        for branch in (item.then, item.otherwise):
            self._now = before.copy()
            if branch != NONE:
                self._region(branch, region)
            ends.append(self._now)
        self._now = before
        self._now.keep(ends)

    def _while(self, item: While, region: int) -> None:
        self._expression(item.condition)
        before = self._now
        self._now = before.copy()
        self._region(item.body, region)
        before.keep([before.copy(), self._now])
        self._now = before
        self._expression(item.condition)

    @singledispatchmethod
    def _step(self, item: Instruction) -> None:
        raise AssertionError(item)

    @_step.register
    def _(self, item: Deduce) -> None:
        tensor = self._tensor(item.tensor)
        if tensor.place not in (Place.PLANNED, Place.DYNAMIC):
            raise invalid_argument(f"the shape of {tensor.name} is not free")
        self._dims(tensor, item.dims)
        self._now.shaped.add(item.tensor)
        self._now.filled.discard(item.tensor)
        self._now.read.discard(item.tensor)
        if tensor.place == Place.DYNAMIC:
            self._now.placed.discard(item.tensor)

    @_step.register
    def _(self, item: Check) -> None:
        self._expression(item.expression)

    @_step.register
    def _(self, item: Reserve) -> None:
        self._dynamic(item.tensor)
        if item.tensor not in self._now.shaped:
            raise invalid_argument(f"tensor {item.tensor} has no shape yet")
        self._now.placed.add(item.tensor)
        self._now.filled.discard(item.tensor)

    @_step.register
    def _(self, item: Release) -> None:
        self._dynamic(item.tensor)
        for known in (self._now.placed, self._now.filled):
            known.discard(item.tensor)

    @_step.register
    def _(self, item: Call) -> None:
        if not 0 <= item.kernel < len(self._module.kernels):
            raise invalid_argument(f"kernel {item.kernel} of {len(self._module.kernels)}")
        kernel = self._module.kernels[item.kernel]
        check_call(kernel, item)
        for number in (*item.inputs, *item.outputs):
            if self._tensor(number).device != kernel.device:
                raise invalid_argument(f"tensor {number} is on another device than {kernel.entry}")
        for number in item.numbers:
            self._expression(number)
        if item.workspace != NONE:
            self._expression(item.workspace)
        for number in item.inputs:
            self._filled(number)
        for number in item.outputs:
            self._write(number)

    @_step.register
    def _(self, item: Forward) -> None:
        source, target = self._tensor(item.source), self._tensor(item.target)
        self._filled(item.source)
        if target.place != Place.VIEW or item.source == item.target:
            raise invalid_argument(f"{target.name} cannot be a view of {source.name}")
        if (source.element_type, source.device) != (target.element_type, target.device):
            raise invalid_argument(f"{target.name} has another type or device than {source.name}")
        if item.offset != NONE:
            self._expression(item.offset)
        self._dims(target, item.dims)
        for known in (self._now.shaped, self._now.placed, self._now.filled):
            known.add(item.target)
        self._now.read.discard(item.target)

    @_step.register
    def _(self, item: Copy) -> None:
        source, target = self._tensor(item.source), self._tensor(item.target)
        self._filled(item.source)
        if source.element_type != target.element_type or item.source == item.target:
            raise invalid_argument(f"{source.name} cannot be copied to {target.name}")
        self._write(item.target)

    @_step.register
    def _(self, item: Signal) -> None:
        self._point(item.device, item.point)
        self._now.points.add(item.point)

    @_step.register
    def _(self, item: Wait) -> None:
        self._point(item.device, item.point)
        if item.point not in self._now.points:
            raise invalid_argument(f"point {item.point} is not signalled before")

    @_step.register
    def _(self, item: Read) -> None:
        tensor = self._tensor(item.tensor)
        self._filled(item.tensor)
        if elements.numerical_type(tensor.element_type) not in _INTEGERS:
            raise invalid_argument(f"{tensor.name} has no whole numbers")
        self._now.read.add(item.tensor)

    def _tensor(self, number: int) -> Tensor:
        if not 0 <= number < len(self._tensors):
            raise invalid_argument(f"tensor {number} of {len(self._tensors)}")
        return self._tensors[number]

    def _filled(self, number: int) -> None:
        if number not in self._now.filled:
            raise invalid_argument(f"tensor {number} is read before anything wrote it")

    def _write(self, number: int) -> None:
        """A tensor that is written, which needs a shape and memory of its own."""
        tensor = self._tensor(number)
        if tensor.place not in (Place.PLANNED, Place.DYNAMIC):
            raise invalid_argument(f"{tensor.name} may not be written")
        if not {number} <= self._now.shaped & self._now.placed:
            raise invalid_argument(f"{tensor.name} is written before it has a shape and memory")
        self._now.filled.add(number)
        self._now.read.discard(number)

    def _dynamic(self, number: int) -> None:
        if self._tensor(number).place != Place.DYNAMIC:
            raise invalid_argument(f"tensor {number} is not dynamic")

    def _point(self, device: int, point: int) -> None:
        if device not in self._model.devices or not 0 <= point < self._model.points:
            raise invalid_argument(f"there is no point {point} of device {device}")

    def _dims(self, tensor: Tensor, dims: Sequence[int]) -> None:
        if len(dims) != len(tensor.shape):
            raise invalid_argument(f"{len(dims)} sizes for {tensor.name} of {len(tensor.shape)}")
        for number in dims:
            self._expression(number)

    def _expression(self, number: int) -> None:
        known = self._module.expressions
        if not 0 <= number < len(known):
            raise invalid_argument(f"expression {number} of {len(known)}")
        for reference in expressions.check(known[number].code):
            if reference.op is Op.SYMBOL:
                continue
            tensor = self._tensor(reference.number)
            if reference.op is Op.DIM:
                self._dim(reference.number, reference.part, len(tensor.shape))
            elif reference.number not in self._now.read or reference.part < 0:
                raise invalid_argument(f"an element of {tensor.name} is used before it is read")

    def _dim(self, number: int, axis: int, rank: int) -> None:
        if not 0 <= axis < rank or number not in self._now.shaped:
            raise invalid_argument(f"size {axis} of tensor {number} is not known")
