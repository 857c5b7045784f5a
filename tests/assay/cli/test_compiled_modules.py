"""A module of IREE whose executable holds what Apple's compiler made, and no source."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.compiler.models import compile_model
from tests.support.metallib import bound, executable, library

from .conftest import Done

Assay = Callable[..., Done]
_STEPS = 400  # so many that the source of IREE's kernel is longer than the library in its place
_ELEMENTWISE = """func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {{
  %by = arith.constant 0.875 : f32
  %more = arith.constant 0.25 : f32
  %empty = tensor.empty() : tensor<64xf32>
  %y = linalg.generic {{
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  }} ins(%x : tensor<64xf32>) outs(%empty : tensor<64xf32>) {{
  ^bb0(%s0: f32, %old: f32):
{steps}
    linalg.yield %s{last} : f32
  }} -> tensor<64xf32>
  return %y : tensor<64xf32>
}}
"""
_COMPUTED = f"""br label %loop
loop:
  %s = phi float [ %v, %0 ], [ %r, %loop ]
  %n = phi i32 [ 0, %0 ], [ %next, %loop ]
  %m = fmul float %s, 0.875
  %r = fadd float %m, 0.25
  %next = add i32 %n, 1
  %done = icmp eq i32 %next, {_STEPS}
  br i1 %done, label %end, label %loop
end:"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    steps = "\n".join(
        f"    %m{n} = arith.mulf %s{n}, %by : f32\n    %s{n + 1} = arith.addf %m{n}, %more : f32"
        for n in range(_STEPS)
    )
    source = tmp_path / "steps.mlir"
    source.write_text(_ELEMENTWISE.format(steps=steps, last=_STEPS))
    data = compile_model(source).data
    name = "main_dispatch_0_elementwise_64_f32"
    made = executable(library({name: bound(name, _COMPUTED)}), name)
    at = data.index(b"MTL1")
    size = 64 + struct.unpack_from("<Q", data, at + 8)[0]
    assert b"kernel void" in data[at : at + size] and len(made) <= size
    path = tmp_path / "steps.vmfb"
    path.write_bytes(data[:at] + made.ljust(size, b"\0") + data[at + size :])
    return path


def test_a_module_of_a_compiled_library_alone_is_run_checked_timed_and_inspected(
    assay: Assay, module: Path, tmp_path: Path
) -> None:
    given = np.linspace(-3, 3, 64, dtype=np.float32)
    np.save(tmp_path / "x.npy", given)
    file = f"@{tmp_path / 'x.npy'}"
    made = tmp_path / "y.npy"
    assert assay("run", module, "--input", file, "--output", f"@{made}").code == 0
    expected = given
    for _ in range(_STEPS):
        expected = expected * np.float32(0.875) + np.float32(0.25)
    np.testing.assert_array_equal(np.load(made), expected)
    checked = assay("check", module, "--input", file)
    assert checked.code == 0 and "no findings" in checked.out
    timed = json.loads(assay("time", module, "--input", file, "--json").out)
    assert timed["seconds"] > 0 and timed["flops"] == 2 * 64 * _STEPS
    assert "none" in assay("inspect", module).out  # lines of MSL
