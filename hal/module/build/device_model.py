"""A graph for one device as a device model: tensors at their places, instructions in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from assay.compiler.graph.symbolic.dims import Dim, Dims, greatest, is_known, product, range_of
from assay.compiler.graph.symbolic.graph import Forward, Graph
from assay.compiler.module.groups import Group, Step
from assay.compiler.module.kernels import Kernel
from assay.compiler.module.plan import Life, planned

from ... import element_type as elements
from .. import records
from ..expressions import Op
from ..records import NONE, UNKNOWN, Arena, Input, Instruction, Model, Output, Place, Region, Tensor
from .pool import Pool


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What a device model is made of: a graph, its steps, and the kernels of its groups."""

    name: str
    file: str
    graph: Graph
    steps: Sequence[Step]
    kernels: Mapping[Group, Kernel]
    device: int


def device_model(pool: Pool, part: Part) -> Model:
    """The device model; its weights, expressions and locations go into the pool."""
    return _Maker(pool, part).model()


class _Maker:
    def __init__(self, pool: Pool, part: Part) -> None:
        self._pool, self._part, self._graph = pool, part, part.graph
        self._ranges = {
            symbol.name: (symbol.minimum, symbol.maximum or None) for symbol in pool.symbols
        }
        self._made_by = _makers(part.steps)
        self._numbers: dict[str, int] = {}
        self._instructions: list[Instruction] = []

    def model(self) -> Model:
        names = self._names()
        self._numbers = {name: number for number, name in enumerate(names)}
        sizes = {name: size for name in names if (size := self._planned_size(name)) is not None}
        plan = planned(_lives(self._part.steps, self._graph, sizes))
        tensors = tuple(self._tensor(name, sizes, plan.offsets) for name in names)
        for tensor in self._graph.inputs:
            self._read(tensor.name)
        for step in self._part.steps:
            if isinstance(step, Forward):
                self._forward(step)
            else:
                self._call(step, tensors)
        device = self._part.device
        return Model(
            name=self._part.name,
            devices=(device,),
            inputs=tuple(
                Input(each.name, self._numbers[each.name], self._sizes(each.dims))
                for each in self._graph.inputs
            ),
            outputs=tuple(Output(name, self._numbers[name]) for name in self._graph.outputs),
            arenas=(Arena(device, plan.size),),
            tensors=tensors,
            regions=(Region(tuple(self._instructions)),),
            points=0,
        )

    def _names(self) -> list[str]:
        """Inputs, what steps make, and weights that kernels take, in the order they are met."""
        names = dict.fromkeys(tensor.name for tensor in self._graph.inputs)
        for step in self._part.steps:
            if isinstance(step, Forward):
                names[step.target] = None
            else:
                kernel = self._part.kernels[step]
                names.update(dict.fromkeys((*kernel.arguments, *kernel.outputs)))
        return list(names)

    def _planned_size(self, name: str) -> int | None:
        """Bytes of what a kernel makes, at most; None for what is elsewhere or has no most."""
        if not isinstance(self._made_by.get(name), Group):
            return None
        tensor = self._graph.tensors[name]
        most = [greatest(dim, self._ranges) for dim in tensor.dims]
        known = [size for size in most if size is not None]
        return prod(known) * tensor.dtype.itemsize if len(known) == len(most) else None

    def _tensor(self, name: str, sizes: Mapping[str, int], offsets: Mapping[str, int]) -> Tensor:
        device = self._part.device
        if name in self._graph.constants:
            array = self._graph.constants[name]
            weight = self._pool.weight(name, array)
            code = elements.code_of(array.dtype)
            return Tensor(name, code, array.shape, device, Place.WEIGHT, weight, 0, 0, NONE)
        tensor = self._graph.tensors[name]
        shape = tuple(dim if isinstance(dim, int) else UNKNOWN for dim in tensor.dims)
        code = elements.code_of(tensor.dtype)
        step = self._made_by.get(name)
        location = NONE if step is None else self._location(step)
        given = [each.name for each in self._graph.inputs]
        place, where, offset, size = Place.DYNAMIC, 0, 0, 0
        if step is None:
            place, where = Place.INPUT, given.index(name)
        elif isinstance(step, Forward):
            place = Place.VIEW
        elif name in sizes:
            place, offset, size = Place.PLANNED, offsets[name], sizes[name]
        return Tensor(name, code, shape, device, place, where, offset, size, location)

    def _location(self, step: Step) -> int:
        file = self._part.file
        if isinstance(step, Forward):
            return self._pool.location(file, step.operator, step.name)
        kinds = "+".join(operator.node.op_type for operator in step.operators)
        return self._pool.location(file, kinds, step.last.name)

    def _sizes(self, dims: Dims) -> tuple[int, ...]:
        return tuple(self._pool.size(dim, self._numbers) for dim in dims)

    def _forward(self, step: Forward) -> None:
        source, target = (self._graph.tensors[name] for name in (step.source, step.target))
        offset = NONE
        if step.offset != 0:
            offset = self._bytes(step.offset, source.dtype.itemsize)
        if step.operator != "Slice":
            self._check_product(step, source.dims, target.dims)
        self._instructions.append(
            records.Forward(
                self._numbers[step.source],
                self._numbers[step.target],
                offset,
                self._sizes(target.dims),
            )
        )
        self._read(step.target)

    def _bytes(self, count: Dim, size: int) -> int:
        return self._pool.expression(
            (*self._pool.code(count, self._numbers), Op.CONST, size, Op.MUL)
        )

    def _check_product(self, step: Forward, one: Dims, other: Dims) -> None:
        """Where sizes have names, only a run shows whether a reshape keeps all elements."""
        before, after = product(one), product(other)
        if before == after:
            return
        code = (
            *self._pool.code(before, self._numbers),
            *self._pool.code(after, self._numbers),
            Op.EQ,
        )
        message = f"{step.operator} {step.name}: the new shape has another number of elements"
        self._instructions.append(records.Check(self._pool.expression(code), message))

    def _check_full(self, group: Group, kernel: Kernel) -> None:
        """Windows and samples of a tensor without elements would lie outside of it."""
        for name in kernel.arguments if group.needs_elements else ():
            tensor = self._graph.tensors.get(name)
            for dim in tensor.dims if tensor is not None else ():
                least = range_of(dim, self._ranges)[0]
                if least is None or least < 1:
                    code = Op.CONST, 0, *self._pool.code(dim, self._numbers), Op.LT
                    message = (
                        f"{group.operators[0].node.op_type} {group.last.name}: {name} is empty"
                    )
                    self._instructions.append(records.Check(self._pool.expression(code), message))

    def _call(self, group: Group, tensors: Sequence[Tensor]) -> None:
        kernel = self._part.kernels[group]
        self._check_full(group, kernel)
        outputs = tuple(self._numbers[name] for name in kernel.outputs)
        for name, number in zip(kernel.outputs, outputs, strict=True):
            dims = self._graph.tensors[name].dims
            if not is_known(dims) or tensors[number].place == Place.DYNAMIC:
                self._instructions.append(records.Deduce(number, self._sizes(dims)))
            if tensors[number].place == Place.DYNAMIC:
                self._instructions.append(records.Reserve(number))
        self._instructions.append(
            records.Call(
                self._pool.kernel(self._part.device, kernel.entry),
                tuple(self._numbers[name] for name in kernel.arguments),
                self._sizes(kernel.constants),
                outputs,
            )
        )
        for name in kernel.outputs:
            self._read(name)

    def _read(self, name: str) -> None:
        """Right behind what makes it: elements that sizes depend on."""
        if name in self._graph.reads:
            self._instructions.append(records.Read(self._numbers[name]))


def _makers(steps: Sequence[Step]) -> dict[str, Step]:
    """The step that makes each tensor."""
    made: dict[str, Step] = {}
    for step in steps:
        if isinstance(step, Forward):
            made[step.target] = step
        else:
            made.update(dict.fromkeys(step.outputs, step))
    return made


def _lives(steps: Sequence[Step], graph: Graph, sizes: Mapping[str, int]) -> list[Life]:
    """When planned tensors are needed; one that has views, as long as any of them is."""
    root: dict[str, str] = {}
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for at, step in enumerate(steps):
        if isinstance(step, Forward):
            root[step.target] = root.get(step.source, step.source)
            used: Sequence[str] = (step.source, step.target)
        else:
            used = (*step.inputs, *step.outputs)
        for name in used:
            owner = root.get(name, name)
            first.setdefault(owner, at)
            last[owner] = at
    for name in graph.outputs:
        last[root.get(name, name)] = len(steps)
    return [
        Life(name=name, size=size, first=first[name], last=last[name])
        for name, size in sizes.items()
    ]
