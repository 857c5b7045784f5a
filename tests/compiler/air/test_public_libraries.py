"""Libraries that Apple's compiler made and wheels for Macs carry: they open, run and are right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from assay.compiler.air import AirLibrary, open_library
from tests.support.wheels import member

pytestmark = pytest.mark.slow
_PROGRAM = Path(__file__).parents[2] / "programs" / "pyobjc_mlx.py"
_MLX = ("mlx-metal==0.32.4", "mlx/lib/mlx.metallib")
_EXECUTORCH = ("executorch==1.5.1", "executorch/lib/mlx.metallib")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("wheels")


@pytest.fixture(scope="module")
def mlx(wheels: Path) -> Path:
    return member(*_MLX, wheels)


def imported(library: AirLibrary, names: tuple[str, ...]) -> dict[str, str]:
    """Why kernels cannot be read into the engine, by name; every constant is 1."""
    refused = {}
    for name in names:
        needed = library.containers[0].functions[name].constants
        try:
            kernel = library.function(name, {each.index: 1 for each in needed})
            assert kernel.program().function.blocks
        except Exception as error:
            refused[name] = str(error)
    return refused


def test_all_kernels_of_a_small_library_are_imported(wheels: Path) -> None:
    folder = wheels / "executorch"
    folder.mkdir()
    library = open_library(member(*_EXECUTORCH, folder))
    assert len(library.function_names) == 164
    assert imported(library, library.function_names) == {}


def test_a_sample_of_a_large_library_is_imported(mlx: Path) -> None:
    library = open_library(mlx)
    assert len(library.function_names) == 17_248
    assert imported(library, library.function_names[::173]) == {}


def test_a_host_program_of_mlx_runs_unchanged(mlx: Path) -> None:
    command = [sys.executable, "-m", "assay.run", _PROGRAM, mlx]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    names = ("rms_norm", "softmax", "steel_gemm", "sdpa_vector", "qmv")
    assert done.stdout.splitlines() == [f"{name} is right: True" for name in names], done.stderr
