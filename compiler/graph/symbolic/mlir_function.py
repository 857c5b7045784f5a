"""A model in MLIR (StableHLO, TOSA, linalg; from TFLite, too) as one function with its sizes.

What shape each result has is asked of IREE: brought to its `flow` dialect, a function says its
results' sizes as arithmetic on its inputs' sizes, if they follow from those.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.sim.native.work_folder import work_folder

from ...models import importers, tools
from ...models.errors import ModelError
from ...models.formats import model_format
from ..elements import DTYPES, NUMPY
from .dims import Dim, Dims, Formula, Named, Operation, combined
from .graph import Graph, Operator, Tensor

_TO_FLOW: Final = (
    "--iree-hal-target-device=local",
    "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
    "--compile-to=flow",
)
_ENTRY: Final = "tf.entry_function"
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


@dataclass(frozen=True, slots=True)
class _Node:
    """What operators of ONNX have instead."""

    op_type: str


class MlirFunction:
    """A model with one function of tensors."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError."""
        self.path = path
        with work_folder() as work:
            source, _ = importers.to_mlir(path, model_format(path), work, lambda text: None)
            command = [*tools.iree_compile(), str(source), *_TO_FLOW]
            done = tools.run(command, name="iree-compile")
            if done.returncode:
                raise ModelError(f"{path}: IREE cannot import it:\n{done.stderr.strip()}")
            self._read(source.read_bytes(), done.stdout)

    def _read(self, source: bytes, flow: str) -> None:
        from iree.compiler import ir

        with ir.Context() as context:
            context.allow_unregistered_dialects = True
            function = _only_function(self.path, ir.Module.parse(source))
            self.entry: str = function.attributes["sym_name"].value
            kind = function.attributes["function_type"].value
            said = function.attributes.get(_ENTRY, {})
            names = _names(said, "inputs", "input", len(kind.inputs))
            self.inputs = tuple(
                Tensor(name=name, dtype=self._dtype(each), dims=_declared(each, name))
                for name, each in zip(names, kind.inputs, strict=True)
            )
            results = self._results(ir.Module.parse(flow))
            names = _names(said, "outputs", "output", len(results))
            self.outputs = tuple(
                Tensor(name=name, dtype=dtype, dims=dims)
                for name, (dtype, dims) in zip(names, results, strict=True)
            )

    def declared(self) -> dict[str, Dims]:
        """The shapes of the inputs as the file says them: unknown sizes have names by place."""
        return {each.name: each.dims for each in self.inputs}

    def graph(self, shapes: Mapping[str, Dims]) -> Graph:
        """The model for these input shapes, as one operator. Raises ModelError."""
        sizes: dict[Dim, Dim] = {}
        for given in self.inputs:
            dims = shapes.get(given.name)
            if dims is None or len(dims) != len(given.dims) or len(shapes) != len(self.inputs):
                listed = ", ".join(f"{each.name} of {len(each.dims)}" for each in self.inputs)
                raise ModelError(f"{self.path}: its inputs, with their dimensions, are {listed}")
            for declared, dim in zip(given.dims, dims, strict=True):
                if isinstance(declared, int) and declared != dim:
                    raise ModelError(
                        f"{self.path}: input {given.name} has {declared} where {dim} is asked for"
                    )
                sizes[declared] = dim
        inputs = tuple(
            Tensor(name=each.name, dtype=each.dtype, dims=tuple(shapes[each.name]))
            for each in self.inputs
        )
        outputs = [
            Tensor(name=each.name, dtype=each.dtype, dims=tuple(_with(d, sizes) for d in each.dims))
            for each in self.outputs
        ]
        operator = Operator(
            node=_Node("the whole model"),
            name=self.entry,
            inputs=tuple(each.name for each in inputs),
            outputs=tuple(each.name for each in outputs),
        )
        return Graph(
            name=self.entry,
            opsets=(),
            inputs=inputs,
            outputs=operator.outputs,
            tensors={each.name: each for each in (*inputs, *outputs)},
            constants={},
            steps=(operator,),
        )

    def _dtype(self, kind: Any) -> np.dtype[Any]:
        text = str(kind.element_type)
        if text == "f64" or text not in DTYPES:  # IREE makes f32 of f64
            raise ModelError(f"{self.path}: modules cannot be built of tensors of {text}")
        return NUMPY[DTYPES[text]]

    def _results(self, module: Any) -> list[tuple[np.dtype[Any], Dims]]:
        """Type and sizes of each result."""
        found = [
            _Sizes(self.path, operation, self.inputs).results(self._dtype)
            for operation in module.body.operations
            if operation.operation.name == "util.func"
            and operation.operation.attributes["sym_name"].value == self.entry
        ]
        if len(found) != 1:
            raise ModelError(f"{self.path}: IREE makes no function {self.entry} of it")
        return found[0]


