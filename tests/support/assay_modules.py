"""Small Assay modules written by hand, for tests of the format and of the runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from assay.hal.module.expressions import Op
from assay.hal.module.records import (
    NONE,
    UNKNOWN,
    VERSION,
    Arena,
    Expression,
    Input,
    Instruction,
    Kernel,
    Location,
    Model,
    Module,
    Output,
    Place,
    Region,
    Symbol,
    Tensor,
    Weight,
)

F32 = 0x21 << 24 | 32
I64 = 0x10 << 24 | 64
U32 = 0x12 << 24 | 32
PYTHON = "python"
"""The format of kernels that tests write in Python."""


@dataclass
class Draft:
    """A module with one device in the making; every method gives the number of what it adds."""

    name: str = "draft"
    devices: tuple[str, ...] = ("host",)
    symbols: list[Symbol] = field(default_factory=list)
    weights: list[Weight] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    expressions: list[Expression] = field(default_factory=list)
    models: list[Model] = field(default_factory=list)
    segments: list[bytes] = field(default_factory=lambda: [b"kernels"])

    def symbol(self, name: str, low: int = 1, high: int = 0, multiple: int = 1) -> int:
        self.symbols.append(Symbol(name, low, high, multiple))
        return len(self.symbols) - 1

    def weight(self, name: str, element_type: int, shape: tuple[int, ...], data: bytes) -> int:
        self.segments.append(data)
        self.weights.append(Weight(name, element_type, shape, len(self.segments) - 1))
        return len(self.weights) - 1

    def kernel(
        self, entry: str, inputs: int, outputs: int, constants: int = 0, device: int = 0
    ) -> int:
        self.kernels.append(Kernel(device, PYTHON, 0, entry, inputs, constants, outputs))
        return len(self.kernels) - 1

    def code(self, *words: int) -> int:
        self.expressions.append(Expression(words))
        return len(self.expressions) - 1

    def const(self, number: int) -> int:
        return self.code(Op.CONST, number)

    def module(self) -> Module:
        return Module(
            version=VERSION,
            name=self.name,
            producer="tests",
            devices=self.devices,
            symbols=tuple(self.symbols),
            weights=tuple(self.weights),
            kernels=tuple(self.kernels),
            expressions=tuple(self.expressions),
            models=tuple(self.models),
            locations=(Location("draft.onnx", "Conv", "node 0"),),
            segments=(),
        )


@dataclass
class DraftModel:
    """A device model in the making, all of it on one device."""

    draft: Draft
    name: str = "model"
    device: int = 0
    arena: int = 4096
    points: int = 0
    inputs: list[Input] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    regions: list[tuple[Instruction, ...]] = field(default_factory=lambda: [()])

    def tensor(
        self,
        shape: Sequence[int],
        place: Place,
        *,
        where: int = 0,
        offset: int = 0,
        size: int = 0,
        element_type: int = F32,
        name: str = "",
    ) -> int:
        number = len(self.tensors)
        self.tensors.append(
            Tensor(
                name or f"t{number}",
                element_type,
                tuple(shape),
                self.device,
                place,
                where,
                offset,
                size,
                NONE,
            )
        )
        return number

    def given(self, name: str, *dims: int, element_type: int = F32) -> int:
        """An input; dims are expressions."""
        codes = [self.draft.expressions[dim].code for dim in dims]
        shape = [code[1] if code[0] == Op.CONST else UNKNOWN for code in codes]
        number = self.tensor(
            shape, Place.INPUT, where=len(self.inputs), element_type=element_type, name=name
        )
        self.inputs.append(Input(name, number, dims))
        return number

    def run(self, *instructions: Instruction) -> None:
        self.regions[0] += instructions

    def region(self, *instructions: Instruction) -> int:
        self.regions.append(instructions)
        return len(self.regions) - 1

    def finish(self, **outputs: int) -> None:
        self.draft.models.append(
            Model(
                self.name,
                (self.device,),
                tuple(self.inputs),
                tuple(Output(name, number) for name, number in outputs.items()),
                (Arena(self.device, self.arena),),
                tuple(self.tensors),
                tuple(Region(each) for each in self.regions),
                self.points,
            )
        )
