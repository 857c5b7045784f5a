"""Libraries of MSL source: what they offer, compiled one entry point at a time."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.names import choices
from assay.sim.native.disk_cache import DiskCache, digest

from . import entry, reflection
from .errors import CompileError, MissingConstants
from .kernel_function import KernelFunction, restored, stored, stored_error
from .layouts import Layouts
from .options import CompileOptions
from .rewrite.function_constants import ConstantValue, FunctionConstant
from .rewrite.kernels import EntryPoint
from .rewrite.quarantine import problem_in
from .source.lexer import lines_of
from .source.line_directives import named_texts
from .text_compiler import TextCompiler, Values

if TYPE_CHECKING:
    from .rewrite.rewrite import Rewritten

CACHE = DiskCache("msl")
# The function that os_log asks for its buffer, in the bitcode of a kernel that logs.
_LOG_BUFFER = b"__assay_log_buffer"
_UNDEFINED = re.compile(rb"__assay_undefined_constant\{([^}]*)\}")


def texts(source: str, file_name: str, includes: Iterable[Path]) -> Mapping[str, str]:
    """Texts that messages quote, by file name: the source's parts and what it includes."""
    sources = named_texts(source, file_name)
    # A program may name any file in a #line; only those that it could include are read.
    for path in includes:
        with contextlib.suppress(OSError):
            sources[str(path)] = path.read_text(errors="replace")
    return sources


