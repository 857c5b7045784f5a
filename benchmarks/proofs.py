"""`python -m benchmarks proofs`: what is proved of our own kernels, and how long it takes.

The forms of the Marlin pipelines, the Foundry's library, and the kernels that the benchmarks run:
of each property whether it is proved for all sizes; of those with rings, whether tiles are stale or
lost whole. Kernels of the timing model's validation are proved for the sizes that they are launched
with, and any data. Seconds are of the processor, of one process, with nothing kept from before.
"""

from __future__ import annotations

import argparse
import fnmatch
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.compiler.foundry.formats import format_of
from assay.compiler.foundry.library import KERNELS, Ready
from assay.compiler.foundry.structs.names import HALF
from assay.compiler.msl import KernelFunction, Library, compile_library
from assay.compiler.verify import Answer, Launch, Names, prove
from assay.compiler.verify.rings import Rotation, rotations_of
from assay.foundry import Kernel
from assay.foundry.library import gemm
from assay.launches.inputs import Size
from assay.proofs.comments import assumptions_of
from assay.proofs.names import names_of, referred_lengths

from . import compile as compiled
from . import sources
from .pipelines.forms import FORMS, FP4
from .validation import launches as validation
from .validation.launched import launched

GOAL_S = 10.0
_MOST_S = 120.0  # by the clock, for a property, on a machine that others use, too
_SHAPE = (2, 256, 256)  # of arguments, where only threads are asked for
_THREADS: dict[str, Size] = {
    "tiled_gemm": (16, 16, 1),
    "softmax_rows": (256, 1, 1),
    "vector_add": (256, 1, 1),
    "matrix_gemm": (128, 1, 1),
    "hundred_lines": (64, 1, 1),
}
_HOLDS: dict[str, tuple[str, ...]] = {
    "tiled_gemm": ("grid.x <= n", "grid.y <= n"),
    "matrix_gemm": ("64 * groups.x <= n",),
}
"""What hosts see to: grids as large as the product; comments say it of the library's kernels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A kernel of ours, the threads of its threadgroups, and the dispatch that alone is meant."""

    name: str
    source: str
    function: str
    size: Size
    launch: validation.Launch | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved:
    """What is known of a kernel, and how many seconds of the processor that took."""

    answers: list[Answer]
    rings: list[Rotation]
    seconds: float
    seconds_of_rings: float

    @property
    def is_proved(self) -> bool:
        """Whether all properties hold for all sizes."""
        return all(each.verdict == "proved" for each in self.answers)


class _Any(dict[str, Any]):
    """Arguments of any name."""

    def __missing__(self, name: str) -> Any:
        return np.zeros(_SHAPE, np.uint8)


def cases() -> Iterator[Case]:
    """All of them, by name."""
    for name, listed in KERNELS.items():
        yield _of_library(name, listed.ready(HALF, format_of(listed.usual)))
    for name, pipeline in FORMS.items():
        if f"marlin_{name}" not in KERNELS:
            kernel: Kernel = gemm(FP4, 256, HALF, pipeline=pipeline)
            size = (pipeline.threads, 1, 1)
            declared = kernel.declared
            yield Case(name=name, source=declared.source, function=declared.function, size=size)
    for function, size in _THREADS.items():
        own = {"hundred_lines": compiled.source(), "matrix_gemm": sources.MATRIX_MSL}
        text = own.get(function, sources.MSL)
        yield Case(name=function, source=text, function=function, size=size)
    for each in launched():
        name = f"validation {each.kernel}"
        yield Case(
            name=name, source=each.source, function=each.kernel, size=each.threads, launch=each
        )


def _of_library(name: str, ready: Ready) -> Case:
    declared, grid = ready
    size = (128, 1, 1) if name == "matmul" else grid(_Any()).threads
    return Case(name=name, source=declared.source, function=declared.function, size=size)


def proved(case: Case) -> Proved:
    """What is proved of a kernel."""
    start = time.process_time()
    library = compile_library(case.source)
    kernel = library.function(case.function)
    launch = _launch(case, kernel, library)
    answers = prove(kernel.program(), launch, seconds=_MOST_S, offers=False)
    middle = time.process_time()
    rings = rotations_of(kernel.program(), launch, answers)
    end = time.process_time()
    return Proved(
        answers=answers, rings=rings, seconds=middle - start, seconds_of_rings=end - middle
    )


def _launch(case: Case, kernel: KernelFunction, library: Library) -> Launch:
    stated = [each.text for each in assumptions_of(library).get(case.function, ())]
    names = names_of(kernel)
    meant = () if case.launch is None else _as_launched(case.launch, kernel, names)
    return Launch(
        size=case.size,
        names=names,
        holds=(*_HOLDS.get(case.name, ()), *stated, *meant),
        lengths=referred_lengths(kernel),
    )


def _as_launched(launch: validation.Launch, kernel: KernelFunction, names: Names) -> Iterator[str]:
    """The grid and the integers of a dispatch."""
    for axis, groups in zip("xyz", launch.threadgroups, strict=True):
        yield f"groups.{axis} == {groups}"
    given = {
        each.name: value for each, value in zip(kernel.arguments, launch.arguments, strict=True)
    }
    for name, scalar in names.scalars.items():
        known = given.get(scalar.argument)
        if isinstance(known, validation.Scalars) and scalar.width == 32:
            yield f"{name} == {int.from_bytes(known.bytes_of()[scalar.offset :][:4], 'little')}"


def main(arguments: list[str]) -> int:
    """Print a line for each kernel; 1 if one is not proved, or takes longer than the goal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks proofs", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="names, also with *; all if none is given")
    options = parser.parse_args(arguments)
    counted: Counter[str] = Counter()
    for case in cases():
        wanted = options.kernels
        if wanted and not any(fnmatch.fnmatch(case.name, each) for each in wanted):
            continue
        found = proved(case)
        counted["kernels"] += 1
        counted["proved"] += found.is_proved
        counted["in time"] += found.seconds + found.seconds_of_rings <= GOAL_S
        for ring in found.rings:
            counted["rings"] += 1
            counted["in order"] += ring.tiles is not None and ring.tiles.are_in_order
            counted["all read"] += ring.tiles is not None and ring.tiles.are_read
        print(f"{case.name}: {text(found)}", flush=True)
    print(
        f"{counted['kernels']} kernels: {counted['proved']} proved, {counted['in time']} within "
        f"{GOAL_S:g} s; {counted['rings']} rings: no tile is stale in {counted['in order']}, none "
        f"is lost in {counted['all read']}"
    )
    whole = counted["kernels"]
    return int(not whole == counted["proved"] == counted["in time"])


def text(found: Proved) -> str:
    """What is not proved, what rings do, and seconds."""
    open = [
        f"{each.about} {'out of time' if each.is_late else each.verdict}"
        for each in found.answers
        if each.verdict != "proved"
    ]
    parts = ["proved" if not open else ", ".join(open)]
    wraps = sum(bool(each.rests_on) for each in found.answers)
    parts += [f"{wraps} properties if nothing wraps"] if wraps else []
    for ring in found.rings:
        tiles = ring.tiles
        told = "in order" if tiles and tiles.are_in_order else "not known to be in order"
        told += ", none lost" if tiles and tiles.are_read else ", not known to be read at all"
        told += " if nothing wraps" if tiles and tiles.rests_on else ""
        parts.append(f"tiles of '{ring.array}' {told}")
    time_of_rings = f", rings {found.seconds_of_rings:.1f} s" if found.rings else ""
    return f"{'; '.join(parts)} ({found.seconds:.1f} s{time_of_rings})"
