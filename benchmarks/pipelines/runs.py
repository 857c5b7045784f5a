"""Predicted runs of the note's kernels: which there are, how one is made, and how they are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from assay.foundry import Kernel
from assay.foundry.library import gemm, gemv_columns
from assay.foundry.types import half
from assay.hw.apple.facts.chips import chip as chip_named

from .forms import FORMS, FP4
from .shares import phases_of

CHIPS: Final = ("m1-max", "m2-max", "m3-max", "m4-max", "m5-max")
"""The note's M4 Max, and the chip in its place of every other generation."""
NOTE: Final = "seed-m4-max"
GEMV: Final = "gemv"
ALONE: Final = -1
"""As `n`: one threadgroup of 64 columns for each core of the chip."""
DEPTHS: Final = (32, 64, 128, 256, 512, 1024, 4096)
WIDTHS: Final = (1024, 4096, 16384)
PROMPTS: Final = (64, 512, 4096)
DECODED: Final = (1, 4)
WHOLE: Final = ("two_stages", "three_stages", "three_stages_divergent", "hybrid", "fused")
_COPY: Final = {"tile[at] = corner[at / COLUMNS * columns + at % COLUMNS];": "tile[at] = T(0);"}
_DECODE: Final = {"if (n < params->n && k < params->k) {": "if (false) {"}
_LEFT_OUT: Final[Mapping[str, Mapping[str, str]]] = {
    "all": {},
    "weights": _COPY,
    "none": _COPY | _DECODE,
}
"""Texts of `copy_tile`, for tiles that lie within x, and of `decode_word`."""
DECODERS: Final = (
    "two_stages",
    "three_stages",
    "three_stages 32x64x32",
    "decode, 1 buffer",
    "decode, 2 buffers",
    "decode",
    "decode_hybrid",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """x [m, k] times the transpose of weights [n, k], by a form, on a chip with cold caches.

    `loads`: "all", or those of "weights" alone, or "none": the others are left out of the text, to
    tell what is whose.
    """

    form: str
    chip: str
    m: int
    n: int
    k: int
    loads: str = "all"

    @property
    def key(self) -> str:
        """As it is kept."""
        loads = "" if self.loads == "all" else f", loads: {self.loads},"
        return f"{self.form} {self.m}x{self.n}x{self.k}{loads} on {self.chip}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What the model says of a run.

    Attributes:
        microseconds: the dispatch's, without what it costs to start it.
        resident: threadgroups on a core at a time.
        limiter: what keeps them from being more.
        causes: share of a core's time by cause.
        bytes: moved by level of memory.
        roofline: share of what its bounds allow.
        phases: cycles of a simdgroup for one tile of k, in the loop: that it loads for, multiplies
            for, and waits at barriers for; for loaders and those that multiply apart.
    """

    microseconds: float
    resident: int
    limiter: str
    causes: Mapping[str, float]
    bytes: Mapping[str, float]
    roofline: float
    phases: Mapping[str, float]

    @property
    def l2_hits(self) -> float:
        """Share of the bytes that L1 asked L2 for, which it had."""
        return 1 - self.bytes["slc"] / self.bytes["l2"]


Results = Mapping[Run, Result]


@cache
def runs() -> tuple[Run, ...]:
    """All that the page is made from, each once."""
    return tuple(dict.fromkeys(_runs()))


def _runs() -> Iterable[Run]:
    for chip in (*CHIPS, NOTE):
        yield from (Run(form=form, chip=chip, m=512, n=4096, k=512) for form in FORMS)
    for chip in CHIPS:
        for k in DEPTHS:
            for form in (*WHOLE[:3], "three_stages 64x64x16"):
                yield Run(form=form, chip=chip, m=512, n=4096, k=k)
            yield from (Run(form=form, chip=chip, m=64, n=ALONE, k=k) for form in WHOLE[:3])
        for m in PROMPTS:
            for form in (*WHOLE, "three_stages 32x64x32"):
                yield Run(form=form, chip=chip, m=m, n=4096, k=4096)
        for m in DECODED:
            yield from (Run(form=form, chip=chip, m=m, n=4096, k=4096) for form in DECODERS)
        yield Run(form=GEMV, chip=chip, m=1, n=4096, k=4096)
        for n in WIDTHS:
            yield Run(form="three_stages", chip=chip, m=512, n=n, k=4096)
            for loads in ("all", "weights", "none"):
                yield Run(form="hybrid", chip=chip, m=512, n=n, k=4096, loads=loads)


def predict(run: Run) -> Result:
    """Run it on the model."""
    columns = 64 * chip_named(run.chip).cores if run.n == ALONE else run.n
    kernel = _kernel(run.form, columns, run.loads)
    weights = _weights(columns, run.k)
    x = np.ones((run.m, run.k), np.float16)
    timed = kernel.time(chip=run.chip, warm=False, timeline=True, x=x, **weights)
    (dispatch,) = timed.dispatches
    time = dispatch.time
    return Result(
        microseconds=_rounded(timed.microseconds),
        resident=time.occupancy.threadgroups,
        limiter=time.occupancy.limiter,
        causes={n: _rounded(each / time.cycles) for n, each in time.causes.items() if each},
        bytes={name: _rounded(each) for name, each in time.bytes.items()},
        roofline=_rounded(time.roofline.fraction),
        phases={} if run.form == GEMV else phases_of(dispatch, FORMS[run.form], run.k),
    )


@cache
def _kernel(form: str, columns: int, loads: str) -> Kernel:
    if form == GEMV:
        return gemv_columns(FP4, columns, half)
    kernel = gemm(FP4, columns, half, pipeline=FORMS[form])
    for before, after in _LEFT_OUT[loads].items():
        assert before in kernel.declared.source
        kernel.declared.source = kernel.declared.source.replace(before, after)
    return kernel


@cache
def _weights(columns: int, k: int) -> dict[str, Any]:
    """Any: the time of these kernels does not depend on them."""
    packed = FP4.pack(np.ones((columns, k), np.float32))
    return {"matrix": packed.matrix, "scales": packed.scales}


def _rounded(value: float) -> float:
    """Five digits: the file changes where results do."""
    return float(f"{value:.5g}")


def read(path: Path) -> dict[Run, Result]:
    """All results that are kept."""
    known = {run.key: run for run in runs()}
    kept = json.loads(path.read_text("utf-8"))
    return {known[key]: Result(**values) for key, values in kept.items() if key in known}


def write(path: Path, results: Results) -> None:
    """Keep results, a line each."""
    lines = [
        f" {json.dumps(run.key)}: "
        + json.dumps({name: getattr(result, name) for name in Result.__slots__})
        for run, result in results.items()
    ]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


def predict_all(chosen: Iterable[Run], say: Callable[[str], None]) -> dict[Run, Result]:
    """Every one, in the order of kernels, so that each is compiled once."""
    found = {}
    for number, run in enumerate(chosen, 1):
        found[run] = predict(run)
        if number % 20 == 0:
            say(f"{number} runs")
    return found
