"""Rows of matrix products: by which kernel, of which block, each library or variant is predicted.

The kernels of MPS, MPP and MLX's older versions are not public; a staged product with the blocks
that MLX's public kernel uses stands for them. MFA's are public, and so is how it chooses blocks.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace

from assay.hw.apple.facts.chips import chip as chip_of

from .cases import Case, Predict, Status
from .launches import Buffer, Launch, Scalars, kernel_text, number, size
from .machine import Machine
from .published import Row

GROUP = "gemm"
_TYPES = {"FP32": ("float", 4), "FP16": ("half", 2), "BF16": ("bfloat", 2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """What a threadgroup computes, `m` x `n` in steps of `k`, by `rows` x `columns` simdgroups.

    `widened` is whether factors become floats when they are fetched, `piece` how many bytes a
    thread carries at a time to threadgroup memory, one element at least.
    """

    m: int
    n: int
    k: int
    rows: int = 2
    columns: int = 2
    kernel: str = "staged"
    widened: bool = False
    piece: int = 16


# Public: mlx/backend/metal/matmul.cpp and steel/gemm/mma.h at 846d176.
MLX = Block(m=64, n=64, k=16, widened=True)
# What stands for MPP, and for MPS and torch since Apple9. Before, halves were slower than floats in
# MPS (dougallj/applegpu, issue 21), which products of halves are not: it widens them too.
APPLE = Block(m=64, n=64, k=16)
# Forge's report: the best block of each kind.
DIRECT = Block(m=64, n=64, k=8, rows=4, columns=1, kernel="direct")
STAGED_BF16 = Block(m=64, n=64, k=16, rows=4, columns=1)
_SMALL = 32  # edge of the blocks of small products
_DIRECT_FAMILY = 9


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
        WIDENED=int(block.widened and precision != "FP32"),
        WIDE=max(1, block.piece // width),
    )
    over, spare = (-(-n // block.n), -(-m // block.m), batch), 64 * max(n, k) * width
    return Launch(
        source=source,
        kernel=block.kernel,
        arguments=(
            Buffer(bytes=batch * m * k * width + spare),
            Buffer(bytes=batch * k * n * width + spare),
            Buffer(bytes=batch * m * n * width + spare),
            _shape(m, n, k),
        ),
        threadgroups=over,
        threads=size(32 * block.rows * block.columns),
        warm=True,
    )


def mfa(
    precision: str,
    block: Block,
    edge: int,
    *,
    transposed: str = "NN",
    copies_back: bool = False,
) -> Launch:
    """A square product by MFA's kernel for Apple7 and 8; `transposed` says of both factors how.

    Registers hold halves where all of it is halves, else floats. `copies_back` is whether results
    are copied from threadgroup memory.
    """
    element, width = _TYPES[precision]
    register = "half" if precision == "FP16" else "float"
    source = kernel_text(
        "mfa",
        T=element,
        REG=register,
        ACC=register,
        IS_BFLOAT=int(precision == "BF16"),
        BM=block.m,
        BN=block.n,
        BK=block.k,
        TRANSPOSED_A=int(transposed[0] == "T"),
        TRANSPOSED_B=int(transposed[1] == "T"),
        TAIL=edge % block.k,
        ASYNC_STORE=int(copies_back),
    )
    groups = -(-edge // block.n), -(-edge // block.m)
    return Launch(
        source=source,
        kernel="product",
        arguments=(*(Buffer(bytes=edge * edge * width),) * 3, number(edge, edge, edge)),
        threadgroups=size(*groups),
        threads=size(128),
        warm=True,
    )


# What the text of the kernels needs, where products have no blocks.
_ANY: dict[str, str | int] = {
    "ACC": "float",
    "BM": 64,
    "BN": 64,
    "BK": 16,
    "WM": 2,
    "WN": 2,
    "BOUNDED": 0,
    "WIDENED": 0,
    "WIDE": 4,
}
_ONE = int.from_bytes(struct.pack("<f", 1.0), "little")  # a float's bits


def _shape(m: int, n: int, k: int) -> Scalars:
    return number(m, n, k, _ONE)


def plain(precision: str, kernel: str, edge: int) -> Launch:
    """The products without SIMD-group matrices."""
    element, width = _TYPES[precision]
    source = kernel_text("gemm", T=element, **_ANY)
    bytes_each, tile = edge * edge * width, 64 if kernel == "tiled" else 16
    return Launch(
        source=source,
        kernel=kernel,
        arguments=(*(Buffer(bytes=bytes_each),) * 3, _shape(edge, edge, edge)),
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


def mfa_blocks(precision: str) -> tuple[Block, Block]:
    """The blocks of MFA's kernels for Apple7, the larger and the smaller."""
    large = Block(m=48, n=48, k=24 if precision == "FP32" else 32)
    return large, Block(m=32, n=32, k=32)


