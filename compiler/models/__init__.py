"""From a model file (MLIR, ONNX, TFLite) to a `.vmfb`, by driving IREE's own tools."""

from .compile import CompiledModel, compile_model
from .errors import MissingTool, ModelError
from .formats import MODULE_SUFFIX, SUFFIXES, is_module, model_format

__all__ = [
    "MODULE_SUFFIX",
    "SUFFIXES",
    "CompiledModel",
    "MissingTool",
    "ModelError",
    "compile_model",
    "is_module",
    "model_format",
]
