"""`assay time SCRIPT`: what Python scripts dispatch."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Done

Assay = Callable[..., Done]
METAL = """
import sys
import Metal

print("given", sys.argv[1:])
SOURCE = '''
kernel void add(device float* x, uint i [[thread_position_in_grid]]) { x[i] += 1; }
kernel void far(device float* x, uint i [[thread_position_in_grid]]) { x[i + 9000] = 1; }
'''
device = Metal.MTLCreateSystemDefaultDevice()
library, _ = device.newLibraryWithSource_options_error_(SOURCE, None, None)
buffer = device.newBufferWithLength_options_(1 << 14, Metal.MTLResourceStorageModeShared)
commands = device.newCommandQueue().commandBuffer()
encoder = commands.computeCommandEncoder()
for name in NAMES:
    function = library.newFunctionWithName_(name)
    state, _ = device.newComputePipelineStateWithFunction_error_(function, None)
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((4096, 1, 1), (256, 1, 1))
encoder.endEncoding()
commands.commit()
commands.waitUntilCompleted()
"""
TORCH = """
import torch

library = torch.mps.compile_shader('''
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
''')
x = torch.ones(4096, device="mps")
for _ in range(3):
    library.twice(x)
assert x.sum() == 8 * 4096
"""
MLX = """
import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="twice", input_names=["x"], output_names=["y"],
    source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];",
)
x = mx.ones((4096,))
[y] = kernel(inputs=[x], grid=(4096, 1, 1), threadgroup=(256, 1, 1),
             output_shapes=[x.shape], output_dtypes=[x.dtype])
mx.eval(y)
"""


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], Path]:
    def written(text: str) -> Path:
        path = tmp_path / "script.py"
        path.write_text(text)
        return path

    return written


def metal(*names: str) -> str:
    return METAL.replace("NAMES", repr(names))


def test_each_kernel_of_a_script_has_a_row_and_all_have_a_total(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    done = assay("time", "--chip", "m4-max", script(metal("add", "add")), "one", "two")
    assert done.code == 0, done.err
    assert "given ['one', 'two']" in done.out
    assert "script.py on Apple M4 Max" in done.out
    assert "in 2 dispatches" in done.out
    assert any(line.split()[:1] == ["add"] for line in done.out.splitlines())


def test_json_of_a_script_is_alone_on_stdout(assay: Assay, script: Callable[[str], Path]) -> None:
    done = assay("time", script(metal("add")), "--json")
    found = json.loads(done.out)
    assert found["program"] == "script.py"
    assert [each["kernel"] for each in found["dispatches"]] == ["add"]
    assert "given []" in done.err


def test_a_script_leaves_a_timeline(
    assay: Assay, script: Callable[[str], Path], tmp_path: Path
) -> None:
    out = tmp_path / "out.pftrace"
    assert assay("time", script(metal("add")), "--trace", out).code == 0
    assert "predicted: script.py on Apple M1" in assay("trace", "summary", out).out


def test_what_fails_is_told_and_ends_with_an_error(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    done = assay("time", script(metal("add") + "\nsys.exit(3)\n"))
    assert done.code == 3
    assert "add on Apple M1" in done.out


def test_a_script_that_dispatches_nothing_says_so(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    done = assay("time", script("print(1)"))
    assert done.code == 0
    assert "dispatched nothing" in done.err


@pytest.mark.parametrize(
    "options", [("--grid", "4"), ("-f", "add"), ("--cold",), ("--device", "torq")]
)
def test_options_for_kernels_are_refused(
    assay: Assay, script: Callable[[str], Path], options: tuple[str, ...]
) -> None:
    done = assay("time", script(metal("add")), *options)
    assert done.code == 2
    assert "not for scripts" in done.err


def test_a_script_runs_once_and_is_timed_on_several_chips(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    path = script(metal("add", "add"))
    done = assay("time", "--chip", "m4-max", "--compare", "m1,m4-max,m5", path)
    assert done.code == 0, done.err
    assert done.out.count("given") == 1
    rows = [line.split() for line in done.out.splitlines()]
    assert [row[0] for row in rows if row and row[0] in ("m4-max", "m1", "m5")] == [
        "m4-max",
        "m1",
        "m5",
    ]
    both = json.loads(assay("time", "--compare", "m5", path, "--json").out)["results"]
    for result, chip in zip(both, ("m1", "m5"), strict=True):
        alone = json.loads(assay("time", "--chip", chip, path, "--json").out)
        assert result["seconds"] == alone["seconds"]
        assert result["dispatches"] == alone["dispatches"]
    assert both[0]["seconds"] != both[1]["seconds"]


def test_a_chip_to_compare_with_that_is_not_known_is_told_before_the_script_runs(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    done = assay("time", "--compare", "M4 Max", script(metal("add")))
    assert done.code == 2 and "did you mean 'm4-max'?" in done.err
    assert "given" not in done.out


@pytest.mark.parametrize("names", [("far",), ("add", "far")])
def test_a_dispatch_that_cannot_be_timed_is_told_and_the_others_are_shown(
    assay: Assay, script: Callable[[str], Path], names: tuple[str, ...]
) -> None:
    done = assay("time", script(metal(*names)))
    assert done.code == 1
    assert "not timed: dispatch" in done.err and "out-of-bounds write" in done.err
    assert ("add on Apple M1" if len(names) > 1 else "no kernel was timed on the GPU") in done.out
    assert "no kernel was dispatched" not in done.out


def test_a_second_file_is_refused(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "one.metal"
    path.write_text("kernel void one(device float* x) { *x = 1; }")
    done = assay("time", path, "two.metal")
    assert done.code == 2 and "two.metal: one file at a time" in done.err


def test_kernels_of_pytorch_are_timed_without_a_change(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    pytest.importorskip("torch")
    done = assay("time", script(TORCH))
    assert done.code == 0, done.err
    assert "in 3 dispatches, 2 of them different" in done.out and "twice" in done.out


def test_a_tensor_is_in_the_cache_when_it_is_used_again(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    pytest.importorskip("torch")
    found = json.loads(assay("time", script(TORCH), "--json").out)
    first, *others = found["dispatches"]
    assert first["bytes"]["dram"] > 0
    assert others[0]["bytes"]["dram"] == 0
    assert others[1]["same_as"] == 1


def test_kernels_of_mlx_are_timed_without_a_change(
    assay: Assay, script: Callable[[str], Path]
) -> None:
    pytest.importorskip("mlx.core")
    done = assay("time", script(MLX))
    assert done.code == 0, done.err
    assert "custom_kernel_twice" in done.out
