"""`python -m benchmarks apple --metallib FILE --sources FOLDER`: Apple's compiler as an oracle.

Kernels of MLX, as its wheel for Macs has them, and as we compile them from the headers and files of
its repository (the folder that holds `mlx/backend/metal/kernels`). Both run on the same bytes, with
functions of mathematics of our own: equal bits say that front end, choice of overloads, contraction
and order of operations are Apple's.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from assay.compiler.air import AirLibrary, open_library
from assay.compiler.msl import CompileOptions, KernelLibrary, compile_library

from .compare import Comparison, compared
from .import_counts import main as import_counts

_KERNELS = Path("mlx/backend/metal/kernels")
# As MLX's own build says.
_FAST_MATH = False
_SHOWN = 3


def main(arguments: Sequence[str]) -> int:
    """Compare and print; 1 if bits differ."""
    if "--import" in arguments:
        return import_counts(arguments)
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("files", nargs="*", help="files in the folder of kernels; all by default")
    parser.add_argument("--metallib", type=Path, required=True, help="mlx.metallib of the wheel")
    parser.add_argument("--sources", type=Path, required=True, help="a checkout of MLX")
    parser.add_argument("--per-file", type=int, default=20, help="kernels of each file")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    theirs = open_library(options.metallib)
    files = options.files or sorted(
        path.name for path in (options.sources / _KERNELS).glob("*.metal")
    )
    found = {
        name: _of_file(options.sources, name, theirs, options.per_file, quiet=options.json)
        for name in files
    }
    if options.json:
        print(json.dumps({name: _counts(rows) for name, rows in found.items()}, indent=2))
    else:
        every = [row for rows in found.values() for row in rows]
        print(f"all: {_line(every)}")
    return int(any(row.different for rows in found.values() for row in rows))


def _of_file(
    sources: Path, name: str, theirs: AirLibrary, most: int, *, quiet: bool
) -> list[Comparison]:
    path = sources / _KERNELS / name
    options = CompileOptions(
        fast_math=_FAST_MATH, include_paths=(sources, path.parent), language_version=(3, 1)
    )
    ours: KernelLibrary = compile_library(
        path.read_text(), options=options, file_name=str(path), each_alone=True
    )
    there = frozenset(theirs.function_names)
    common = [each for each in ours.function_names if each in there]
    step = max(1, len(common) // most)
    rows = [compared(ours, theirs, each) for each in common[::step][:most]]
    if not quiet:
        print(f"{name}: {_line(rows)}", flush=True)
        for row in rows:
            if row.different:
                print(f"  {row.name}: {row.different} bytes differ")
        reasons = Counter(row.problem for row in rows if row.problem)
        for reason, count in reasons.most_common(_SHOWN):
            print(f"  {count} not compared: {reason.splitlines()[0]}")
    return rows


def _counts(rows: Sequence[Comparison]) -> dict[str, int]:
    done = [row for row in rows if not row.problem]
    equal = sum(not row.different for row in done)
    return {"compared": len(done), "equal": equal, "not_compared": len(rows) - len(done)}


def _line(rows: Sequence[Comparison]) -> str:
    counts = _counts(rows)
    return (
        f"{counts['equal']} of {counts['compared']} equal to the bit, "
        f"{counts['not_compared']} not compared"
    )
