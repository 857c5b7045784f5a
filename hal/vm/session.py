"""Sessions: a device, the modules programs import, and programs loaded onto them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..buffer import BufferView
from ..device import Device
from ..metal import api as metal_api
from ..metal.driver import MetalDriver
from ..semaphore import Fence
from ..status import StatusError, invalid_argument
from .archive import Import, ModuleDefinition, read_module
from .asserted import exported
from .interpreter import Invocation
from .marshal import from_program, to_program
from .modules.check import CheckModule
from .modules.hal import HalModule
from .modules.io_parameters import ParametersModule
from .modules.registry import NativeFunction, NativeModule
from .parameters import ParameterEntry, ParameterIndex, open_parameters
from .signature import FunctionInfo
from .state import Limits, ModuleState
from .translate import Translator

Parameters = Mapping[str, Path | str | Sequence[Path | str]]


class Session:
    """Programs loaded into one session share its device and can import each other's functions.

    `device` names a Metal ("emulated", "native") or is a device opened elsewhere. `parameters`
    maps scopes to files (.irpa, .safetensors, .gguf); a program's scope is often "model".
    Arrays that a program traces are appended to `traces` as (name, array).
    """

    def __init__(
        self,
        device: str | Device = "emulated",
        *,
        parameters: Parameters | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.device = device if isinstance(device, Device) else _open(device)
        self.limits = limits or Limits()
        self.traces: list[tuple[str, Any]] = []
        self._check = CheckModule()
        scopes = {scope: _scope(scope, files) for scope, files in (parameters or {}).items()}
        natives: tuple[NativeModule, ...] = (
            HalModule((self.device,), self._trace),
            ParametersModule(scopes),
            self._check,
        )
        self._natives = {module.name: module for module in natives}
        self._loaded: dict[str, LoadedModule] = {}

    def load(self, source: str | Path | bytes | bytearray | memoryview) -> LoadedModule:
        """Load a `.vmfb` from a file or bytes and run its initialiser.

        Raises VmError: unreadable or damaged files, unknown versions, unresolved imports,
        executables without MSL.
        """
        return self.load_definition(read_module(*_contents(source)))

    def load_definition(self, definition: ModuleDefinition) -> LoadedModule:
        """Load what a `.vmfb` says, and run its initialiser. Raises VmError."""
        self._check_dependencies(definition)
        imports = tuple(self._resolve(definition, wanted) for wanted in definition.imports)
        state = ModuleState(definition=definition, imports=imports, limits=self.limits)
        module = LoadedModule(self, state)
        module.initialise()
        self._loaded[definition.name] = module
        return module

    def take_check_failures(self) -> list[str]:
        """Failed expectations of `check` functions since the last call."""
        return self._check.take_failures()

    def _trace(self, name: str, views: Sequence[BufferView]) -> None:
        self.traces += [(name, from_program(self.device, view)) for view in views]

    def _check_dependencies(self, definition: ModuleDefinition) -> None:
        for dependency in definition.dependencies:
            if dependency.optional or dependency.name in self._loaded:
                continue
            native = self._natives.get(dependency.name)
            if native is None:
                raise _missing_module(dependency.name)
            if dependency.minimum_version > native.version:
                raise StatusError(
                    "NOT_FOUND",
                    f"required module '{dependency.name}' is here in version {native.version}, "
                    f"the program needs {dependency.minimum_version} or newer; compile it with "
                    "iree-base-compiler 3.13",
                )

    def _resolve(self, definition: ModuleDefinition, wanted: Import) -> NativeFunction | None:
        module_name, _, function_name = wanted.name.partition(".")
        other = self._loaded.get(module_name)
        if other is not None and function_name in other.state.definition.exports:
            return other.as_import(function_name, wanted)
        native = self._natives.get(module_name)
        found = native.exports().get(function_name) if native is not None else None
        if found is None:
            if wanted.optional:
                return None
            if native is None:
                raise _missing_module(module_name)
            raise StatusError(
                "NOT_FOUND",
                f"required import `{wanted.name}` not resolved: the module has no such function",
            )
        conventions, function = found
        if wanted.convention.text not in conventions:
            raise StatusError(
                "INTERNAL",
                f"import function {wanted.name} signature mismatch between {definition.name} and "
                f"source {module_name}; expected {wanted.convention.text} but got "
                f"{' or '.join(conventions)}",
            )
        return function


class LoadedModule:
    """A program: its exported functions, callable; its globals live as long as it does."""

    def __init__(self, session: Session, state: ModuleState) -> None:
        self.session = session
        self.state = state
        self.name = state.definition.name
        self._translator = Translator(state)
        self.functions: dict[str, FunctionInfo] = {
            name: exported(state.definition, name)
            for name in state.definition.exports
            if not name.startswith("__")
        }

    def initialise(self) -> None:
        """Run the module's initialiser; done by `Session.load`."""
        ordinal = self.state.definition.exports.get("__init")
        if ordinal is not None:
            if self.state.definition.functions[ordinal].convention.arguments:
                raise invalid_argument("the module's initialiser takes arguments")
            self._invocation(ordinal, ()).run()

    def invoke(self, name: str, *arguments: Any) -> list[Any]:
        """Call a function with arrays and numbers; results are new arrays and numbers.

        An asynchronous function is called with nothing to wait for, and waited for.
        Raises VmError.
        """
        invocation, signal = self.begin(name, *arguments)
        results = invocation.run()
        if signal is not None:
            signal.wait()
        return [from_program(self.session.device, value) for value in results]

    def begin(
        self, name: str, *arguments: Any, wait: Fence | None = None
    ) -> tuple[Invocation, Fence | None]:
        """Start a call without running it.

        Returns the invocation, to be run or resumed by the caller, and for an asynchronous
        function the fence that is reached when the results may be read. Results are then
        `results(invocation)`.
        """
        info = self._info(name)
        ordinal = self.state.definition.exports[name]
        letters = self.state.definition.functions[ordinal].convention.arguments
        signal = None
        if info.asynchronous:
            letters = letters[:-2]
            signal = Fence(((self.session.device.create_semaphore(0), 1),))
        values = to_program(self.session.device, info, "".join(letters), arguments)
        if info.asynchronous:
            values += [wait, signal]
        return self._invocation(ordinal, values), signal

    def results(self, invocation: Invocation) -> list[Any]:
        """The results of a finished invocation as arrays and numbers."""
        if invocation.results is None:
            raise StatusError("FAILED_PRECONDITION", "the invocation is not finished")
        return [from_program(self.session.device, value) for value in invocation.results]

    def as_import(self, name: str, wanted: Import) -> NativeFunction:
        """The function in the form that another module imports."""
        ordinal = self.state.definition.exports[name]
        declared = self.state.definition.functions[ordinal].convention
        if declared.text != wanted.convention.text:
            raise StatusError(
                "INTERNAL",
                f"import function {wanted.name} signature mismatch; expected "
                f"{wanted.convention.text} but got {declared.text}",
            )

        def call(*values: Any) -> Any:
            results = self._invocation(ordinal, values).run()
            return results[0] if len(results) == 1 else results

        return call

    def _invocation(self, ordinal: int, values: Sequence[Any]) -> Invocation:
        return Invocation(self._translator.code(ordinal), values, self.session.limits)

    def _info(self, name: str) -> FunctionInfo:
        info = self.functions.get(name)
        if info is None:
            choices = ", ".join(self.functions) or "none"
            raise StatusError(
                "NOT_FOUND", f"function '{name}' not found in '{self.name}'; there are: {choices}"
            )
        return info


