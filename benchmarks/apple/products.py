"""`python -m benchmarks apple --products FILE`: products of matrices of a library, and NumPy's.

The kernels, `steel_gemm_*` by their names or those that are given, run as MLX launches them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.compiler.air import AirLibrary, open_library
from assay.launches.constants import compiled_kernel
from assay.launches.inputs import Exact, Setup
from assay.launches.plan import make_plan

from .compare import run
from .launches import launch_of
from .launches.products import Product, parsed

Array = NDArray[Any]
STORED = Path(__file__).with_name("products.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One kernel: by how much it differs from NumPy, relative to the largest result.

    `step` is half of what its element type can tell apart at that size; `seconds` are those of the
    processor.
    """

    kernel: str
    sizes: tuple[int, int, int]
    off: float
    step: float
    seconds: float


def main(arguments: Sequence[str]) -> int:
    """Run, compare, print; 1 if one differs by more than its type can tell apart."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks apple", description=__doc__)
    parser.add_argument("kernels", nargs="*", help="of the library; one of each kind by default")
    parser.add_argument("--products", type=Path, required=True, help="a compiled library")
    parser.add_argument("--store", action="store_true", help="keep what was found for the page")
    options = parser.parse_args(arguments)
    library = open_library(options.products)
    found = []
    for kernel in options.kernels or _one_of_each(library):
        row = measured(library, kernel)
        found.append(row)
        print(f"{row.kernel}: off by {row.off:.1e}, {row.seconds:.1f} s", flush=True)
    if options.store:
        STORED.write_text(json.dumps([asdict(row) for row in found], indent=1) + "\n")
    return int(any(row.off > 2 * row.step + 1e-5 for row in found))


def _one_of_each(library: AirLibrary) -> list[str]:
    """A kernel of each kind of product, order of the operands and type of elements."""
    found: dict[tuple[object, ...], str] = {}
    for name in library.function_names:
        of = parsed(name)
        if of is not None and of.of_tensors and of.kind in _EXPECTED:
            found.setdefault((of.kind, of.transposed, of.of), name)
    return list(found.values())


def measured(library: AirLibrary, kernel: str) -> Found:
    """Run one kernel, and compare it with NumPy."""
    of = parsed(kernel)
    assert of is not None
    setup = launch_of(kernel)
    began = time.process_time()
    compiled, _ = compiled_kernel(library, kernel, setup.constants)
    plan = make_plan(compiled, setup)
    left = run(compiled, plan)
    seconds = time.process_time() - began
    name = "D" if "D" in setup.arguments else "C"
    index = next(each.index for each in compiled.arguments if each.name == name)
    result = left[index].view(given(setup, name).dtype).reshape(given(setup, name).shape)
    expected = _EXPECTED[of.kind](of, setup)
    got = result.astype(np.float64).reshape(expected.shape)
    scale = float(np.abs(expected).max())
    return Found(
        kernel=kernel,
        sizes=of.sizes,
        off=float(np.abs(got - expected).max()) / scale,
        step=_half_step(given(setup, name).dtype),
        seconds=round(seconds, 1),
    )


def given(setup: Setup, name: str) -> Array:
    """An array that a launch gives."""
    found = setup.arguments[name]
    assert isinstance(found, Exact)
    return found.array


def _half_step(dtype: np.dtype[Any]) -> float:
    return {"float32": 2.0**-24, "float16": 2.0**-11}.get(dtype.name, 2.0**-8)


def operands(of: Product, setup: Setup) -> tuple[Array, Array]:
    """The operands of each layer as matrices of M x K and K x N."""
    m, n, k = of.sizes
    a, b = (given(setup, name).astype(np.float64) for name in "AB")
    left, right = a.reshape(len(a), m * k), b.reshape(len(b), k * n)
    first = left.reshape(-1, k, m).swapaxes(1, 2) if of.transposed[0] else left.reshape(-1, m, k)
    second = right.reshape(-1, n, k).swapaxes(1, 2) if of.transposed[1] else right.reshape(-1, k, n)
    return first, second


def _fused(of: Product, setup: Setup) -> Array:
    m, n, _ = of.sizes
    a, b = operands(of, setup)
    source = given(setup, "C").astype(np.float64)[: 2 * m * n].reshape(2, m, n)
    return 0.5 * (a @ b) + 2.0 * source


def _split(of: Product, setup: Setup) -> Array:
    a, b = operands(of, setup)
    cut = of.tile[2]
    return np.stack((a[0][:, :cut] @ b[0][:cut], a[0][:, cut:] @ b[0][cut:]))


def _segmented(of: Product, setup: Setup) -> Array:
    a, b = operands(of, setup)
    ends = given(setup, "segments").astype(np.int64).reshape(-1, 2)
    return np.stack([a[0][:, first:last] @ b[0][first:last] for first, last in ends])


def _grouped(of: Product, setup: Setup) -> Array:
    a, b = operands(of, setup)
    starts = [*given(setup, "offsets").tolist(), of.sizes[0]]
    spans = enumerate(itertools.pairwise(starts))
    return np.concatenate([a[0][first:last] @ b[at] for at, (first, last) in spans])


_EXPECTED = {
    "gemm_fused": _fused,
    "gemm_splitk": _split,
    "segmented_mm": _segmented,
    "gather_mm_rhs": _grouped,
}
