"""Several texts compiled by one process of clang, which costs less than a process for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from assay.sim.native.work_folder import work_folder

from .errors import CompileError
from .front import clang, precompiled

# In one process: its limits on time and memory are those for one text.
_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Compiled:
    """Bitcode, and the layouts that clang printed while it compiled it, with those of others."""

    bitcode: bytes = field(repr=False)
    printed: str = field(default="", repr=False)


def compiled_together(texts: Sequence[str], fast_math: bool) -> dict[str, Compiled]:
    """What was compiled, by text.

    Of some texts at once there is none if clang has anything to say of one: it does not tell which.
    """
    alike: dict[tuple[str, ...], list[str]] = {}
    for text in texts:
        key = tuple(precompiled.header_arguments(text, fast_math))
        alike.setdefault(key, []).append(text)
    found: dict[str, Compiled] = {}
    for headers, of_these in alike.items():
        for some in _parts(of_these):
            found |= _compiled(some, headers)
    return found


def _parts(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(texts), _AT_ONCE):
        yield texts[start : start + _AT_ONCE]


def _compiled(texts: Sequence[str], headers: Sequence[str]) -> dict[str, Compiled]:
    """What was compiled of texts that take the same headers."""
    with work_folder() as folder:
        files = [folder / f"{number}.cpp" for number in range(len(texts))]
        for file, text in zip(files, texts, strict=True):
            file.write_text(text, encoding="utf-8")
        try:
            result = clang.run_on_files(
                [*clang.LANGUAGE, *clang.LAYOUTS, *headers],
                [file.name for file in files],
                directory=folder,
                visible=[*precompiled.folders(), folder],
            )
        except CompileError:
            return {}
        if result.status or result.diagnostics:
            return {}
        printed = result.output.decode()
        return {
            text: Compiled(file.with_suffix(".bc").read_bytes(), printed)
            for file, text in zip(files, texts, strict=True)
        }
