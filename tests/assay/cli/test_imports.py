"""Commands start fast: each imports only what its kind of file needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from assay.hal.torq.write import write_executable
from tests.support.torq_executables import multiply

PROGRAM = """
import sys
from assay.cli import main
sys.argv = ["assay", *sys.argv[1:]]
try:
    main()
finally:
    print("|".join(sys.modules), file=sys.stderr)
"""
KERNEL = """
#include <metal_stdlib>
using namespace metal;
kernel void twice(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    x[i] *= 2;
}
"""
MACHINERY = ("numpy", "llvmlite", "simpy", "ml_dtypes", "flatbuffers", "perfetto")
APPLE = ("assay.hw.apple", "assay.hal.metal", "assay.compiler.msl", "assay.sim.simt")
NPU = ("assay.hw.torq", "assay.hal.torq", "assay.compiler.torq")
MODELS = ("iree", "onnx", "assay.hal.vm", "assay.compiler.models")
NEVER = ("numba", "torch", "xdsl", "z3", "matplotlib", "scipy", "pytest", "IPython")


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    (folder / "twice.metal").write_text(KERNEL)
    (folder / "multiply.torq").write_bytes(write_executable(multiply()))
    return folder


def imported(*arguments: str, folder: Path) -> set[str]:
    """The modules that a command has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.strip().splitlines()[-1].split("|"))


def among(modules: set[str], forbidden: tuple[str, ...]) -> list[str]:
    """The modules that are forbidden ones or in them."""
    return sorted(m for m in modules if any(m == f or m.startswith(f + ".") for f in forbidden))


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "arguments",
    ["--help", "--version", "check --help", "time --help", "run --help", "torq --help"],
)
def test_help_imports_no_machine_and_nothing_that_computes(files: Path, arguments: str) -> None:
    modules = imported(*arguments.split(), folder=files)
    assert among(modules, MACHINERY + APPLE + NPU + MODELS + NEVER) == []


@pytest.mark.parametrize(
    "arguments",
    [
        "check twice.metal",
        pytest.param("time twice.metal --grid 1024 --chip m1", marks=pytest.mark.slow),
        pytest.param("inspect twice.metal", marks=pytest.mark.slow),
    ],
)
def test_nothing_of_the_npu_is_imported_for_a_kernel(files: Path, arguments: str) -> None:
    modules = imported(*arguments.split(), folder=files)
    assert among(modules, NPU + MODELS + NEVER) == []


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "arguments",
    [
        "run multiply.torq --input 136xi8=1",
        "check multiply.torq",
        "time multiply.torq",
        "inspect multiply.torq",
    ],
)
def test_nothing_of_apples_is_imported_for_an_npu_program(files: Path, arguments: str) -> None:
    modules = imported(*arguments.split(), folder=files)
    assert among(modules, APPLE + MODELS + NEVER) == []


def test_a_kernel_from_the_cache_is_not_rewritten_again(files: Path) -> None:
    imported("check", "twice.metal", folder=files)
    modules = imported("check", "twice.metal", folder=files)
    assert (
        among(modules, ("assay.compiler.msl.rewrite.rewrite", "assay.compiler.msl.rewrite.air"))
        == []
    )


@pytest.mark.parametrize("module", ["assay", "assay.compiler.msl", "assay.hal.torq.archive"])
def test_a_front_end_imports_no_engine(module: str) -> None:
    code = f"import sys, {module}; print('|'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    forbidden = ("assay.sim.simt", "assay.hw.apple.core", "llvmlite", "simpy", *MODELS, *NEVER)
    assert among(set(done.stdout.strip().split("|")), forbidden) == []
