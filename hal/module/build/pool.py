"""What the device models of a module share: each weight, expression, kernel and location once."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from assay.compiler.graph.elements import Array
from assay.compiler.graph.symbolic.dims import Dim, Element, Formula, Named
from assay.compiler.graph.symbolic.shape_sets import Bounds

from ... import element_type as elements
from ..expressions import Op
from ..records import Expression, Kernel, Location, Symbol, Weight

_OPERATIONS = {
    "add": Op.ADD,
    "sub": Op.SUB,
    "mul": Op.MUL,
    "floordiv": Op.FLOORDIV,
    "ceildiv": Op.CEILDIV,
    "mod": Op.MOD,
    "min": Op.MIN,
    "max": Op.MAX,
    "lt": Op.LT,
}
VMFB = "vmfb"
CONSUMING = "vmfb-consuming"


class Pool:
    """Records in the making; methods give their numbers."""

    def __init__(self, devices: Sequence[str], names: Mapping[str, Bounds]) -> None:
        self.devices = tuple(devices)
        self.symbols = tuple(
            Symbol(name, bounds.minimum, bounds.maximum, bounds.multiple_of)
            for name, bounds in names.items()
        )
        self._symbol_numbers = {name: number for number, name in enumerate(names)}
        self.segments: list[bytes] = []
        self._weights: dict[Hashable, tuple[int, Weight]] = {}
        self._kernels: dict[tuple[int, str], tuple[int, Kernel]] = {}
        self._expressions: dict[Expression, int] = {}
        self._locations: dict[Location, int] = {}

    @property
    def weights(self) -> tuple[Weight, ...]:
        """Weights in the order of their numbers."""
        return tuple(weight for _, weight in self._weights.values())

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """Kernels in the order of their numbers."""
        return tuple(kernel for _, kernel in self._kernels.values())

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """Expressions in the order of their numbers."""
        return tuple(self._expressions)

    @property
    def locations(self) -> tuple[Location, ...]:
        """Locations in the order of their numbers."""
        return tuple(self._locations)

    def segment(self, data: bytes) -> int:
        """Bytes of their own."""
        self.segments.append(data)
        return len(self.segments) - 1

    def weight(self, name: str, array: Array) -> int:
        """A constant; equal ones, whatever their names, are one."""
        kept = np.ascontiguousarray(array)
        data = kept.tobytes()
        code = elements.code_of(kept.dtype)
        key = code, array.shape, hashlib.sha256(data).digest()
        if key not in self._weights:
            record = Weight(name, code, array.shape, self.segment(data))
            self._weights[key] = len(self._weights), record
        return self._weights[key][0]

    def add_program(self, device: int, data: bytes, kernels: Sequence[Kernel]) -> None:
        """A program for a device, with its kernels, whose segment is made here."""
        segment = self.segment(data)
        for kernel in kernels:
            record = replace(kernel, segment=segment)
            self._kernels[device, kernel.entry] = len(self._kernels), record

    def add_kernel(self, kernel: Kernel) -> None:
        """A kernel whose segments are there."""
        self._kernels[kernel.device, kernel.entry] = len(self._kernels), kernel

    def kernel(self, device: int, entry: str) -> int:
        """A kernel of a program that was added."""
        return self._kernels[device, entry][0]

    def location(self, file: str, operator: str, name: str) -> int:
        """A place in the source model."""
        return self._locations.setdefault(Location(file, operator, name), len(self._locations))

    def expression(self, code: Sequence[int]) -> int:
        """Code of an expression."""
        return self._expressions.setdefault(Expression(tuple(code)), len(self._expressions))

    def size(self, dim: Dim, tensors: Mapping[str, int]) -> int:
        """A size as an expression; `tensors` has the numbers of those whose elements it is of."""
        return self.expression(self.code(dim, tensors))

    def code(self, dim: Dim, tensors: Mapping[str, int]) -> tuple[int, ...]:
        """The words of a size."""
        if isinstance(dim, int):
            return Op.CONST, dim
        if isinstance(dim, Named):
            return Op.SYMBOL, self._symbol_numbers[dim.name]
        if isinstance(dim, Element):
            return Op.VALUE, tensors[dim.tensor], dim.index
        assert isinstance(dim, Formula)
        a, b = self.code(dim.a, tensors), self.code(dim.b, tensors)
        return (*a, *b, _OPERATIONS[dim.operation])
