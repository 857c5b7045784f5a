"""What `assay metal` does: sources to files, and files to a library."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from assay.sim.native.llvm_host import LLVM_LOCK, start_llvm
from assay.sim.native.llvm_modules import module_of
from assay.sim.simt import Program, UndefinedFunction, UnsupportedKernel

from ..msl.errors import CompileError, MissingConstants
from ..msl.front import clang
from ..msl.front.diagnostics import quoted
from ..msl.front.preprocess import preprocess
from ..msl.opening import compile_library
from .command_line import Invocation
from .source_library import SourceLibrary
from .stored import StoredLibrary, Unit, is_stored, packed, unpacked

_SOURCES = (".metal", ".msl")
_OBJECTS = (".air", ".metallib", ".metalar", ".o")
_MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"[ \d]*')
_DEFAULT = "default.metallib"
_OWN_HEADERS = "<metal_stdlib>"
_STDIN = Path("-")
_KNOWN = ("llvm.", "__assay_")


def build(invocation: Invocation, version: str, warn: Callable[[str], None]) -> list[Path]:
    """Do what a command line says; the files that were written. Raises CompileError.

    `version` is that of Assay, which is noted in them; `warn` is told the warnings of each source.
    """
    libraries = [(path, _read(path, invocation, version, warn)) for path in invocation.inputs]
    if invocation.compile_only:
        written = []
        for path, library in libraries:
            target = Path(invocation.output or path.with_suffix(".air").name)
            written.append(_write(target, library, [path], invocation))
        return written
    whole = StoredLibrary(
        made_by=version,
        units=tuple(unit for _, library in libraries for unit in library.units),
    )
    target = Path(invocation.output or _DEFAULT)
    SourceLibrary(whole, str(target))  # two functions of one name are refused
    if undefined := [problem for unit in whole.units for problem in unit.undefined]:
        raise CompileError("\n".join(undefined))
    return [_write(target, whole, invocation.inputs, invocation)]


def compiled_unit(path: Path, invocation: Invocation, warn: Callable[[str], None]) -> Unit:
    """A source after preprocessing, of which each kernel compiles. Raises CompileError."""
    source, file_name = _text(path)
    source = _with_forced(source, file_name, invocation)
    options = invocation.options_for(path)
    preprocessed = preprocess(source, options, file_name)
    library = compile_library(source, options=options, file_name=file_name)
    library.prepare(library.function_names)
    problems: list[str] = []
    undefined: list[str] = []
    for name in library.function_names:
        try:
            told = "\n".join(_undefined(library.function(name).program()))
            undefined += [quoted(told, (), library.sources())] if told else []
        except MissingConstants:  # the host will give them
            continue
        except CompileError as error:
            problems.append(str(error))
    if rendering := library.rendering_errors():
        problems.append(rendering)
    if problems:
        raise CompileError("\n".join(dict.fromkeys(problems)))
    warnings = "\n".join(library.warnings(invocation.warnings))
    if ": error: " in warnings:  # of -Werror
        raise CompileError(warnings)
    if warnings:
        warn(warnings)
    return Unit(
        file_name=file_name,
        text=_portable(preprocessed.text, file_name),
        fast_math=options.fast_math,
        language_version=options.language_version,
        sources={file_name: source, **_included(preprocessed.includes)},
        undefined=tuple(dict.fromkeys(undefined)),
    )


def _undefined(program: Program) -> Iterator[str]:
    """What is to be said of functions that a kernel calls and its file does not define."""
    if not _declares(program.bitcode):
        return
    try:
        _ = program.function
    except UndefinedFunction as error:
        yield f"{error.site}: error: {error.reason}"
    except UnsupportedKernel:  # of which whoever runs it is told
        return


def _declares(bitcode: bytes) -> bool:
    """Whether a module has functions without a body that are neither LLVM's nor the machine's."""
    start_llvm()
    with LLVM_LOCK, module_of(bitcode) as module:
        return any(
            each.is_declaration and not each.name.startswith(_KNOWN) for each in module.functions
        )


def preprocessed_text(invocation: Invocation) -> str:
    """The sources after preprocessing (`-E`), without marks of lines for `-P`."""
    parts = []
    for path in invocation.inputs:
        source, file_name = _text(path)
        source = _with_forced(source, file_name, invocation)
        text = preprocess(source, invocation.options_for(path), file_name).text
        lines = _portable(text, file_name).split("\n")
        if not invocation.marks_lines:
            lines = [line for line in lines if line and not _MARKER.fullmatch(line)]
        parts.append("\n".join(lines).rstrip("\n") + "\n")
    return "".join(parts)


def _with_forced(source: str, file_name: str, invocation: Invocation) -> str:
    """A source behind the files of `-include`, with its lines at their numbers."""
    if not invocation.forced_includes:
        return source
    lines = [f'#include "{_escaped(str(path.resolve()))}"' for path in invocation.forced_includes]
    return "\n".join((*lines, f'# 1 "{_escaped(file_name)}"', source))


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace('"', '\\"')


def _text(path: Path) -> tuple[str, str]:
    """A source, and what messages call it. Raises CompileError."""
    if path == _STDIN:
        return sys.stdin.read(), "<stdin>"
    try:
        return path.read_text(encoding="utf-8", errors="replace"), str(path)
    except OSError as error:
        raise CompileError(f"error: cannot read '{path}': {error.strerror or error}") from None


def _read(
    path: Path, invocation: Invocation, version: str, warn: Callable[[str], None]
) -> StoredLibrary:
    """A source, compiled, or what was compiled before."""
    if path.suffix in _SOURCES or (invocation.language == "metal" and path.suffix not in _OBJECTS):
        return StoredLibrary(made_by=version, units=(compiled_unit(path, invocation, warn),))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise CompileError(f"error: cannot read '{path}': {error.strerror or error}") from None
    if not data:
        raise CompileError(f"error: '{path}' is empty")
    if not is_stored(data):
        raise CompileError(
            f"error: '{path}' is neither MSL source nor a file of assay metal; what Apple's "
            "compiler made cannot be linked here, but is run as it is"
        )
    return unpacked(data, str(path))


def _included(paths: Iterable[Path]) -> dict[str, str]:
    return {_shown(str(path)): path.read_text(errors="replace") for path in paths}


def _portable(text: str, file_name: str) -> str:
    """Preprocessed text that names files as they are seen from here, and says no more of them.

    Without the marks of files that are entered, what it came from need not be there any more.
    """
    lines = text.split("\n")
    start = next(at for at, line in enumerate(lines) if _is_marker(line, file_name))
    return "\n".join(_line(line) for line in lines[start:])


def _is_marker(line: str, file_name: str) -> bool:
    found = _MARKER.fullmatch(line)
    return found is not None and _plain(found[2]) == file_name


def _line(line: str) -> str:
    found = _MARKER.fullmatch(line)
    if found is None:
        return line
    name = _plain(found[2])
    name = _OWN_HEADERS if Path(name).is_relative_to(clang.HEADERS) else _shown(name)
    return f'# {found[1]} "{_escaped(name)}"'


def _plain(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _shown(name: str) -> str:
    """A file's name, without the folder that the compiler runs in."""
    return name.removeprefix(f"{Path.cwd()}{os.sep}")