def mfa_block(precision: str, edge: int, cores: int) -> Block:
    """The block that MFA's second version takes (GEMMKernelDescriptor at 8671cdd)."""
    large, small = mfa_blocks(precision)
    groups = (-(-edge // large.m)) ** 2
    return large if groups > cores * (6 if precision == "FP32" else 9) else small


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
        return _counted(row, chip, _forge_product(precision, block, edge), edge, 1e12)
    if found := _FORGE.match(row.workload):
        return _forge(row, chip, found[1].upper(), found[2], int(found[3]))
    if found := _CUBE.match(row.workload):
        return _cube(row, chip, found[1], found[2], int(found[3]), found[4])
    return _other(row, chip)


def _counted(row: Row, chip: str, launch: Launch, edge: int, unit: float) -> Case:
    return _counted_by(row, chip, _rate(launch, 2.0 * edge**3, unit))


def _forge_product(precision: str, block: Block, edge: int) -> Launch:
    """The source's own kernel, whose text is not known.

    Sums of halves are taken to be halves, since floats would not fit where some of its tiles run,
    and tiles to be carried element by element, since they are slower than MLX's of the same block.
    """
    sums = "half" if precision == "FP16" else "float"
    return gemm(precision, replace(block, piece=1), edge, edge, edge, accumulate=sums)


def _forge(row: Row, chip: str, precision: str, kind: str, edge: int) -> Case:
    if kind in ("naive", "tiled threadgroup"):
        launch = plain(precision, kind.split()[0], edge)
    elif kind == "simdgroup direct":
        launch = _forge_product(precision, DIRECT, edge)
    elif kind == "simdgroup staged":
        launch = _forge_product(precision, STAGED_BF16, edge)
    else:  # MPP, MPS, MLX, torch
        launch = gemm(precision, MLX if kind == "MLX" else APPLE, edge, edge, edge)
    return _counted(row, chip, launch, edge, 1e12)


def _cube(row: Row, chip: str, library: str, precision: str, edge: int, rest: str) -> Case:
    if library == "MFA":
        return _counted_by(row, chip, _mfa_rate(precision, edge, rest))
    unit = 1e12 if row.metric == "tflops" else 1e9
    block = APPLE if chip_of(chip).family >= _DIRECT_FAMILY else MLX
    if edge <= 512:
        block = replace(block, m=_SMALL, n=_SMALL)
    launch = gemm(precision, block, edge, edge, edge)
    # MPS encodes every product into a pass of its own, and torch calls MPS.
    predict = _rate(launch, 2.0 * edge**3, unit, own_pass=True)
    status, why = Status.COUNTED, ""
    if "host timed" in rest:
        status, why = Status.SHOWN, "includes the host's time"
    elif edge >= 8192:
        status, why = Status.SHOWN, "the source says that the machine slows down with heat"
    return Case(row=row, chip=chip, group=GROUP, status=status, why=why, predict=predict)


def _counted_by(row: Row, chip: str, predict: Predict) -> Case:
    return Case(row=row, chip=chip, group=GROUP, status=Status.COUNTED, predict=predict)


_MFA_COMMANDS = 20  # dispatches of a command buffer in MFA's benchmark (main.cpp at 8671cdd)


def _mfa_rate(precision: str, edge: int, rest: str) -> Predict:
    """MFA on Apple7, in GFLOP/s: the first version's best block, or the one that the second takes.

    The table of the first version is titled "max GFLOPS achieved", over an ensemble of kernels.
    """
    flops = 2.0 * edge**3
    if not rest.strip():
        return _fastest([mfa(precision, block, edge) for block in mfa_blocks(precision)], flops)
    transposed = rest.strip() if "study" not in rest else "NN"

    def predict(machine: Machine) -> float:
        block = mfa_block(precision, edge, machine.cores)
        # GEMMDescriptor+PipelineCache at 8671cdd; for 48x48x32 it depends on occupancy.
        back = (block.m, block.k) != (48, 32)
        launch = mfa(precision, block, edge, transposed=transposed, copies_back=back)
        start = machine.overheads.command_buffer / 1e9 / _MFA_COMMANDS
        return flops / (machine.in_turn(launch) + start) / 1e9

    return predict


def _fastest(launches: list[Launch], flops: float) -> Predict:
    """GFLOP/s of the fastest."""

    def predict(machine: Machine) -> float:
        return flops / min(machine.in_turn(launch) for launch in launches) / 1e9

    return predict


_MATRIX_RATE = "gemm simdgroup_matrix FP16"


def _other(row: Row, chip: str) -> Case | None:
    if row.workload == "MFA best FP16 GEMM":
        rate = _mfa_rate("FP16", 3072, "")
        return _counted_by(row, chip, lambda machine: 100 * rate(machine) * 1e9 / machine.peak)
    large = {
        "gemm-kernel/matrix FFMA16": ("FP16", MLX, 2048),
        "gemm-kernel/matrix FFMA32": ("FP32", MLX, 2048),
        _MATRIX_RATE: ("FP16", DIRECT, 4096),
        "MPS GEMM FP32 peak": ("FP32", MLX, 4096),
    }.get(row.workload)
    if large is None:
        return None
    precision, block, edge = large
    launch = gemm(precision, block, edge, edge, edge)
    flops = 2.0 * edge**3

    def predict(machine: Machine) -> float:
        rate = flops / machine.in_turn(launch)
        if row.metric == "ffma_per_core_cycle":
            return rate / 2 / machine.cores / machine.chip.clock
        return rate / 1e12

    # Of M5 Max no other rate of the matrix instruction is published: its interval is from here.
    status = Status.FITTED if row.workload == _MATRIX_RATE else Status.COUNTED
    return Case(row=row, chip=chip, group=GROUP, status=status, predict=predict)
