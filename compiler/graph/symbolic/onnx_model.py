"""An ONNX file for several shape sets: what it declares, and its constants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...models import opsets
from ...models.errors import MissingTool, ModelError
from ..elements import Array
from .dims import Dim, Dims, Named
from .unread import leave_out_unread


class OnnxModel:
    """An ONNX file, read once for all shape sets."""

    def __init__(self, path: Path) -> None:
        """Raises ModelError."""
        try:
            import onnx
            from google.protobuf.message import DecodeError
        except ImportError:
            raise MissingTool("The onnx package", "iree") from None
        self.onnx: Any = onnx
        self.path = path
        try:
            self.proto = onnx.load(str(path))
        except (DecodeError, UnicodeDecodeError, OSError, ValueError) as error:
            raise ModelError(f"{path}: this is no ONNX model that can be read: {error}") from None
        self.proto = opsets.brought(onnx, self.proto)
        leave_out_unread(onnx, self.proto)
        graph = self.proto.graph
        self.constants: dict[str, Array] = {
            each.name: onnx.numpy_helper.to_array(each) for each in graph.initializer
        }
        self.inputs = [value for value in graph.input if value.name not in self.constants]

    def declared(self) -> dict[str, Dims]:
        """The shapes that the file itself says: named dimensions by name, unknown ones by place."""
        return {value.name: self._declared(value) for value in self.inputs}

    def _declared(self, value: Any) -> Dims:
        kind = value.type.tensor_type
        if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
            raise ModelError(f"{self.path}: input {value.name} is no tensor of a known rank")
        found: list[Dim] = []
        for axis, size in enumerate(kind.shape.dim):
            if size.HasField("dim_value") and size.dim_value > 0:
                found.append(size.dim_value)
            else:
                found.append(Named(size.dim_param or f"{value.name}_{axis}"))
        return tuple(found)

    def dtype(self, value: Any) -> np.dtype[Any]:
        """The type of an input's elements."""
        kind = value.type.tensor_type.elem_type
        found: np.dtype[Any] = self.onnx.helper.tensor_dtype_to_np_dtype(kind)
        return found
