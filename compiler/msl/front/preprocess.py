"""Runs the preprocessor on MSL and guards what it may read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from assay.sim.native.work_folder import work_folder

from ..errors import CompileError
from ..options import CompileOptions
from ..source.lexer import included_files
from ..source.line_directives import named_texts
from . import clang

_OUTPUT = "expanded.ii"
_MISSING = re.compile("'([^']*)' file not found$")
_LARGEST = 24 << 20
_MOST_TOKENS = 500_000
_TOKEN = re.compile(r"[\w.]+|[^\w\s]")
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
# C++26 and no MSL.
_EMBED = re.compile(r"^[ \t]*(?:#|%:|\?\?=)(?:[ \t]|/\*.*?\*/)*embed\b", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preprocessed:
    """Text without macros and comments, and the program's own files that it came from."""

    text: str
    includes: tuple[Path, ...]


def preprocess(source: str, options: CompileOptions, file_name: str) -> Preprocessed:
    """Expand macros and includes; raises CompileError.

    Only the standard library's headers and files below `options.include_paths` may be included.
    """
    spliced = _SPLICE.sub("", source)
    if _EMBED.search(spliced):
        line = spliced[: _EMBED.search(spliced).start()].count("\n") + 1  # type: ignore[union-attr]
        error = CompileError.at(file_name, line, 1, "#embed is not part of MSL")
        raise CompileError(_quoted(str(error), source, file_name, options))
    major, minor = options.language_version
    macros = {
        "__METAL__": "1",
        "__METAL_VERSION__": f"{major}{minor}0",
        "__METAL_MACOS__": "1",
        "__HAVE_BFLOAT__": "1",
        "__APPLE__": "1",
        "__AIR64__": "1",
        **({"__FAST_MATH__": "1"} if options.fast_math else {}),
        **options.macros,
    }
    escaped = file_name.replace("\\", "\\\\").replace('"', '\\"')
    arguments = [
        # Microsoft's extensions have macros expanded in pragmas, which this pass leaves to a later
        # one otherwise; by then their definitions are gone.
        *clang.LANGUAGE,
        "-fms-extensions",
        "-U_MSC_EXTENSIONS",
        "-U__linux__",
        "-U__gnu_linux__",
        "-U__unix__",
        "-U__x86_64__",
        "-U__ELF__",
        *[f"-D{name}={value}" for name, value in macros.items()],
        *[f"-I{path}" for path in (p.resolve() for p in options.include_paths)],
        f"-I{clang.HEADERS}",
        "-include",
        str(clang.HEADERS / "assay" / "macros.h"),
        "-E",
        "-o",
        _OUTPUT,
        "-",
    ]
    with work_folder() as folder:
        result = clang.run_clang(
            arguments,
            f'# 1 "{escaped}"\n{source}',
            directory=folder,
            visible=[clang.HEADERS, *options.include_paths],
        )
        output = folder / _OUTPUT
        raw = output.read_bytes() if output.exists() else b""
    if len(raw) > _LARGEST:
        raise CompileError(
            f"{file_name}: error: the source grows to {len(raw) >> 20} MiB when its macros are "
            f"expanded; the limit is {_LARGEST >> 20} MiB"
        )
    text = raw.decode("utf-8", "replace")
    tokens = sum(1 for _ in _TOKEN.finditer(text))
    if tokens > _MOST_TOKENS:
        raise CompileError(
            f"{file_name}: error: the source has {tokens} tokens when its macros are expanded; the "
            f"limit is {_MOST_TOKENS}: pass large tables in buffers"
        )
    try:
        includes = _check_includes(text, options)
    except CompileError as error:
        raise CompileError(_quoted(str(error), source, file_name, options)) from None
    if result.status:
        raise CompileError(_visible(result.diagnostics, options, file_name, source))
    return Preprocessed(text=text, includes=includes)


def _check_includes(text: str, options: CompileOptions) -> tuple[Path, ...]:
    """The program's files that were entered; CompileError at one outside the include paths."""
    allowed = [path.resolve() for path in options.include_paths]
    found: dict[Path, None] = {}
    for name, file, line in included_files(text):
        if name.startswith("<"):
            continue
        path = Path(name).resolve()
        if path.is_relative_to(clang.HEADERS.resolve()):
            continue
        if not any(path.is_relative_to(folder) for folder in allowed):
            raise CompileError.at(
                file, line, 1, f"'{name}' lies outside the include paths and may not be included"
            )
        found[path] = None
    return tuple(found)


def _visible(diagnostics: str, options: CompileOptions, file_name: str, source: str) -> str:
    """The diagnostics that are about the program's own files, and the names its #line gives."""
    # A name with a slash could be that of a file of this machine.
    named = [f"{name}:" for name in named_texts(source, file_name) if "/" not in name]
    allowed = (f"{file_name}:", *named, *(str(path.resolve()) for path in options.include_paths))
    lines = [line for line in diagnostics.splitlines() if line.startswith(allowed)]
    lines = [
        f"{line}: give {_folder_of(found[1])} with -I DIR (include_paths in Python)"
        if (found := _MISSING.search(line))
        else line
        for line in lines
    ]
    if not lines:
        return f"{file_name}: error: the source cannot be preprocessed"
    return _quoted("\n".join(lines), source, file_name, options)


def _quoted(errors: str, source: str, file_name: str, options: CompileOptions) -> str:
    """Errors with the lines they are about, of the source and of files that may be included."""
    from .diagnostics import quoted  # only what does not compile needs it

    sources = named_texts(source, file_name)
    folders = [path.resolve() for path in options.include_paths]
    for name in {line.partition(":")[0] for line in errors.split("\n")} - sources.keys():
        path = Path(name)
        if path.is_file() and any(path.resolve().is_relative_to(folder) for folder in folders):
            sources[name] = path.read_text(errors="replace")
    return quoted(errors, (), sources)


def _folder_of(name: str) -> str:
    """What is to be given so that a file of this name is found."""
    first, _, rest = name.partition("/")
    return (
        f"the folder that holds '{first}'"
        if rest and first not in ("", ".", "..")
        else "its folder"
    )
