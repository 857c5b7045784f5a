"""Standard streams that are closed or full are no faults of ours."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """#include <metal_stdlib>
kernel void k(device float* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] = 2; }
"""
COMMANDS = [
    "check k.metal",
    "check k.metal --json",
    "check k.metal --format junit",
    "time k.metal --grid 1024 --threadgroup 64",
    "inspect k.metal",
    "check --help",
    "--version",
]
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("streams")
    (path / "k.metal").write_text(KERNEL)
    return path


def run(folder: Path, command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """`assay COMMAND`, where the shell redirects as the command says."""
    line = f"{sys.executable} -m assay {command}"
    full = {**os.environ, **environment}
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, env=full, capture_output=True, text=True, check=False
    )


@pytest.mark.sampled(4)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_closed_stdout_changes_nothing_but_that_nothing_is_printed(
    folder: Path, command: str
) -> None:
    done = run(folder, f"{command} >&-")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.sampled(2)
@FULL
@pytest.mark.parametrize(
    ("command", "unbuffered"), [*((command, "") for command in COMMANDS), (COMMANDS[0], "1")]
)
def test_a_full_stdout_is_named_and_ends_with_2(
    folder: Path, command: str, unbuffered: str
) -> None:
    done = run(folder, f"{command} >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert done.returncode == 2
    assert done.stderr == (
        "error: the output cannot be written to stdout: No space left on device\n"
    )


@FULL
@pytest.mark.parametrize(
    "where",
    [
        "2>/dev/full",
        pytest.param("2>&-", marks=pytest.mark.slow),
        pytest.param("<&- >&- 2>&-", marks=pytest.mark.slow),
        ">/dev/full 2>/dev/full",
    ],
)
def test_without_a_place_for_messages_the_exit_code_tells(folder: Path, where: str) -> None:
    assert run(folder, f"check none.metal {where}").returncode == 2
    assert run(folder, f"check k.metal {where}").returncode == (2 if ">/dev/full 2" in where else 0)


@FULL
def test_an_error_as_json_on_a_full_stdout_is_still_told(folder: Path) -> None:
    done = run(folder, "check none.metal --json >/dev/full")
    assert done.returncode == 2
    assert "error: none.metal: there is no such file\n" in done.stderr
    assert "Traceback" not in done.stderr


@FULL
def test_a_full_disk_under_the_report_is_not_said_of_stdout(folder: Path) -> None:
    done = run(folder, "check k.metal --format json --output /dev/full")
    assert done.returncode == 2
    assert "No space left on device" in done.stderr
    assert "stdout" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error(folder: Path) -> None:
    done = run(folder, "check --help | head -1")
    assert done.stderr == ""
