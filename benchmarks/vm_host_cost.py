"""Host cost of a dispatch through IREE's program: VM, HAL, driver, Metal calls, engine.

    python benchmarks/vm_host_cost.py

A chain of small matrix products, each one dispatch; kernels run for a few microseconds at most.
Reports microseconds per dispatch in one call of all of them, and the cost of a call of one.
"""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from assay.hal.vm import LoadedModule, Session

DISPATCHES = 64
REPEATS = 30


def chain(count: int) -> str:
    """MLIR of `count` products of 16x16 matrices, one after the other."""
    tensor = "tensor<16x16xf32>"
    lines = [
        f"func.func @main(%h0: {tensor}, %w: {tensor}) -> {tensor} {{",
        "  %z = arith.constant 0.0 : f32",
    ]
    for i in range(count):
        lines += [
            f"  %e{i} = tensor.empty() : {tensor}",
            f"  %f{i} = linalg.fill ins(%z : f32) outs(%e{i} : {tensor}) -> {tensor}",
            f"  %h{i + 1} = linalg.matmul ins(%h{i}, %w : {tensor}, {tensor})"
            f" outs(%f{i} : {tensor}) -> {tensor}",
        ]
    return "\n".join([*lines, f"  return %h{count} : {tensor}", "}"])


def compiled(text: str, *flags: str) -> bytes:
    tool = Path(sys.executable).with_name("iree-compile")
    command = [str(tool), "-", "--iree-hal-target-device=metal", *flags, "-o", "-"]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def seconds_per_call(module: LoadedModule) -> float:
    inputs = (np.eye(16, dtype=np.float32), np.eye(16, dtype=np.float32))
    for _ in range(3):
        module.invoke("main", *inputs)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(REPEATS):
            module.invoke("main", *inputs)
        best = min(best, (time.perf_counter() - start) / REPEATS)
    return best


def main() -> None:
    for name, flags in (
        ("recorded once", ()),
        ("recorded at every call", ("--iree-hal-indirect-command-buffers=false",)),
    ):
        module = Session().load(compiled(chain(DISPATCHES), *flags))
        per_dispatch = seconds_per_call(module) / DISPATCHES
        print(f"{name}: {1e6 * per_dispatch:.0f} us per dispatch in a call of {DISPATCHES}")
    module = Session().load(compiled(chain(1)))
    print(f"a call of one dispatch, arrays in and out: {1e6 * seconds_per_call(module):.0f} us")


if __name__ == "__main__":
    main()
