"""`python -m benchmarks apple --tensors FILE`: tensor operations of PyTorch's library, and NumPy's.

Of the kernels of each kind that are only in the library for macOS 26, so many as are asked for are
drawn with a seed and run as PyTorch launches them.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.compiler.air import AirLibrary, open_library
from assay.launches.constants import compiled_kernel
from assay.launches.inputs import Exact
from assay.launches.plan import make_plan

from .compare import run
from .tensor_launches import TensorRun, run_of
from .tensor_launches.run import Array
from .workers import kept, stored

KINDS = {
    "convolutions of volumes": "conv3d_mpp_",
    "convolutions of rows": "conv1d_mpp_",
    "grouped products": "grouped_mm_(rows|cols|k)_mpp_",
    "attention": "prefill_attention_mpp_a10_",
    "attention on GPUs before M5": "prefill_attention_mpp_a9_",
    "products of 8-bit floats": "scaled_mm_mpp_",
    "products of 8-bit integers": "int_mm_mpp_",
    "triangular systems": "triangular_solve_small_mpp_",
    "steps of Cholesky's decomposition": "applySYRKTrailing",
    "steps of LU decompositions": "gemmLU_",
}
"""Kinds of kernels of tensor operations, by how their names begin."""
STORED = Path(__file__).with_name("tensors.json")
_SEED = 16
_STEPS = {"float": 2.0**-24, "half": 2.0**-11, "bfloat": 2.0**-8, "float8": 2.0**-4, "int": 0.0}
"""Halves of what types can tell apart."""
_TYPES = {
    "float32": "float",
    "float16": "half",
    "bfloat16": "bfloat",
    "float8_e4m3fn": "float8",
    "int32": "int",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One kernel: by how much it differs from NumPy, relative to the largest result.

    `type` is that of the results; `seconds` are those of the processor; `problem` says why it was
    not run.
    """

    kernel: str
    kind: str
    sizes: str = ""
    off: float = 0.0
    type: str = ""
    seconds: float = 0.0
    problem: str = ""

    @property
    def is_close(self) -> bool:
        """Whether it is as near as its type and sums of 32 bits let it be."""
        return not self.problem and self.off <= 2 * _STEPS[self.type] + (
            1e-5 if self.type != "int" else 0.0
        )


def main(arguments: Sequence[str]) -> int:
    """Run, compare, print; 1 if one differs by more than its type can tell apart, or fails."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="of the library; drawn by default")
    parser.add_argument("--tensors", type=Path, required=True, help="the library for macOS 26")
    parser.add_argument("--each", type=int, default=20, help="kernels of each kind")
    parser.add_argument("--into", type=Path, required=True, help="lines of results, kept")
    parser.add_argument("--store", action="store_true", help="keep what was found for the page")
    options = parser.parse_args(arguments)
    library = open_library(options.tensors)
    chosen = options.kernels or drawn(library.function_names, options.each)
    known = {row.kernel for row in stored(options.into, Found)}
    left = [kernel for kernel in chosen if kernel not in known]
    for row in kept((measured(library, kernel) for kernel in left), options.into):
        told = row.problem or f"off by {row.off:.1e}, {row.seconds:.1f} s"
        print(f"{row.kernel}: {told}", flush=True)
    rows = stored(options.into, Found)
    if options.store:
        found = counts(library.function_names, rows)
        before = {each["kind"]: each for each in json.loads(STORED.read_text())}
        for at, each in enumerate(found):
            if not each["run"] and not each["failed"]:
                found[at] = before[each["kind"]]  # none was asked for this time
        STORED.write_text(json.dumps(found, indent=1) + "\n")
    return int(not all(row.is_close for row in rows))


def kind_of(kernel: str) -> str:
    """What kind of tensor operation a kernel is; "" for none."""
    return next((kind for kind, begin in KINDS.items() if re.match(begin, kernel)), "")


def drawn(names: Sequence[str], each: int) -> list[str]:
    """So many kernels of each kind whose launch is known."""
    found = []
    for kind in KINDS:
        known = [name for name in names if kind_of(name) == kind and run_of(name) is not None]
        random.Random(_SEED).shuffle(known)
        found += known[:each]
    return found


def measured(library: AirLibrary, kernel: str) -> Found:
    """Run one kernel, and compare it with NumPy."""
    kind, of = kind_of(kernel), run_of(kernel)
    assert of is not None
    began = time.process_time()
    try:
        got = result_of(library, kernel, of)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}".partition("\n")[0]
        return Found(kernel=kernel, kind=kind, sizes=of.sizes, problem=problem)
    seconds = time.process_time() - began
    scale = float(np.abs(of.expected).max())
    off = np.abs(got.astype(np.float64) - of.expected).max() / scale
    return Found(
        kernel=kernel,
        kind=kind,
        sizes=of.sizes,
        off=float(off),
        type=_TYPES[got.dtype.name],
        seconds=round(seconds, 1),
    )


def result_of(library: AirLibrary, kernel: str, of: TensorRun) -> Array:
    """What the kernel leaves in its result."""
    compiled, _ = compiled_kernel(library, kernel, of.setup.constants)
    left = run(compiled, make_plan(compiled, of.setup))
    index = next(each.index for each in compiled.arguments if each.name == of.result)
    given = of.setup.arguments[of.result]
    assert isinstance(given, Exact)
    return left[index].view(given.array.dtype).reshape(of.expected.shape)


def counts(names: Sequence[str], rows: Sequence[Found]) -> list[dict[str, Any]]:
    """For each kind, how many kernels there are, were run, and how far the farthest is off."""
    found = []
    for kind in KINDS:
        of = [row for row in rows if row.kind == kind]
        ran = [row for row in of if not row.problem]
        off = {
            name: max(row.off for row in ran if row.type == name)
            for name in _STEPS
            if any(row.type == name for row in ran)
        }
        found.append(
            {
                "kind": kind,
                "there": sum(kind_of(name) == kind for name in names),
                "run": len(ran),
                "close": sum(row.is_close for row in ran),
                "off": off,
                "failed": {row.kernel: row.problem for row in of if row.problem},
            }
        )
    return found
