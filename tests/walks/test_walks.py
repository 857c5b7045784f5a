"""New users' first minutes: in an environment of their own, installed as README says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.support.transposes import transposes

ROOT = Path(__file__).parents[2]
WALKS = Path(__file__).parent
_LONGEST = 180
"""Seconds after which a new user would have given up."""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an empty environment in which a copy of the checkout is installed."""
    folder = tmp_path_factory.mktemp("user")
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_symlink() or (ROOT / name).is_file():
            (folder / "assay" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "assay" / name, follow_symlinks=False)
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    _run(folder, programs, "pip", "install", "--quiet", "-e", "./assay[notebook]")
    # Who has such notebooks has PyTorch; the build for CPUs is enough.
    _run(folder, programs, "pip", "install", "--quiet", "torch==2.13.0+cpu", check=False)
    return programs


def _run(
    folder: Path, programs: Path, *command: str | Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    search = f"{programs}{os.pathsep}{os.environ['PATH']}"
    variables = {**inherited, "PATH": search, "HOME": str(folder), "XDG_CACHE_HOME": str(folder)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        timeout=600 if command[0] == "pip" else _LONGEST,
    )
    assert not check or done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done


@pytest.mark.slow
def test_a_notebook(environment: Path, tmp_path: Path) -> None:
    done = _run(tmp_path, environment, "python", WALKS / "notebook.py")
    assert "walked" in done.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the walk is a script for bash")
def test_a_transpose(environment: Path, tmp_path: Path) -> None:
    source = tmp_path / "kernels.metal"
    source.write_text(transposes(1024))
    empty = tmp_path / "empty"
    empty.mkdir()
    done = _run(empty, environment, "bash", WALKS / "transpose.sh", source)
    assert done.stdout.endswith("== walked\n")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the walk is a script for bash")
def test_a_large_library(environment: Path, tmp_path: Path) -> None:
    given = WALKS / "library.metal", WALKS / "include"
    done = _run(tmp_path, environment, "bash", WALKS / "library.sh", *given)
    assert done.stdout.endswith("== walked\n")
