"""Source with kernels to launch: read, compiled, and compared with what is said of its kernels."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.names import choices

from .errors import LaunchInputError
from .opening import COMPILED, opened_library

if TYPE_CHECKING:
    from assay.compiler.msl import KernelLibrary

    from .setups import Setups

SUFFIXES = (".metal", ".msl", *COMPILED)
"""How files with kernels are called."""

_FILE_NAME = "program_source.metal"
_TEMPLATE = re.compile(
    r"\btemplate\s*<[^;{}]*?>\s*(?:kernel\s+void|\[\[\s*kernel[^]]*\]\]\s*void)\s+(\w+)\s*\("
)


def read_source(path: Path) -> str:
    """The text of a file, none of a compiled library. Raises LaunchInputError."""
    if path.suffix in COMPILED:
        return ""
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise LaunchInputError(f"{path}: cannot be read: {error.strerror or error}") from None


def library_of(
    source: str | Path, macros: Mapping[str, str], include_paths: Iterable[str | Path]
) -> KernelLibrary:
    """The kernels of MSL text, or of a file if it is the path of one. Raises CompileError."""
    from assay.compiler.msl import CompileOptions

    paths = [Path(path) for path in include_paths]
    if isinstance(source, Path) or (source.endswith((".metal", *COMPILED)) and "\n" not in source):
        path = Path(source)
        text, file_name = read_source(path), str(path)
        paths.append(path.parent)
    else:
        text, file_name = source, _FILE_NAME
    options = CompileOptions(macros=macros, include_paths=tuple(paths))
    return opened_library(text, file_name, options)


def chosen_kernels(library: KernelLibrary, patterns: Iterable[str]) -> tuple[str, ...]:
    """The kernels that are meant, in the order of the source: all if there are no patterns.

    Args:
        library: what has the kernels.
        patterns: names, also with `*`.

    Raises:
        LaunchInputError: if there is no kernel, or none of a name.
    """
    names, file_name = library.function_names, library.file_name
    if not names:
        raise LaunchInputError(f"{file_name}: {no_kernel(library)}")
    wanted: set[str] = set()
    for pattern in patterns:
        found = [name for name in names if fnmatch.fnmatchcase(name, pattern)]
        if not found:
            raise LaunchInputError(
                f"{file_name}: there is no kernel '{pattern}'; {choices(pattern, names)}"
            )
        wanted.update(found)
    return tuple(name for name in names if name in wanted or not wanted)


def not_run(library: KernelLibrary) -> str:
    """Functions of a library that are no kernels, by their kinds; empty if there are none."""
    from assay.compiler.air import AirLibrary

    kinds = library.not_run if isinstance(library, AirLibrary) else {}
    return ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))


def no_kernel(library: KernelLibrary) -> str:
    """What to say of source without a kernel: of templates that nobody instantiates, how to."""
    names = [name for text in library.sources().values() for name in _TEMPLATE.findall(text)]
    if not names:
        others = not_run(library)
        return f"there is no kernel in it{others and f', but functions that do not run: {others}'}"
    return (
        f"there is no kernel in it: '{names[0]}' is a template; instantiate it, such as template "
        f'[[host_name("{names[0]}_float")]] [[kernel]] decltype({names[0]}<float>) '
        f"{names[0]}<float>;"
    )


def unknown_kernels(setups: Setups, library: KernelLibrary) -> Iterator[str]:
    """A sentence for each setup of a kernel that the library does not have."""
    for name, given in setups.items():
        if name not in library.function_names:
            yield (
                f"{given[0].where}: there is no kernel '{name}' in {library.file_name}; "
                f"{choices(name, library.function_names)}"
            )
