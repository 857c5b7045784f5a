"""A model that gives what every operator makes, for others to run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from assay.sim.native.work_folder import work_folder

from .elements import dtype_of, shape_of
from .importer import import_model
from .tosa import ops

_OF_RESULTS = ("res_attrs", "tf.entry_function")
"""What a function says of its results one by one."""


@contextmanager
def file_with_all_results(path: Path) -> Iterator[tuple[Path, list[str]]]:
    """A file of MLIR that goes with the context, and the names of its results.

    They are those of the operators, by which a model on the NPU knows its tensors. Of operators
    that have one name, as several may have that stand for one of the model, the last one counts.
    Raises ModelError.
    """
    module = import_model(path)
    names = _expose(module)
    with work_folder() as folder:
        made = folder / f"{path.stem}.mlir"
        made.write_text(str(module))
        yield made, names


def _expose(module: ModuleOp) -> list[str]:
    """Makes all tensors with names the results of a module's function; gives the names."""
    function = ops.only_function(module)
    named: dict[str, SSAValue] = {}
    for op in ops.body(function).ops:
        name = ops.location(op)
        if name and len(op.results) == 1 and ops.name_of(op) not in ops.CONSTANTS:
            value = op.results[0]
            if _is_whole(value):
                named[name] = value
    ops.returned(function).operands = list(named.values())
    ops.retype(function)
    for key in _OF_RESULTS:
        function.properties.pop(key, None)
        function.attributes.pop(key, None)
    return list(named)


def _is_whole(value: SSAValue) -> bool:
    """Whether callers can take a value: sums of 48 bits are none."""
    kind = value.type
    known = dtype_of(getattr(kind, "element_type", kind))
    return shape_of(kind) is not None and known not in (None, "int48")
