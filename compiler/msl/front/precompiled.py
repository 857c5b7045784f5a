"""The standard library's headers, precompiled once per machine and kept on disk."""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, Thread

from assay.sim.native.cache_files import write_entry
from assay.sim.native.cache_folder import cache_folder
from assay.sim.native.cache_limit import count_written, mark_used
from assay.sim.native.disk_cache import digest
from assay.sim.native.source_digest import source_digest
from assay.sim.native.work_folder import work_folder

from ..errors import CompileError
from . import clang

_MAIN = clang.HEADERS / "assay" / "all.h"
# Names that only the headers of textures and samplers declare.
_TEXTURES = re.compile(
    r"\b(?:(?:texture|depth)(?:[123]d|cube|_)\w*|sampler|access|coord|address|filter|mip_filter|"
    r"compare_func|component|level|bias|gradient\w*|min_lod_clamp)\b"
)
# Names that only the headers of tensors declare.
_TENSORS = re.compile(
    r"\b(?:mpp|tensor_ops|tensor_(?:inline|handle|offset)|__tensor|cooperative_tensor"
    r"|dynamic_extent|execution_(?:thread|simdgroup)s?)\b|\bd?extents\s*<"
)
# Names that only the headers of `fast::` and `precise::`, and of what lies behind them, declare.
_MODES = re.compile(r"\b(?:fast|precise)\s*(?:::|[;{])|\b__metal_")
# Names that only the header of packing declares.
_PACKING = re.compile(r"\b(?:un)?pack_\w")
# Components of vectors, of which words of four take long to declare.
_WORDS = re.compile(r"\b(?:[xyzw]{4}|[rgba]{4})\b")
# What the program itself says of fusing.
_FUSING = re.compile(r"#\s*pragma\s+clang\s+fp\s+contract\s*\(\s*(\w+)")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_DIRECTIVE = re.compile(r"^\s*#\s*(.*?)\s*$", re.MULTILINE)
# Directives that bring no names into a text: whole lines.
_PLAIN = re.compile(r"include\s*<(?:metal_\w+|simd/\w+\.h)>|define\b(?:(?!##).)*")
_FUSING_TO_BE = re.compile(r"#\s*pragma\s+METAL\s+fp\b")  # before the text is rewritten
_usable: set[Path] = set()
_making: dict[Path, Thread] = {}
_starting = Lock()


def header_digest() -> str:
    """A digest of every header's name and text."""
    return source_digest(clang.HEADERS)


def header_arguments(text: str, fast_math: bool) -> list[str]:
    """Arguments of clang that bring in the standard library for a program's text.

    They are precompiled where a disk allows it.
    """
    options = _options(text, fast_math)
    path = _precompiled(options)
    if path is not None:
        return [*options, "-include-pch", str(path)]
    return [*options, "-include", str(_MAIN)]


@contextmanager
def made_beside(text: str | None, fast_math: bool) -> Iterator[bool]:
    """Have the headers that a text needs precompiled, if they are not, beside all else.

    It takes most of the time of a first kernel, and what comes before clang's turn can be done
    meanwhile. Whether there is such a time to use is what is given; for None there is nothing.
    """
    if text is None or _FUSING_TO_BE.search(text):
        yield False
        return
    options = _options(text, fast_math)
    path = _path(options)
    if path in _usable:
        yield False
        return
    with _starting:
        making = _making.get(path)
        if making is None:
            making = _making[path] = Thread(target=_try_to_have, args=(path, options))
            making.start()
    try:
        yield not path.exists()
    finally:
        making.join()
        _making.pop(path, None)


def seen_early(source: str) -> str | None:
    """A source without comments, if it names all that it names once it is preprocessed; else None.

    Includes and macros of the options may bring in more, branches may leave some out.
    """
    code = _COMMENT.sub(" ", source)
    return code if all(map(_PLAIN.fullmatch, _DIRECTIVE.findall(code))) else None


