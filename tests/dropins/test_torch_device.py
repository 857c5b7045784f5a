"""Programs that put their tensors on "mps" run here, with tensors on the CPU."""

from __future__ import annotations

import subprocess
import sys

import pytest

import assay

pytest.importorskip("torch")

_PROGRAM = """
import assay

assay.patch("torch")
import torch

assert torch.backends.mps.is_built() and torch.backends.mps.is_available()
assert torch.mps.device_count() == 1
device = torch.device("mps")
x = torch.arange(8, device="mps", dtype=torch.float32)
y = torch.zeros(8, dtype=torch.float32).to("mps:0")
z = torch.zeros_like(x, device=device)
layer = torch.nn.Linear(8, 8).to(device)
library = torch.mps.compile_shader('''
kernel void add(device float* z, constant float* x, constant float* y,
                uint i [[thread_position_in_grid]]) { z[i] = x[i] + y[i] + 1; }
''')
library.add(z, x, y)
torch.mps.synchronize()
assert layer(z).device.type == z.device.type == "cpu"
print(z.cpu().tolist(), "a word that says mps stays", "mps")
torch.set_default_device("mps")
print(torch.ones(3).device)
torch.set_default_device("cpu")
with torch.device("mps"):
    print(torch.ones(3).device)
"""


def test_a_program_for_mps_runs_on_the_cpu() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    first, second, third = done.stdout.splitlines()
    assert first.startswith("[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]")
    assert second == third == "cpu"


def test_what_cannot_be_patched_is_told() -> None:
    with pytest.raises(Exception, match="jax: it cannot be patched; mlx, tinygrad, torch can"):
        assay.patch("jax")
