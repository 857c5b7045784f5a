"""Whole models on the device ASSAY equal tinygrad's CPU device; tinygrad's own tests pass on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tinygrad", reason='needs tinygrad: pip install "assay-emulator[tinygrad]"')

ROOT = Path(__file__).parents[2]
MODELS = Path(__file__).parent / "tinygrad_models.py"
CHECKOUT = os.environ.get("ASSAY_TINYGRAD_CHECKOUT", "")
OWN_TESTS = (
    "test/test_tiny.py",
    "test/opt/test_tensor_cores.py",
    "test/backend/test_ops.py",
    "test/backend/test_dtype.py",
    "test/backend/test_dtype_alu.py",
    "test/backend/test_linearizer.py",
)
PYTEST = "import sys, assay.tinygrad, pytest; sys.exit(pytest.main(sys.argv[1:]))"


def environment(tmp_path: Path, device: str, *paths: str | Path) -> dict[str, str]:
    """Variables for tinygrad on `device`. Its CPU device calls clang: it gets that of ziglang."""
    clang = tmp_path / "clang"
    clang.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ziglang clang "$@"\n')
    clang.chmod(0o755)
    return {
        **os.environ,
        "CC": str(clang),
        "DEV": device,
        "PARALLEL": "0",
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *paths))),
    }


@pytest.mark.slow
def test_models_train_as_they_do_on_the_cpu(tmp_path: Path) -> None:
    found = {}
    for device, runner in (("ASSAY", ("-m", "assay.tinygrad")), ("CPU", ())):
        file = tmp_path / f"{device}.npz"
        subprocess.run(
            [sys.executable, *runner, MODELS, file],
            env=environment(tmp_path, device),
            check=True,
            timeout=900,
        )
        found[device] = dict(np.load(file))
    assert len(found["CPU"]) > 40
    assert found["ASSAY"].keys() == found["CPU"].keys()
    for name, expected in found["CPU"].items():
        scale = np.abs(expected).max()
        np.testing.assert_allclose(
            found["ASSAY"][name], expected, rtol=2e-3, atol=2e-4 * scale, err_msg=name
        )


@pytest.mark.slow
@pytest.mark.skipif(
    not CHECKOUT,
    reason="needs ASSAY_TINYGRAD_CHECKOUT, the folder of tinygrad's sources, and torch",
)
@pytest.mark.parametrize("file", OWN_TESTS)
def test_the_tests_of_tinygrad_itself_pass(file: str, tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="tinygrad's tests compare with torch")
    done = subprocess.run(
        [sys.executable, "-c", PYTEST, "-q", "-p", "no:cacheprovider", file],
        cwd=CHECKOUT,
        env=environment(tmp_path, "ASSAY", CHECKOUT),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stdout[-8000:]
    assert " passed" in done.stdout