class _Sizes:
    """Sizes of results as arithmetic on sizes of inputs."""

    def __init__(self, path: Path, function: Any, inputs: Sequence[Tensor]) -> None:
        self._path, self._function, self._inputs = path, function.operation, inputs

    def results(self, dtype_of: Any) -> list[tuple[np.dtype[Any], Dims]]:
        blocks = list(self._function.regions[0].blocks)
        last = list(blocks[-1].operations)[-1].operation
        found = []
        for value in last.operands:
            export = _maker(value)
            if export is None or export.name != "hal.tensor.export":
                raise self._unknown("its results are made in ways of their own")
            source, *sizes = export.operands
            unknown = iter(sizes)
            dims = tuple(
                self._size(next(unknown)) if source.type.is_dynamic_dim(axis) else size
                for axis, size in enumerate(_sizes_of(source.type))
            )
            found.append((dtype_of(source.type), dims))
        return found

    def _size(self, value: Any) -> Dim:
        """Raises ModelError for a size that follows from what tensors hold."""
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
        if name in _ARITHMETIC:
            a, b = map(self._size, operation.operands)
            return combined(_ARITHMETIC[name], a, b)
        raise self._unknown(f"a size comes from {name}")

    def _affine(self, operation: Any) -> Dim:
        affine = operation.attributes["map"].value
        given = [self._size(each) for each in operation.operands]
        names = {f"d{n}": given[n] for n in range(affine.n_dims)}
        names.update({f"s{n}": given[affine.n_dims + n] for n in range(affine.n_symbols)})
        return _expression(affine.results[0], names)

    def _unknown(self, reason: str) -> ModelError:
        return ModelError(
            f"{self._path}: the shape of a result follows from what tensors hold ({reason}); "
            "only ONNX models can have such shapes"
        )


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


_LEAVES: Final = {"AffineConstantExpr": "", "AffineDimExpr": "d", "AffineSymbolExpr": "s"}


def _with(dim: Dim, sizes: Mapping[Dim, Dim]) -> Dim:
    """A size with others in the places of names."""
    if isinstance(dim, Formula):
        return combined(dim.operation, _with(dim.a, sizes), _with(dim.b, sizes))
    return sizes.get(dim, dim) if isinstance(dim, Named) else dim


def _only_function(path: Path, module: Any) -> Any:
    functions = [each.operation for each in module.body.operations]
    public = [
        each
        for each in functions
        if each.name == "func.func" and "sym_visibility" not in each.attributes
    ]
    if len(public) != 1:
        raise ModelError(f"{path}: {len(public)} public functions; a model has one")
    return public[0]


def _sizes_of(kind: Any) -> list[int]:
    return [
        kind.get_dim_size(axis) if not kind.is_dynamic_dim(axis) else -1
        for axis in range(kind.rank)
    ]


def _declared(kind: Any, name: str) -> Dims:
    return tuple(
        Named(f"{name}_{axis}") if size < 0 else size for axis, size in enumerate(_sizes_of(kind))
    )


def _names(said: Any, key: str, plain: str, count: int) -> Sequence[str]:
    """Names that a model gives its arguments or results, or numbers."""
    text = said[key].value if key in said else ""
    names = [name.strip() for name in text.split(",")]
    if len(names) == count == len(set(names)) and all(names):
        return names
    return [f"{plain}{number}" for number in range(count)]
