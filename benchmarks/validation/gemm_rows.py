"""Rows of matrix products: by which kernel, of which block, each library or variant is predicted.

The kernels of MPS, MPP and MLX's older versions are not public; a staged product with the blocks
that MLX's public kernel uses stands for them. MFA chooses its blocks by size.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .cases import Case, Predict, Status
from .launches import Buffer, Launch, kernel_text, number, size
from .machine import Machine
from .published import Row

GROUP = "gemm"
_TYPES = {"FP32": ("float", 4), "FP16": ("half", 2), "BF16": ("bfloat", 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What a threadgroup computes, `m` x `n` in steps of `k`, by `rows` x `columns` simdgroups."""

    m: int
    n: int
    k: int
    rows: int = 2
    columns: int = 2
    kernel: str = "staged"


# Public: mlx/backend/metal/matmul.cpp at 846d176; MFA's README for the blocks by size (32 where 48
# does not fill the GPU).
MLX = Block(m=64, n=64, k=16)
MLX_FP32 = Block(m=64, n=64, k=16)
MFA_LARGE = Block(m=48, n=48, k=32)
MFA_SMALL = Block(m=32, n=32, k=32)
# Forge's report: the best block of each kind.
DIRECT = Block(m=64, n=64, k=8, rows=4, columns=1, kernel="direct")
STAGED_BF16 = Block(m=64, n=64, k=16, rows=4, columns=1)
_SMALL = Block(m=32, n=32, k=16)


