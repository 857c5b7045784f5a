"""A MobileNet-class f32 network at 224x224 through IREE, against IREE's own CPU backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import assay
from assay.compiler.models import compile_model
from assay.examples import mobilenet

from .measure import Row, median_seconds

BAR = 3.0  # times the CPU backend's time
_SIZE = 224
_TOLERANCE = 1e-3  # relative to the largest probability


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Compile for both, run both on the same number of threads, compare the results."""
    repetitions = min(repetitions, 5)
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        folder = Path(name)
        source = folder / "mobilenet.onnx"
        source.write_bytes(mobilenet.build(size=_SIZE))
        image = np.random.default_rng(0).standard_normal((1, 3, _SIZE, _SIZE), np.float32)
        np.save(folder / "image.npy", image)
        for target in ("metal", "llvm-cpu"):
            compile_model(source, folder / f"{target}.vmfb", target=target)
        ours = _in_process(folder, "metal", threads, repetitions)
        theirs = _in_process(folder, "llvm-cpu", threads, repetitions)
        _compare(np.load(folder / "metal.npy"), np.load(folder / "llvm-cpu.npy"))
    ratio = ours / theirs
    return [
        Row(
            what=f"MobileNetV2 {_SIZE}x{_SIZE}, f32",
            who="assay, metal",
            seconds=ours,
            ratio=f"{ratio:.1f} x llvm-cpu's time",
            bar=f"<= {BAR:g} x",
            passed=ratio <= BAR,
        ),
        Row(what="", who="IREE, llvm-cpu", seconds=theirs),
    ]


def _compare(found: np.ndarray, expected: np.ndarray) -> None:
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    if not error <= _TOLERANCE:
        raise SystemExit(f"model: results differ by {error:.3g} of the largest value")


def _in_process(folder: Path, target: str, threads: int, repetitions: int) -> float:
    arguments = [str(folder), target, str(threads), str(repetitions)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.model", *arguments],
        env={**os.environ, "ASSAY_WORKERS": str(threads)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def main() -> None:
    """`benchmarks.model FOLDER TARGET THREADS REPETITIONS`: one side of the comparison."""
    folder, target = Path(sys.argv[1]), sys.argv[2]
    threads, repetitions = int(sys.argv[3]), int(sys.argv[4])
    image = np.load(folder / "image.npy")
    module = folder / f"{target}.vmfb"
    results: list[np.ndarray] = []
    if target == "metal":
        loaded = assay.load(module)
        function = _entry(loaded.functions)

        def run() -> None:
            results[:] = loaded[function].invoke([image])
    else:
        import iree.runtime as runtime

        runtime.flags.parse_flags(f"--task_topology_max_group_count={threads}")
        config = runtime.Config("local-task")
        vm_module = runtime.VmModule.copy_buffer(config.vm_instance, module.read_bytes())
        bound = runtime.SystemContext(vm_modules=[vm_module], config=config).modules[vm_module.name]
        function = _entry(vm_module.function_names)

        def run() -> None:
            results[:] = [bound[function](image).to_host()]

    seconds = median_seconds(run, repetitions)
    np.save(folder / f"{target}.npy", results[0])
    print(json.dumps({"seconds": seconds}))


def _entry(names: Iterable[str]) -> str:
    """The plain entry point among a module's functions."""
    return next(name for name in names if not name.startswith("__") and "$" not in name)


if __name__ == "__main__":
    main()