def _write(
    target: Path, library: StoredLibrary, inputs: Iterable[Path], invocation: Invocation
) -> Path:
    write_file(target, packed(library))
    if invocation.wants_dependencies:
        file = Path(invocation.dependencies or target.with_suffix(".d"))
        write_file(file, _rules(target, library, inputs, invocation).encode())
    return target


def write_file(path: Path, data: bytes) -> None:
    """Write a file that the command line asks for. Raises CompileError."""
    try:
        path.write_bytes(data)
    except OSError as error:  # which has no file's name if a disk is full
        raise CompileError(f"error: cannot write '{path}': {error.strerror or error}") from None


def _rules(
    target: Path, library: StoredLibrary, inputs: Iterable[Path], invocation: Invocation
) -> str:
    """What `make` wants to know: on which files a target depends."""
    names = {name: None for unit in library.units for name in unit.sources}
    names |= {str(path): None for path in inputs}
    listed = [name.replace(" ", "\\ ") for name in names]
    rules = [f"{invocation.dependency_target or target}: " + " \\\n  ".join(listed)]
    if invocation.phony_targets:
        sources = set(map(str, inputs))
        rules += [
            f"{text}:" for name, text in zip(names, listed, strict=True) if name not in sources
        ]
    return "\n".join(rules) + "\n"
