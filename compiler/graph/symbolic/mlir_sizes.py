"""Sizes of a function's results in IREE's `flow` dialect: arithmetic on the sizes of its inputs,
and on elements of tensors where shapes follow from those."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...models import tools
from ...models.errors import ModelError
from .dims import Dim, Element, Operation, combined
from .graph import Tensor

_TO_FLOW: Final = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--compile-to=flow",
)
_ARITHMETIC: Final[Mapping[str, Operation]] = {
    "arith.addi": "add",
    "arith.subi": "sub",
    "arith.muli": "mul",
    "arith.divsi": "floordiv",
    "arith.divui": "floordiv",
    "arith.floordivsi": "floordiv",
    "arith.ceildivsi": "ceildiv",
    "arith.ceildivui": "ceildiv",
    "arith.remsi": "mod",
    "arith.remui": "mod",
    "arith.maxsi": "max",
    "arith.maxui": "max",
    "arith.minsi": "min",
    "arith.minui": "min",
}
"""Sizes are not negative: signed and unsigned, and both roundings, are the same for them."""
_CASTS: Final = (
    "arith.index_cast",
    "arith.index_castui",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
)
_LESS: Final = {2: False, 6: False, 4: True, 8: True}
"""`arith.cmpi` of less, and of greater, which is less the other way round."""


class ShapesFromValues(ModelError):
    """A result's shape follows from what tensors hold."""


def flow_of(source: Path, path: Path) -> str:
    """A module in IREE's `flow` dialect; messages call it `path`. Raises ModelError."""
    done = tools.run([*tools.iree_compile(), str(source), *_TO_FLOW], name="iree-compile")
    if done.returncode:
        said = done.stderr.strip().replace(str(source), path.name)
        raise ModelError(f"{path}: IREE cannot import it:\n{said}")
    return done.stdout


class FlowFunction:
    """A function in the `flow` dialect whose inputs are known.

    Without `names` of results no size may follow from elements.
    """

    def __init__(
        self,
        path: Path,
        module: Any,
        entry: str,
        inputs: Sequence[Tensor],
        names: Sequence[str] | None = None,
    ) -> None:
        """Raises ModelError."""
        found = [
            operation.operation
            for operation in module.body.operations
            if operation.operation.name == "util.func"
            and operation.operation.attributes["sym_name"].value == entry
        ]
        if len(found) != 1:
            raise ModelError(f"{path}: IREE makes no function {entry} of it")
        self._path, self._inputs, self._names = path, inputs, names
        self._module = module
        last = list(list(found[0].regions[0].blocks)[-1].operations)[-1].operation
        self._exports = [self._export(value) for value in last.operands]
        sources = [_root(each.operands[0]) for each in self._exports]
        self._known: dict[Any, str] = dict(zip(sources, names or (), strict=False))
        """Names of tensors that are results."""

    def result(self, number: int, dtype_of: Callable[[Any], np.dtype[Any]]) -> Tensor:
        """A result, with the name it was given. Raises ShapesFromValues and ModelError."""
        source, *sizes = self._exports[number].operands
        unknown = iter(sizes)
        dims = tuple(
            self._size(next(unknown)) if size < 0 else size for size in sizes_of(source.type)
        )
        name = self._names[number] if self._names is not None else f"output{number}"
        return Tensor(name=name, dtype=dtype_of(source.type), dims=dims)

    @property
    def count(self) -> int:
        """How many results it has."""
        return len(self._exports)

    def _export(self, value: Any) -> Any:
        export = _maker(value)
        if export is None or export.name != "hal.tensor.export":
            raise self._unknown("its results are made in ways of their own")
        return export

    def _size(self, value: Any) -> Dim:
        operation = _maker(value)
        if operation is None:
            raise self._unknown("a size differs with the way that a run takes")
        name: str = operation.name
        if name == "arith.constant":
            return int(operation.attributes["value"].value)
        if name == "hal.buffer_view.dim":
            axis = int(operation.attributes["index"].value)
            given: int = operation.operands[0].arg_number
            return self._inputs[given].dims[axis]
        if name == "affine.apply":
            return self._affine(operation)
        if name in _CASTS:
            return self._size(operation.operands[0])
        if name in _ARITHMETIC:
            a, b = map(self._size, operation.operands)
            return combined(_ARITHMETIC[name], a, b)
        if name == "arith.select":
            return self._select(operation)
        if name == "flow.tensor.load" and self._names is not None:
            return self._element(operation)
        raise self._unknown(f"a size comes from {name}")

    def _affine(self, operation: Any) -> Dim:
        affine = operation.attributes["map"].value
        given = [self._size(each) for each in operation.operands]
        names = {f"d{n}": given[n] for n in range(affine.n_dims)}
        names.update({f"s{n}": given[affine.n_dims + n] for n in range(affine.n_symbols)})
        return _expression(affine.results[0], names)

    def _select(self, operation: Any) -> Dim:
        """One of two sizes, by which of two numbers is less."""
        condition, one, other = operation.operands
        compared = _maker(condition)
        kind = None
        if compared is not None and compared.name == "arith.cmpi":
            kind = _LESS.get(int(compared.attributes["predicate"].value))
        if compared is None or kind is None:
            raise self._unknown("a size is chosen by a condition")
        a, b = map(self._size, compared.operands)
        chosen = combined("lt", b, a) if kind else combined("lt", a, b)
        x, y = self._size(one), self._size(other)
        return combined("add", y, combined("mul", chosen, combined("sub", x, y)))

    def _element(self, operation: Any) -> Dim:
        """An element of a tensor that is an input or a result."""
        source, *places = operation.operands
        shape = tuple(sizes_of(source.type))
        where = [self._size(place) for place in places]
        name = self._name(source)
        if name is None or not all(isinstance(place, int) for place in where):
            raise self._unknown("a size comes from a tensor inside of an operator")
        index = 0
        for place, size in zip(where, shape, strict=True):
            index = index * size + int(str(place))
        return Element(name, index)

    def _name(self, value: Any) -> str | None:
        """The tensor whose elements these are, in whatever shape."""
        root = _root(value)
        operation = _maker(root)
        if root in self._known or operation is None:
            return self._known.get(root)
        if operation.name != "hal.tensor.import":
            return None
        given: int = operation.operands[0].arg_number
        return self._inputs[given].name

    def _unknown(self, reason: str) -> ShapesFromValues:
        return ShapesFromValues(
            f"{self._path}: the shape of a result follows from what tensors hold ({reason})"
        )


