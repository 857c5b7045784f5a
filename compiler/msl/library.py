"""Libraries of MSL source: what they offer, compiled one entry point at a time."""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from . import clang, entry, reflection
from .arguments import Argument
from .errors import CompileError
from .function_constants import ConstantValue
from .kernels import EntryPoint
from .options import CompileOptions
from .rewrite import rewrite

if TYPE_CHECKING:
    from assay.sim.simt import Program


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFunction:
    """A compiled kernel: its bitcode, the wrapper's symbol in it, and what the host must know."""

    name: str
    bitcode: bytes = field(repr=False)
    entry: str
    arguments: tuple[Argument, ...]
    max_total_threads_per_threadgroup: int | None
    position_attributes: tuple[str, ...]
    file: str
    line: int

    def program(self) -> Program:
        """The kernel as the engine takes it; made once."""
        return _program(self)


@functools.lru_cache(maxsize=256)
def _program(kernel: KernelFunction) -> Program:
    from assay.sim.simt import Parameter, Program

    parameters = [
        Parameter(name=argument.name, kind=argument.kind, index=argument.index)
        for argument in kernel.arguments
    ]
    return Program(kernel.bitcode, kernel.entry, name=kernel.name, parameters=parameters)


class Library:
    """The functions of one source text."""

    def __init__(self, preprocessed: str, options: CompileOptions) -> None:
        self._preprocessed = preprocessed
        self._options = options
        plain = rewrite(preprocessed, {})
        self._entries = {entry.name: entry for entry in plain.entries}
        self.constants = plain.constants
        self._functions: dict[
            tuple[str, tuple[tuple[int | str, ConstantValue], ...]], KernelFunction
        ] = {}

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the kernels, in the order of the source."""
        return tuple(self._entries)

    def function(
        self, name: str, constants: Mapping[int | str, ConstantValue] | None = None
    ) -> KernelFunction:
        """Compile the kernel `name` with these function constants (by index or name).

        Raises CompileError if there is no such kernel or it does not compile.
        """
        values = dict(constants or {})
        key = (name, tuple(sorted(values.items(), key=lambda item: str(item[0]))))
        found = self._functions.get(key)
        if found is None:
            found = self._compile(name, values)
            self._functions[key] = found
        return found

    def _compile(self, name: str, values: Mapping[int | str, ConstantValue]) -> KernelFunction:
        described = self._entries.get(name)
        if described is None:
            known = ", ".join(self._entries) or "none"
            raise CompileError(f"no kernel function '{name}' in this library; it has: {known}")
        text = rewrite(self._preprocessed, values).text
        bitcode = self._emit(text, described, frozenset())
        limit, arguments, omitted = reflection.reflect(described, reflection.read_marker(bitcode))
        if omitted:
            bitcode = self._emit(text, described, omitted)
        return KernelFunction(
            name=name,
            bitcode=bitcode,
            entry=entry.SYMBOL,
            arguments=arguments,
            max_total_threads_per_threadgroup=limit,
            position_attributes=tuple(p.position for p in described.parameters if p.position),
            file=described.file,
            line=described.line,
        )

    def _emit(self, text: str, described: EntryPoint, omitted: frozenset[str]) -> bytes:
        contract = "-ffp-contract=fast" if self._options.fast_math else "-ffp-contract=off"
        with tempfile.TemporaryDirectory(prefix="assay-msl-") as folder:
            directory = Path(folder)
            result = clang.run_clang(
                [*clang.LANGUAGE, contract, f"-I{clang.HEADERS / 'assay'}", "-include", "all.h",
                 "-c", "-emit-llvm", "-o", "kernel.bc", "-"],
                text + entry.wrapper(described, omitted),
                directory=directory,
            )  # fmt: skip
            if result.status:
                raise CompileError(result.diagnostics.strip())
            return (directory / "kernel.bc").read_bytes()


def compile_library(
    source: str,
    *,
    options: CompileOptions | None = None,
    file_name: str = "program_source.metal",
) -> Library:
    """Read MSL source and find its kernels; raises CompileError."""
    options = options or CompileOptions()
    with tempfile.TemporaryDirectory(prefix="assay-msl-") as folder:
        major, minor = options.language_version
        macros = {"__METAL__": "1", "__METAL_VERSION__": f"{major}{minor}0", "__METAL_MACOS__": "1",
                  "__HAVE_BFLOAT__": "1", "__APPLE__": "1", **options.macros}  # fmt: skip
        result = clang.run_clang(
            [*clang.LANGUAGE, *[f"-D{name}={value}" for name, value in macros.items()],
             *[f"-I{path}" for path in options.include_paths], f"-I{clang.HEADERS}",
             "-include", str(clang.HEADERS / "assay" / "macros.h"), "-E", "-"],
            f'# 1 "{file_name}"\n' + source,
            directory=Path(folder),
        )  # fmt: skip
    if result.status:
        raise CompileError(result.diagnostics.strip())
    return Library(result.output.decode("utf-8", "replace"), options)
