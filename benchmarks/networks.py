"""Quantised networks for the NPU: compiling and running MobileNetV2, compiling ever longer ones.

Seconds are those of the processor, user and system, since each command runs on one thread.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.models.tflite.models import mobilenet_v2
from tests.models.tflite.network import RELU6, Network

from .measure import Row
from .shell import assay

_BARS = {"compile": 20.0, "run": 5.0, "time and trace": 15.0}  # seconds
_MOST_MEMORY = 2 << 30  # bytes
_LENGTHS = (125, 250, 500, 1000)  # operators
_MOST_GROWTH = 1.5  # times the seconds per operator of the shortest
_MOST_EXPONENT = 1.15


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure from the shell, in as many fresh processes as `repetitions` says, at most 3."""
    del threads
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        folder = Path(name)
        (folder / "model.tflite").write_bytes(mobilenet_v2())
        commands = {
            "compile": "compile model.tflite --device torq -o model.torq",
            "run": "run model.torq --input 1x224x224x3xi8=1 --output @result.npy",
            "time and trace": "time model.torq --trace trace.html",
        }
        found = []
        for what, command in commands.items():
            times = [assay(command.split(), folder) for _ in range(min(repetitions, 3) + 1)]
            seconds = statistics.median(each.seconds for each in times[1:])
            memory = max(each.memory for each in times)
            found.append(
                Row(
                    what=f"MobileNetV2 224x224, int8: {what}",
                    who="assay, from the shell",
                    seconds=seconds,
                    rate=f"{memory >> 20} MB",
                    bar=f"< {_BARS[what]:g} s, 2 GB",
                    passed=seconds < _BARS[what] and memory < _MOST_MEMORY,
                )
            )
        return found + _lengths(folder)


def _lengths(folder: Path) -> list[Row]:
    """How long networks of many operators take, and how that grows."""
    found: list[Row] = []
    least = 0.0
    seconds: list[float] = []
    for count in _LENGTHS:
        (folder / "long.tflite").write_bytes(residual_blocks(count))
        done = assay(["compile", "long.tflite", "--device", "torq", "-o", "long.torq"], folder)
        each = done.seconds / count
        least = least or each
        seconds.append(done.seconds)
        found.append(
            Row(
                what=f"{count} operators: compile",
                who="assay, from the shell",
                seconds=done.seconds,
                rate=f"{done.memory >> 20} MB",
                ratio=f"{each * 1e3:.1f} ms an operator",
                bar=f"< {_MOST_GROWTH:g} x that of {_LENGTHS[0]}",
                passed=each < _MOST_GROWTH * least,
            )
        )
    power = exponent(_LENGTHS, seconds)
    found.append(
        Row(
            what=f"compile {_LENGTHS[0]} to {_LENGTHS[-1]} operators: growth",
            who="assay, from the shell",
            seconds=sum(seconds),
            ratio=f"operators to the power of {power:.2f}",
            bar=f"< {_MOST_EXPONENT:g}",
            passed=power < _MOST_EXPONENT,
        )
    )
    return found


def exponent(lengths: Sequence[int], seconds: Sequence[float]) -> float:
    """The power of the length that seconds grow with: the slope of their logarithms."""
    x, y = np.log(lengths), np.log(seconds)
    return float(np.polyfit(x, y, 1)[0])


def residual_blocks(operators: int) -> bytes:
    """A network of so many operators: convolutions, depthwise ones and additions."""
    net = Network(7)
    x = net.convolution(net.input((1, 16, 16, 16)), 16, 1)
    for _ in range(operators // 4):
        y = net.convolution(x, 32, 1, activation=RELU6)
        y = net.convolution(net.depthwise(y, 3, activation=RELU6), 16, 1)
        x = net.binary("ADD", x, y)
    return net.finish(x)
