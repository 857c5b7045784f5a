"""Kernels of MLX: our compilation of the source, and Apple's for two versions of AIR."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from assay.compiler.air import AirLibrary, open_library
from assay.compiler.msl import CompileError, CompileOptions, KernelLibrary, compile_library

from .compare import compared
from .launches import launch_of
from .workers import done, kept, stored

KERNELS = Path("mlx/backend/metal/kernels")
CHIP = "m3-max"
# As MLX's own build says.
_FAST_MATH = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A kernel of a file of MLX's, to be compared with what Apple made of it.

    Attributes:
        sources: the folder that holds `mlx/backend/metal/kernels`.
        left: the library that it is compared with, or compared to `right`.
        right: a library of a newer version; None to compare our compilation with `left`.
        is_timed: whether the two are timed, too.
    """

    sources: Path
    file: str
    kernel: str
    left: Path
    right: Path | None = None
    is_timed: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of it: bytes that differ, or why it was not compared; seconds on `CHIP`."""

    file: str
    kernel: str
    against: str
    different: int = 0
    problem: str = ""
    left: float = 0.0
    right: float = 0.0


SOURCE, NEWER = "our compilation", "a newer AIR"
TORCH = "our compilation of PyTorch's headers"
EXECUTORCH = "our compilation of ExecuTorch's kernels"
TORCH_NEWER = "PyTorch: a newer AIR"
TORCH_25, TORCH_26 = (
    f"our compilation of PyTorch's sources, AIR {version}" for version in ("2.5", "2.6")
)


def tasks(
    sources: Path,
    files: Sequence[str],
    older: Path,
    newer: Path | None,
    per_file: int,
    *,
    are_timed: bool = True,
) -> tuple[list[Task], dict[str, str]]:
    """So many kernels of each file, spread over it, in one or two comparisons.

    Also why there is nothing of some files.
    """
    there = frozenset(opened(older).function_names)
    newer_there = frozenset(opened(newer).function_names) if newer else frozenset()
    found, refused = [], {}
    for file in files:
        try:
            common = [each for each in _compiled(sources, file).function_names if each in there]
        except CompileError as error:
            refused[file] = str(error).partition("\n")[0]
            continue
        for name in common[:: max(1, len(common) // per_file)][:per_file]:
            one = Task(sources=sources, file=file, kernel=name, left=older, is_timed=are_timed)
            found.append(one)
            if newer and name in newer_there:
                found.append(replace(one, right=newer))
    return found, refused


def compare_all(
    every: Sequence[Task], into: Path, *, workers: int, limit: float, seconds: float
) -> Iterator[Row]:
    """Compare what is not in the file `into` yet, and add it there; the rest as for `done`."""
    known = {(row.file, row.kernel, row.against) for row in stored(into, Row)}
    left = [task for task in every if (task.file, task.kernel, _against(task)) not in known]
    rows = done(left, _row, _refused, workers=workers, limit=limit, seconds=seconds)
    return kept(rows, into)


def _against(task: Task) -> str:
    return NEWER if task.right else SOURCE


def _refused(task: Task, problem: str) -> Row:
    return Row(file=task.file, kernel=task.kernel, against=_against(task), problem=problem)


def _row(task: Task) -> Row:
    older = opened(task.left)
    sides = (older, opened(task.right)) if task.right else (_ours(task), older)
    chip_name = CHIP if task.is_timed else ""
    found = compared(*sides, task.kernel, setup=launch_of(task.kernel), chip_name=chip_name)
    return Row(
        file=task.file,
        kernel=task.kernel,
        against=_against(task),
        different=found.different,
        problem=found.problem.partition("\n")[0],
        left=found.ours,
        right=found.theirs,
    )


def _ours(task: Task) -> KernelLibrary:
    return _compiled(task.sources, task.file)


@functools.cache
def opened(path: Path) -> AirLibrary:
    """A library, opened once."""
    return open_library(path)


@functools.lru_cache(maxsize=2)
def _compiled(sources: Path, file: str) -> KernelLibrary:
    path = sources / KERNELS / file
    options = CompileOptions(
        fast_math=_FAST_MATH, include_paths=(sources, path.parent), language_version=(3, 1)
    )
    return compile_library(path.read_text(), options=options, file_name=str(path), each_alone=True)
