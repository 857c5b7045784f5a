"""`python -m benchmarks apple --torch-sources FOLDER --metallib LIBRARY`: PyTorch from its sources.

`FOLDER` has PyTorch's files `.metal`, and `LIBRARY` is what Apple's compiler made of them for the
wheel. Every kernel is compiled by us with the flags of PyTorch's build, run both ways as PyTorch's
host launches it, and timed. What our compilation says of a kernel's arguments has to be what the
library says, too, and both have to have the same kernels.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.air import AirLibrary
from assay.compiler.msl import CompileError, CompileOptions, KernelLibrary, compile_library

from .arguments_alike import other_arguments
from .compare import Comparison, compared
from .comparing import CHIP, TORCH_25, TORCH_26, Row, opened
from .torch_launches import launches_of
from .torch_work import add_options, known_of, told

# The two libraries are of the two newest languages of that time, by AIR's versions.
_AGAINST = {(2, 5): TORCH_25, (2, 6): TORCH_26}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTask:
    """A kernel of a file of PyTorch's, to be compared with what Apple made of it."""

    sources: Path
    file: str
    kernel: str
    library: Path


def main(arguments: Sequence[str]) -> int:
    """Compare and print; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("files", nargs="*", help="files in the folder; all by default")
    parser.add_argument("--torch-sources", type=Path, required=True, help="the folder")
    parser.add_argument("--metallib", type=Path, required=True, help="the library")
    add_options(parser)
    options = parser.parse_args(arguments)
    sources, library = options.torch_sources, options.metallib
    files = options.files or sorted(each.name for each in sources.glob("*.metal"))
    every, alone = _tasks(sources, files, library)
    if alone and not options.files:
        print("on one side alone: " + ", ".join(alone), file=sys.stderr)
    against = _against(library)
    known = known_of(options.into, against)
    left = [task for task in every if task.kernel not in known]
    differ = told(options, against, left, _row, _refused)
    return int(bool(alone and not options.files) or differ > 0)


def _tasks(
    sources: Path, files: Sequence[str], library: Path
) -> tuple[list[SourceTask], list[str]]:
    """Each kernel of the files that the library has; and those that only one side has."""
    there = set(opened(library).function_names)
    found: list[SourceTask] = []
    for file in files:
        try:
            names = _compiled(sources, file, library).function_names
        except CompileError as error:
            print(f"{file}: {str(error).partition(chr(10))[0]}", file=sys.stderr)
            continue
        found += [
            SourceTask(sources=sources, file=file, kernel=name, library=library) for name in names
        ]
    alone = there.symmetric_difference(task.kernel for task in found)
    return [task for task in found if task.kernel in there], sorted(alone)


def _row(task: SourceTask) -> Row:
    ours, theirs = _compiled(task.sources, task.file, task.library), opened(task.library)
    try:
        problem = other_arguments(
            ours.function(task.kernel).arguments, theirs.function(task.kernel).arguments
        )
    except CompileError as error:
        problem = str(error)
    if problem:
        return _refused(task, problem.partition("\n")[0])
    launches = launches_of(task.kernel)
    if not launches:
        return _refused(task, "how it is launched is not written")
    found = [
        compared(
            ours,
            theirs,
            task.kernel,
            setup=each.setup,
            addressed=each.addressed,
            chip_name="" if number else CHIP,  # the first stands for all
        )
        for number, each in enumerate(launches)
    ]
    return _made(task, found)


def _made(task: SourceTask, found: Sequence[Comparison]) -> Row:
    """The row of a kernel's launches."""
    problems = (each.problem.partition("\n")[0] for each in found if each.problem)
    return Row(
        file=task.file,
        kernel=task.kernel,
        against=_against(task.library),
        different=sum(each.different for each in found),
        problem=next(problems, ""),
        left=found[0].ours,
        right=found[0].theirs,
    )


def _refused(task: SourceTask, problem: str) -> Row:
    return Row(file=task.file, kernel=task.kernel, against=_against(task.library), problem=problem)


def _against(library: Path) -> str:
    return _AGAINST[_version(opened(library))[0]]


def _version(library: AirLibrary) -> tuple[tuple[int, int], tuple[int, int]]:
    """Of AIR and of the language, which all of a library's kernels share."""
    first = next(iter(library.containers[0].functions.values()))
    return first.air_version, first.language_version


@functools.lru_cache(maxsize=2)
def _compiled(sources: Path, file: str, library: Path) -> KernelLibrary:
    """As PyTorch's build compiles it: without fast mathematics."""
    path = sources / file
    version = _version(opened(library))[1]
    options = CompileOptions(fast_math=False, language_version=(version[0], version[1]))
    return compile_library(path.read_text(), options=options, file_name=str(path), each_alone=True)
