"""Rows of softmax and sums, and MLX's table of operations."""

from __future__ import annotations

import re

from .cases import Case, Predict, Status
from .gemm_rows import MLX, gemm
from .launches import Buffer, Launch, kernel_text, number, size
from .machine import Machine
from .published import Row

GROUP = "reductions"
_WIDTHS = {"fp32": ("float", 4), "fp16": ("half", 2)}
_SOFTMAX = re.compile(r"softmax (\d+)x(\d+) (tree|simd|MLX|torch) (fp32|fp16)(?: threads=(\d+))?")


def softmax(rows: int, columns: int, precision: str, threads: int, *, kind: str) -> Launch:
    """A threadgroup per row, in registers but for the kind "again", which reads it three times."""
    element, width = _WIDTHS[precision]
    macros: dict[str, str | int] = {"T": element}
    if kind == "tree":
        macros["TREE"] = 1
    if kind != "again":
        macros["EACH"] = columns // 4 // threads
    return Launch(
        source=kernel_text("rows", **macros),
        kernel="softmax" if kind == "again" else "softmax_short",
        arguments=(*(Buffer(bytes=rows * columns * width),) * 2, number(columns)),
        threadgroups=size(rows),
        threads=size(threads),
    )


def sums(elements: int) -> tuple[Launch, Launch]:
    """The passes of a sum of everything."""
    threads, rounds = 256, 16
    groups = -(-elements // (4 * rounds * threads))
    source = kernel_text("rows")
    first = Launch(
        source=source,
        kernel="sum_all",
        arguments=(
            Buffer(bytes=groups * threads * rounds * 16),
            Buffer(bytes=4 * groups),
            number(rounds),
        ),
        threadgroups=size(groups),
        threads=size(threads),
    )
    rest = -(-groups // 4096)
    second = Launch(
        source=source,
        kernel="sum_all",
        arguments=(Buffer(bytes=16384 * rest), Buffer(bytes=64), number(rest)),
        threadgroups=size(1),
        threads=size(1024),
        warm=True,
    )
    return first, second


def _milliseconds(*launches: Launch) -> Predict:
    return lambda machine: sum(machine.in_turn(launch) for launch in launches) * 1e3


def _linear(m: int, n: int, k: int, *, batch: int = 1) -> Launch:
    return gemm("FP32", MLX, m, n, k, batch=batch)


_OPERATIONS: dict[str, tuple[str, tuple[Launch, ...]]] = {
    "Linear / dim=100x1024x512 dim=512x1024 dim=1024": ("gemm", (_linear(100 * 1024, 1024, 512),)),
    "MatMul / dim=1000x64x1024 dim=1000x1024x32": ("gemm", (_linear(64, 32, 1024, batch=1000),)),
    "MatMul / dim=1000x1024x64 dim=1000x64x256": ("gemm", (_linear(1024, 256, 64, batch=1000),)),
    "MatMul / dim=1000000x64 dim=64x1024": ("gemm", (_linear(1000000, 1024, 64),)),
    "SumAll / dim=64x128x128x128": (GROUP, sums(64 * 128**3)),
    "SumAll / dim=128x1000000": (GROUP, sums(128 * 1000000)),
    "Softmax / dim=64x1000000 axi=-1": (GROUP, (softmax(64, 1000000, "fp32", 1024, kind="again"),)),
    "Softmax / dim=128x16x32x1024 axi=-1": (
        GROUP,
        (softmax(128 * 16 * 32, 1024, "fp32", 256, kind="simd"),),
    ),
}


# Chips whose sustained bandwidth was read off these sums.
_FITTED_SUMS = frozenset({"m2-ultra"})


def case(row: Row, chip: str) -> Case | None:
    """The case of a row of reductions or of MLX's table; None if it is of another kind."""
    if found := _SOFTMAX.match(row.workload):
        return _softmax(row, chip, found)
    if row.workload.startswith("MLX FP32 "):
        return _operation(row, chip, row.workload.removeprefix("MLX FP32 "))
    return None


def _softmax(row: Row, chip: str, found: re.Match[str]) -> Case:
    rows, columns, kind, precision = int(found[1]), int(found[2]), found[3], found[4]
    threads = int(found[5] or 1024)
    launch = softmax(rows, columns, precision, threads, kind=kind)
    moved = 2 * rows * columns * _WIDTHS[precision][1]

    def predict(machine: Machine) -> float:
        return moved / machine.in_turn(launch) / 1e9

    return Case(row=row, chip=chip, group=GROUP, status=Status.COUNTED, predict=predict)


def _operation(row: Row, chip: str, name: str) -> Case:
    group, launches = _OPERATIONS[name]
    predict = _milliseconds(*launches)
    status, why = Status.COUNTED, ""
    if row.kind == "derived":
        return Case(
            row=row,
            chip=chip,
            group=group,
            status=Status.OUT,
            why="the same measurement as the time of the same operation",
        )
    if name.startswith("SumAll") and chip in _FITTED_SUMS:
        status = Status.FITTED
    if name.startswith("Softmax"):
        status = Status.SHOWN
        why = "the harness of the source probably makes further passes"
    return Case(row=row, chip=chip, group=group, status=status, why=why, predict=predict)
