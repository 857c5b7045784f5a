"""Kernels that programs run through PyTorch and MLX are recorded where they are called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from assay import scripts
from assay.hal.metal import emulated
from assay.hal.metal.recorder import Session
from assay.hal.recordings import Recording, RecordingWriter
from assay.recordings import recording, replay
from assay.recordings.hooks import torch_kernels
from tests.support.recorded import INFO

SOURCE = """
#include <metal_stdlib>
#include <c10/metal/utils.h>
using namespace metal;
kernel void axpy(device float* y, device const float* x, constant float& a, constant long2& n,
                 uint i [[thread_position_in_grid]]) { y[i] += a * x[i] + n.x - n.y; }
struct Many { device float* of[2]; };
kernel void fill(constant Many& many, constant int& value, uint2 i [[thread_position_in_grid]]) {
    many.of[i.y][i.x] = value;
}
kernel void out(device float* y, uint i [[thread_position_in_grid]]) { y[i + 1000000] = 1; }
"""
Program = Callable[[], None]


def recorded(path: Path, library: str, program: Program) -> dict[str, int]:
    """Record a program; what is not recorded, by the reason."""
    pytest.importorskip("mlx.core" if library == "mlx" else library)
    scripts.patch(library)
    with recording(path, "emulated", libraries=[library]) as metal:
        program()
    return metal.recorded()[1]


def test_shaders_of_torch_replay_equal(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    def program() -> None:
        library = torch.mps.compile_shader(SOURCE)
        whole = torch.arange(16, dtype=torch.float32, device="mps")
        x = torch.ones(8, device="mps")
        library.axpy(whole[4:12], x, 0.5, [3, 1], group_size=4)
        assert whole.tolist()[3:13] == [3, *[value + 2.5 for value in range(4, 12)], 12]
        library.fill([x, whole], 7, threads=(8, 2), group_size=(4, 1), arg_casts="int32")
        assert x.tolist() == [7] * 8
        assert library.fill.max_threads_per_threadgroup > 0
        assert dir(library) == ["axpy", "fill", "out"]

    assert recorded(tmp_path / "a", "torch", program) == {}
    with Recording(tmp_path / "a") as recording_:
        first, second = recording_.dispatches()
    assert (first.grid, first.threadgroup) == ((8, 1, 1), (4, 1, 1))
    assert [each.offset for each in first.bound] == [16, 0]
    assert [each.after is not None for each in second.memories] == [True, True]
    result = replay(tmp_path / "a")
    assert result.passed, str(result)
    assert [each.verdict for each in result.dispatches] == ["equal"] * 2


def test_calls_of_torch_that_raise_are_counted(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")

    def program() -> None:
        library = torch.mps.compile_shader(SOURCE)
        with pytest.raises(RuntimeError, match="4000000"):
            library.out(torch.zeros(8))
        with pytest.raises(RuntimeError, match="Unsupported argument type"):
            library.axpy("nothing", threads=8)
        with pytest.raises(AttributeError):
            library.__nothing__  # noqa: B018

    assert recorded(tmp_path / "a", "torch", program) == {"calls that raised": 2}


def test_times_of_torch_are_those_of_its_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch")
    scripts.patch("torch")

    class Event:
        """Events that are half a second apart."""

        def __init__(self, enable_timing: bool) -> None:
            assert enable_timing

        def record(self) -> None:
            """Nothing to do."""

        def elapsed_time(self, end: Event) -> float:
            assert end is not self
            return 500.0

    monkeypatch.setattr(import_module("torch.mps.event"), "Event", Event)
    with (
        RecordingWriter(tmp_path / "a", INFO, "program") as writer,
        torch_kernels.hooked(Session(emulated, writer), "native"),
    ):
        library = torch.mps.compile_shader(SOURCE)
        for _ in range(2):
            library.axpy(torch.zeros(8), torch.ones(8), 0.5, [3, 1])
    with Recording(tmp_path / "a") as recorded_:
        assert [(each.begin, each.end) for each in recorded_.dispatches()] == [(0, 0.5), (0.5, 1.0)]


def test_the_library_is_as_it_was_behind_a_recording(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    scripts.patch("torch")
    before = torch.mps.compile_shader
    recorded(tmp_path / "a", "torch", lambda: None)
    assert torch.mps.compile_shader is before


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_kernels_of_mlx_replay_equal(tmp_path: Path, dtype: str) -> None:
    mx: Any = pytest.importorskip("mlx.core")

    def program() -> None:
        kernel = mx.fast.metal_kernel(
            name="scaled",
            input_names=["inp", "by"],
            output_names=["out"],
            source="""
                uint i = thread_position_in_grid.x;
                auto at = elem_to_loc(i, inp_shape, inp_strides, inp_ndim);
                if (i < N) out[i] = inp[at] * by;
            """,
            ensure_row_contiguous=False,
        )
        a = mx.arange(12).reshape(3, 4).astype(getattr(mx, dtype)).T
        for init in (None, 0.0):
            (result,) = kernel(
                inputs=[a, mx.array(2, a.dtype)],
                template=[("N", 10)],
                grid=(12, 1, 1),
                threadgroup=(64, 1, 1),
                output_shapes=[a.shape],
                output_dtypes=[a.dtype],
                init_value=init,
            )
            doubled = (a * 2).reshape(-1)
            assert mx.array_equal(result.reshape(-1)[:10], doubled[:10])

    assert recorded(tmp_path / "a", "mlx", program) == {}
    result = replay(tmp_path / "a")
    assert result.passed, str(result)
    assert [each.verdict for each in result.dispatches] == ["equal"] * 2


def test_calls_that_mlx_transforms_run_and_are_counted(tmp_path: Path) -> None:
    mx: Any = pytest.importorskip("mlx.core")

    def program() -> None:
        kernel = mx.fast.metal_kernel(
            name="same", input_names=["a"], output_names=["o"], source="o[0] = a[0];"
        )

        def call(a: Any) -> Any:
            return kernel(
                inputs=[a],
                grid=(1, 1, 1),
                threadgroup=(1, 1, 1),
                output_shapes=[a.shape],
                output_dtypes=[a.dtype],
            )[0]

        with pytest.raises(ValueError, match="function transformations"):
            mx.compile(call)(mx.ones((1,)))
        assert call(mx.ones((1,))).item() == 1

    assert recorded(tmp_path / "a", "mlx", program) == {"calls in functions that MLX transforms": 1}
    assert [each.verdict for each in replay(tmp_path / "a").dispatches] == ["equal"]
