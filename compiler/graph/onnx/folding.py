"""Nodes of constants alone: computed when the model is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from .model import Node
from .state import State, attribute
from .values import Constant, NotForNpu

_MOST_ELEMENTS = 1 << 26


def folded(state: State, node: Node) -> list[Constant]:
    """What a node makes of constants. Raises NotForNpu."""
    operands = [state.value(name) for name in node.inputs if name]
    arrays = [value.array for value in operands if isinstance(value, Constant)]
    if node.op == "Constant":
        return [Constant(array=_constant(node))]
    if node.op in ("Identity", "Dropout", "Transpose") and operands:
        (value,) = operands[:1]
        assert isinstance(value, Constant)
        return [value if node.op != "Transpose" else _transposed(value, node)]
    given = dict(zip([name for name in node.inputs if name], arrays, strict=True))
    return [Constant(array=np.asarray(array)) for array in _evaluated(state, node, given)]


def _constant(node: Node) -> Any:
    for name in ("value", "value_float", "value_int", "value_floats", "value_ints"):
        found = node.attributes.get(name)
        if found is not None:
            kinds = {"value_float": np.float32, "value_floats": np.float32}
            return found if name == "value" else np.array(found, kinds.get(name, np.int64))
    raise NotForNpu("its elements are no numbers, or cut short")


def _transposed(value: Constant, node: Node) -> Constant:
    order = attribute(node, "perm", range(value.array.ndim)[::-1])
    order = [int(axis) for axis in order]
    return Constant(
        array=value.array.transpose(order),
        integers=None if value.integers is None else value.integers.transpose(order),
        scale=value.scale,
        zero_point=value.zero_point,
        axis=order.index(value.axis) if value.scale is not None and order else 0,
    )


def _evaluated(state: State, node: Node, given: dict[str, Any]) -> list[Any]:
    """By ONNX's own reference in Python."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    if node.domain or any(value is None for value in node.attributes.values()):
        raise NotForNpu("it computes with constants in a way that is not known")
    if sum(array.size for array in given.values()) > _MOST_ELEMENTS:
        raise NotForNpu("its constants are too large to compute with")
    attributes = {
        key: onnx.numpy_helper.from_array(value) if isinstance(value, np.ndarray) else value
        for key, value in node.attributes.items()
    }
    made = onnx.helper.make_node(node.op, list(node.inputs), list(node.outputs), **attributes)
    names = [name for name in node.outputs if name]
    graph = onnx.helper.make_graph(
        [made],
        "folded",
        [onnx.helper.make_empty_tensor_value_info(name) for name in given],
        [onnx.helper.make_empty_tensor_value_info(name) for name in names],
    )
    opset = onnx.helper.make_opsetid("", state.model.opset)
    try:
        found = ReferenceEvaluator(onnx.helper.make_model(graph, opset_imports=[opset])).run(
            None, given
        )
    except Exception as error:  # of whatever kind its operators raise
        raise NotForNpu(f"it cannot be computed: {error}") from None
    if any(np.asarray(array).size > _MOST_ELEMENTS for array in found):
        raise NotForNpu("its result is too large")
    return list(found)
