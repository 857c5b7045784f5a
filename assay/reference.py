"""Runs modules on IREE's own CPU backend: the numbers that emulated runs are compared with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.compiler.models import MissingTool

Value = npt.NDArray[Any] | int | float


class CpuError(Exception):
    """IREE's runtime refused the module or the call; `str()` is its message."""


class CpuModule:
    """A module compiled for `llvm-cpu`, loaded into IREE's runtime."""

    def __init__(self, data: bytes, *, parameters: Mapping[str, Path] | None = None) -> None:
        """`parameters` maps scopes to `.irpa`, `.safetensors` or `.gguf` files."""
        try:
            import iree.runtime as runtime
        except ImportError:
            raise MissingTool("IREE's runtime", "iree") from None
        self._runtime = runtime
        config = runtime.Config("local-task")
        modules = [runtime.VmModule.copy_buffer(config.vm_instance, data)]
        if parameters:
            modules.insert(0, self._parameter_module(config, parameters))
        try:
            context = runtime.SystemContext(vm_modules=modules, config=config)
        except (RuntimeError, ValueError) as error:
            raise CpuError(str(error)) from None
        self._module = context.modules[modules[-1].name]

    def invoke(self, function: str, arguments: Sequence[Value]) -> list[Value]:
        """Calls a function; results are arrays for tensors and Python numbers for scalars."""
        try:
            results = self._module[function](*arguments)
        except (RuntimeError, ValueError, LookupError) as error:
            raise CpuError(str(error)) from None
        listed = list(results) if isinstance(results, tuple | list) else [results]
        return [_host(result) for result in listed if result is not None]

    def _parameter_module(self, config: Any, parameters: Mapping[str, Path]) -> Any:
        providers = []
        for scope, path in parameters.items():
            index = self._runtime.ParameterIndex()
            index.load(str(path))
            providers.append(index.create_provider(scope=scope))
        return self._runtime.create_io_parameters_module(config.vm_instance, *providers)


def _host(result: Any) -> Value:
    if isinstance(result, int | float):
        return result
    return np.array(result.to_host(), copy=True)
