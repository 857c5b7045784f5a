"""A little notation for writing ONNX graphs: one method per layer, names made up on the way."""

from typing import Any

import numpy as np
import numpy.typing as npt

from assay.compiler.models import MissingTool

Array = npt.NDArray[Any]

_OPSET = 17
_IR_VERSION = 8


class OnnxGraph:
    """An ONNX graph under construction; every layer returns the name of its output."""

    def __init__(self, name: str) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingTool("The onnx package", "iree") from None
        self._onnx = onnx
        self._name = name
        self._nodes: list[Any] = []
        self._weights: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, shape: tuple[int | str, ...]) -> str:
        """Declares an f32 input; sizes given as text are dynamic."""
        self._inputs.append(self._value(name, shape))
        return name

    def output(self, name: str, shape: tuple[int | str, ...]) -> None:
        """Declares an f32 output, `name` being one that a layer returned."""
        self._outputs.append(self._value(name, shape))

    def weight(self, value: Array) -> str:
        """Stores an array in the model."""
        name = f"weight{len(self._weights)}"
        self._weights.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, *inputs: str, name: str = "", **attributes: Any) -> str:
        """Adds any ONNX operator with one output."""
        output = name or f"{operator.lower()}{len(self._nodes)}"
        made = self._onnx.helper.make_node(operator, list(inputs), [output], **attributes)
        self._nodes.append(made)
        return output

    def convolution(
        self, x: str, weights: Array, bias: Array, *, stride: int = 1, pad: int = 0, groups: int = 1
    ) -> str:
        """A square 2-D convolution in NCHW order; weights are (out, in / groups, k, k)."""
        return self.node(
            "Conv",
            x,
            self.weight(weights),
            self.weight(bias),
            kernel_shape=list(weights.shape[2:]),
            strides=[stride, stride],
            pads=[pad] * 4,
            group=groups,
        )

    def clip(self, x: str, low: float, high: float) -> str:
        """Limits values to [low, high]; (0, 6) is the activation of MobileNets."""
        return self.node(
            "Clip",
            x,
            self.weight(np.array(low, np.float32)),
            self.weight(np.array(high, np.float32)),
        )

    def linear(self, x: str, weights: Array, bias: Array) -> str:
        """`x @ weights + bias`; weights are (in, out)."""
        return self.node("Gemm", x, self.weight(weights), self.weight(bias))

    def to_bytes(self) -> bytes:
        """The checked model as an `.onnx` file's contents."""
        helper = self._onnx.helper
        graph = helper.make_graph(
            self._nodes, self._name, self._inputs, self._outputs, self._weights
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR_VERSION
        )
        self._onnx.checker.check_model(model)
        data: bytes = model.SerializeToString()
        return data

    def _value(self, name: str, shape: tuple[int | str, ...]) -> Any:
        return self._onnx.helper.make_tensor_value_info(
            name, self._onnx.TensorProto.FLOAT, list(shape)
        )
