"""Models in MLIR (StableHLO, TOSA, linalg; from TFLite, too) as graphs of their operations.

Operations become operators whole, with what their regions do. What is the same for all inputs,
what computes sizes, and what is of types that no module has a tensor of, is done by every kernel
that needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.sim.native.work_folder import work_folder

from ...models import diagnostics, importers, tools
from ...models.errors import ModelError
from ...models.formats import model_format
from ..elements import Array
from ..errors import GraphRefused, Problem
from .dims import Dims, Element, parts
from .graph import Forward, Graph, Operator, Tensor
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
from .mlir_parts import Border, Part, needed, part_of
from .mlir_signature import Signature, storable, with_sizes
from .mlir_sizes import FlowFunction, ShapesFromValues, flow_of, is_open, static_dims

_IN_PLACE: Final = ("--pass-pipeline=builtin.module(inline,symbol-dce)",)
COPY: Final = "copy"
"""The kind of operators that only copy."""
_MOST_READ: Final = 16
"""Elements of tensors on which shapes may depend."""
_MOST_EMBEDDED: Final = 16
"""Elements of constants that are part of a kernel."""
_EMBEDDED: Final = ("tosa.rescale", "tosa.table", "tosa.pad", "tosa.resize", "tosa.transpose")
"""Operators whose other operands IREE asks to be constants."""


@dataclass(frozen=True, slots=True)
class MlirNode:
    """What operators of ONNX have instead."""

    op_type: str
    position: int = -1
    """Where the operation stands in the function."""


class MlirModel:
    """A model with one function of tensors."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError; GraphRefused lists what cannot be an operator."""
        self.path = path
        with work_folder() as work:
            file, _ = importers.to_mlir(
                path, model_format(path), work, lambda text: None, locations=True
            )
            self._module, self._context = _parsed(path, file, work)
        with self._context:
            self.signature = Signature(path, self._module)
            self._read()
            self._find_sizes()

    def declared(self) -> dict[str, Dims]:
        """The shapes of the inputs as the file says them: unknown sizes have names by place."""
        return self.signature.declared()

    def graph(self, shapes: Mapping[str, Dims]) -> Graph:
        """The graph for these input shapes. Raises ModelError."""
        sizes = self.signature.sizes(shapes)
        inputs = self.signature.shaped(shapes)
        tensors = {
            each.name: Tensor(
                name=each.name,
                dtype=each.dtype,
                dims=tuple(with_sizes(dim, sizes) for dim in each.dims),
            )
            for each in self._tensors.values()
        }
        return Graph(
            name=self.signature.entry,
            opsets=(),
            inputs=inputs,
            outputs=self._outputs,
            tensors={**tensors, **{each.name: each for each in inputs}},
            constants=self._constants,
            steps=tuple(self._steps),
            reads=self._reads,
        )

    def part(
        self,
        graph: Graph,
        takes: Sequence[str],
        gives: Sequence[str],
        name: str = "main",
        *,
        in_place: bool = False,
    ) -> Part:
        """What is between tensors, as a function of its own."""
        made = [self._values[each] for each in gives]
        read = {each: name for each, name in self._told().items() if each not in made}
        border = Border(
            takes=[self._values[each] for each in self.arguments(takes, gives)],
            gives=made,
            reads=read,
            dims={
                value: graph.tensors[each].dims
                for each, value in self._values.items()
                if each in graph.tensors
            },
            in_place=in_place,
        )
        with self._context:
            return part_of(self._positions, border, name)

    def arguments(self, takes: Sequence[str], gives: Sequence[str]) -> tuple[str, ...]:
        """Which of the tensors that a part needs are its arguments: each once, a copy instead of
        what it is a copy of, and none whose elements it is told."""
        read = set(self._told()).difference(map(self._values.get, gives))
        found: dict[Any, str] = {}
        for name in takes:
            value = self._values[name]
            if value not in read and (value not in found or self._names.get(value) != name):
                found[value] = name
        return tuple(found.values())

    def _told(self) -> dict[Any, str]:
        """Tensors that kernels take as integers: shapes depend on them, and they are small."""
        return {self._values[name]: name for name in self._reads if self._may_be_read(name)}

    def place(self, part: Part, line: int) -> int:
        """Where an operation that stands in a line of a part stands in the function; -1 of none."""
        from iree.compiler import ir

        with self._context:
            module = ir.Module.parse(part.text)
            block = module.body.operations[0].operation.regions[0].blocks[0]
            begins = [each.operation.location.start_line for each in block.operations]
        before = [
            place for place, begin in zip(part.positions, begins, strict=False) if begin <= line
        ]
        return before[-1] if before else -1

    def is_embedded(self, name: str, readers: Sequence[Operator]) -> bool:
        """Whether a constant is part of the kernels of these operators."""
        array = self._constants.get(name)
        if array is None:
            return False
        kinds = {each.node.op_type for each in readers if name in each.inputs}
        return array.size <= _MOST_EMBEDDED or not kinds.isdisjoint(_EMBEDDED)

    # Steps.

    def _read(self) -> None:
        """Everything in the function."""
        block = self._block()
        self._positions: dict[Any, int] = {}
        """Where the operation stands that makes a value."""
        self._names: dict[Any, str] = {}
        """Values that are tensors or constants of the graph."""
        self._values: dict[str, Any] = {}
        self._constants: dict[str, Array] = {}
        self._tensors: dict[str, Tensor] = {}
        self._steps: list[Operator | Forward] = []
        self._same: set[Any] = set()
        """Values that are the same for all inputs."""
        self._sized: set[Any] = set()
        """Values that follow from sizes alone."""
        self._open: dict[str, Any] = {}
        """Tensors whose sizes the types leave open, and what makes them."""
        self._counts: Counter[str] = Counter()
        operations = [each.operation for each in block.operations]
        *others, last = operations
        self._last_named = {
            named_at(each.location): each for each in others if not is_constant(each)
        }
        self._returned = self._names_of_results(last)
        self._taken = {each.name for each in self.signature.inputs} | set(
            self.signature.output_names
        )
        for given, value in zip(self.signature.inputs, block.arguments, strict=True):
            self._tensor(given.name, value)
        problems = []
        for position, operation in enumerate(others):
            self._positions.update(dict.fromkeys(operation.results, position))
            problem = self._operation(operation, position)
            if problem is not None:
                problems.append(problem)
        if problems:
            raise GraphRefused(str(self.path), problems)
        self._outputs = self.signature.output_names
        for name, value in zip(self._outputs, last.operands, strict=True):
            self._output(name, value)

    def _block(self) -> Any:
        blocks = list(self.signature.function.regions[0].blocks)
        if len(blocks) != 1:
            raise ModelError(
                f"{self.path}: its function branches between {len(blocks)} blocks, so it has no "
                "operators to be split"
            )
        return blocks[0]

    def _names_of_results(self, last: Any) -> dict[Any, str]:
        found: dict[Any, str] = {}
        for name, value in zip(self.signature.output_names, last.operands, strict=True):
            found.setdefault(value, name)
        return found

    def _operation(self, operation: Any, position: int) -> Problem | None:
        """Takes an operation; what cannot be one of a graph is a problem."""
        results = list(operation.results)
        if is_constant(operation):
            self._same.update(results)
            array = constant_of(operation)
            if array is not None:
                self._constant(self._plain(operation, position), results[0], array)
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
            return forwarded(operation) is None or sources[0] not in self._names
        if (self._same | self._sized).issuperset(sources) and (
            is_place(operation) or gives_sizes(operation)
        ):
            self._sized.update(results)
            return True
        return is_place(operation) or any(storable(each.type) is None for each in results)

    def _forward(self, operation: Any, position: int) -> bool:
        """Takes what moves nothing, of a tensor or a constant."""
        found = forwarded(operation)
        if found is None or found[0] not in self._names:
            return False
        (result,) = operation.results
        offset, source = found[1], self._names[found[0]]
        name = self._operator_name(operation, position)
        array = self._constants.get(source)
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
        self._steps.append(
            Forward(name=name, operator=kind, source=source, target=target, offset=offset)
        )
        return True

    def _operator(self, operation: Any, position: int) -> None:
        name = self._operator_name(operation, position)
        copies = self._copies(operation, name)
        several = len(operation.results) > 1
        outputs = []
        for number, value in enumerate(operation.results):
            target = self._returned.get(value, f"{name}:{number}" if several else name)
            self._tensor(target, value)
            outputs.append(target)
        inputs = [copies.get(each, each) for each in self._leaves(operation.results)]
        self._steps.append(
            Operator(
                node=MlirNode(self._kinds(operation), position),
                name=name,
                inputs=tuple(inputs),
                outputs=tuple(outputs),
            )
        )

    def _kinds(self, operation: Any) -> str:
        """Its kind, behind those of what only this operator's kernel does for it."""
        stops = set(self._names) - set(operation.results)
        found = needed(self._positions, operation.results, stops)
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
            source = self._names.get(value)
            if source is None or source in self._constants:
                continue
            copy = self._free_name(f"{name}/{COPY}")
            self._values[copy] = value
            self._tensors[copy] = self._described(copy, value)
            self._steps.append(_copy(copy, (source,), copy))
            found[source] = copy
        return found

    def _output(self, name: str, value: Any) -> None:
        """A result that no operator makes under its own name."""
        if name in self._tensors and self._names.get(value) == name:
            return
        known = self._names.get(value)
        self._values[name] = value
        self._tensors[name] = self._described(name, value)
        if known in self._tensors:
            self._steps.append(Forward(name=name, operator=COPY, source=str(known), target=name))
        else:
            leaves = (known,) if known is not None else self._leaves([value])
            self._steps.append(_copy(name, leaves, name))

    def _leaves(self, values: Sequence[Any]) -> tuple[str, ...]:
        """The tensors and constants that values are made of by one kernel."""
        stops = set(self._names) - set(values)
        found = needed(self._positions, values, stops)
        reads = [
            value
            for position in sorted(found)
            for value in _read_values(found[position])
            if value in stops
        ]
        return tuple(dict.fromkeys(self._names[value] for value in reads))

    # Names.

    def _tensor(self, name: str, value: Any) -> None:
        self._names[value], self._values[name] = name, value
        self._tensors[name] = self._described(name, value)

    def _described(self, name: str, value: Any) -> Tensor:
        dims: Dims = ()
        if is_open(value.type):
            self._open[name] = value
        else:
            dims = static_dims(value.type)
        return Tensor(name=name, dtype=self.signature.dtype(value.type), dims=dims)

    def _constant(self, name: str, value: Any, array: Array) -> None:
        self._names[value], self._values[name] = name, value
        self._constants[name] = array
        self._same.add(value)

    def _operator_name(self, operation: Any, position: int) -> str:
        """By its location; of operators that have one name, the last has it."""
        name = named_at(operation.location)
        if name and self._last_named.get(name) is operation and name not in self._taken:
            self._taken.add(name)
            return name
        if name:
            return self._free_name(f"{name}/{_kind(operation)}")
        return self._plain(operation, position)

    def _plain(self, operation: Any, position: int) -> str:
        return self._free_name(f"{_kind(operation)}_{position}")

    def _free_name(self, name: str) -> str:
        self._counts[name] += 1
        made = name if self._counts[name] == 1 else f"{name}_{self._counts[name]}"
        if made in self._taken:
            return self._free_name(name)
        self._taken.add(made)
        return made

    # Sizes.

    def _find_sizes(self) -> None:
        """Asks IREE for the sizes that types leave open."""
        self._reads: tuple[str, ...] = ()
        self._tensors.update({each.name: each for each in self.signature.inputs})
        given = [each.name for each in self.signature.inputs]
        asked = [name for name in self._open if name not in given]
        if not asked:
            return
        small = [name for name in self._tensors if name not in given and self._may_be_read(name)]
        gives = list(dict.fromkeys((*asked, *small)))
        found = self._flow(given, gives)
        problems = []
        kinds = {name: step for step in self._steps for name in _made(step)}
        for number, name in enumerate(gives[: len(asked)]):
            try:
                self._tensors[name] = found.result(number, self.signature.dtype)
            except ShapesFromValues as error:
                step = kinds[name]
                kind = step.operator if isinstance(step, Forward) else step.node.op_type
                reason = str(error).partition(": ")[2]
                problems.append(Problem(where=step.name, operator=kind, reason=reason))
        if problems:
            raise GraphRefused(str(self.path), problems)
        self._reads = tuple(dict.fromkeys(self._elements()))

    def _flow(self, given: Sequence[str], gives: Sequence[str]) -> FlowFunction:
        from iree.compiler import ir

        positions = self._positions
        border = Border(
            takes=[self._values[name] for name in given],
            gives=[self._values[name] for name in gives],
            reads={},
            dims=None,
        )
        made = part_of(positions, border, self.signature.entry)
        with work_folder() as work:
            file = work / self.path.with_suffix(".mlir").name
            file.write_text(made.text)
            text = flow_of(file, self.path)
        module = ir.Module.parse(text)
        return FlowFunction(self.path, module, self.signature.entry, self.signature.inputs, gives)

    def _may_be_read(self, name: str) -> bool:
        tensor = self._tensors[name]
        if tensor.dtype.kind not in "iu" or name in self._open:
            return False
        return all(isinstance(dim, int) for dim in tensor.dims) and (
            int(np.prod([int(str(dim)) for dim in tensor.dims])) <= _MOST_READ
        )

    def _elements(self) -> Iterator[str]:
        for tensor in self._tensors.values():
            for dim in tensor.dims:
                yield from (each.tensor for each in parts(dim) if isinstance(each, Element))