def sizes_of(kind: Any) -> list[int]:
    """The sizes of a tensor's type, -1 for those that are open."""
    return [
        kind.get_dim_size(axis) if not kind.is_dynamic_dim(axis) else -1
        for axis in range(kind.rank)
    ]


def is_open(kind: Any) -> bool:
    """Whether a tensor's type leaves a size open."""
    return any(size < 0 for size in sizes_of(kind))


def static_dims(kind: Any) -> tuple[int, ...]:
    """The sizes of a type that leaves none open."""
    return tuple(sizes_of(kind))


def _root(value: Any) -> Any:
    """What a value is another shape of."""
    while (operation := _maker(value)) is not None and operation.name == "flow.tensor.reshape":
        value = operation.operands[0]
    return value


def _maker(value: Any) -> Any:
    """The operation that a value is a result of; None of a block's argument."""
    return getattr(value.owner, "operation", None)


_AFFINE: Final[Mapping[str, Operation]] = {
    "AffineAddExpr": "add",
    "AffineMulExpr": "mul",
    "AffineFloorDivExpr": "floordiv",
    "AffineCeilDivExpr": "ceildiv",
    "AffineModExpr": "mod",
}
_LEAVES: Final = {"AffineConstantExpr": "", "AffineDimExpr": "d", "AffineSymbolExpr": "s"}


def _expression(expression: Any, names: Mapping[str, Dim]) -> Dim:
    """An affine expression."""
    from iree.compiler import ir

    kind = next(name for name in (*_AFFINE, *_LEAVES) if getattr(ir, name).isinstance(expression))
    made = getattr(ir, kind)(expression)
    if kind == "AffineConstantExpr":
        return int(made.value)
    if kind in _LEAVES:
        return names[f"{_LEAVES[kind]}{made.position}"]
    return combined(_AFFINE[kind], _expression(made.lhs, names), _expression(made.rhs, names))