class Library:
    """The functions of one source text; made by `compile_library`."""

    def __init__(
        self,
        source: str,
        options: CompileOptions,
        file_name: str,
        key: str,
        text: str,
        entries: tuple[EntryPoint, ...],
        constants: tuple[FunctionConstant, ...],
        includes: tuple[Path, ...],
        problems: Mapping[int, str] | None = None,
    ) -> None:
        self._source = source
        self._text = text
        self._fast_math = options.fast_math
        self._file_name = file_name
        self._key = key
        self._includes = includes
        self._problems = problems or {}  # of functions that do not compile, see `quarantine`
        self._entries = {each.name: each for each in entries if not each.is_visible}
        self._visible = {each.name: each for each in entries if each.is_visible}
        self._functions: dict[tuple[str, Values, tuple[str, ...]], KernelFunction] = {}
        self._lock = threading.Lock()
        self._compiler = TextCompiler(
            text, constants, file_name, self.sources, fast_math=options.fast_math
        )
        self.constants = constants

    @property
    def file_name(self) -> str:
        """What messages call the source."""
        return self._file_name

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the kernels, in the order of the source."""
        return tuple(self._entries)

    def constants_of(self, name: str) -> tuple[FunctionConstant, ...]:
        """The function constants of the whole text, which any kernel may depend on."""
        return self.constants

    def places(self) -> Mapping[str, tuple[str, int]]:
        """File and line of each kernel."""
        return {name: (each.file, each.line) for name, each in self._entries.items()}

    @property
    def visible_names(self) -> tuple[str, ...]:
        """Names of the visible functions, in the order of the source."""
        return tuple(self._visible)

    def sources(self) -> Mapping[str, str]:
        """Texts that the library was made of, by file name: the source and what it includes."""
        return texts(self._source, self._file_name, self._includes)

    def lines_of(self, file: str) -> frozenset[int]:
        """Lines of a file of which the compiler saw something: none that `#if` leaves out."""
        return lines_of(self._text, file)

    def function(
        self,
        name: str,
        constants: Mapping[int | str, ConstantValue] | None = None,
        *,
        linked: Sequence[str] = (),
    ) -> KernelFunction:
        """Compile the kernel `name` with these function constants (by index or name).

        It can call the visible functions `linked` by their place in it, from 1 on.

        Raises CompileError if there is no such kernel or visible function, it does not compile, or
        it uses a function constant that has no value.
        """
        described = self._entries.get(name)
        if described is None:
            known = choices(name, self._entries)
            raise CompileError(f"no kernel function '{name}' in this library; {known}")
        values: Values = tuple(sorted((constants or {}).items(), key=lambda item: str(item[0])))
        for chosen in linked:
            if chosen not in self._visible:
                known = choices(chosen, self._visible)
                raise CompileError(f"no visible function '{chosen}' in this library; {known}")
        key = (name, values, tuple(linked))
        with self._lock:
            found = self._functions.get(key)
            if found is None:
                found = self._functions[key] = self._cached(described, values, key[2])
        return found

    def prepare(self, names: Iterable[str]) -> None:
        """Compile kernels that will be asked for, which takes less time together than one by one.

        Kernels of large texts and those with function constants are compiled when they are asked
        for, out of a text that is parsed once. What is wrong with one is told by `function`.
        """
        with self._lock:
            waiting = [self._entries[name] for name in names if not self._is_made(name)]
            if len(waiting) >= 2:
                self._compiler.prepare(waiting)

    def _is_made(self, name: str) -> bool:
        """Whether a kernel without function constants was compiled before."""
        return (name, (), ()) in self._functions or CACHE.get(self._key_of(name)) is not None

    def _key_of(self, name: str, values: Values = (), linked: tuple[str, ...] = ()) -> str:
        return digest(self._key, name, repr(values), repr(linked))

    def warnings(self, options: Sequence[str]) -> tuple[str, ...]:
        """What clang warns of, as it prints it, asked by options such as `-Wall`.

        With `-Werror` among them, errors.
        """
        with self._lock:
            return self._compiler.warnings(options)

    def rendering_errors(self) -> str:
        """What is wrong in vertex and fragment functions, as clang prints it; "" if nothing is."""
        from .rendering import rendering_errors  # only `assay metal` asks

        return rendering_errors(
            self._text, self._file_name, self.sources(), fast_math=self._fast_math
        )

    def runs_any(self) -> bool:
        """Whether there is a kernel that compiles, or that may with values for constants."""
        for name in self._entries:
            try:
                self.function(name)
            except MissingConstants:
                return True
            except CompileError:
                continue
            return True
        return False

    def errors_in(self, rewritten: Rewritten) -> str:
        """What clang says of a text that breaks rules of MSL; "" if nothing. It is not compiled."""
        try:
            self._compiler.emit(rewritten, None, frozenset(), checking=True)
        except CompileError as error:
            return str(error)
        return ""

    def check(self, rewritten: Rewritten) -> None:
        """Compile the first kernel, and with it the declarations of the whole text."""
        first = next(iter(self._entries.values()), None)
        if first is None or self.constants or self._problems:
            self._compiler.emit(rewritten, first, frozenset(), checking=True)
            return
        self._compiler.keep(rewritten)
        self.function(first.name)

    def _cached(
        self, described: EntryPoint, values: Values, linked: tuple[str, ...]
    ) -> KernelFunction:
        """The kernel from the cache on disk, or compiled and put there."""
        key = self._key_of(described.name, values, linked)
        raw = CACHE.get(key)
        if raw is not None:
            return restored(raw)
        try:
            compiled = self._compile(described, dict(values), linked)
        except MissingConstants as error:
            CACHE.put(key, stored_error(error))
            raise
        CACHE.put(key, stored(compiled))
        return compiled

    def _compile(
        self,
        described: EntryPoint,
        values: Mapping[int | str, ConstantValue],
        linked: tuple[str, ...],
    ) -> KernelFunction:
        from .vector_products import with_fused_vectors  # loads LLVM

        shared = None if linked else self._compiler.shared_text(values)
        rewritten = shared.rewritten if shared is not None else self._compiler.rewrite(values)
        tables = [self._visible[each] for each in linked]
        unknown = {constant.name for constant in self.constants} - rewritten.defined
        compiled, errors = self._compiler.emit(
            rewritten,
            described,
            frozenset(),
            checking=any(parameter.condition in unknown for parameter in described.parameters),
            linked=tables,
            shared=shared,
            values=values,
        )
        bitcode = compiled.bitcode
        if self._problems and (problem := problem_in(bitcode, self._problems)):
            raise CompileError(problem)
        self._require_constants(described, rewritten, bitcode)
        reflected = reflection.reflect(
            described, reflection.read_marker(bitcode), Layouts(compiled.printed)
        )
        logs = _LOG_BUFFER in bitcode
        if reflected.omitted or reflected.arrays or logs:
            compiled, errors = self._compiler.emit(
                rewritten,
                described,
                reflected.omitted,
                reflected.arrays,
                logs=logs,
                linked=tables,
                shared=shared,
                values=values,
            )
        if shared is None and not values and rewritten.is_unchanged:
            self._compiler.keep(rewritten)
        return KernelFunction(
            name=described.name,
            bitcode=with_fused_vectors(compiled.bitcode),
            entry=entry.SYMBOL,
            arguments=reflected.arguments,
            max_total_threads_per_threadgroup=reflected.limit,
            position_attributes=tuple(p.position for p in described.parameters if p.position),
            position_types=tuple(p.type_name for p in described.parameters if p.position),
            file=described.file,
            line=described.line,
            logs=logs,
            errors=errors,
        )

    def _require_constants(
        self, described: EntryPoint, rewritten: Rewritten, bitcode: bytes
    ) -> None:
        """MissingConstants if the code reads, or an argument depends on, one without a value."""
        undefined = [each for each in self.constants if each.name not in rewritten.defined]
        read = {name.decode() for name in _UNDEFINED.findall(bitcode)}
        read |= {parameter.condition for parameter in described.parameters}
        missing = [constant for constant in undefined if constant.name in read]
        if not missing:
            return
        first = missing[0]
        place = f"{described.file}:{described.line}:1: error"
        raise MissingConstants(
            f"{place}: kernel '{described.name}' uses function constant '{first.name}' "
            f"(index {first.index}), which was given no value",
            tuple(constant.name for constant in missing),
        )
