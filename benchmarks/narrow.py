"""Products of half and 8-bit numbers in MSL against what IREE makes for the CPU.

Both run on one thread and take turns with nobody, so processor time counts, the least of some runs.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.compiler.models import compile_model

from . import narrow_sources as sources
from .contenders import OnAssay, peer
from .gemv import HAND_WRITTEN
from .measure import Row
from .workloads import Array, Workload

_SIZE = 512  # of the product's matrices
_WEIGHTS = 2048  # rows and columns of quantised weights
_BLOCK = 32
_WIDTH, _CHANNELS = 56, 64  # of the convolution's result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A workload, and the same for the peer: its MLIR, and its arguments in order.

    `bar` is the most times that the peer's time may be taken.
    """

    workload: Workload
    mlir: str
    arguments: Sequence[Array]
    bar: float


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure each case on one thread."""
    del threads
    found: list[Row] = []
    for make in (_half_gemm, _q8_0, _q4_0, _conv_int8, _conv_int8x4):
        case = make()
        prepared = OnAssay(case.workload, workers=1)
        ours = _least_seconds(prepared.run, max(repetitions, 5))
        prepared.check()
        theirs = _peer_seconds(case)
        found.append(
            Row(
                what=f"{case.workload.title}, one thread",
                who="assay",
                seconds=ours,
                rate=case.workload.rate(ours),
                ratio="" if theirs is None else f"{ours / theirs:.2f} x llvm-cpu's time",
                bar=f"<= {case.bar:g} x",
                passed=None if theirs is None else ours <= case.bar * theirs,
            )
        )
        if theirs is not None:
            rate = case.workload.rate(theirs)
            found.append(Row(what="", who="IREE, llvm-cpu", seconds=theirs, rate=rate))
    return found


def _least_seconds(run: Callable[[], None], repetitions: int) -> float:
    run()
    taken = []
    for _ in range(repetitions):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    return min(taken)


def _peer_seconds(case: _Case) -> float | None:
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        source, module, given, result = (
            Path(name) / each for each in ("peer.mlir", "peer.vmfb", "given.npz", "result.npy")
        )
        source.write_text(case.mlir)
        compile_model(source, module, target="llvm-cpu")
        np.savez(given, *case.arguments)
        found = peer(["benchmarks.peer_iree", str(module), str(given), str(result)])
        if found is None:
            return None
        case.workload.check(np.load(result).reshape(case.workload.expected.shape), "llvm-cpu")
    return found["seconds"]


def _half_gemm() -> _Case:
    random = np.random.default_rng(2)
    a, b = random.standard_normal((2, _SIZE, _SIZE), np.float32).astype(np.float16)
    workload = Workload(
        kernel="half_gemm",
        title=f"tiled GEMM {_SIZE}^3, half, float sums",
        buffers=[a, b, np.zeros((_SIZE, _SIZE), np.float32), np.array([_SIZE], np.uint32)],
        result=2,
        expected=a.astype(np.float32) @ b.astype(np.float32),
        tolerance=1e-5,
        threads=(_SIZE, _SIZE, 1),
        threadgroup=(16, 16, 1),
        work=2.0 * _SIZE**3,
        source=sources.MSL,
    )
    return _Case(workload=workload, mlir=sources.product(_SIZE), arguments=[a, b], bar=6.0)


def _conv_int8() -> _Case:
    return _convolution("conv_int8", rows=False, pixels=4, bar=3.0)


def _conv_int8x4() -> _Case:
    return _convolution("conv_int8x4", rows=True, pixels=1, bar=1.0)


def _convolution(kernel: str, *, rows: bool, pixels: int, bar: float) -> _Case:
    """A kernel whose threads compute so many pixels each."""
    random = np.random.default_rng(3)
    padded = _WIDTH + 2
    image = random.integers(-128, 128, (1, padded, padded, _CHANNELS), np.int8)
    weights = random.integers(-128, 128, (3, 3, _CHANNELS, _CHANNELS), np.int8)
    expected = np.zeros((_WIDTH, _WIDTH, _CHANNELS))
    for y, x in np.ndindex(3, 3):
        window = image[0, y : y + _WIDTH, x : x + _WIDTH].astype(np.float64)
        expected += window @ weights[y, x].astype(np.float64)
    if rows:
        weights = np.ascontiguousarray(weights.transpose(3, 0, 1, 2))
    layout = "OHWI, four inputs at once" if rows else "HWIO"
    workload = Workload(
        kernel=kernel,
        title=f"convolution 3x3 of {_WIDTH}x{_WIDTH}x{_CHANNELS}, int8, {layout}",
        buffers=[
            image,
            weights,
            np.zeros((_WIDTH, _WIDTH, _CHANNELS), np.int32),
            np.array([_WIDTH, _CHANNELS, _CHANNELS], np.uint32),
        ],
        result=2,
        expected=expected,
        tolerance=0.0,
        threads=(_CHANNELS, _WIDTH // pixels, _WIDTH),
        threadgroup=(_CHANNELS, 1, 1),
        work=2.0 * 9 * _WIDTH**2 * _CHANNELS**2,
        unit="GOP/s",
        source=sources.MSL,
    )
    mlir = sources.convolution(_WIDTH, _CHANNELS, rows=rows)
    return _Case(workload=workload, mlir=mlir, arguments=[image, weights], bar=bar)


def _q8_0() -> _Case:
    random = np.random.default_rng(4)
    blocks = np.zeros((_WEIGHTS, _WEIGHTS // _BLOCK), [("d", "<f2"), ("qs", "i1", 32)])
    blocks["d"] = random.uniform(-0.01, 0.01, blocks.shape)
    blocks["qs"] = random.integers(-128, 128, (*blocks.shape, 32))
    x = random.standard_normal((_WEIGHTS // _BLOCK, 32), np.float32)
    weights = blocks["qs"] * blocks["d"][..., None].astype(np.float64)
    workload = _gemv("q8", 8, blocks, x, weights.reshape(_WEIGHTS, _WEIGHTS))
    return _Case(
        workload=workload,
        mlir=sources.q8(_WEIGHTS),
        arguments=[blocks["qs"].copy(), blocks["d"].copy(), x],
        bar=2.0,
    )


def _q4_0() -> _Case:
    random = np.random.default_rng(5)
    blocks = np.zeros((_WEIGHTS, _WEIGHTS // _BLOCK), [("d", "<f2"), ("qs", "u1", 16)])
    blocks["d"] = random.uniform(-0.1, 0.1, blocks.shape)
    blocks["qs"] = random.integers(0, 256, (*blocks.shape, 16))
    x = random.standard_normal((_WEIGHTS // _BLOCK, 32), np.float32)
    quants = np.concatenate([blocks["qs"] & 15, blocks["qs"] >> 4], axis=-1).astype(np.float64) - 8
    weights = quants * blocks["d"][..., None].astype(np.float64)
    workload = _gemv("q4", 4, blocks, x, weights.reshape(_WEIGHTS, _WEIGHTS))
    return _Case(
        workload=workload,
        mlir=sources.q4(_WEIGHTS),
        arguments=[
            blocks["qs"].view(np.int8).copy(),
            blocks["d"].copy(),
            x[:, :16].copy(),
            x[:, 16:].copy(),
        ],
        bar=2.0,
    )


def _gemv(name: str, bits: int, blocks: Array, x: Array, weights: Array) -> Workload:
    shape = np.array([_WEIGHTS, _WEIGHTS, 1, _WEIGHTS // _BLOCK], np.uint32)
    return Workload(
        kernel=f"matvec_{name}",
        title=f"{name.upper()}_0 {_WEIGHTS} x {_WEIGHTS} times a vector",
        buffers=[blocks, x, np.zeros(_WEIGHTS, np.float32), shape],
        result=2,
        expected=weights @ x.reshape(-1).astype(np.float64),
        tolerance=1e-4,
        threads=(_WEIGHTS // 8 * 64, 1, 1),
        threadgroup=(64, 1, 1),
        work=2.0 * _WEIGHTS**2,
        source=f"#define WEIGHTS {bits}\n{HAND_WRITTEN.read_text()}",
    )
