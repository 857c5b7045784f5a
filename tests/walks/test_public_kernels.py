"""Kernel files of other projects, unmodified, with the arguments that their authors would state.

They are read at test time, from a folder of checkouts or by git; nothing of them is kept here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.public_projects import checkout

pytestmark = pytest.mark.slow
_LONGEST = 10
"""Lines of TOML that are little enough to write."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Public:
    """A file of a project, how it is compiled, and what its author would write of one kernel."""

    project: str
    file: str
    include: tuple[str, ...] = ()
    stated: str


_CANDLE = "candle-metal-kernels/src/metal_src"
_MLX = "mlx/backend/metal/kernels"
FILES = (
    Public(
        project="candle",
        file=f"{_CANDLE}/fill.metal",
        stated="""
[kernel.fill_f32]
threads = 1000
threadgroup = 256
arguments.out = { shape = 1000 }
arguments.value = 2.5
arguments.numel = 1000
""",
    ),
    Public(
        project="candle",
        file=f"{_CANDLE}/affine.metal",
        stated="""
[kernel.affine_f32]
threads = 500
threadgroup = 256
arguments.dim = 1000
arguments.mul = 2.0
arguments.add = 0.5
arguments.input = { dtype = "float32", shape = 1000 }
arguments.output = { dtype = "float32", shape = 1000 }
""",
    ),
    Public(
        project="candle",
        file=f"{_CANDLE}/sort.metal",
        stated="""
[kernel.asort_asc_f32]
threadgroups = [1, 4]
threadgroup = 128
arguments.x = { shape = 400 }
arguments.dst = { shape = 400 }
arguments.ncols = 100
arguments.ncols_pad = 128
arguments.shared_values = { bytes = 512 }
""",
    ),
    Public(
        project="mlx",
        file=f"{_MLX}/softmax.metal",
        include=(".",),
        stated="""
[kernel.block_softmax_float32]
threadgroups = 8
threadgroup = 256
arguments.in = { dtype = "float32", shape = 8000 }
arguments.out = { dtype = "float32", shape = 8000 }
arguments.axis_size = 1000
""",
    ),
    Public(
        project="mlx",
        file=f"{_MLX}/rms_norm.metal",
        include=(".",),
        stated="""
[kernel.rmsfloat32]
threadgroups = 8
threadgroup = 256
arguments.x = { dtype = "float32", shape = 8000 }
arguments.w = { dtype = "float32", shape = 1000 }
arguments.out = { dtype = "float32", shape = 8000 }
arguments.eps = 1e-5
arguments.axis_size = 1000
arguments.w_stride = 1
""",
    ),
)


@pytest.mark.parametrize("public", FILES, ids=lambda each: f"{each.project}/{Path(each.file).name}")
def test_a_public_file_is_checked_with_stated_arguments(
    public: Public, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assert len(public.stated.strip().splitlines()) <= _LONGEST
    project = checkout(public.project, tmp_path_factory.getbasetemp() / "public")
    stated, report = tmp_path / "args.toml", tmp_path / "report.json"
    stated.write_text(public.stated)
    command = [sys.executable, "-m", "assay", "check", project / public.file, "--only-listed"]
    command += ["--args", stated, "--format", "json", "--output", report]
    command += [word for name in public.include for word in ("-I", str(project / name))]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(report.read_text())
    (kernel,) = found["kernels"]
    assert found["passed"] and not found["findings"] and not found["notes"]
    stating = [text for text in kernel["assumptions"] if not text.startswith("has_w = ")]
    assert not stating, "what is assumed was not stated"
    assert not kernel["not_reached"], "all of the kernel ran"