def _copy(name: str, inputs: Sequence[str], output: str) -> Operator:
    return Operator(node=MlirNode(COPY), name=name, inputs=tuple(inputs), outputs=(output,))


def _made(step: Operator | Forward) -> Sequence[str]:
    return (step.target,) if isinstance(step, Forward) else step.outputs


def _kind(operation: Any) -> str:
    name: str = operation.name
    return name.rpartition(".")[2]


def _read_values(operation: Any) -> list[Any]:
    """What an operation needs to be done, in order."""
    values = outer_values(operation)
    return values[1:] if operation.name in SIZES else values


def _parsed(path: Path, file: Path, work: Path) -> tuple[Any, Any]:
    """(the module with all functions that it calls in their places, its context).

    A process of its own reads the file: of damaged ones MLIR's parsers do not only say so.
    """
    made = work / "operations.mlirbc"
    command = [*tools.iree_opt(), str(file), *_IN_PLACE, "--emit-bytecode", "-o", str(made)]
    try:
        done = tools.run(command, name="iree-opt")
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from None
    if done.returncode:
        said = diagnostics.summary(done.stderr).replace(str(file), path.name)
        raise ModelError(
            f"{path}: this is not a module that MLIR can read:\n{said}", log=done.stderr
        )
    from iree.compiler import ir

    context = ir.Context()
    with context:
        return ir.Module.parse(made.read_bytes()), context
