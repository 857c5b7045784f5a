"""A graph on one or several devices as a device model: tensors at their places, instructions.

A tensor is at home on the device that makes it. Where another device reads it, that one has a copy,
made just before it is first read there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from assay.compiler.graph.symbolic.dims import Dim, Dims, greatest, is_known, product, range_of
from assay.compiler.graph.symbolic.graph import Forward, Graph
from assay.compiler.module.groups import Group, Step
from assay.compiler.module.in_place import overwritable
from assay.compiler.module.kernel import Kernel
from assay.compiler.module.plan import Life, joined, planned

from ... import element_type as elements
from .. import records
from ..expressions import Op
from ..records import NONE, UNKNOWN, Arena, Input, Instruction, Model, Output, Place, Region, Tensor
from .pool import Pool

_MOST_KINDS: Final = 16
"""Operators that the name of a kernel's place in the source lists."""
Key = tuple[str, int]
"""A tensor by name, on a device."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """What a device model is made of: a graph, its steps, the kernels of its groups.

    `devices` says on which device each group is.
    """

    name: str
    file: str
    graph: Graph
    steps: Sequence[Step]
    kernels: Mapping[Group, Kernel]
    devices: Mapping[Group, int]


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
        self._homes = _homes(part)
        self._keys = list(dict.fromkeys(self._used()))
        self._numbers = {key: number for number, key in enumerate(self._keys)}
        self._here = {name: self._numbers[name, home] for name, home in self._homes.items()}
        used = dict.fromkeys(device for _, device in self._keys)
        self._devices = sorted(used) or [0]
        self._copied: set[Key] = set()
        self._tensors: tuple[Tensor, ...] = ()
        self._instructions: list[Instruction] = []

    def model(self) -> Model:
        sizes = {key: size for key in self._keys if (size := self._planned_size(key)) is not None}
        lives = self._lives(sizes)
        joins = {
            device: joined(lives[device], self._over(device, lives[device]))
            for device in self._devices
        }
        plans = {device: planned(joins[device][0]) for device in self._devices}
        offsets = {key: plans[key[1]].offsets[joins[key[1]][1][key[0]]] for key in sizes}
        self._tensors = tuple(self._tensor(key, sizes, offsets) for key in self._keys)
        for given in self._graph.inputs:
            self._read(given.name)
        for step in self._part.steps:
            if isinstance(step, Forward):
                self._forward(step)
            else:
                self._call(step)
        return Model(
            name=self._part.name,
            devices=tuple(self._devices),
            inputs=tuple(
                Input(each.name, self._here[each.name], self._sizes(each.dims))
                for each in self._graph.inputs
            ),
            outputs=tuple(Output(name, self._here[name]) for name in self._graph.outputs),
            arenas=tuple(Arena(device, plans[device].size) for device in self._devices),
            tensors=self._tensors,
            regions=(Region(tuple(self._instructions)),),
            points=0,
        )

    # Tensors.

    def _used(self) -> Iterator[Key]:
        """Inputs, what steps make, weights, and copies, in the order they are met."""
        for given in self._graph.inputs:
            yield given.name, self._homes[given.name]
        for step in self._part.steps:
            if isinstance(step, Forward):
                yield step.target, self._homes[step.target]
            else:
                kernel, device = self._part.kernels[step], self._part.devices[step]
                yield from ((name, device) for name in (*kernel.arguments, *kernel.outputs))

    def _planned_size(self, key: Key) -> int | None:
        """Bytes of what is written, at most; None for what is elsewhere or has no most."""
        name = key[0]
        if not self._is_copy(key) and not isinstance(self._made_by.get(name), Group):
            return None
        tensor = self._graph.tensors[name]
        most = [greatest(dim, self._ranges) for dim in tensor.dims]
        known = [size for size in most if size is not None]
        return prod(known) * tensor.dtype.itemsize if len(known) == len(most) else None

    def _is_copy(self, key: Key) -> bool:
        name, device = key
        return name not in self._graph.constants and self._homes[name] != device

    def _lives(self, sizes: Mapping[Key, int]) -> dict[int, list[Life]]:
        """When planned tensors are needed; one that has views, as long as any of them is."""
        root: dict[Key, Key] = {}
        first: dict[Key, int] = {}
        last: dict[Key, int] = {}

        def touch(key: Key, at: int) -> None:
            owner = root.get(key, key)
            first.setdefault(owner, at)
            last[owner] = at

        for at, step in enumerate(self._part.steps):
            if isinstance(step, Forward):
                source, target = ((name, self._homes[name]) for name in (step.source, step.target))
                root[target] = root.get(source, source)
                touch(source, at)
                continue
            device = self._part.devices[step]
            for name in (*step.inputs, *step.outputs):
                touch((name, device), at)
                if name in self._homes:
                    touch((name, self._homes[name]), at)
        for name in self._graph.outputs:
            touch((name, self._homes[name]), len(self._part.steps))
        found: dict[int, list[Life]] = {device: [] for device in self._devices}
        for (name, device), size in sizes.items():
            key = name, device
            found[device].append(Life(name=name, size=size, first=first[key], last=last[key]))
        return found

    def _over(self, device: int, lives: Sequence[Life]) -> dict[str, str]:
        """Results that are written over an input, with that input: its last use is then this one.

        Not where the same kernel reads a view of the input, which has its elements elsewhere.
        """
        last = {life.name: life.last for life in lives}
        size = {life.name: life.size for life in lives}
        found: dict[str, str] = {}
        for at, step in enumerate(self._part.steps):
            if not isinstance(step, Group) or self._part.devices[step] != device:
                continue
            views = [name for name in step.inputs if isinstance(self._made_by.get(name), Forward)]
            outputs = [name for name in step.outputs if name in size]
            for name in () if views or len(outputs) != 1 else overwritable(self._graph, step):
                if last.get(name) == at and size[name] == size[outputs[0]]:
                    found[outputs[0]] = name
                    break
        return found

    def _tensor(self, key: Key, sizes: Mapping[Key, int], offsets: Mapping[Key, int]) -> Tensor:
        name, device = key
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
        if key in sizes:
            where = self._devices.index(device)
            place, offset, size = Place.PLANNED, offsets[key], sizes[key]
        elif not self._is_copy(key) and step is None:
            place, where = Place.INPUT, given.index(name)
        elif not self._is_copy(key) and isinstance(step, Forward):
            place = Place.VIEW
        called = f"{name} on {self._pool.devices[device]}" if self._is_copy(key) else name
        return Tensor(called, code, shape, device, place, where, offset, size, location)

    def _location(self, step: Step) -> int:
        file = self._part.file
        if isinstance(step, Forward):
            return self._pool.location(file, step.operator, step.name)
        kinds = _kinds(step)
        return self._pool.location(file, kinds, step.last.name)

    # Instructions.

    def _sizes(self, dims: Dims) -> tuple[int, ...]:
        return tuple(self._pool.size(dim, self._here) for dim in dims)

    def _forward(self, step: Forward) -> None:
        source, target = (self._graph.tensors[name] for name in (step.source, step.target))
        offset = NONE
        if step.offset != 0:
            offset = self._bytes(step.offset, source.dtype.itemsize)
        if "slice" not in step.operator.lower():
            self._check_product(step, source.dims, target.dims)
        self._instructions.append(
            records.Forward(
                self._here[step.source], self._here[step.target], offset, self._sizes(target.dims)
            )
        )
        self._read(step.target)

    def _bytes(self, count: Dim, size: int) -> int:
        return self._pool.expression((*self._pool.code(count, self._here), Op.CONST, size, Op.MUL))

    def _check_product(self, step: Forward, one: Dims, other: Dims) -> None:
        """Where sizes have names, only a run shows whether a reshape keeps all elements."""
        before, after = product(one), product(other)
        if before == after:
            return
        code = (
            *self._pool.code(before, self._here),
            *self._pool.code(after, self._here),
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
                    code = Op.CONST, 0, *self._pool.code(dim, self._here), Op.LT
                    message = (
                        f"{group.operators[0].node.op_type} {group.last.name}: {name} is empty"
                    )
                    self._instructions.append(records.Check(self._pool.expression(code), message))

    def _call(self, group: Group) -> None:
        kernel, device = self._part.kernels[group], self._part.devices[group]
        for condition, message in group.last.checks:
            number = self._pool.expression(self._pool.code(condition, self._here))
            where = f"{group.last.node.op_type} {group.last.name}"
            self._instructions.append(records.Check(number, f"{where}: {message}"))
        self._check_full(group, kernel)
        for name in kernel.arguments:
            self._bring((name, device))
        for name in kernel.outputs:
            self._prepare((name, device))
        self._instructions.append(
            records.Call(
                self._pool.kernel(device, kernel.entry),
                tuple(self._numbers[name, device] for name in kernel.arguments),
                self._sizes(kernel.constants),
                tuple(self._numbers[name, device] for name in kernel.outputs),
            )
        )
        for name in kernel.outputs:
            self._read(name)

    def _bring(self, key: Key) -> None:
        """Copies what another device made, once."""
        if not self._is_copy(key) or key in self._copied:
            return
        self._copied.add(key)
        self._prepare(key)
        self._instructions.append(records.Copy(self._here[key[0]], self._numbers[key]))

    def _prepare(self, key: Key) -> None:
        """Shape and memory of what is going to be written."""
        number, dims = self._numbers[key], self._graph.tensors[key[0]].dims
        is_dynamic = self._tensors[number].place == Place.DYNAMIC
        if not is_known(dims) or is_dynamic:
            self._instructions.append(records.Deduce(number, self._sizes(dims)))
        if is_dynamic:
            self._instructions.append(records.Reserve(number))

    def _read(self, name: str) -> None:
        """Right behind what makes it: elements that sizes depend on."""
        if name in self._graph.reads:
            self._instructions.append(records.Read(self._here[name]))


def _kinds(group: Group) -> str:
    """The kinds of a group's operators; of very many, the first ones."""
    kinds = [operator.node.op_type for operator in group.operators]
    more = len(kinds) - _MOST_KINDS
    return "+".join(kinds[:_MOST_KINDS]) + (f"+... {more} more" if more > 0 else "")


def _makers(steps: Sequence[Step]) -> dict[str, Step]:
    """The step that makes each tensor."""
    made: dict[str, Step] = {}
    for step in steps:
        if isinstance(step, Forward):
            made[step.target] = step
        else:
            made.update(dict.fromkeys(step.outputs, step))
    return made


def _homes(part: Part) -> dict[str, int]:
    """The device that each tensor is on first: an input's is the one that reads it first."""
    first = min(part.devices.values(), default=0)
    readers: dict[str, int] = {}
    for step in reversed(part.steps):
        if isinstance(step, Forward):
            if step.target in readers:
                readers[step.source] = readers[step.target]
        else:
            readers.update(dict.fromkeys(step.inputs, part.devices[step]))
    homes = {given.name: readers.get(given.name, first) for given in part.graph.inputs}
    for step in part.steps:
        if isinstance(step, Forward):
            homes[step.target] = homes[step.source]
        else:
            homes.update(dict.fromkeys(step.outputs, part.devices[step]))
    return homes
