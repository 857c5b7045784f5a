"""All kernels of ggml's one Metal file, unmodified, with what is assumed for each.

It is read where `ASSAY_PUBLIC_KERNELS` names a folder that has a checkout called `ggml`; nothing of
it is kept here.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_FOLDER = os.environ.get("ASSAY_PUBLIC_KERNELS", "")
_GGML = Path(_FOLDER) / "ggml" / "src"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (_FOLDER and _GGML.is_dir()), reason="there is no checkout of ggml"),
]
_CORES = 2
_COLD_S, _WARM_S = 600, 180
"""What a run may take on so many cores, without and with what an earlier one has compiled."""


def _checked(folder: Path, report: Path) -> float:
    """Check all kernels; seconds of computing time, which others' work does not lengthen."""
    command = [sys.executable, "-m", "assay", "check", _GGML / "ggml-metal" / "ggml-metal.metal"]
    command += ["-I", _GGML, "-I", _GGML / "ggml-metal", "--jobs", str(_CORES)]
    command += ["--format", "json", "--output", report]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env={**os.environ, "ASSAY_CACHE_DIR": str(folder)},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 1, done.stdout + done.stderr  # with what is assumed, some have races
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _told(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Findings by kernel, whatever the order in which kernels finished."""
    return sorted((each["kernel"], each["kind"], each["message"]) for each in found["findings"])


def test_all_kernels_are_checked_in_ten_minutes_and_again_in_three(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    cold = _checked(tmp_path / "cache", report)
    found = json.loads(report.read_text())
    assert len(found["kernels"]) > 600
    assert not found["unchecked"] and not found["uncompiled"]
    warm = _checked(tmp_path / "cache", report)
    assert _told(json.loads(report.read_text())) == _told(found)
    assert cold < _CORES * _COLD_S, f"{cold:.0f} s of computing time"
    assert warm < _CORES * _WARM_S, f"{warm:.0f} s of computing time"
