"""What a function of MLIR takes and gives: names, types, and sizes, open ones with names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...models.errors import ModelError
from ..elements import DTYPES, NUMPY
from .dims import Dim, Dims, Formula, Named, combined
from .graph import Tensor
from .mlir_sizes import sizes_of

_ENTRY: Final = "tf.entry_function"
_NO_TENSORS: Final = ("f64", "i4", "i48", "index")
"""Elements that modules have no tensors of; IREE makes f32 of f64."""


class Signature:
    """The only public function of a module."""

    def __init__(self, path: Path, module: Any) -> None:
        """Raises ModelError."""
        self.path = path
        self.function = _only_function(path, module)
        self.entry: str = self.function.attributes["sym_name"].value
        kind = self.function.attributes["function_type"].value
        said = self.function.attributes.get(_ENTRY, {})
        names = _names(said, "inputs", "input", len(kind.inputs))
        self.inputs = tuple(
            Tensor(name=name, dtype=self.dtype(each), dims=_declared(each, name))
            for name, each in zip(names, kind.inputs, strict=True)
        )
        self.output_names = tuple(_names(said, "outputs", "output", len(kind.results)))

    def dtype(self, kind: Any) -> np.dtype[Any]:
        """Of a tensor that a module can have. Raises ModelError."""
        found = storable(kind)
        if found is None:
            element = getattr(kind, "element_type", None)
            what = f"{kind}, which is no tensor" if element is None else f"tensors of {element}"
            raise ModelError(f"{self.path}: modules cannot be built of {what}")
        return found

    def declared(self) -> dict[str, Dims]:
        """The shapes of the inputs as the file says them: unknown sizes have names by place."""
        return {each.name: each.dims for each in self.inputs}

    def sizes(self, shapes: Mapping[str, Dims]) -> dict[Dim, Dim]:
        """What declared sizes are for these input shapes. Raises ModelError."""
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
        return sizes

    def shaped(self, shapes: Mapping[str, Dims]) -> tuple[Tensor, ...]:
        """The inputs in other shapes."""
        return tuple(
            Tensor(name=each.name, dtype=each.dtype, dims=tuple(shapes[each.name]))
            for each in self.inputs
        )


def storable(kind: Any) -> np.dtype[Any] | None:
    """The type of the elements of a tensor that a module can have; None of any other type."""
    if not hasattr(kind, "element_type") or not getattr(kind, "has_rank", False):
        return None
    text = str(kind.element_type)
    return None if text in _NO_TENSORS or text not in DTYPES else NUMPY[DTYPES[text]]


def with_sizes(dim: Dim, sizes: Mapping[Dim, Dim]) -> Dim:
    """A size with others in the places of names."""
    if isinstance(dim, Formula):
        return combined(dim.operation, with_sizes(dim.a, sizes), with_sizes(dim.b, sizes))
    return sizes.get(dim, dim) if isinstance(dim, Named) else dim


def _only_function(path: Path, module: Any) -> Any:
    functions = [each.operation for each in module.body.operations]
    public = [each for each in functions if each.name == "func.func" and _is_public(each)]
    if len(public) != 1:
        raise ModelError(f"{path}: {len(public)} public functions; a model has one")
    return public[0]


def _is_public(function: Any) -> bool:
    attributes = function.attributes
    return "sym_visibility" not in attributes or attributes["sym_visibility"].value == "public"


def _declared(kind: Any, name: str) -> Dims:
    return tuple(
        Named(f"{name}_{axis}") if size < 0 else size for axis, size in enumerate(sizes_of(kind))
    )


def _names(said: Any, key: str, plain: str, count: int) -> Sequence[str]:
    """Names that a model gives its arguments or results, or numbers."""
    text = said[key].value if key in said else ""
    names = [name.strip() for name in text.split(",")]
    if len(names) == count == len(set(names)) and all(names):
        return names
    return [f"{plain}{number}" for number in range(count)]
