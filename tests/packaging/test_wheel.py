"""A wheel built from the tree works alone: in an empty environment, from another folder."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "tests" / "models" / "mlir" / "matmul_f32.mlir"


def run(*command: str | Path, cwd: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert not check or done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done


@pytest.mark.slow
def test_the_wheel_runs_a_module_in_an_empty_environment(tmp_path: Path) -> None:
    from assay.compiler.models import compile_model

    compile_model(MODEL, tmp_path / "module.vmfb")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path / "dist", ROOT, cwd=tmp_path)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel, cwd=tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert run(python, "-m", "assay", "--version", cwd=elsewhere).stdout.startswith("assay ")
    done = run(
        python,
        "-m",
        "assay",
        "run",
        "../module.vmfb",
        "--max-elements",
        "2",
        "--input",
        "64x64xf32=1",
        "--input",
        "64x64xf32=2",
        "--trace",
        "run.html",
        cwd=elsewhere,
    )
    assert "64x64xf32=[128 128" in done.stdout
    assert 'id="payload" data-version="1">' in (elsewhere / "run.html").read_text()
    missing = run(python, "-m", "assay", "compile", MODEL, cwd=elsewhere, check=False)
    assert missing.returncode == 1
    assert 'pip install "assay-emulator[iree]"' in missing.stderr
    assert "Traceback" not in missing.stderr