def _try_to_have(path: Path, options: tuple[str, ...]) -> None:
    with contextlib.suppress(CompileError, OSError):  # who needs them tries again, and is told
        _have(path, options)


def _options(text: str, fast_math: bool) -> tuple[str, ...]:
    options = ["-D__ASSAY_CONTRACT"] if fast_math else []
    # Operators of vectors are the same everywhere in a program: the strictest that it asks for.
    said = set(_FUSING.findall(text))
    if "off" in said:
        options.append("-D__ASSAY_VECTORS_APART")
    elif "on" in said and fast_math:
        options.append("-D__ASSAY_VECTORS_WITHIN")
    if _TEXTURES.search(text):  # a third of the headers, which most kernels do without
        options.append("-D__ASSAY_TEXTURES")
    if _WORDS.search(text):  # a sixth, and the longest part of compiling a vector of four
        options.append("-D__ASSAY_WORDS")
    if _MODES.search(text):  # a sixth, too
        options.append("-D__ASSAY_MODES")
    if _PACKING.search(text):
        options.append("-D__ASSAY_PACKING")
    if _TENSORS.search(text):
        options.append("-D__ASSAY_TENSORS")
    return tuple(options)


def folders() -> list[Path]:
    """Where `header_arguments` lie."""
    return [clang.HEADERS, cache_folder() / "msl-headers"]


def told_of(
    text: str, fast_math: bool, *options: str, language: Sequence[str] = clang.LANGUAGE
) -> clang.ClangResult:
    """What clang says of a rewritten text; nothing is compiled."""
    arguments = [*language, *header_arguments(text, fast_math), *options, "-fsyntax-only", "-"]
    with work_folder() as folder:
        return clang.run_clang(arguments, text, directory=folder, visible=folders())


def discard(text: str, fast_math: bool) -> None:
    """Forget and delete the precompiled headers for a text, which clang could not read."""
    path = _path(_options(text, fast_math))
    _usable.discard(path)
    for file in (path, _digest_file(path)):
        with contextlib.suppress(OSError):
            file.unlink()


def _path(options: tuple[str, ...]) -> Path:
    key = digest(
        header_digest(), clang.compiler_version(), str(clang.HEADERS), *clang.LANGUAGE, *options
    )
    return cache_folder() / "msl-headers" / f"{key}.pch"


def _digest_file(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _precompiled(options: tuple[str, ...]) -> Path | None:
    """Path of the precompiled headers, made if missing or damaged; None without a cache."""
    path = _path(options)
    if (making := _making.get(path)) is not None:
        making.join()
    if not _have(path, options):
        # No place to keep them: the plain headers do, at the price of time.
        return None
    for file in (path, _digest_file(path)):
        mark_used(file)
    return path


def _have(path: Path, options: tuple[str, ...]) -> bool:
    """Whether the headers are in the cache, into which they are put if missing or damaged."""
    # Another process may have pruned the cache meanwhile.
    if path not in _usable or not path.exists():
        if not _is_whole(path) and not _build(path, options):
            return False
        _usable.add(path)
    return True


def _is_whole(path: Path) -> bool:
    try:
        return _digest_file(path).read_bytes() == _checksum(path.read_bytes())
    except OSError:
        return False


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _build(path: Path, options: tuple[str, ...]) -> bool:
    """Compile the headers and put them into the cache; whether they are there."""
    if not write_entry(_digest_file(path), b""):
        return False  # the folder takes nothing: half a second of compiling would be in vain
    with work_folder() as folder:
        made = folder / "made.pch"
        arguments = [
            *clang.LANGUAGE_HEADER,
            *options,
            "-Xclang",
            "-fno-pch-timestamp",
            str(_MAIN),
            "-o",
            str(made),
        ]
        result = clang.run_clang(arguments, "", directory=folder)
        if result.status:
            raise CompileError(f"the standard library does not compile:\n{result.diagnostics}")
        data = made.read_bytes()
    if not (write_entry(path, data) and write_entry(_digest_file(path), _checksum(data))):
        return False
    count_written(len(data), cache_folder())
    return True
