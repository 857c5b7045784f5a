"""Models in MLIR (StableHLO, TOSA, linalg; from TFLite, too) as graphs of their operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.sim.native.work_folder import work_folder

from ...models import diagnostics, importers, tools
from ...models.errors import ModelError
from ...models.formats import model_format
from ..errors import GraphRefused, Problem
from .dims import Dims, Element, parts
from .graph import Forward, Graph, Operator, Tensor
from .mlir_parts import Border, Part, part_of
from .mlir_reading import Reading
from .mlir_signature import Signature, with_sizes
from .mlir_sizes import FlowFunction, ShapesFromValues, flow_of

_IN_PLACE: Final = ("--pass-pipeline=builtin.module(inline,symbol-dce)",)
_MOST_READ: Final = 16
"""Elements of tensors on which shapes may depend."""
_MOST_EMBEDDED: Final = 16
"""Elements of constants that are part of a kernel."""
_EMBEDDED: Final = ("tosa.rescale", "tosa.table", "tosa.pad", "tosa.resize", "tosa.transpose")
"""Operators whose other operands IREE asks to be constants."""


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
            self._found = Reading(path, self.signature)
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
            for each in self._found.tensors.values()
        }
        return Graph(
            name=self.signature.entry,
            opsets=(),
            inputs=inputs,
            outputs=self._found.outputs,
            tensors={**tensors, **{each.name: each for each in inputs}},
            constants=self._found.constants,
            steps=tuple(self._found.steps),
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
        made = [self._found.values[each] for each in gives]
        read = {each: name for each, name in self._told().items() if each not in made}
        border = Border(
            takes=[self._found.values[each] for each in self.arguments(takes, gives)],
            gives=made,
            reads=read,
            dims={
                value: graph.tensors[each].dims
                for each, value in self._found.values.items()
                if each in graph.tensors
            },
            in_place=in_place,
        )
        with self._context:
            return part_of(self._found.positions, border, name)

    def arguments(self, takes: Sequence[str], gives: Sequence[str]) -> tuple[str, ...]:
        """Which of the tensors that a part needs are its arguments: each once, a copy instead of
        what it is a copy of, and none whose elements it is told."""
        read = set(self._told()).difference(map(self._found.values.get, gives))
        found: dict[Any, str] = {}
        for name in takes:
            value = self._found.values[name]
            if value not in read and (value not in found or self._found.names.get(value) != name):
                found[value] = name
        return tuple(found.values())

    def _told(self) -> dict[Any, str]:
        """Tensors that kernels take as integers: shapes depend on them, and they are small."""
        return {self._found.values[name]: name for name in self._reads if self._may_be_read(name)}

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
        array = self._found.constants.get(name)
        if array is None:
            return False
        kinds = {each.node.op_type for each in readers if name in each.inputs}
        return (
            array.size <= _MOST_EMBEDDED
            or name in self._found.computed_with
            or not kinds.isdisjoint(_EMBEDDED)
        )

    # Sizes.

    def _find_sizes(self) -> None:
        """Asks IREE for the sizes that types leave open."""
        self._reads: tuple[str, ...] = ()
        self._found.tensors.update({each.name: each for each in self.signature.inputs})
        given = [each.name for each in self.signature.inputs]
        asked = [name for name in self._found.open if name not in given]
        if not asked:
            return
        small = [
            name for name in self._found.tensors if name not in given and self._may_be_read(name)
        ]
        gives = list(dict.fromkeys((*asked, *small)))
        found = self._flow(given, gives)
        problems = []
        kinds = {name: step for step in self._found.steps for name in _made(step)}
        for number, name in enumerate(gives[: len(asked)]):
            try:
                self._found.tensors[name] = found.result(number, self.signature.dtype)
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

        positions = self._found.positions
        border = Border(
            takes=[self._found.values[name] for name in given],
            gives=[self._found.values[name] for name in gives],
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
        tensor = self._found.tensors[name]
        if tensor.dtype.kind not in "iu" or name in self._found.open:
            return False
        return all(isinstance(dim, int) for dim in tensor.dims) and (
            int(np.prod([int(str(dim)) for dim in tensor.dims])) <= _MOST_READ
        )

    def _elements(self) -> Iterator[str]:
        for tensor in self._found.tensors.values():
            for dim in tensor.dims:
                yield from (each.tensor for each in parts(dim) if isinstance(each, Element))


def _made(step: Operator | Forward) -> Sequence[str]:
    return (step.target,) if isinstance(step, Forward) else step.outputs


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
