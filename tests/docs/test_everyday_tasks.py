"""The recipes of CONTRIBUTING.md for a chip and an ALU mode: applied to a copy, and run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .commands import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
CHIP, MODE = re.findall(r"^```toml\n(.*?)^```", PAGE, re.M | re.S)
(CASE,) = re.findall(r"^```c\n(.*?)^```", PAGE, re.M | re.S)
KERNEL = """#include <metal_stdlib>
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
"""
TIME = "import sys; from assay.cli import main; sys.argv[0] = 'assay'; main()"
NOR = """
import numpy as np
from tests.hw.torq.datapath.test_arithmetic import KINDS, binary, rng_array
for size, kind in KINDS.items():
    x, y = (rng_array(seed, kind, 192 // size) for seed in (3, 4))
    print((binary("NOR", x, y) == ~(x | y)).all())
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top: Path = tmp_path_factory.mktemp("source")
    ignored = shutil.ignore_patterns("__pycache__")
    for folder in ("assay", "compiler", "hal", "hw", "sim", "traces"):
        shutil.copytree(ROOT / folder, top / folder, symlinks=True, ignore=ignored)
    for folder in ("support", "hw/torq/datapath"):
        shutil.copytree(ROOT / "tests" / folder, top / "tests" / folder, ignore=ignored)
    (top / "tests" / "__init__.py").touch()
    add(top / "hw/apple/facts/chips.toml", "[chips.m1]\n", CHIP + "\n")
    add(top / "hw/torq/facts/modes.toml", "BNOT = {", MODE)
    add(top / "hw/torq/datapath/alu.c", "    case OP_MULTIPLY:\n", CASE)
    return top


def add(path: Path, before: str, text: str) -> None:
    whole = path.read_text()
    assert whole.count(before) == 1
    path.write_text(whole.replace(before, text + before))


def run(top: Path, *arguments: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(top)}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=top, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_chip_of_one_table_has_times_and_a_row_of_the_page(copy: Path) -> None:
    (copy / "twice.metal").write_text(KERNEL)
    launch = ("--grid", "1024", "--threadgroup", "64", "--chip", "next")
    assert "Next" in run(copy, "-c", TIME, "time", "twice.metal", *launch)
    assert "| `next` | Apple Next | Apple9 | 12 |" in run(copy, "-m", "assay.hw.apple.facts.manual")


def test_an_alu_mode_of_a_row_and_a_case_is_encoded_and_computed(copy: Path) -> None:
    assert run(copy, "-c", NOR).split() == ["True"] * 3
    assert "P = P & ~x" in run(copy, "-m", "assay.hw.torq.facts.manual")
