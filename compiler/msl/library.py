"""Libraries of MSL source: what they offer, compiled one entry point at a time."""

from __future__ import annotations

import contextlib
import functools
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.names import choices
from assay.sim.native.disk_cache import DiskCache, digest
from assay.sim.native.work_folder import work_folder

from . import constant_errors, entry, linking, records, reflection
from .arguments import Argument
from .constant_errors import ConstantError
from .errors import CompileError, MissingConstants
from .front import clang, diagnostics, precompiled
from .front.preprocess import Preprocessed, preprocess
from .options import CompileOptions
from .rewrite.function_constants import ConstantValue, FunctionConstant
from .rewrite.kernels import EntryPoint
from .rewrite.quarantine import problem_in, quarantined
from .shared_text import SharedText
from .source.line_directives import named_texts
from .together import compiled_together

if TYPE_CHECKING:
    from assay.sim.simt import Program

    from .rewrite.rewrite import Rewritten

_CACHE = DiskCache("msl")
_OUTPUT = "kernel.bc"
# Offsets of buffers are checked when they are bound, for alignments up to this many bytes.
_MOST_CHECKED_ALIGNMENT = 16
# Rounds of repairing conditional expressions; one may uncover others.
_REPAIRS = 8
# A text from so many characters on is parsed once for all kernels that are prepared.
_LARGE_TEXT = 100_000
# Functions that do not compile, beyond which nothing of a text is taken.
_MOST_PROBLEMS = 64
# Texts that are kept parsed, by the values of function constants.
_MOST_SHARED = 4
# The function that os_log asks for its buffer, in the bitcode of a kernel that logs.
_LOG_BUFFER = b"__assay_log_buffer"
_UNDEFINED = re.compile(rb"__assay_undefined_constant\{([^}]*)\}")
_NO_CONSTANT = (
    "the variable's value is no constant expression: it does not end, goes wrong, or calls what "
    "can only be called in functions"
)
_Values = tuple[tuple[int | str, ConstantValue], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFunction:
    """A compiled kernel: its bitcode, the wrapper's symbol in it, and what the host must know.

    One that `logs` takes the buffer of os_log's records behind its arguments. `errors` are those in
    constant expressions, with which it does compile.
    """

    name: str
    bitcode: bytes = field(repr=False)
    entry: str
    arguments: tuple[Argument, ...]
    max_total_threads_per_threadgroup: int | None
    position_attributes: tuple[str, ...]
    position_types: tuple[str, ...]
    file: str
    line: int
    logs: bool = False
    errors: tuple[ConstantError, ...] = ()

    def program(self) -> Program:
        """The kernel as the engine takes it; made once."""
        return _program(self)


@functools.lru_cache(maxsize=256)
def _program(kernel: KernelFunction) -> Program:
    from assay.sim.simt import Parameter, Program

    parameters = [
        Parameter(
            name=argument.name,
            kind="threadgroup" if argument.kind == "threadgroup" else "buffer",
            index=argument.index,
            is_constant=argument.access == "read",
            alignment=max(1, min(argument.alignment, _MOST_CHECKED_ALIGNMENT)),
        )
        for argument in kernel.arguments
    ]
    if kernel.logs:
        parameters.append(Parameter(name="the log buffer", kind="buffer", index=-1))
    return Program(kernel.bitcode, kernel.entry, name=kernel.name, parameters=parameters)


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
        self._options = options
        self._file_name = file_name
        self._key = key
        self._text = text
        self._includes = includes
        self._problems = problems or {}  # of functions that do not compile, see `quarantine`
        self._entries = {each.name: each for each in entries if not each.is_visible}
        self._visible = {each.name: each for each in entries if each.is_visible}
        self._functions: dict[tuple[str, _Values, tuple[str, ...]], KernelFunction] = {}
        self._lock = threading.Lock()
        # The text without values of function constants, rewritten; none after a repair of it.
        self._rewritten: Rewritten | None = None
        self._ahead: dict[str, bytes] = {}  # bitcode by text, of which clang had nothing to say
        self._shares = False  # whether texts are parsed once for several kernels
        self._shared: dict[_Values, SharedText] = {}
        self.constants = constants

    @property
    def file_name(self) -> str:
        """What messages call the source."""
        return self._file_name

    @property
    def function_names(self) -> tuple[str, ...]:
        """Names of the kernels, in the order of the source."""
        return tuple(self._entries)

    def places(self) -> Mapping[str, tuple[str, int]]:
        """File and line of each kernel."""
        return {name: (each.file, each.line) for name, each in self._entries.items()}

    @property
    def visible_names(self) -> tuple[str, ...]:
        """Names of the visible functions, in the order of the source."""
        return tuple(self._visible)

    def sources(self) -> Mapping[str, str]:
        """Texts that the library was made of, by file name: the source and what it includes."""
        return self._sources()

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
        values: _Values = tuple(sorted((constants or {}).items(), key=lambda item: str(item[0])))
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
            if len(waiting) < 2:
                return
            if self.constants or len(self._text) >= _LARGE_TEXT:
                self._shares = True
                return
            rewritten = self._rewrite({})
            if linking.TABLE not in rewritten.text:
                texts = [rewritten.text + entry.wrapper(each) for each in waiting]
                self._ahead |= compiled_together(texts, self._options.fast_math)
            self._rewritten = rewritten

    def _is_made(self, name: str) -> bool:
        """Whether a kernel without function constants was compiled before."""
        return (name, (), ()) in self._functions or _CACHE.get(self._key_of(name)) is not None

    def _key_of(self, name: str, values: _Values = (), linked: tuple[str, ...] = ()) -> str:
        return digest(self._key, name, repr(values), repr(linked))

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

    def check(self, rewritten: Rewritten) -> None:
        """Compile the first kernel, and with it the declarations of the whole text."""
        first = next(iter(self._entries.values()), None)
        if first is None or self.constants:
            self._emit(rewritten, first, frozenset(), checking=True)
            return
        if self._problems:
            self._emit(rewritten, first, frozenset(), checking=True)
            return
        self._rewritten = rewritten
        self.function(first.name)

    def _cached(
        self, described: EntryPoint, values: _Values, linked: tuple[str, ...]
    ) -> KernelFunction:
        """The kernel from the cache on disk, or compiled and put there."""
        key = self._key_of(described.name, values, linked)
        raw = _CACHE.get(key)
        if raw is not None:
            record, bitcode = records.unpack(raw)
            if "missing" in record:
                raise MissingConstants(record["error"], tuple(record["missing"]))
            record["arguments"] = records.arguments_of(record["arguments"])
            record["position_attributes"] = tuple(record["position_attributes"])
            record["position_types"] = tuple(record["position_types"])
            record["errors"] = tuple(ConstantError(**error) for error in record["errors"])
            return KernelFunction(bitcode=bitcode, **record)
        try:
            compiled = self._compile(described, dict(values), linked)
        except MissingConstants as error:
            _CACHE.put(key, records.pack({"missing": error.names, "error": str(error)}, b""))
            raise
        record = asdict(compiled)
        bitcode = record.pop("bitcode")
        _CACHE.put(key, records.pack(record, bitcode))
        return compiled

    def _compile(
        self,
        described: EntryPoint,
        values: Mapping[int | str, ConstantValue],
        linked: tuple[str, ...],
    ) -> KernelFunction:
        shared = self._shared_text(values) if self._shares and not linked else None
        rewritten = shared.rewritten if shared is not None else self._rewrite(values)
        unknown = {constant.name for constant in self.constants} - rewritten.defined
        bitcode, errors = self._emit(
            rewritten,
            described,
            frozenset(),
            checking=any(parameter.condition in unknown for parameter in described.parameters),
            linked=linked,
            shared=shared,
            values=values,
        )
        if self._problems and (problem := problem_in(bitcode, self._problems)):
            raise CompileError(problem)
        self._require_constants(described, rewritten, bitcode)
        reflected = reflection.reflect(described, reflection.read_marker(bitcode))
        logs = _LOG_BUFFER in bitcode
        if reflected.omitted or reflected.arrays or logs:
            bitcode, errors = self._emit(
                rewritten,
                described,
                reflected.omitted,
                reflected.arrays,
                logs=logs,
                linked=linked,
                shared=shared,
                values=values,
            )
        if shared is None and not values and rewritten.is_unchanged:
            self._rewritten = rewritten
        return KernelFunction(
            name=described.name,
            bitcode=bitcode,
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

    def _shared_text(self, values: Mapping[int | str, ConstantValue]) -> SharedText | None:
        """The text parsed for several kernels; None if it calls through tables of functions."""
        if linking.TABLE in self._text:
            return None
        key: _Values = tuple(values.items())
        known = self._shared.pop(key, None)
        if known is None:
            known = SharedText(self._text, values, fast_math=self._options.fast_math)
        self._shared[key] = known
        while len(self._shared) > _MOST_SHARED:
            del self._shared[next(iter(self._shared))]
        return known

    def _rewrite(self, values: Mapping[int | str, ConstantValue]) -> Rewritten:
        """The rewritten text, which is the caller's to repair."""
        known = self._rewritten
        if known is not None and not values:
            self._rewritten = None
            return known
        from .rewrite.rewrite import rewrite  # only what is not in the cache needs it

        return rewrite(self._text, values)

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

    def _emit(
        self,
        rewritten: Rewritten,
        described: EntryPoint | None,
        omitted: frozenset[str],
        arrays: Mapping[str, int] | None = None,
        *,
        checking: bool = False,
        logs: bool = False,
        linked: tuple[str, ...] = (),
        shared: SharedText | None = None,
        values: Mapping[int | str, ConstantValue] | None = None,
    ) -> tuple[bytes, tuple[ConstantError, ...]]:
        """Bitcode of one entry point (of none: only the text is checked), and what it does wrong
        in constant expressions."""
        from .rewrite.conditionals import repair

        if shared is not None and described is not None:
            known = shared.compile(
                entry.wrapper(described, omitted, arrays, checking=checking, logs=logs)
            )
            if known is not None:
                return known, ()
            rewritten = self._rewrite(values or {})
        wrapper = ""
        if linking.TABLE in rewritten.text:
            wrapper = linking.dispatcher([self._visible[name] for name in linked])
        if described is not None:
            wrapper += entry.wrapper(described, omitted, arrays, checking=checking, logs=logs)
        with work_folder() as folder:
            result = self._run(rewritten.text + wrapper, folder)
            for _ in range(_REPAIRS):
                if not result.status or not repair(rewritten.tokens, result.diagnostics):
                    break
                text = "".join([token.text for token in rewritten.tokens])
                result = self._run(text + wrapper, folder)
            if not result.status:
                return self._with_all_operations(rewritten, wrapper, result, folder)
        place = f"{described.file}:{described.line}:1" if described else f"{self._file_name}:1:1"
        raise CompileError(
            diagnostics.readable(result.diagnostics, rewritten.tokens, self._sources(), place)
        )

    def _with_all_operations(
        self, rewritten: Rewritten, wrapper: str, result: clang.ClangResult, folder: Path
    ) -> tuple[bytes, tuple[ConstantError, ...]]:
        """What was compiled, again if it lacks operations of constants; and what is wrong there."""
        errors = self._constant_errors(rewritten, result)
        bitcode = (folder / _OUTPUT).read_bytes()
        told = constant_errors.told(errors, rewritten.tokens, bitcode)
        if constant_errors.keep_operations(rewritten.tokens, errors, bitcode):
            text = "".join([token.text for token in rewritten.tokens])
            if not self._run(text + wrapper, folder).status:
                bitcode = (folder / _OUTPUT).read_bytes()
        return bitcode, told

    def _constant_errors(
        self, rewritten: Rewritten, result: clang.ClangResult
    ) -> list[ConstantError]:
        """Errors of constant expressions in the user's text; CompileError where one gives none."""
        found = constant_errors.constant_errors(result.diagnostics)
        known = not {constant.name for constant in self.constants} - rewritten.defined
        own = []
        for error in found:
            if error.file.startswith((str(clang.HEADERS), "<")):
                continue
            if error.kind == "no-constant" and known:
                column = constant_errors.in_source(error, rewritten.tokens).column
                raise CompileError.at(error.file, error.line, column, _NO_CONSTANT)
            if error.kind != "no-constant":
                own.append(error)
        return own

    def _run(self, text: str, directory: Path) -> clang.ClangResult:
        """Compile C++ text to `_OUTPUT`; precompiled headers that clang refuses are dropped."""
        known = self._ahead.pop(text, None)
        if known is not None:
            (directory / _OUTPUT).write_bytes(known)
            return clang.ClangResult(status=0, output=b"", diagnostics="")
        fast = self._options.fast_math
        for last_attempt in (False, True):
            arguments = [
                *clang.LANGUAGE,
                *precompiled.header_arguments(text, fast),
                "-c",
                "-emit-llvm",
                "-o",
                _OUTPUT,
                "-",
            ]
            result = clang.run_clang(
                arguments, text, directory=directory, visible=precompiled.folders()
            )
            if not result.status or not re.search(r"(PCH|AST) file", result.diagnostics):
                break
            if not last_attempt:
                precompiled.discard(text, fast)
        return result

    def _sources(self) -> dict[str, str]:
        """Texts to quote from: the source, and the files that it includes."""
        sources = named_texts(self._source, self._file_name)
        # A program may name any file in a #line; only those that it could include are read.
        for path in self._includes:
            with contextlib.suppress(OSError):
                sources[str(path)] = path.read_text(errors="replace")
        return sources


def compile_library(
    source: str,
    *,
    options: CompileOptions | None = None,
    file_name: str = "program_source.metal",
    each_alone: bool = False,
) -> Library:
    """Read MSL source, check it and find its kernels; raises CompileError.

    With `each_alone` an error in a function is told when a kernel is asked for that uses it, as
    long as any kernel compiles; Metal itself refuses the whole text.
    What was compiled before comes from the cache on disk without starting the compiler.
    """
    options = options or CompileOptions()
    source = source.encode("utf-8", "replace").decode()  # lone surrogates become question marks
    key = _key(source, options, file_name)
    raw = _CACHE.get(key)
    if raw is not None:
        record, text = records.unpack(raw)
        same = all(_file_digest(Path(path)) == known for path, known in record["includes"])
        if same and record["problems"] and not each_alone:
            raise CompileError(record["error"])
        if same:
            return Library(
                source,
                options,
                file_name,
                digest(key, *(d for _, d in record["includes"])),
                text.decode(),
                records.entries_of(record),
                records.constants_of(record),
                tuple(Path(path) for path, _ in record["includes"]),
                {int(number): text for number, text in record["problems"].items()},
            )
    preprocessed = preprocess(source, options, file_name)
    return _new_library(source, options, file_name, key, preprocessed, each_alone=each_alone)


def _new_library(
    source: str,
    options: CompileOptions,
    file_name: str,
    key: str,
    preprocessed: Preprocessed,
    *,
    each_alone: bool,
) -> Library:
    """A library from preprocessed text, checked and put into the cache.

    Raises CompileError for what is wrong outside of all functions, or in each kernel.
    """
    from .rewrite.rewrite import rewrite

    includes = [(str(path), _file_digest(path)) for path in preprocessed.includes]
    own_key = digest(key, *(known for _, known in includes))
    text, problems, first_error = preprocessed.text, dict[int, str](), ""
    while True:
        try:
            rewritten = rewrite(text, {})
            library = Library(
                source,
                options,
                file_name,
                own_key,
                text,
                rewritten.entries,
                rewritten.constants,
                preprocessed.includes,
                problems,
            )
            library.check(rewritten)
            break
        except CompileError as error:
            first_error = first_error or str(error)
            if not each_alone or len(problems) >= _MOST_PROBLEMS:
                raise CompileError(first_error) from None
            try:
                text, found = quarantined(text, str(error), len(problems))
            except CompileError:
                raise CompileError(first_error) from None
            problems |= found
    if problems and not library.runs_any():
        raise CompileError(first_error)
    described = records.described(rewritten.entries, rewritten.constants)
    record = {**described, "includes": includes, "problems": problems, "error": first_error}
    _CACHE.put(key, records.pack(record, text.encode()))
    return library


def _key(source: str, options: CompileOptions, file_name: str) -> str:
    """Everything that decides what a source compiles to, but for the files that it includes."""
    return digest(
        _own_digest(),
        precompiled.header_digest(),
        clang.compiler_version(),
        *clang.LANGUAGE,
        source,
        file_name,
        repr(sorted(options.macros.items())),
        *[str(path.resolve()) for path in options.include_paths],
        repr((options.fast_math, options.language_version)),
    )


@functools.cache
def _own_digest() -> str:
    """A digest of this package's code, so that a change of it invalidates what it made before."""
    return digest(*[path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))])


def _file_digest(path: Path) -> str:
    """Digest of an included file, or "" when it is gone."""
    try:
        return digest(path.read_bytes())
    except OSError:
        return ""