def _open(device: str) -> Device:
    try:
        api = metal_api.load(device)
    except metal_api.NoSuchMetal as error:
        raise StatusError("UNAVAILABLE", str(error)) from error
    return MetalDriver(api).open()


def _contents(source: str | Path | bytes | bytearray | memoryview) -> tuple[Any, str]:
    if not isinstance(source, str | Path):
        return source, "module"
    path = Path(source)
    try:
        return path.read_bytes(), str(path)
    except OSError as error:
        raise StatusError("NOT_FOUND", f"{path}: cannot be read: {error.strerror}") from error


def _scope(scope: str, files: Path | str | Sequence[Path | str]) -> ParameterIndex:
    paths = [files] if isinstance(files, Path | str) else files
    entries: dict[str, ParameterEntry] = {}
    for path in paths:
        entries.update(open_parameters(Path(path)))
    return ParameterIndex(scope, entries)


def _missing_module(name: str) -> StatusError:
    ways = {
        "hal_inline": "compile without --iree-execution-model=inline-*",
        "hal_loader": "compile without --iree-execution-model=inline-*",
        "vmvx": "compile with --iree-hal-target-device=metal, not for vmvx",
    }
    way = ways.get(name, "load the module that provides it into the session first")
    return StatusError("NOT_FOUND", f"required module '{name}' not registered; {way}")
