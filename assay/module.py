"""Loaded modules as Python objects: functions are attributes, arrays go in and come out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.hal.vm import FunctionInfo, LoadedModule, Session

from .by_name import ByName
from .elements import ELEMENTS, Value
from .signatures import Signature, Slot, signature_of
from .tracebacks import ends_in_caller

if TYPE_CHECKING:
    from .npu import NpuModule


class Function:
    """One exported function of a loaded module; call it with arrays and numbers."""

    def __init__(self, module: LoadedModule, info: FunctionInfo) -> None:
        self._module = module
        self.name: str = info.name
        self.declaration: str = info.declaration
        """The signature in IREE's own words, empty where the module does not keep it."""
        self.signature: Signature = signature_of(info)
        """What goes in and comes out."""
        self.__doc__ = self.declaration or str(self.signature)

    @ends_in_caller
    def __call__(self, *arguments: Any) -> Any:
        """Runs the function; gives None, one result, or a tuple of results."""
        results = self.invoke(arguments)
        if not results:
            return None
        return results[0] if len(results) == 1 else tuple(results)

    @ends_in_caller
    def invoke(self, arguments: Sequence[Any]) -> list[Value]:
        """Runs the function; always a list of results."""
        slots = self.signature.arguments
        values = [
            _value(argument, slots[position] if position < len(slots) else None)
            for position, argument in enumerate(arguments)
        ]
        return self._module.invoke(self.name, *values)

    def __repr__(self) -> str:
        return f"<assay function {self.signature}>"


class Module(ByName[Function]):
    """A loaded module. `module.main(x)` and `module["main"](x)` call its function `main`."""

    def __init__(self, module: LoadedModule, session: Session) -> None:
        functions = {name: Function(module, info) for name, info in module.functions.items()}
        super().__init__(f"module {module.name}", "function", functions)
        self._session = session
        self._loaded = module

    @property
    def session(self) -> Session:
        """The device and the modules that this one is loaded with."""
        return self._session

    @property
    def name(self) -> str:
        """The module's name."""
        return self._loaded.name

    @property
    def loaded(self) -> LoadedModule:
        """The module as the VM knows it."""
        return self._loaded

    def __repr__(self) -> str:
        return f"<assay module {self.name}: {', '.join(self)}>"


@ends_in_caller
def load(
    source: str | Path | bytes,
    *,
    device: str = "emulated",
    parameters: Mapping[str, str | Path] | None = None,
    cache: bool = True,
) -> Module | Any:
    """Loads a `.vmfb` (a path or its bytes), or a model file, which is compiled first.

    An Assay module (`.assay`) gives an `AssayModule`, on the devices of the file that `device`
    names; "cpu" runs machine code of this processor.

    An executable of the NPU is loaded into an emulated one, and gives an `NpuModule`, whose
    functions take and give arrays, too; `assay.npu.load_npu` has its options.

    `device` is "emulated", which is the emulated GPU; "native" on a Mac; or "torq", the emulated
    NPU, for which a quantised model is compiled. `parameters` maps the scopes of a module's
    parameters to `.irpa`, `.safetensors` or `.gguf` files. With `cache` False a model is compiled
    even if it was compiled before, and not kept.
    """
    from .npu import is_executable

    if _is_assay(source):
        if parameters:
            raise ValueError("Assay modules keep all their weights: they take no parameters")
        from .assay_module import load_assay

        return load_assay(source, device)
    if is_executable(source) or device == "torq":
        return _load_npu(source, device, parameters)
    from assay.compiler.models import compile_model
    from assay.compiler.models.formats import is_module, read_head

    if isinstance(source, str | Path) and not is_module(read_head(Path(source))):
        source = compile_model(source, cache=cache).data
    files = {scope: Path(path) for scope, path in (parameters or {}).items()}
    session = Session(device=device, parameters=files)
    loaded = session.load(Path(source) if isinstance(source, str) else source)
    return Module(loaded, session)


def _is_assay(source: str | Path | bytes) -> bool:
    from assay.hal.module.records import is_assay

    if isinstance(source, bytes):
        return is_assay(source[:12])
    if not Path(source).is_file():
        return False
    with Path(source).open("rb") as file:
        return is_assay(file.read(12))


def _load_npu(source: str | Path | bytes, device: str, parameters: object) -> "NpuModule":
    """An executable of the NPU, or a model that becomes one."""
    from .npu import compile_executable, is_executable, load_npu

    if device not in ("emulated", "torq") or parameters:
        raise ValueError(
            "native and parameters are for modules; the NPU has neither: assay.npu.load_npu takes "
            "what it does have"
        )
    if is_executable(source):
        return load_npu(source)
    if isinstance(source, bytes):
        raise ValueError("the bytes are no executable of the NPU; a model is given by its path")
    return load_npu(compile_executable(source), name=str(source))


def _value(argument: Any, slot: Slot | None) -> Value:
    """An argument as the VM takes it; lists and scalars get the type that the slot asks for."""
    if slot is None:
        return argument if isinstance(argument, int | float) else np.asarray(argument)
    if slot.is_tensor:
        known = isinstance(argument, np.ndarray)
        return np.asarray(argument, dtype=None if known else ELEMENTS.get(slot.element))
    if isinstance(argument, np.ndarray | np.generic) and argument.ndim == 0:
        argument = argument.item()
    if slot.type.startswith("f") and isinstance(argument, int):
        return float(argument)
    value: Value = argument
    return value
