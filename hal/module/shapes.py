"""Which device model is for which input shapes: exact ones first, then bounded, then any."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..status import StatusError, invalid_argument
from . import expressions
from .records import LARGEST_DIMENSION, MOST_DIMENSIONS, Model, Module, Symbol

Shape = tuple[int, ...]
Shapes = Mapping[str, Shape]
_LISTED = 20


@dataclass(frozen=True, slots=True)
class Dim:
    """A size of an input: a number, or a symbol."""

    number: int | None
    symbol: int

    def text(self, symbols: Sequence[Symbol]) -> str:
        """`3`, or `rows (4..64, multiples of 4)`."""
        if self.number is not None:
            return str(self.number)
        known = symbols[self.symbol]
        end = known.maximum or ""
        steps = f", multiples of {known.multiple_of}" if known.multiple_of > 1 else ""
        return f"{known.name} ({known.minimum}..{end}{steps})"


@dataclass(frozen=True, slots=True)
class ShapeSet:
    """The input shapes that a device model is for."""

    model: int
    inputs: Mapping[str, tuple[Dim, ...]]
    rank: int
    """0: exact, 1: bounded, 2: any size."""

    def takes(self, name: str, shape: Shape, symbols: Sequence[Symbol]) -> bool:
        """Whether one input may have a shape, whatever the others'."""
        return _bind(self.inputs[name], shape, symbols, {})

    def sizes(self, shapes: Shapes, symbols: Sequence[Symbol]) -> dict[int, int] | None:
        """What the symbols are if the inputs have these shapes; None if they may not."""
        sizes: dict[int, int] = {}
        fits = all(_bind(dims, shapes[name], symbols, sizes) for name, dims in self.inputs.items())
        return sizes if fits else None

    def text(self, symbols: Sequence[Symbol]) -> str:
        """As `--shapes` takes it, but for bounds."""
        return ", ".join(
            f"{name}={'x'.join(dim.text(symbols) for dim in dims) or 'scalar'}"
            for name, dims in self.inputs.items()
        )


class ShapeTable:
    """The shape sets of the device models that can be used, in their order."""

    def __init__(self, module: Module, models: Sequence[int]) -> None:
        self.symbols = module.symbols
        self.sets = tuple(_shape_set(module, number) for number in models)

    def find(self, shapes: Shapes) -> tuple[int, dict[int, int]]:
        """The device model for these shapes, and what its symbols are then. Raises StatusError."""
        for rank in range(3):
            for each in self.sets:
                sizes = each.sizes(shapes, self.symbols) if each.rank == rank else None
                if sizes is not None:
                    return each.model, sizes
        said = ", ".join(f"{name}={shape_text(shape)}" for name, shape in shapes.items())
        raise StatusError("NOT_FOUND", f"no shape set fits {said}; {self.listed()}")

    def check(self, name: str, shape: Shape) -> None:
        """Raises StatusError if no set takes an input of this shape, whatever the others are."""
        if len(shape) > MOST_DIMENSIONS or not all(0 <= d <= LARGEST_DIMENSION for d in shape):
            raise invalid_argument(f"input {name} cannot have the shape {shape[:20]}")
        if not any(each.takes(name, shape, self.symbols) for each in self.sets):
            raise StatusError(
                "NOT_FOUND", f"no shape set fits {name}={shape_text(shape)}; {self.listed()}"
            )

    def listed(self) -> str:
        """The sets, for messages."""
        texts = list(dict.fromkeys(each.text(self.symbols) for each in self.sets))
        more = f"; and {len(texts) - _LISTED} more" if len(texts) > _LISTED else ""
        return f"there are: {'; '.join(texts[:_LISTED])}{more}"

    def first(self) -> tuple[int, dict[str, Shape]]:
        """The first device model and the shapes it starts with: symbols at their least sizes."""
        first = self.sets[0]
        least = {
            name: tuple(
                dim.number if dim.number is not None else _least(self.symbols[dim.symbol])
                for dim in dims
            )
            for name, dims in first.inputs.items()
        }
        return first.model, least


def shape_text(shape: Shape) -> str:
    """`1x3x224x224`; `scalar` for none."""
    return "x".join(map(str, shape)) or "scalar"


def _least(symbol: Symbol) -> int:
    steps = -(-symbol.minimum // symbol.multiple_of)
    return steps * symbol.multiple_of


def _shape_set(module: Module, number: int) -> ShapeSet:
    model: Model = module.models[number]
    inputs = {
        given.name: tuple(_dim(module.expressions[dim].code) for dim in given.dims)
        for given in model.inputs
    }
    symbols = [module.symbols[d.symbol] for dims in inputs.values() for d in dims if d.symbol >= 0]
    rank = 0 if not symbols else 1 if all(symbol.maximum for symbol in symbols) else 2
    return ShapeSet(number, inputs, rank)


def _dim(code: Sequence[int]) -> Dim:
    number = expressions.constant(code)
    return Dim(number, -1) if number is not None else Dim(None, code[1])


def _bind(
    dims: Sequence[Dim], shape: Shape, symbols: Sequence[Symbol], sizes: dict[int, int]
) -> bool:
    """Whether a shape fits, each dimension by itself; symbols get their sizes."""
    if len(dims) != len(shape):
        return False
    for dim, size in zip(dims, shape, strict=True):
        if dim.number is not None:
            if size != dim.number:
                return False
            continue
        symbol = symbols[dim.symbol]
        most = symbol.maximum or LARGEST_DIMENSION
        if not symbol.minimum <= size <= most or size % symbol.multiple_of:
            return False
        if sizes.setdefault(dim.symbol, size) != size:
            return False
    return True
