"""Generated products of a matrix with a vector against the best that is written by hand here."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.compiler.foundry.formats import Packed, format_of
from assay.compiler.foundry.library import fused_gemv
from assay.compiler.msl import compile_library
from assay.sim.simt import Memory, dispatch

from .measure import Row

BAR = 0.9
_SIZE = 2048
HAND_WRITTEN = Path(__file__).parent / "validation" / "kernels" / "llama.metal"
# The kernel, its value of WEIGHTS, rows of a threadgroup, and threads of one.
_KERNELS = {
    "f16": ("matvec_f16", 16, 1, 32),
    "q8_0": ("matvec_q8", 8, 8, 64),
    "q4_0": ("matvec_q4", 4, 8, 64),
}


@dataclass(frozen=True, slots=True)
class Contender:
    """Who it is, one run, and what it computed."""

    who: str
    run: Callable[[], None]
    result: np.ndarray[Any, np.dtype[np.float32]]


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Runs of both take turns; the processor time of the fastest counts."""
    found: list[Row] = []
    for name in _KERNELS:
        random = np.random.default_rng(0)
        weights = random.normal(size=(_SIZE, _SIZE)).astype(np.float32) / 32
        x = random.normal(size=_SIZE).astype(np.float32)
        packed = format_of(name).pack(weights)
        pair = (_generated(name, packed, x, threads), _by_hand(name, packed, x, threads))
        seconds = _fastest(pair, repetitions)
        expected = format_of(name).unpack(packed) @ x
        for each in pair:
            if not np.allclose(each.result, expected, atol=1e-3):
                raise AssertionError(f"{each.who} computes {name} wrong")
        found += _compared(name, pair, seconds)
    return found


def _compared(name: str, pair: tuple[Contender, Contender], seconds: list[float]) -> list[Row]:
    share = seconds[1] / seconds[0]
    rates = [f"{2 * _SIZE**2 / each / 1e9:.2f} GFLOP/s" for each in seconds]
    return [
        Row(
            what=f"{name} {_SIZE} x {_SIZE} times a vector",
            who=pair[0].who,
            seconds=seconds[0],
            rate=rates[0],
            ratio=f"{share:.2f} x by hand",
            bar=f">= {BAR:g} x",
            passed=share >= BAR,
        ),
        Row(what="", who=pair[1].who, seconds=seconds[1], rate=rates[1]),
    ]


def _fastest(pair: tuple[Contender, ...], repetitions: int) -> list[float]:
    best = [float("inf")] * len(pair)
    for _ in range(max(repetitions, 3)):
        for number, each in enumerate(pair):
            start = time.process_time()
            each.run()
            best[number] = min(best[number], time.process_time() - start)
    return best


def _generated(name: str, packed: Packed, x: Any, threads: int) -> Contender:
    declared, grid_of = fused_gemv([format_of(name)], [_SIZE])
    y = np.zeros(_SIZE, np.float32)
    values: dict[str, Any] = {
        "matrix": packed.matrix,
        "scales": np.zeros(4, np.uint8),
        "x": x,
        "y": y,
    }
    params: Any = declared.arguments["params"]
    values["params"] = np.frombuffer(params.layout.pack(params.make(values), "", {}), np.uint8)
    grid = grid_of(values)
    in_order = [values[each] for each in sorted(values, key=lambda each: declared.indices[each])]
    return _contender(
        "assay.foundry", declared.source, declared.function, in_order, 3, grid, threads
    )


def _by_hand(name: str, packed: Packed, x: Any, threads: int) -> Contender:
    kernel, weights, of_group, width = _KERNELS[name]
    text = f"#define WEIGHTS {weights}\n{HAND_WRITTEN.read_text()}"
    shape = np.array([_SIZE, _SIZE, 1, _SIZE // 32], np.uint32)
    values = [packed.matrix, x, np.zeros(_SIZE, np.float32), shape]
    grid = _Grid((_SIZE // of_group, 1, 1), (width, 1, 1))
    return _contender(f"{kernel} by hand", text, kernel, values, 2, grid, threads)


@dataclass(frozen=True, slots=True)
class _Grid:
    threadgroups: tuple[int, int, int]
    threads: tuple[int, int, int]


def _contender(
    who: str, source: str, kernel: str, values: list[Any], result: int, grid: Any, workers: int
) -> Contender:
    program = compile_library(source).function(kernel).program()
    executable = program.specialise(grid.threads)
    memory = Memory()
    placed = [each.reshape(-1).view(np.uint8).copy() for each in values]
    addresses = [memory.register(each, name=f"buffer {i}") for i, each in enumerate(placed)]
    total = tuple(g * t for g, t in zip(grid.threadgroups, grid.threads, strict=True))

    def run() -> None:
        dispatch(executable, memory, addresses, threads=total, workers=workers)

    run()
    return Contender(who, run, placed[result].view(np.float32))
