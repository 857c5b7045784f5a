"""Operations of MLIR by what they are to a graph: sizes, constants, other views of a tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ..elements import Array
from .dims import Dim
from .mlir_signature import storable
from .mlir_sizes import is_open, static_dims
from .reshapes import contiguous

CONSTANTS: Final = ("tosa.const", "stablehlo.constant", "arith.constant")
SIZES: Final = ("tensor.dim", "stablehlo.get_dimension_size", "shape.shape_of")
"""What gives sizes of a tensor, and looks at none of its elements."""
_RESHAPES: Final = (
    "tosa.reshape",
    "stablehlo.reshape",
    "stablehlo.dynamic_reshape",
    "tensor.collapse_shape",
    "tensor.expand_shape",
    "tensor.reshape",
    "tensor.cast",
    "tosa.identity",
)
_PLACES: Final = ("tensor.empty", "linalg.fill")
"""What makes nothing but a place, or one with the same number everywhere."""
_WRITES_OVER: Final = frozenset(
    {
        "stablehlo.dynamic_update_slice",
        "stablehlo.scatter",
        "stablehlo.sort",
        "stablehlo.while",
        "stablehlo.if",
        "stablehlo.case",
        "chlo.top_k",
        "scf.for",
        "scf.while",
        "scf.if",
        "tensor.insert",
        "tensor.insert_slice",
        "tensor.scatter",
        "tosa.scatter",
    }
)
"""What IREE does in the memory of operands, although they are arguments; so it does what has a
place for its results as an operand."""
Numbers = tuple[int, ...]
_MOST_SIZES: Final = 64
"""Elements of tensors that are computed of sizes alone."""


def outer_values(operation: Any) -> list[Any]:
    """What an operation reads: its operands, and what its regions read of what is around it."""
    found = list(operation.operands)
    inside: set[Any] = set()
    for inner in _inner(operation, inside):
        found.extend(inner.operands)
    return [value for value in dict.fromkeys(found) if value not in inside]


def _inner(operation: Any, inside: set[Any]) -> Iterator[Any]:
    for region in operation.regions:
        for block in region.blocks:
            inside.update(block.arguments)
            for each in block.operations:
                inside.update(each.operation.results)
                yield each.operation
                yield from _inner(each.operation, inside)


def constant_of(operation: Any) -> Array | None:
    """The elements of a constant tensor, unless all are the same one or NumPy has no such type."""
    from iree.compiler import ir

    if operation.name not in CONSTANTS:
        return None
    attributes = operation.attributes
    elements = attributes["values" if "values" in attributes else "value"]
    dtype = storable(operation.results[0].type)
    if dtype is None or not isinstance(elements, ir.DenseElementsAttr) or elements.is_splat:
        return None
    try:
        array = np.array(elements)
    except (TypeError, ValueError):  # elements that NumPy has no type for
        return None
    return np.ascontiguousarray(array) if array.dtype == dtype else None


def is_constant(operation: Any) -> bool:
    """Whether it is a constant of any type."""
    return operation.name in (*CONSTANTS, "tosa.const_shape", "shape.const_shape")


def symbol_of(operation: Any) -> str:
    """What an operation, or one inside of it, names that is outside of its function; else empty."""
    from iree.compiler import ir

    for each in (operation, *_inner(operation, set())):
        for name in each.attributes:
            value = each.attributes[getattr(name, "name", name)]
            if isinstance(value, ir.FlatSymbolRefAttr):
                return str(value)
    return ""


def is_place(operation: Any) -> bool:
    """Whether an operation makes nothing that is worth a kernel."""
    return operation.name in _PLACES


def gives_sizes(operation: Any) -> bool:
    """Whether results are few whole numbers, as sizes are."""
    for result in operation.results:
        kind = result.type
        text = str(getattr(kind, "element_type", kind))
        if not text.startswith(("i", "ui")) or text == "i1":
            return False
        if hasattr(kind, "rank") and (is_open(kind) or np.prod(static_dims(kind)) > _MOST_SIZES):
            return False
    return True


def written_over(operation: Any) -> Sequence[Any]:
    """Operands in whose memory IREE may write."""
    if operation.name in _WRITES_OVER:
        return outer_values(operation)
    if operation.name.startswith(("linalg.", "iree_linalg_ext.")):
        places = len(operation.results)
        return list(operation.operands)[-places:] if places else []
    return ()


def forwarded(operation: Any) -> tuple[Any, Dim] | None:
    """(what it is a view of, from which element on) of an operation that moves nothing."""
    if operation.name in _RESHAPES:
        source = operation.operands[0]
        one, other = storable(source.type), storable(operation.results[0].type)
        return (source, 0) if one is not None and one == other else None
    ranges = _ranges(operation)
    if ranges is None:
        return None
    source = operation.operands[0]
    found = contiguous(static_dims(source.type), ranges)
    return None if found is None else (source, found[0])


def _ranges(operation: Any) -> Mapping[int, tuple[Dim, Dim]] | None:
    """(begin, end) by axis of a slice of known places without steps."""
    if operation.name not in ("stablehlo.slice", "tosa.slice", "tensor.extract_slice"):
        return None
    if is_open(operation.operands[0].type) or is_open(operation.results[0].type):
        return None
    given = operation.attributes
    begins: Numbers | None
    ends: Numbers | None
    steps: Numbers = ()
    if operation.name == "stablehlo.slice":
        begins, ends = _numbers(given["start_indices"]), _numbers(given["limit_indices"])
        steps = _numbers(given["strides"])
    elif operation.name == "tosa.slice":
        begins, sizes = (_shape(value) for value in list(operation.operands)[1:])
        ends = _sum(begins, sizes)
    else:
        begins, sizes = _numbers(given["static_offsets"]), _numbers(given["static_sizes"])
        ends, steps = _sum(begins, sizes), _numbers(given["static_strides"])
    if begins is None or ends is None or any(step != 1 for step in steps):
        return None
    if any(begin < 0 or end < 0 for begin, end in zip(begins, ends, strict=True)):
        return None  # places that follow from other values
    return dict(enumerate(zip(begins, ends, strict=True)))


def _sum(a: Numbers | None, b: Numbers | None) -> Numbers | None:
    return None if a is None or b is None else tuple(x + y for x, y in zip(a, b, strict=True))


def _numbers(attribute: Any) -> Numbers:
    return tuple(int(each) for each in attribute)


def _shape(value: Any) -> Numbers | None:
    """The elements of a constant shape."""
    owner = getattr(value.owner, "operation", None)
    if owner is None or owner.name != "tosa.const_shape":
        return None
    return tuple(int(each) for each in np.array(owner.attributes["values"]).reshape(-1))


def named_at(location: Any) -> str:
    """The name in a location; empty if it has none but places in files."""
    if hasattr(location, "name_str"):
        return str(location.name_str)
    if hasattr(location, "locations"):
        names = (named_at(each) for each in location.locations)
        return next((name for name in names if name), "")
    return named_at(location.callee) if hasattr(location, "callee") else ""
