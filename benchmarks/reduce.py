"""`python -m benchmarks reduce`: how small failing kernels become.

Of each kernel with planted bugs that the checks find, and of damaged kernels of the mutation
corpus, the share of the lines of its file that is left.
"""

from __future__ import annotations

import argparse
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from assay.checks import SourceOptions
from assay.compiler.msl import CompileError
from assay.launches.errors import LaunchInputError
from assay.reduction import Reduced, reduce_source
from tests.checks.cases import bugs
from tests.checks.mutation.campaign import KERNELS
from tests.checks.mutation.mutants import single_mutants

GOAL = 0.15
_SEED = 18


def main(arguments: list[str]) -> int:
    """Print each share and the median; 1 if that is more than the goal."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks reduce", description=__doc__)
    parser.add_argument("--sample", type=int, help="so many failing kernels, by a seed; all")
    parser.add_argument("--corpus", choices=("bugs", "mutants"), help="one of both")
    options = parser.parse_args(arguments)
    given = [*(_bugs() if options.corpus != "mutants" else ())]
    given += _mutants() if options.corpus != "bugs" else ()
    random.Random(_SEED).shuffle(given)
    shares: list[float] = []
    for name, source, kernel, checks in given:
        start = time.process_time()
        reduced = _reduced(source, kernel, checks)
        if reduced is None:
            continue
        shares.append(reduced.lines_after / reduced.lines_before)
        print(
            f"{name}: {reduced.lines_before} lines, {reduced.lines_after} left "
            f"({shares[-1]:.0%}), {reduced.tries} tries, {time.process_time() - start:.1f} s",
            flush=True,
        )
        if len(shares) == options.sample:
            break
    median = statistics.median(shares)
    print(f"{len(shares)} failing kernels, median {median:.1%} left (the goal is {GOAL:.0%})")
    return int(median > GOAL)


Given = tuple[str, str, str, tuple[str, ...]]


def _bugs() -> Iterator[Given]:
    for case in bugs():
        yield case.name, case.path.read_text(), case.kernel, (case.check,)


def _mutants() -> Iterator[Given]:
    usual = ("race", "init", "bounds", "barrier")
    for path in KERNELS:
        source = path.read_text()
        for mutant in single_mutants(source):
            yield f"{path.stem}, {mutant.what}", mutant.source, _kernel(path), usual


def _kernel(path: Path) -> str:
    return path.read_text().partition("kernel void ")[2].partition("(")[0]


def _reduced(source: str, kernel: str, checks: tuple[str, ...]) -> Reduced | None:
    """What is left; None if nothing is found in the whole."""
    options = SourceOptions(functions=(kernel,))
    try:
        return reduce_source(source, "failing.metal", options, checks=checks)
    except (LaunchInputError, CompileError):
        return None
