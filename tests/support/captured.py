"""Captures that IREE's own tools write here, and what they would have held on a Mac.

`iree-run-module` captures a run on this processor. What differs on a Mac is exchanged: the
executables for those that IREE compiles for Metal, and the counts of workgroups for theirs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from struct import Struct
from typing import Any

import numpy as np
import pytest

import assay
from assay.compiler.models import compile_model
from assay.hal.captures.codes import Op
from assay.hal.metal.command_buffer import MetalCommandBuffer
from assay.hal.metal.executable import MetalExecutableCache

SAME = ("--iree-opt-data-tiling=false", "--iree-hal-link-executables=false")
"""So that both backends have the same kernels in the same executables."""
RECORD = Struct("<7QIHH5I4xQ")
PREPARE = Struct("<QQQIIII")
COUNTS = slice(36, 48)
FILE_LENGTH = slice(16, 24)

MODEL = """
func.func @f(%a: tensor<4x8xf32>) -> (tensor<4x16xf32>, tensor<4xf32>) {
  %w = arith.constant dense<WEIGHTS> : tensor<8x16xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  %r = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x16xf32>)
                     outs(%i : tensor<4x16xf32>) -> tensor<4x16xf32>
  %n = tensor.empty() : tensor<4xf32>
  %m = linalg.fill ins(%z : f32) outs(%n : tensor<4xf32>) -> tensor<4xf32>
  %s = linalg.reduce ins(%r : tensor<4x16xf32>) outs(%m : tensor<4xf32>) dimensions = [1]
    (%x: f32, %y: f32) { %t = arith.addf %x, %y : f32  linalg.yield %t : f32 }
  return %r, %s : tensor<4x16xf32>, tensor<4xf32>
}
"""
WEIGHTS = (np.arange(128).reshape(8, 16) % 7 - 3.0).astype(np.float32)
INPUT = (np.arange(32).reshape(4, 8) % 5).astype(np.float32)


def write_model(folder: Path) -> Path:
    """A model of two kernels, with weights in it and two results."""
    path = folder / "model.mlir"
    path.write_text(MODEL.replace("WEIGHTS", str(WEIGHTS.tolist())))
    return path


def capture(
    source: Path, inputs: Sequence[np.ndarray], *options: str, results: int = 1
) -> tuple[Path, list[np.ndarray]]:
    """A run of a model's `f` on this processor, as IREE captures it, and its results."""
    folder = source.parent
    module = folder / "cpu.vmfb"
    compile_model(source, module, target="llvm-cpu", flags=SAME)
    command = [sys.executable, "-m", "iree._runtime.scripts.iree_run_module"]
    command += [f"--module={module}", "--device=local-sync", "--function=f"]
    for number, array in enumerate(inputs):
        np.save(folder / f"in{number}.npy", array)
        command.append(f"--input=@{folder / f'in{number}.npy'}")
    made = folder / "cpu.ireereplay"
    files = [folder / f"out{number}.npy" for number in range(results)]
    command += [f"--device_replay_output={made}", *(f"--output=@{file}" for file in files)]
    subprocess.run([*command, *options], check=True, capture_output=True)
    return made, [np.load(file) for file in files]


def on_metal(
    captured: Path, source: Path, inputs: Sequence[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The capture as a Mac would have it."""
    executables, counts = _seen_on_metal(source, inputs, monkeypatch)
    prepared, dispatched = iter(executables), iter(counts)
    data = captured.read_bytes()
    made, offset = bytearray(data[:24]), 24
    while offset < len(data):
        fields = list(RECORD.unpack_from(data, offset))
        payload = bytearray(data[offset + fields[7] : offset + fields[0]])
        offset += fields[0]
        if fields[8] == 3 and fields[12] == Op.PREPARE_EXECUTABLE:
            payload = _prepared(*next(prepared))
        if fields[8] == 3 and fields[12] in (Op.DISPATCH, Op.QUEUE_DISPATCH):
            payload[COUNTS] = np.uint32(next(dispatched)).tobytes()
        fields[0], fields[1], fields[7] = RECORD.size + len(payload), len(payload), RECORD.size
        made += RECORD.pack(*fields) + payload
    made[FILE_LENGTH] = len(made).to_bytes(8, "little")
    target = captured.with_name("metal.ireereplay")
    target.write_bytes(made)
    return target


def _prepared(name: str, executable: bytes) -> bytearray:
    head = PREPARE.pack(0, len(executable), 0, 0, len(name), 0, 0)
    return bytearray(head + name.encode() + executable)


def _seen_on_metal(
    source: Path, inputs: Sequence[np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> tuple[list[tuple[str, bytes]], list[Any]]:
    """The executables that a run on Metal prepares, and the counts of what it dispatches."""
    executables: list[tuple[str, bytes]] = []
    counts: list[Any] = []
    prepare, dispatch = MetalExecutableCache.prepare, MetalCommandBuffer.dispatch

    def prepared(self: Any, name: str, data: memoryview, constants: Sequence[int]) -> Any:
        executables.append((name, bytes(data)))
        return prepare(self, name, data, constants)

    def dispatched(self: Any, executable: Any, number: int, workgroups: Any, *rest: Any) -> None:
        counts.append(workgroups)
        dispatch(self, executable, number, workgroups, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(MetalExecutableCache, "prepare", prepared)
        patched.setattr(MetalCommandBuffer, "dispatch", dispatched)
        assay.load(compile_model(source, flags=SAME).data).f(*inputs)
    return executables, counts
