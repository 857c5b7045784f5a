"""What modules are put together from: functions, what they import, types and read-only data."""

from __future__ import annotations

from collections.abc import Mapping

from ..archive import Dependency, Function, Import, ModuleDefinition
from ..convention import parse_convention
from ..modules.hal import HalModule
from .function import FunctionWriter, Written

HAL = "hal"
_ALIGNMENT = 8
"""Of functions in a module's bytecode."""


class Parts:
    """Collects the parts of a module that uses the HAL; what is asked for twice is there once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._known = HalModule(()).exports()
        self._imports: dict[str, Import] = {}
        self._types: list[str] = ["i32", "i64"]
        self._rodata: list[bytes] = []
        self._functions: list[tuple[Written, Mapping[str, str]]] = []
        self._exports: dict[str, int] = {}
        self._globals = 0

    def data(self, data: bytes) -> int:
        """The number of read-only data."""
        if data not in self._rodata:
            self._rodata.append(data)
        return self._rodata.index(data)

    def text(self, text: str) -> int:
        """The number of a text as read-only data."""
        return self.data(text.encode())

    def type(self, name: str) -> int:
        """The number of a type."""
        if name not in self._types:
            self._types.append(name)
        return self._types.index(name)

    def new_global(self) -> int:
        """The number of a place for a reference that lives as long as the module."""
        self._globals += 1
        return self._globals - 1

    def function(self, convention: str) -> FunctionWriter:
        """A function to be written and then added."""
        return FunctionWriter(parse_convention(convention, self._name), self._imported)

    def add(
        self, name: str, writer: FunctionWriter, attributes: Mapping[str, str] | None = None
    ) -> None:
        """Export a function that has been written."""
        self._exports[name] = len(self._functions)
        self._functions.append((writer.finish(), attributes or {}))

    def _imported(self, name: str) -> tuple[int, Import]:
        """A function of the HAL, in the convention of the newest version of it."""
        if name not in self._imports:
            convention = self._known[name][0][0]
            self._imports[name] = Import(
                name=f"{HAL}.{name}",
                convention=parse_convention(convention, self._name),
                optional=False,
            )
        return list(self._imports).index(name), self._imports[name]

    def module(self) -> ModuleDefinition:
        """The module."""
        code = bytearray()
        functions = []
        for ordinal, (written, attributes) in enumerate(self._functions):
            code += bytes(-len(code) % _ALIGNMENT)
            functions.append(
                Function(
                    ordinal=ordinal,
                    convention=written.convention,
                    attributes=attributes,
                    offset=len(code),
                    length=len(written.bytecode),
                    requirements=written.requirements,
                    blocks=written.blocks,
                    value_registers=written.value_registers,
                    ref_registers=written.ref_registers,
                )
            )
            code += written.bytecode
        version = HalModule.version
        return ModuleDefinition(
            name=self._name,
            version=0,
            types=tuple(self._types),
            dependencies=(Dependency(name=HAL, minimum_version=version, optional=False),),
            imports=tuple(self._imports.values()),
            exports=dict(self._exports),
            functions=tuple(functions),
            function_names={ordinal: name for name, ordinal in self._exports.items()},
            rodata=tuple(memoryview(data) for data in self._rodata),
            global_bytes=0,
            global_refs=self._globals,
            bytecode=memoryview(bytes(code)),
            attributes={},
        )
