"""Errors end in the user's own line."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from assay.tracebacks import ends_in_caller, is_ours

ROOT = Path(__file__).parents[2]
OUT_OF_BOUNDS = """
import numpy as np
from assay import mlx

kernel = mlx.metal_kernel(
    name="read", input_names=["x"], output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = x[i + 9000];",
)
x = np.ones(64, np.float32)
kernel(inputs=[x], grid=(64, 1, 1), threadgroup=(32, 1, 1), output_shapes=[(64,)],
       output_dtypes=[np.float32])
"""
NO_KERNEL = """
import assay

assay.check_kernel("kernel void one() {}", "two")
"""


def run(tmp_path: Path, text: str, *before: str, **variables: str) -> str:
    """What a script prints to stderr, which it must end with an error."""
    script = tmp_path / "script.py"
    script.write_text(text)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        [sys.executable, *before, script], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 1, done.stdout
    return done.stderr


@pytest.mark.sampled(3)
@pytest.mark.parametrize("text", [OUT_OF_BOUNDS, NO_KERNEL])
@pytest.mark.parametrize("before", [(), ("-m", "assay.run"), ("-m", "assay", "time")])
def test_an_error_ends_in_the_line_of_the_script(
    tmp_path: Path, text: str, before: tuple[str, ...]
) -> None:
    shown = run(tmp_path, text, *before)
    frames = [line for line in shown.splitlines() if line.startswith("  File ")]
    assert len(frames) == 1, shown
    assert "script.py" in frames[0]
    assert "out-of-bounds read" in shown or "two" in shown


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("call", "said"),
    [
        ('compile("no.onnx")', "no.onnx: there is no such file"),
        ('load("no.vmfb")', "no.vmfb: there is no such file"),
        ('time("no.metal")', "no.metal: cannot be read"),
        ('timing("m9")', "chip 'm9' is not known"),
        ('checking("rice")', "'rice' is no check"),
        ('patch("numpy")', "numpy: it cannot be patched"),
    ],
)
def test_what_is_wrong_with_a_call_is_said_in_its_line(
    tmp_path: Path, call: str, said: str
) -> None:
    shown = run(tmp_path, f"import assay\nassay.{call}\n")
    frames = [line for line in shown.splitlines() if line.startswith("  File ")]
    assert len(frames) == 1 and "script.py" in frames[0], shown
    assert said in shown


def test_all_frames_are_there_for_who_asks(tmp_path: Path) -> None:
    shown = run(tmp_path, NO_KERNEL, ASSAY_TRACEBACK="full")
    assert "tracebacks.py" in shown and "kernel.py" in shown


def frames_of(error: BaseException) -> list[str]:
    return [frame.name for frame in traceback.extract_tb(error.__traceback__)]


def test_internal_errors_keep_their_frames() -> None:
    def broken() -> None:
        raise KeyError("lost")

    with pytest.raises(KeyError) as found:
        ends_in_caller(broken)()
    assert frames_of(found.value)[-1] == "broken"


def test_other_errors_have_one_frame_of_ours() -> None:
    def inner() -> None:
        raise ValueError("wrong")

    def outer() -> None:
        ends_in_caller(inner)()

    with pytest.raises(ValueError, match="wrong") as found:
        ends_in_caller(outer)()
    assert frames_of(found.value)[1:] == ["call"]


def test_only_files_of_the_package_are_ours() -> None:
    import assay

    assert is_ours(assay.__file__)
    assert not is_ours(__file__)
