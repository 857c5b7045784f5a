"""A model that gives what every operator makes, for others to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from assay.sim.native.work_folder import work_folder

from .elements import dtype_of, shape_of
from .importer import import_model
from .tosa import ops

_OF_RESULTS = ("res_attrs", "tf.entry_function")
"""What a function says of its results one by one."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """A tensor of a model.

    Attributes:
        name: the operator's that makes it.
        behind: names of what is made of it alone, one after the other: a compiler that does some
            of that at once, as a convolution with its scaling, makes one of those under this name.
    """

    name: str
    behind: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class AllResults:
    """A file of MLIR whose one function gives all tensors of a model."""

    file: Path
    function: str
    results: Sequence[Result]


@contextmanager
def with_all_results(path: Path) -> Iterator[AllResults]:
    """A model as one that gives all of its tensors; the file goes with the context.

    Their names are those of the operators, by which a model on the NPU knows its tensors: names in
    files of TFLite and ONNX, places in text. Of operators that have one name, as several may have
    that stand for one of the model, the last one counts. Raises ModelError.
    """
    module = import_model(path)
    function = ops.only_function(module)
    results = _expose(function)
    with work_folder() as folder:
        made = folder / f"{path.stem}.mlir"
        made.write_text(str(module))
        yield AllResults(file=made, function=function.sym_name.data, results=results)


def _expose(function: FuncOp) -> list[Result]:
    """Makes all tensors with names a function's results."""
    named: dict[str, SSAValue] = {}
    for op in ops.body(function).ops:
        name = ops.location(op)
        if name and len(op.results) == 1 and not _is_given(op.results[0]):
            value = op.results[0]
            if _is_whole(value):
                named[name] = value
    names = {value: name for name, value in named.items()}
    results = [
        Result(name=name, behind=tuple(names[one] for one in _behind(value) if one in names))
        for name, value in named.items()
    ]
    ops.returned(function).operands = list(named.values())
    ops.retype(function)
    for key in _OF_RESULTS:
        function.properties.pop(key, None)
        function.attributes.pop(key, None)
    return results


def _behind(value: SSAValue) -> Iterator[SSAValue]:
    """What is made of a value, as long as nobody else reads it and nothing else is needed."""
    while len(readers := {use.operation for use in value.uses}) == 1:
        (op,) = readers
        others = [operand for operand in op.operands if operand is not value]
        if len(op.results) != 1 or not all(map(_is_given, others)):
            return
        value = op.results[0]
        yield value


def _is_given(value: SSAValue) -> bool:
    """Whether a value does not depend on inputs: constants, and what is filled with them."""
    op = value.owner
    return isinstance(op, Operation) and all(map(_is_given, op.operands))


def _is_whole(value: SSAValue) -> bool:
    """Whether callers can take a value: sums of 48 bits are none."""
    kind = value.type
    known = dtype_of(getattr(kind, "element_type", kind))
    return shape_of(kind) is not None and known not in (None, "int48")
