"""Rows of attention and of Fourier transforms."""

from __future__ import annotations

import math
import re

from .cases import Case, Predict, Status
from .launches import Buffer, Launch, kernel_text, number, size
from .machine import Machine
from .published import Row

ATTENTION, FFT = "attention", "fft"
_LENGTH, _HEADS = 4096, 8
_FORWARD = re.compile(r"MFA attention (?:(FP32|FP16) )?fwd D=(\d+)")
_FFT = re.compile(r"FFT N=(\d+) batch (\d+)(.*)")
# What the source takes for M4's peak; its percentages are of that.
_ROOFLINES = {"M4": 3580e9}


def forward(precision: str, width: int, *, staged: bool) -> Launch:
    """Heads of 4096 queries and keys; MFA shares blocks before Apple9, and loads directly since."""
    bytes_each = _HEADS * _LENGTH * width * (4 if precision == "FP32" else 2)
    return Launch(
        source=kernel_text(
            "attention",
            T="float" if precision == "FP32" else "half",
            D=width,
            STAGED=int(staged),
        ),
        kernel="attention",
        arguments=(*(Buffer(bytes=bytes_each),) * 4, number(_LENGTH)),
        threadgroups=size(_LENGTH // 32, _HEADS),
        threads=size(128),
        warm=True,
    )


def _utilisation(precision: str, width: int, chip: str) -> Predict:
    """Per cent of the peak that the source computes with, at 4 N^2 D operations per head."""
    launch = forward(precision, width, staged=chip == "M1")
    flops = 4.0 * _HEADS * _LENGTH**2 * width

    def predict(machine: Machine) -> float:
        peak = _ROOFLINES.get(chip, machine.peak)
        return 100 * flops / machine.in_turn(launch) / peak

    return predict


# More than this is not left in M1's system level cache by the run before.
_CACHED = 8 << 20


def transform(points: int, batch: int, radix: int) -> Launch:
    """Transforms of so many complex numbers."""
    return Launch(
        source=kernel_text("fft", N=points, RADIX=radix),
        kernel="fft",
        arguments=(Buffer(bytes=8 * points * batch),) * 2,
        threadgroups=size(batch),
        threads=size(min(512, points // radix)),
        warm=16 * points * batch <= _CACHED,
    )


def case(row: Row, chip: str) -> Case | None:
    """The case of a row of attention or Fourier transforms; None if it is of another kind."""
    if found := _FORWARD.fullmatch(row.workload):
        maker = "M4" if row.chip.startswith("M4") else "M1"
        predict = _utilisation(found[1] or "FP16", int(found[2]), maker)
        return Case(row=row, chip=chip, group=ATTENTION, status=Status.COUNTED, predict=predict)
    if row.workload == "MFA best attention forward":
        return Case(
            row=row,
            chip=chip,
            group=ATTENTION,
            status=Status.COUNTED,
            predict=_utilisation("FP16", 64, "M1"),
        )
    if row.workload.startswith("MFA attention"):
        why = "the kernels of the backward pass are not written here"
        return Case(row=row, chip=chip, group=ATTENTION, status=Status.OUT, why=why)
    if found := _FFT.match(row.workload):
        return _transform(row, chip, int(found[1]), int(found[2]), found[3].strip())
    return None


def _transform(row: Row, chip: str, points: int, batch: int, variant: str) -> Case:
    if variant == "simdgroup_matrix" or points > 4096:
        why = "a kernel that is not written here: " + (variant or "more than one dispatch")
        return Case(row=row, chip=chip, group=FFT, status=Status.OUT, why=why)
    launch = transform(points, batch, 4 if variant == "radix-4" else 8)
    flops = 5.0 * points * math.log2(points) * batch
    return Case(
        row=row,
        chip=chip,
        group=FFT,
        status=Status.COUNTED,
        predict=lambda machine: flops / machine.alone(launch) / 1e9,
    )
