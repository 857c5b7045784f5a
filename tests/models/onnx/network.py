"""Writes quantised ONNX networks with random weights, with quantisers around float operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
OPSET = 21
_MICROSOFT = "com.microsoft"


class Network:
    """A graph in the making; tensors go by their names.

    `kind` is the type of activations; scales of constants are by channel where `by_channel` says.
    `channels` is for networks that ask how many there are.
    """

    def __init__(self, seed: int = 0, kind: str = "int8", opset: int = OPSET) -> None:
        self.random = np.random.default_rng(seed)
        self.kind, self._opset = kind, opset
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self.channels: dict[str, int] = {}

    def input(self, shape: Sequence[int | str], kind: str = "float32", name: str = "") -> str:
        """An input of the graph."""
        import onnx

        name = name or f"input_{len(self._inputs)}"
        element = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        self._inputs.append(onnx.helper.make_tensor_value_info(name, element, list(shape)))
        return name

    def const(self, array: Any, kind: str = "") -> str:
        """A constant."""
        import onnx

        name = f"constant_{len(self._constants)}"
        made = np.asarray(array, kind or None)
        self._constants.append(onnx.numpy_helper.from_array(made, name))
        return name

    def node(self, op: str, *inputs: str, domain: str = "", outputs: int = 1, **fields: Any) -> str:
        """A node; the name of its first result."""
        return self.nodes(op, *inputs, domain=domain, outputs=outputs, **fields)[0]

    def nodes(
        self, op: str, *inputs: str, domain: str = "", outputs: int = 1, **fields: Any
    ) -> list[str]:
        """A node; the names of its results."""
        import onnx

        number = len(self._nodes)
        names = [f"{op.lower()}_{number}" + (f"_{n}" if n else "") for n in range(outputs)]
        made = onnx.helper.make_node(
            op, list(inputs), names, name=f"n{number}_{op}", domain=domain, **fields
        )
        self._nodes.append(made)
        return names

    def microsoft(self, op: str, *inputs: str, **fields: Any) -> str:
        """A node of com.microsoft."""
        return self.node(op, *inputs, domain=_MICROSOFT, **fields)

    def scales(self, scale: Any, zero_point: Any = None, kind: str = "") -> tuple[str, str]:
        """Constants of a scale and a zero point; without one, that in the middle of the type."""
        kind = kind or self.kind
        if zero_point is None:
            zero_point = {"uint8": 128, "uint16": 32768}.get(kind, 0)
        points = np.broadcast_to(np.asarray(zero_point, kind), np.shape(scale))
        return self.const(scale, "float32"), self.const(points)

    def q(self, x: str, scale: float = 0.05, zero_point: int | None = None, kind: str = "") -> str:
        """A quantiser."""
        return self.node("QuantizeLinear", x, *self.scales(scale, zero_point, kind))

    def dq(self, x: str, scale: float = 0.05, zero_point: int | None = None, kind: str = "") -> str:
        """A dequantiser."""
        return self.node("DequantizeLinear", x, *self.scales(scale, zero_point, kind))

    def qdq(self, x: str, scale: float = 0.05, zero_point: int | None = None) -> str:
        """A quantiser and its dequantiser."""
        return self.dq(self.q(x, scale, zero_point), scale, zero_point)

    def weights(self, shape: Sequence[int], *, by_channel: int | None = None) -> str:
        """Random weights of int8, dequantised."""
        integers = self.random.integers(-127, 128, shape).astype(np.int8)
        if by_channel is None:
            return self.node(
                "DequantizeLinear", self.const(integers), *self.scales(0.01, 0, "int8")
            )
        scale = self.random.uniform(0.005, 0.02, shape[by_channel])
        scales = self.scales(scale, 0, "int8")
        return self.node("DequantizeLinear", self.const(integers), *scales, axis=by_channel)

    def bias(self, count: int) -> str:
        """A random bias of floats."""
        return self.const(self.random.normal(0, 1, count), "float32")

    def finish(self, *outputs: str, kinds: Sequence[str] = ()) -> bytes:
        """The file's contents; the results have no stated shapes."""
        import onnx

        made = [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)), None
            )
            for name, kind in zip(
                outputs, (*kinds, *["float32"] * (len(outputs) - len(kinds))), strict=True
            )
        ]
        graph = onnx.helper.make_graph(self._nodes, "network", self._inputs, made, self._constants)
        opsets = [
            onnx.helper.make_opsetid("", self._opset),
            onnx.helper.make_opsetid(_MICROSOFT, 1),
        ]
        model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
        data: bytes = model.SerializeToString()
        return data
