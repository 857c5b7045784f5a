"""PyObjC's Metal scripts, run as they are by `python -m assay.run` and `assay python`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parents[1] / "programs"


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "assay.run", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=cwd, timeout=120
    )


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("script", "arguments", "printed"),
    [
        ("pyobjc_saxpy.py", (), "largest error: 0.0\n"),
        ("pyobjc_mandelbrot.py", (64, 48, 30), "64x48: as expected\ninside: True\n"),
        ("pyobjc_statistics.py", (), "mean is right: True\nvariance is right: True\n"),
    ],
)
def test_a_script_runs_unchanged(script: str, arguments: tuple[int, ...], printed: str) -> None:
    done = run(PROGRAMS / script, *arguments)
    assert (done.returncode, done.stdout) == (0, printed), done.stderr


def test_assay_python_is_the_same() -> None:
    command = [sys.executable, "-m", "assay", "python", str(PROGRAMS / "pyobjc_statistics.py")]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "mean is right: True")


def test_everything_behind_the_script_is_the_script_s(tmp_path: Path) -> None:
    script = tmp_path / "arguments.py"
    script.write_text("import sys\nprint(sys.argv)\nsys.exit(7)\n")
    done = run(script, "--device", 3, "-m", "--", "x")
    assert done.returncode == 7
    assert done.stdout == f"{[str(script), '--device', '3', '-m', '--', 'x']}\n"


def test_a_module_runs_too_pytest_for_one(tmp_path: Path) -> None:
    (tmp_path / "test_own.py").write_text(
        "import Metal\n\ndef test_there_is_a_device():\n"
        "    assert Metal.MTLCreateSystemDefaultDevice().name().startswith('Apple')\n"
    )
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


def test_an_error_is_shown_from_the_script_on(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text("import Foundation\nFoundation.NSWindow\n")
    done = run(script)
    assert done.returncode == 1
    assert 'wrong.py", line 2' in done.stderr and "runpy" not in done.stderr
    assert "the stand-in for Foundation has no 'NSWindow'; it has NO, NSASCII" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.py"], 1, "error: nowhere.py: there is no such file"),
        (["-m", "no_such_module"], 1, "error: there is no module 'no_such_module'"),
        (["-m", "no.such.module"], 1, "error: there is no module 'no.such.module'"),
        (["--device", "other", "x.py"], 2, "invalid choice: 'other'"),
        (["--device", "native", "--patch", "mlx", "x.py"], 1, "error: "),
        ([], 2, "the following arguments are required: SCRIPT"),
    ],
)
def test_what_cannot_run_is_told(arguments: list[str], code: int, message: str) -> None:
    done = run(*arguments)
    assert done.returncode == code
    assert message in done.stderr and "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has Apple's own Metal")
def test_the_system_s_metal_is_not_replaced_in_silence() -> None:
    done = run("--device", "native", PROGRAMS / "pyobjc_saxpy.py")
    assert done.returncode == 1
    assert done.stderr.startswith("error: device 'native' is Apple's own Metal")


def test_programs_that_call_mlx_s_own_function_need_no_change(tmp_path: Path) -> None:
    pytest.importorskip(
        "mlx.core", reason="MLX is not installed: pip install 'assay-emulator[mlx]'"
    )
    script = tmp_path / "double.py"
    script.write_text(
        "import mlx.core as mx\n"
        "assert mx.metal.is_available()\n"
        "kernel = mx.fast.metal_kernel(name='double_', input_names=['a'], output_names=['b'],\n"
        "    source='b[thread_position_in_grid.x] = 2 * a[thread_position_in_grid.x];')\n"
        "print(kernel(inputs=[mx.arange(3)], grid=(3, 1, 1), threadgroup=(3, 1, 1),\n"
        "    output_shapes=[(3,)], output_dtypes=[mx.int32])[0].tolist())\n"
    )
    done = run("--patch", "mlx", script)
    assert (done.returncode, done.stdout) == (0, "[0, 2, 4]\n"), done.stderr
    command = [sys.executable, "-m", "assay", "python", "--patch", "mlx", str(script)]
    again = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (again.returncode, again.stdout) == (0, "[0, 2, 4]\n"), again.stderr


def test_programs_that_call_pytorch_s_own_function_need_no_change(tmp_path: Path) -> None:
    pytest.importorskip(
        "torch", reason="PyTorch is not installed: pip install 'assay-emulator[torch]'"
    )
    script = tmp_path / "one.py"
    script.write_text(
        "import torch\n"
        "lib = torch.mps.compile_shader('kernel void one(device int* x) { *x = 1; }')\n"
        "x = torch.zeros(1, dtype=torch.int32)\nlib.one(x)\nprint(x.item())\n"
    )
    done = run("--patch", "torch", script)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr


def test_one_import_changed_does_as_well() -> None:
    import assay.metal as Metal
    from assay.hal.metal import emulated

    assert set(Metal.__all__) == set(emulated.__all__)
    device = Metal.MTLCreateSystemDefaultDevice()
    buffer = device.newBufferWithLength_options_(8, Metal.MTLResourceStorageModeShared)
    buffer.contents().as_buffer(8)[:] = b"12345678"
    assert bytes(buffer.contents().as_buffer(4)) == b"1234"
