"""A function of MLIR as the steps of a graph: what is an operator, and what is not.

Operations become operators whole, with what their regions do. What is the same for all inputs,
what computes sizes, and what is of types that no module has a tensor of, is done by every kernel
that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...models.errors import ModelError
from ..elements import Array
from ..errors import GraphRefused, Problem
from .dims import Dims
from .graph import Forward, Operator, Tensor
from .mlir_names import Names
from .mlir_operations import (
    SIZES,
    constant_of,
    forwarded,
    gives_sizes,
    is_constant,
    is_place,
    named_at,
    outer_values,
    symbol_of,
    written_over,
)
from .mlir_parts import needed
from .mlir_signature import Signature, storable
from .mlir_sizes import is_open, static_dims

COPY: Final = "copy"
"""The kind of operators that only copy."""
_BROADCASTS: Final = ("stablehlo.broadcast_in_dim", "linalg.broadcast", "tosa.tile")
"""What kernels do where they read a constant, without cost."""


@dataclass(frozen=True, slots=True)
class MlirNode:
    """What operators of ONNX have instead."""

    op_type: str
    position: int = -1
    """Where the operation stands in the function."""


class Reading:
    """A function of one block.

    Attributes:
        positions: where the operation stands that makes a value.
        names: values that are tensors or constants of the graph.
        values: the same the other way round, and copies.
        constants: by name.
        tensors: by name; those in `open` have no sizes yet.
        open: tensors whose sizes the types leave open.
        steps: in their order.
        outputs: names of results.
        computed_with: constants of which others are computed: IREE does that once, if it is given
            them.
    """

    def __init__(self, path: Path, signature: Signature) -> None:
        """Raises ModelError; GraphRefused lists what cannot be an operator."""
        self._path, self._signature = path, signature
        block = self._block()
        self.positions: dict[Any, int] = {}
        self.names: dict[Any, str] = {}
        self.values: dict[str, Any] = {}
        self.constants: dict[str, Array] = {}
        self.tensors: dict[str, Tensor] = {}
        self.steps: list[Operator | Forward] = []
        self._same: set[Any] = set()
        """Values that are the same for all inputs."""
        self._sized: set[Any] = set()
        """Values that follow from sizes alone."""
        self.computed_with: set[str] = set()
        self.open: dict[str, Any] = {}
        operations = [each.operation for each in block.operations]
        *others, last = operations
        self._returned = self._names_of_results(last)
        given_names = [each.name for each in self._signature.inputs]
        named = [each for each in others if not is_constant(each)]
        self._free = Names(named, (*given_names, *self._signature.output_names))
        for given, value in zip(self._signature.inputs, block.arguments, strict=True):
            self._tensor(given.name, value)
        problems = []
        for position, operation in enumerate(others):
            self.positions.update(dict.fromkeys(operation.results, position))
            problem = self._operation(operation, position)
            if problem is not None:
                problems.append(problem)
        if problems:
            raise GraphRefused(str(self._path), problems)
        self.outputs = self._signature.output_names
        for name, value in zip(self.outputs, last.operands, strict=True):
            self._output(name, value)

    def _block(self) -> Any:
        blocks = list(self._signature.function.regions[0].blocks)
        if len(blocks) != 1:
            raise ModelError(
                f"{self._path}: its function branches between {len(blocks)} blocks, so it has no "
                "operators to be split"
            )
        return blocks[0]

    def _names_of_results(self, last: Any) -> dict[Any, str]:
        found: dict[Any, str] = {}
        for name, value in zip(self._signature.output_names, last.operands, strict=True):
            found.setdefault(value, name)
        return found

    def _operation(self, operation: Any, position: int) -> Problem | None:
        """Takes an operation; what cannot be one of a graph is a problem."""
        results = list(operation.results)
        if is_constant(operation):
            self._same.update(results)
            array = constant_of(operation)
            if array is not None:
                self._constant(self._free.plain(operation, position), results[0], array)
            return None
        where = named_at(operation.location) or f"operation {position}"
        if (symbol := symbol_of(operation)) != "":
            reason = f"it is about {symbol}, which is outside of the function"
            return Problem(where=where, operator=operation.name, reason=reason)
        if not results:
            reason = "it gives nothing, so that nothing says when it is to be done"
            return Problem(where=where, operator=operation.name, reason=reason)
        if not self._is_inlined(operation) and not self._forward(operation, position):
            self._operator(operation, position)
        return None

    def _is_inlined(self, operation: Any) -> bool:
        """Whether an operation is done by each kernel that needs it."""
        results, sources = operation.results, outer_values(operation)
        if operation.name in SIZES:
            self._sized.update(results)
            return True
        if self._same.issuperset(sources):
            self._same.update(results)
            if forwarded(operation) is not None and sources[0] in self.names:
                return False
            if operation.name not in _BROADCASTS:
                self.computed_with.update(self._leaves(results))
            return True
        if (self._same | self._sized).issuperset(sources) and (
            is_place(operation) or gives_sizes(operation)
        ):
            self._sized.update(results)
            return True
        return is_place(operation) or any(storable(each.type) is None for each in results)

    def _forward(self, operation: Any, position: int) -> bool:
        """Takes what moves nothing, of a tensor or a constant."""
        found = forwarded(operation)
        if found is None or found[0] not in self.names:
            return False
        (result,) = operation.results
        offset, source = found[1], self.names[found[0]]
        name = self._free.of(operation, position)
        array = self.constants.get(source)
        if array is not None:
            if is_open(result.type) or not isinstance(offset, int):
                return False
            dims = static_dims(result.type)
            count = int(np.prod(dims))
            self._constant(name, result, array.reshape(-1)[offset : offset + count].reshape(dims))
            return True
        target = self._returned.get(result, name)
        self._tensor(target, result)
        kind = operation.name
        self.steps.append(
            Forward(name=name, operator=kind, source=source, target=target, offset=offset)
        )
        return True

    def _operator(self, operation: Any, position: int) -> None:
        name = self._free.of(operation, position)
        copies = self._copies(operation, name)
        several = len(operation.results) > 1
        outputs = []
        for number, value in enumerate(operation.results):
            target = self._returned.get(value, f"{name}:{number}" if several else name)
            self._tensor(target, value)
            outputs.append(target)
        inputs = [copies.get(each, each) for each in self._leaves(operation.results)]
        self.steps.append(
            Operator(
                node=MlirNode(self._kinds(operation), position),
                name=name,
                inputs=tuple(inputs),
                outputs=tuple(outputs),
            )
        )

    def _kinds(self, operation: Any) -> str:
        """Its kind, behind those of what only this operator's kernel does for it."""
        stops = set(self.names) - set(operation.results)
        found = needed(self.positions, operation.results, stops)
        inner = [
            found[position].name
            for position in sorted(found)
            if not (self._same | self._sized).issuperset(found[position].results)
            and not is_place(found[position])
        ]
        return "+".join(inner)

    def _copies(self, operation: Any, name: str) -> dict[str, str]:
        """Copies of tensors that IREE's kernel would write over."""
        found: dict[str, str] = {}
        for value in written_over(operation):
            source = self.names.get(value)
            if source is None or source in self.constants:
                continue
            copy = self._free.free(f"{name}/{COPY}")
            self.values[copy] = value
            self.tensors[copy] = self._described(copy, value)
            self.steps.append(_copy(copy, (source,), copy))
            found[source] = copy
        return found

    def _output(self, name: str, value: Any) -> None:
        """A result that no operator makes under its own name."""
        if name in self.tensors and self.names.get(value) == name:
            return
        known = self.names.get(value)
        self.values[name] = value
        self.tensors[name] = self._described(name, value)
        if known in self.tensors:
            self.steps.append(Forward(name=name, operator=COPY, source=str(known), target=name))
        else:
            leaves = (known,) if known is not None else self._leaves([value])
            self.steps.append(_copy(name, leaves, name))

    def _leaves(self, values: Sequence[Any]) -> tuple[str, ...]:
        """The tensors and constants that values are made of by one kernel."""
        stops = set(self.names) - set(values)
        found = needed(self.positions, values, stops)
        reads = [
            value
            for position in sorted(found)
            for value in _read_values(found[position])
            if value in stops
        ]
        return tuple(dict.fromkeys(self.names[value] for value in reads))

    def _tensor(self, name: str, value: Any) -> None:
        self.names[value], self.values[name] = name, value
        self.tensors[name] = self._described(name, value)

    def _described(self, name: str, value: Any) -> Tensor:
        dims: Dims = ()
        if is_open(value.type):
            self.open[name] = value
        else:
            dims = static_dims(value.type)
        return Tensor(name=name, dtype=self._signature.dtype(value.type), dims=dims)

    def _constant(self, name: str, value: Any, array: Array) -> None:
        self.names[value], self.values[name] = name, value
        self.constants[name] = array
        self._same.add(value)


def _copy(name: str, inputs: Sequence[str], output: str) -> Operator:
    return Operator(node=MlirNode(COPY), name=name, inputs=tuple(inputs), outputs=(output,))


def _read_values(operation: Any) -> list[Any]:
    """What an operation needs to be done, in order."""
    values = outer_values(operation)
    return values[1:] if operation.name in SIZES else values
