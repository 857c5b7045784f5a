"""`python -m benchmarks apple --torch-older FILE --torch-newer FILE`: PyTorch's kernels in AIR of
two versions, on the same bytes.

Of the kernels that both libraries have, so many as are asked for are drawn with a seed. Those whose
launch is known run as PyTorch's host launches them, the others on what `assay check` assumes. Both
sides are timed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.launches.inputs import Setup

from . import torch_functions
from .compare import compared
from .comparing import CHIP, TORCH_NEWER, Row, opened
from .torch_work import add_options, known_of, told


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionTask:
    """A kernel of both libraries."""

    older: Path
    newer: Path
    kernel: str


def main(arguments: Sequence[str]) -> int:
    """Compare and print; 1 if bits differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="of the libraries; drawn by default")
    parser.add_argument("--torch-older", type=Path, required=True)
    parser.add_argument("--torch-newer", type=Path, required=True)
    parser.add_argument("--count", type=int, default=500, help="kernels")
    parser.add_argument("--seed", type=int, default=7)
    add_options(parser)
    options = parser.parse_args(arguments)
    older, newer = options.torch_older, options.torch_newer
    names = options.kernels or drawn(
        opened(older).function_names, opened(newer).function_names, options.count, options.seed
    )
    known = known_of(options.into, TORCH_NEWER)
    left = [
        VersionTask(older=older, newer=newer, kernel=name) for name in names if name not in known
    ]
    return int(told(options, TORCH_NEWER, left, _row, _refused) > 0)


def drawn(older: Sequence[str], newer: Sequence[str], count: int, seed: int) -> list[str]:
    """So many names that both have."""
    common = sorted(set(older).intersection(newer))
    return random.Random(seed).sample(common, min(count, len(common)))


def launch_of(kernel: str) -> Setup:
    """What PyTorch's host gives a kernel, as far as that is written here."""
    return torch_functions.launch(kernel) if torch_functions.is_known(kernel) else Setup()


def _row(task: VersionTask) -> Row:
    found = compared(
        opened(task.older),
        opened(task.newer),
        task.kernel,
        setup=launch_of(task.kernel),
        chip_name=CHIP,
    )
    problem = found.problem.partition("\n")[0]
    return Row(
        file="",
        kernel=task.kernel,
        against=TORCH_NEWER,
        different=found.different,
        problem=problem,
        left=found.ours,
        right=found.theirs,
    )


def _refused(task: VersionTask, problem: str) -> Row:
    return Row(file="", kernel=task.kernel, against=TORCH_NEWER, problem=problem)
