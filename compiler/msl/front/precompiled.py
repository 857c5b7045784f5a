"""The standard library's headers, precompiled once per machine and kept on disk."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import tempfile
from pathlib import Path

from assay.sim.native.cache_folder import cache_folder
from assay.sim.native.cache_limit import mark_used
from assay.sim.native.disk_cache import digest

from ..errors import CompileError
from . import clang

_MAIN = clang.HEADERS / "assay" / "all.h"
# Names that only the headers of textures and samplers declare.
_TEXTURES = re.compile(
    r"\b(?:(?:texture|depth)(?:[123]d|cube|_)\w*|sampler|access|coord|address|filter|mip_filter|"
    r"compare_func|component|level|bias|gradient\w*|min_lod_clamp)\b"
)
_usable: set[Path] = set()


@functools.cache
def header_digest() -> str:
    """A digest of every header's name and text."""
    parts: list[bytes | str] = []
    for path in sorted(clang.HEADERS.rglob("*")):
        if path.is_file():
            parts += [str(path.relative_to(clang.HEADERS)), path.read_bytes()]
    return digest(*parts)


def header_arguments(text: str, fast_math: bool) -> list[str]:
    """Arguments of clang that bring in the standard library for a program's text.

    They are precompiled where a disk allows it.
    """
    options = _options(text, fast_math)
    path = _precompiled(options)
    if path is not None:
        return [*options, "-include-pch", str(path)]
    return [*options, "-include", str(_MAIN)]


def _options(text: str, fast_math: bool) -> tuple[str, ...]:
    options = ["-D__ASSAY_CONTRACT"] if fast_math else []
    if _TEXTURES.search(text):  # a third of the headers, which most kernels do without
        options.append("-D__ASSAY_TEXTURES")
    return tuple(options)


def folders() -> list[Path]:
    """Where `header_arguments` lie."""
    return [clang.HEADERS, cache_folder() / "msl-headers"]


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
    if path in _usable:
        return path
    if not _is_whole(path):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            _build(path, options)
        except OSError:
            # No place to keep them: the plain headers do, at the price of time.
            return None
    for file in (path, _digest_file(path)):
        mark_used(file)
    _usable.add(path)
    return path


def _is_whole(path: Path) -> bool:
    try:
        return _digest_file(path).read_text() == hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return False


def _build(path: Path, options: tuple[str, ...]) -> None:
    """Compile the headers beside `path` and move them there whole."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        made = Path(folder) / "made.pch"
        arguments = [
            *clang.LANGUAGE_HEADER,
            *options,
            "-Xclang",
            "-fno-pch-timestamp",
            str(_MAIN),
            "-o",
            str(made),
        ]
        result = clang.run_clang(arguments, "", directory=Path(folder))
        if result.status:
            raise CompileError(f"the standard library does not compile:\n{result.diagnostics}")
        checksum = Path(folder) / "made.sha256"
        checksum.write_text(hashlib.sha256(made.read_bytes()).hexdigest())
        os.replace(made, path)
        os.replace(checksum, _digest_file(path))