def gemm(
    precision: str,
    block: Block,
    m: int,
    n: int,
    k: int,
    *,
    batch: int = 1,
    accumulate: str = "",
    bounded: bool = False,
) -> Launch:
    """C = A B with M x K and K x N, or a batch of them."""
    element, width = _TYPES[precision]
    accumulator = accumulate or "float"
    bounded = bounded or m % block.m > 0 or n % block.n > 0 or k % block.k > 0
    source = kernel_text(
        "gemm",
        T=element,
        ACC=accumulator,
        BM=block.m,
        BN=block.n,
        BK=block.k,
        WM=block.rows,
        WN=block.columns,
        BOUNDED=int(bounded),
    )
    over, spare = (-(-n // block.n), -(-m // block.m), batch), 64 * max(n, k) * width
    return Launch(
        source=source,
        kernel=block.kernel,
        arguments=(
            Buffer(bytes=batch * m * k * width + spare),
            Buffer(bytes=batch * k * n * width + spare),
            Buffer(bytes=batch * m * n * width + spare),
            number(m, n, k),
        ),
        threadgroups=over,
        threads=size(32 * block.rows * block.columns),
        warm=True,
    )


# What the text of the kernels needs, where products have no blocks.
_ANY: dict[str, str | int] = {
    **{"ACC": "float", "BM": 64, "BN": 64, "BK": 16},
    **{"WM": 2, "WN": 2, "BOUNDED": 0},
}


def plain(precision: str, kernel: str, edge: int) -> Launch:
    """The products without SIMD-group matrices."""
    element, width = _TYPES[precision]
    source = kernel_text("gemm", T=element, **_ANY)
    bytes_each, tile = edge * edge * width, 64 if kernel == "tiled" else 16
    return Launch(
        source=source,
        kernel=kernel,
        arguments=(*(Buffer(bytes=bytes_each),) * 3, number(edge, edge, edge)),
        threadgroups=size(edge // tile, edge // tile),
        threads=size(16, 16),
        warm=True,
    )


def _rate(launch: Launch, flops: float, unit: float, *, own_pass: bool = False) -> Predict:
    """Operations per second, in multiples of `unit`; back to back, or each in a pass of its own."""

    def predict(machine: Machine) -> float:
        seconds = machine.in_own_pass(launch) if own_pass else machine.in_turn(launch)
        return flops / seconds / unit

    return predict


def mfa_block(edge: int, cores: int) -> Block:
    """The larger block where it gives every core three threadgroups at least."""
    groups = (-(-edge // MFA_LARGE.m)) ** 2
    return MFA_LARGE if groups >= 6 * cores else MFA_SMALL


_SWEEP = re.compile(
    r"GEMM tile sweep (\d+)\^3 (fp\d+) (staged|direct) block (\d+)x(\d+)x(\d+) (\d)x(\d) simdgroups"
)
_FORGE = re.compile(r"GEMM (fp32|fp16|bf16) (.+) (\d+)\^3")
_CUBE = re.compile(r"GEMM (MPS|MFA|torch-mps) (FP32|FP16|BF16) (\d+)\^3(.*)")


def case(row: Row, chip: str) -> Case | None:
    """The case of a row of matrix products; None if it is of another kind."""
    if found := _SWEEP.match(row.workload):
        edge, precision, kernel = int(found[1]), found[2].upper(), found[3]
        m, n, k, rows, columns = (int(found[i]) for i in range(4, 9))
        block = Block(m=m, n=n, k=k, rows=rows, columns=columns, kernel=kernel)
        found_case = _counted(row, chip, gemm(precision, block, edge, edge, edge), edge, 1e12)
        if row.value < 1:
            why = "the source: a cliff of Apple's compiler that no count of registers explains"
            return replace(found_case, status=Status.SHOWN, why=why)
        return found_case
    if found := _FORGE.match(row.workload):
        return _forge(row, chip, found[1].upper(), found[2], int(found[3]))
    if found := _CUBE.match(row.workload):
        return _cube(row, chip, found[1], found[2], int(found[3]), found[4])
    return _other(row, chip)


def _counted(row: Row, chip: str, launch: Launch, edge: int, unit: float) -> Case:
    predict = _rate(launch, 2.0 * edge**3, unit)
    return Case(row=row, chip=chip, group=GROUP, status=Status.COUNTED, predict=predict)


def _forge(row: Row, chip: str, precision: str, kind: str, edge: int) -> Case:
    if kind in ("naive", "tiled threadgroup"):
        launch = plain(precision, kind.split()[0], edge)
    elif kind == "simdgroup direct":
        launch = gemm(precision, DIRECT, edge, edge, edge)
    elif kind == "simdgroup staged":
        launch = gemm(precision, STAGED_BF16, edge, edge, edge)
    else:  # MPP, MPS, MLX, torch
        launch = gemm(precision, MLX, edge, edge, edge)
    return _counted(row, chip, launch, edge, 1e12)


def _cube(row: Row, chip: str, library: str, precision: str, edge: int, rest: str) -> Case:
    unit = 1e12 if row.metric == "tflops" else 1e9
    cores = 32  # of the M1 Max that MFA's blocks were chosen on
    block = mfa_block(edge, cores) if library == "MFA" else MLX
    if library != "MFA" and edge <= 512:
        block = _SMALL
    accumulate = "half" if library == "MFA" and precision == "FP16" else "float"
    launch = gemm(precision, block, edge, edge, edge, accumulate=accumulate)
    # MPS encodes every product into a pass of its own, and torch calls MPS.
    predict = _rate(launch, 2.0 * edge**3, unit, own_pass=library != "MFA")
    status, why = Status.COUNTED, ""
    if "host timed" in rest:
        status, why = Status.SHOWN, "includes the host's time"
    elif library == "torch-mps" and edge >= 8192:
        status, why = Status.SHOWN, "the source says that the machine slows down with heat"
    return Case(row=row, chip=chip, group=GROUP, status=status, why=why, predict=predict)


def _other(row: Row, chip: str) -> Case | None:
    large = {
        "MFA best FP16 GEMM": ("FP16", MFA_LARGE, 3072),
        "gemm-kernel/matrix FFMA16": ("FP16", MLX, 2048),
        "gemm-kernel/matrix FFMA32": ("FP32", MLX, 2048),
        "gemm simdgroup_matrix FP16": ("FP16", DIRECT, 4096),
        "MPS GEMM FP32 peak": ("FP32", MLX, 4096),
    }.get(row.workload)
    if large is None:
        return None
    precision, block, edge = large
    accumulate = "half" if block is MFA_LARGE else "float"
    launch = gemm(precision, block, edge, edge, edge, accumulate=accumulate)
    flops = 2.0 * edge**3

    def predict(machine: Machine) -> float:
        rate = flops / machine.in_turn(launch)
        if row.metric == "alu_utilisation":
            return 100 * rate / machine.peak
        if row.metric == "ffma_per_core_cycle":
            return rate / 2 / machine.cores / machine.chip.clock
        return rate / 1e12

    return Case(row=row, chip=chip, group=GROUP, status=Status.COUNTED, predict=predict)
