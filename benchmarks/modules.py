"""An Assay module of an int8 network: split over NPU, GPU and CPU, against the best device alone.

Times are predicted, on one board with one clock and one DRAM; `modules-timeline.html` shows the
runs beside each other.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import assay
from assay.assay_module import load_assay
from assay.examples import mobilenet_int8
from assay.prediction.modules.result import ModuleTime
from assay.prediction.modules.timed import time_module
from assay.prediction.programs import time_function

from .measure import Row

_SIZE = 224
_RUNS = 8
_TIMELINE = Path("modules-timeline.html")
_DEVICES = {"torq": "torq", "metal": "emulated", "cpu": "cpu"}
"""What opens each of a module's devices."""


def rows(*, threads: int, repetitions: int, size: int = _SIZE, width: float = 1.0) -> list[Row]:
    """Predicts one run, and several in flight, of each way to do the network."""
    del threads, repetitions  # nothing is measured
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        model = Path(name) / "mobilenet_int8.onnx"
        model.write_bytes(mobilenet_int8.build(size=size, width=width))
        alone = {
            device: _timed(assay.build(model, devices=[device]), [device])
            for device in ("metal", "cpu")
        }
        function = assay.load(model).mobilenet  # as the graph is called
        fused = time_function(function, [], "m1", results=False).seconds
        data = assay.build(model, devices=list(_DEVICES), split="auto")
        split = _timed(data, list(_DEVICES))
    split[1].save_trace(_TIMELINE)
    found: list[Row] = []
    for number, what in enumerate(("one run", f"{_RUNS} runs, a run")):
        best = min(fused, *(times[number].seconds_per_run for times in alone.values()))
        title = f"MobileNetV2 {size}x{size}, int8: {what}"
        ratio = split[number].seconds_per_run / best
        found.append(
            Row(
                what=title,
                who="split over NPU, GPU and CPU",
                seconds=split[number].seconds_per_run,
                rate=f"{split[number].overlap / split[number].seconds:.0%} with two at work",
                ratio=f"{ratio:.2f} x the best alone",
                bar="< 1 x",
                passed=ratio < 1,
            )
        )
        found += [
            Row(what="", who=f"{device} alone", seconds=times[number].seconds_per_run)
            for device, times in alone.items()
        ]
        found.append(Row(what="", who="metal alone, IREE's own dispatches", seconds=fused))
    return found


def _timed(data: bytes, devices: list[str]) -> list[ModuleTime]:
    """(one run, several) of a module on devices that it was built for."""
    used = load_assay(data, ",".join(_DEVICES[device] for device in devices))
    return [time_module(used, [], runs=runs) for runs in (1, _RUNS)]
