"""Wheels for Macs from the package index, for tests; nothing of them is kept in this project."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path

import pytest

_SECONDS = 300


def member(requirement: str, name: str, folder: Path) -> Path:
    """A file out of a wheel for Macs, such as `mlx-metal==0.32.4`, put into `folder`.

    Skips the test where the package index is not to be had.
    """
    found = _wheel(requirement, folder)
    if isinstance(found, str):
        pytest.skip(f"{requirement} is not to be had: {found}")
    path = folder / Path(name).name
    if not path.exists():
        with zipfile.ZipFile(found) as wheel:
            path.write_bytes(wheel.read(name))
    return path


@cache
def _wheel(requirement: str, folder: Path) -> Path | str:
    """The wheel, or why there is none."""
    choices = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12"]
    where = ["--platform", "macosx_14_0_arm64", "-d", str(folder)]
    command = [sys.executable, "-m", "pip", "download", "-q", *choices, *where, requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode:
        return done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "pip failed"
    name = requirement.partition("==")[0].replace("-", "_")
    return next(iter(folder.glob(f"{name}-*.whl")))
