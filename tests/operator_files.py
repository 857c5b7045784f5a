"""Runs other people's operator files on the NPU and on IREE's CPU backend, and compares.

`python -m tests.operator_files FOLDER` takes every `.mlir` below a folder, such as
`tests/testdata` of github.com/synaptics-torq/torq-compiler; `--only WORD` those whose names have a
word in them, `--list` prints a line for each file.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.compare import Tolerance, compare
from assay.compiler.graph.errors import GraphRefused
from assay.compiler.graph.importer import import_model
from assay.compiler.graph.tosa import ops
from assay.compiler.models import ModelError, compile_model
from assay.elements import Value
from assay.hal.status import StatusError
from assay.npu import NpuFunction, load_npu
from assay.npu.models import compile_npu_model
from assay.reference import CpuError, CpuModule
from assay.seeds import seeded_inputs

CLASSES = {
    "equal": "equal to the bit",
    "close": "floats within 1% of the CPU's and of the largest",
    "different": "run, and not close",
    "undefined": "not close, and the file reads what nobody has set",
    "refused": "refused with a reason",
    "no reference": "run, but not by IREE's CPU backend",
    "crashed": "the compiler or the NPU failed without a reason",
}


def outcome(path: Path) -> tuple[str, str]:
    """(one of CLASSES, what to know about it)."""
    try:
        model = compile_npu_model(path)
        (function,) = load_npu(model.file(), name=path.name).functions.values()
        values = _inputs(path, function)
        got = function.invoke(values)
    except (GraphRefused, ModelError) as error:
        return "refused", _last_line(error)
    except (StatusError, Exception) as error:
        return "crashed", "".join(traceback.format_exception_only(error)).strip()
    try:
        expected = CpuModule(compile_model(path, target="llvm-cpu").data).invoke(
            _entry(path), values
        )
    except (ModelError, CpuError) as error:
        return "no reference", _last_line(error)
    kind, detail = _compared(got, expected)
    if kind == "different" and model.compiled.doubts:
        return "undefined", str(model.compiled.doubts[0])
    return kind, detail


def _inputs(path: Path, function: NpuFunction) -> list[Value]:
    """Numbers of the whole range of each type; indices of what gathers are small.

    So are words that are rescaled: TOSA leaves open what becomes of results beyond 32 bits.
    """
    whole = "gather" not in path.name and "scatter" not in path.name
    values = seeded_inputs(function.signature, 0, quantised=whole)
    if "rescale" not in path.name:
        return values
    return [
        each >> 8 if isinstance(each, np.ndarray) and each.dtype == np.int32 else each
        for each in values
    ]


def _entry(path: Path) -> str:
    (function,) = ops.functions(import_model(path))
    return str(function.sym_name.data)


def _compared(got: Sequence[Value], expected: Sequence[Value]) -> tuple[str, str]:
    worst = "equal", ""
    for one, other in zip(got, expected, strict=True):
        mine, theirs = np.asarray(one), np.asarray(other)
        if mine.dtype.itemsize == theirs.dtype.itemsize and mine.dtype.kind in "iub":
            theirs = theirs.view(mine.dtype)
        mine = mine.reshape(theirs.shape) if mine.size == theirs.size else mine
        if compare(mine, theirs, Tolerance(relative=0, absolute=0)).equal:
            continue
        most = float(np.abs(theirs.astype(np.float64)).max(initial=0))
        fine = Tolerance(relative=0.01, absolute=0.01 * most, widen=False)
        found = compare(mine, theirs, fine)
        said = f"{found.bad} of {found.elements}, at most {found.max_absolute:.3g} {found.problem}"
        if not found.equal:
            return "different", said
        worst = "close", said
    return worst


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def main(arguments: Sequence[str]) -> int:
    """Prints figures by folder and class; 1 if anything crashed or differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args(arguments)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted(given.folder.rglob("*.mlir")):
        if given.only not in path.name:
            continue
        kind, said = outcome(path)
        counts[path.parent.name][kind] += 1
        if given.list or kind in ("different", "crashed"):
            print(f"{path.parent.name}/{path.name}: {kind}: {said}", flush=True)
    for folder, found in counts.items():
        parts = ", ".join(f"{found[kind]} {kind}" for kind in CLASSES if found[kind])
        print(f"{folder}: {found.total()} files: {parts}")
    bad = sum(found["different"] + found["crashed"] for found in counts.values())
    return 1 if bad or not counts else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
