"""Programs that load compiled libraries through the Metal API."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.hal.device import BufferRef
from assay.hal.flags import BufferUsage, MemoryType
from assay.hal.metal import api, emulated
from assay.hal.metal.driver import MetalDriver
from assay.hal.recordings import Recording
from assay.hal.semaphore import Fence
from tests.support.metallib import Buffer, bound, executable, kernel, library
from tests.support.recorded import floats, ran, record

Metal = api.load("emulated")
TWICE = kernel(
    "twice",
    """  %i = zext i32 %p0 to i64
  %at = getelementptr float, ptr addrspace(1) %b0, i64 %i
  %v = load float, ptr addrspace(1) %at
  %by = load float, ptr addrspace(2) %b1
  %r = fmul fast float %v, %by
  store float %r, ptr addrspace(1) %at""",
    (Buffer(name="x", element="float"), Buffer(name="by", element="float", space=2, access="read")),
    threads=512,
)
DATA = library({"twice": TWICE})


def test_an_executable_that_holds_a_compiled_library_alone_runs() -> None:
    device = MetalDriver(emulated).open()
    made = library({"bound": bound("bound", "%r = fadd float %v, 1.0")})
    raw = memoryview(executable(made, "bound"))
    prepared = device.executable_cache.prepare("metal-msl-fb", raw, ())
    memory = MemoryType.HOST_LOCAL | MemoryType.DEVICE_VISIBLE
    usage = BufferUsage.DEFAULT | BufferUsage.MAPPING
    x, y = (device.allocator.allocate(memory, usage, 256) for _ in range(2))
    given = np.arange(64, dtype=np.float32)
    x.write(0, given.tobytes())
    commands = device.create_command_buffer(1, 0)
    references = [BufferRef(each, 0, 0, 256) for each in (x, y)]
    commands.dispatch(prepared, prepared.lookup("bound"), (2, 1, 1), (), references)
    commands.finalize()
    done = Fence(((device.create_semaphore(0), 1),))
    device.queue_execute(None, done, commands)
    assert done.wait(10_000)
    np.testing.assert_array_equal(np.frombuffer(y.read(0, 256), np.float32), given + 1)


def scaled(made: object) -> np.ndarray:
    """0, 3, 6, ... by the library's kernel."""
    device = made.device()  # type: ignore[attr-defined]
    function = made.newFunctionWithName_("twice")  # type: ignore[attr-defined]
    state, error = device.newComputePipelineStateWithFunction_error_(function, None)
    assert state is not None, error
    assert state.maxTotalThreadsPerThreadgroup() == 512
    x = np.arange(100, dtype=np.float32)
    buffer = device.newBufferWithBytes_length_options_(x, x.nbytes, 0)
    commands = device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(buffer, 0, 0)
    encoder.setBytes_length_atIndex_(np.float32(3).tobytes(), 4, 1)
    encoder.dispatchThreads_threadsPerThreadgroup_((100, 1, 1), (64, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert commands.status() == Metal.MTLCommandBufferStatusCompleted
    return np.frombuffer(buffer.contents().as_buffer(x.nbytes), np.float32)


@pytest.mark.parametrize("way", ["data", "file", "path", "url"])
def test_a_compiled_library_is_opened_and_its_kernel_runs(way: str, tmp_path: Path) -> None:
    device = Metal.MTLCreateSystemDefaultDevice()
    path = tmp_path / "a b.metallib"
    path.write_bytes(DATA)
    made, error = {
        "data": lambda: device.newLibraryWithData_error_(DATA, None),
        "file": lambda: device.newLibraryWithFile_error_(str(path), None),
        "path": lambda: device.newLibraryWithURL_error_(path, None),
        "url": lambda: device.newLibraryWithURL_error_(path.as_uri(), None),
    }[way]()
    assert made is not None, error
    assert list(made.functionNames()) == ["twice"]
    np.testing.assert_array_equal(scaled(made), 3 * np.arange(100))


def test_the_default_library_lies_beside_the_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    device = Metal.MTLCreateSystemDefaultDevice()
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "program.py")])
    assert device.newDefaultLibrary() is None
    path = tmp_path / "default.metallib"
    path.write_bytes(DATA)
    made = device.newDefaultLibrary()
    assert made is not None
    np.testing.assert_array_equal(scaled(made), 3 * np.arange(100))
    path.write_bytes(DATA[:-1])
    assert device.newDefaultLibrary() is None
    assert "newDefaultLibrary" in caplog.text and "damaged or truncated" in caplog.text


@pytest.mark.parametrize("way", ["url", "default"])
def test_what_is_recorded_has_the_library_wherever_it_came_from(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "default.metallib"
    path.write_bytes(DATA)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "program.py")])

    def program(metal: Any) -> None:
        device = metal.MTLCreateSystemDefaultDevice()
        opened = {
            "url": lambda: device.newLibraryWithURL_error_(path.as_uri(), None)[0],
            "default": device.newDefaultLibrary,
        }[way]()
        function = opened.newFunctionWithName_("twice")
        state, _ = device.newComputePipelineStateWithFunction_error_(function, None)
        commands = device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(floats(device, np.ones(8)), 0, 0)
        encoder.setBytes_length_atIndex_(np.float32(3).tobytes(), 4, 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((8, 1, 1), (8, 1, 1))
        ran(commands, encoder)

    assert len(record(tmp_path / "a", program)) == 1
    with Recording(tmp_path / "a") as recording:
        (kept,) = recording.header.libraries
        assert (kept.compiled, bytes(recording.contents(kept.data))) == (True, DATA)


def test_a_damaged_library_is_an_error_object_that_says_what_is_wrong() -> None:
    device = Metal.MTLCreateSystemDefaultDevice()
    made, error = device.newLibraryWithData_error_(DATA[:-1], None)
    assert made is None
    assert "the data: damaged or truncated Metal library" in error.localizedDescription()


def test_data_that_is_no_bytes_is_refused() -> None:
    device = Metal.MTLCreateSystemDefaultDevice()
    with pytest.raises(Metal.MetalValidationError, match="the data must be bytes, not int"):
        device.newLibraryWithData_error_(5, None)
