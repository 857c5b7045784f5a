"""The first and the second time that a network runs from the shell, as a module and as ONNX."""

from __future__ import annotations

import os
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.models import compile_model
from assay.examples import mobilenet

from .measure import Row
from .start import seconds_of

FIRST_BAR = 7.0  # seconds
AGAIN_BAR = 1.2  # times the processor time of the module
_SIZE = 224
_INPUT = f"--input 1x3x{_SIZE}x{_SIZE}xf32"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runs:
    """Medians of one command: by the clock, and of the processor, children included."""

    seconds: float
    processor: float


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Run all in as many folders for the cache as `repetitions` says, at most three."""
    del threads
    first, first_onnx, again, onnx_again = [], [], [], []
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        folder = Path(name)
        (folder / "mobilenet.onnx").write_bytes(mobilenet.build(size=_SIZE))
        compile_model(folder / "mobilenet.onnx", folder / "mobilenet.vmfb", target="metal")
        module, model = (f"run mobilenet.{kind} {_INPUT}" for kind in ("vmfb", "onnx"))
        seconds_of(module, folder)  # Python's own compiled files are there from now on
        for number in range(min(repetitions, 3)):
            cache = {"ASSAY_CACHE_DIR": str(folder / f"cache{number}")}
            first.append(seconds_of(module, folder, cache))
            first_onnx.append(seconds_of(model, folder, cache))
            for _ in range(3):
                again.append(seconds_of(module, folder, cache))
                onnx_again.append(seconds_of(model, folder, cache))
    module_again, model_again = _medians(again), _medians(onnx_again)
    ratio = model_again.processor / module_again.processor
    what = f"assay run MobileNetV2 {_SIZE}x{_SIZE}"
    return [
        _row(f"{what}, .vmfb", "the first time on a machine", _medians(first), FIRST_BAR),
        _row(f"{what}, .vmfb", "again", module_again),
        _row(f"{what}, .onnx", "the first time, kernels at hand", _medians(first_onnx)),
        Row(
            what=f"{what}, .onnx",
            who="again",
            seconds=model_again.seconds,
            rate=f"{model_again.processor:.2f} s of processor time",
            ratio=f"{ratio:.2f} x that of the .vmfb",
            bar=f"<= {AGAIN_BAR:g} x",
            passed=ratio <= AGAIN_BAR,
        ),
    ]


def _medians(runs: list[tuple[float, float]]) -> _Runs:
    seconds, processor = (statistics.median(each) for each in zip(*runs, strict=True))
    return _Runs(seconds=seconds, processor=processor)


def _row(what: str, who: str, runs: _Runs, bar: float | None = None) -> Row:
    return Row(
        what=what,
        who=who,
        seconds=runs.seconds,
        rate=f"{runs.processor:.2f} s of processor time",
        bar="" if bar is None else f"< {bar:g} s, {os.cpu_count()} cores",
        passed=None if bar is None else runs.seconds < bar,
    )
