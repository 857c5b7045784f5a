"""Captures that IREE's tools write are run again call by call, and refused where they are wrong."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from assay.hal.captures import Capture, CaptureError, Execution
from assay.hal.captures.codes import Op
from assay.hal.cpu.device import CpuDevice
from assay.hal.device import DeviceInfo
from assay.hal.metal import api
from assay.hal.metal.driver import MetalDriver
from assay.hal.status import StatusError
from tests.support.captured import INPUT, WEIGHTS, capture, on_metal, write_model

PARAMETERS = """
util.global private @w = #flow.parameter.named<"model"::"w"> : tensor<8xf32>
func.func @f(%a: tensor<8xf32>) -> tensor<8xf32> {
  %w = util.global.load @w : tensor<8xf32>
  %r = arith.addf %a, %w : tensor<8xf32>
  return %r : tensor<8xf32>
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("captured"))


@pytest.fixture(scope="module")
def captured(source: Path) -> tuple[Path, list[np.ndarray]]:
    return capture(source, [INPUT], results=2)


@pytest.fixture(scope="module")
def of_metal(source: Path, captured: tuple[Path, list[np.ndarray]]) -> Path:
    with pytest.MonkeyPatch.context() as patched:
        return on_metal(captured[0], source, [INPUT], patched)


def on_cpu(path: Path) -> Execution:
    execution = Execution(CpuDevice(DeviceInfo(identifier="0", name="this processor")))
    with Capture(path) as opened:
        execution.run(opened)
    return execution


def on_emulated(path: Path) -> Execution:
    execution = Execution(MetalDriver(api.load("emulated")).open())
    with Capture(path) as opened:
        execution.run(opened)
    return execution


def test_a_capture_gives_what_the_captured_run_gave(
    captured: tuple[Path, list[np.ndarray]],
) -> None:
    path, results = captured
    execution = on_cpu(path)
    assert np.array_equal(results[0], INPUT @ WEIGHTS)
    assert [each.data for each in execution.reads] == [each.tobytes() for each in results]


def test_a_capture_of_metal_gives_the_same_on_the_emulated_device(
    of_metal: Path, captured: tuple[Path, list[np.ndarray]]
) -> None:
    execution = on_emulated(of_metal)
    assert execution.dispatches >= 2
    assert [each.data for each in execution.reads] == [each.tobytes() for each in captured[1]]


def test_another_processors_executables_are_refused_by_their_format(
    captured: tuple[Path, list[np.ndarray]],
) -> None:
    with pytest.raises(CaptureError, match=r"format 'embedded-elf.*capture a run on --device=meta"):
        on_emulated(captured[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: b"", "too short"),
        (lambda data: b"no capture of anything at all", "no capture of IREE's"),
        (lambda data: data[:-1], "damaged: it has"),
        (lambda data: data[:16] + bytes(8) + data[24:], "was not closed"),
        (lambda data: data[:4] + b"\x03" + data[5:], "captures of version 3.0 cannot be read"),
        (lambda data: data[:24] + b"\xff" * 8 + data[32:], "wrong lengths"),
    ],
)
def test_files_that_are_no_whole_captures_are_refused(
    change: object, message: str, of_metal: Path, tmp_path: Path
) -> None:
    path = tmp_path / "bad.ireereplay"
    path.write_bytes(change(of_metal.read_bytes()))  # type: ignore[operator]
    with pytest.raises(CaptureError, match=message):
        on_emulated(path)


def test_damaged_captures_end_in_errors_that_name_the_call(of_metal: Path, tmp_path: Path) -> None:
    """Seeded: bytes of every record but those of executables are changed."""
    data, path = of_metal.read_bytes(), tmp_path / "damaged.ireereplay"
    with Capture(of_metal) as opened:
        places = [
            place
            for record in opened.records()
            if record.operation != Op.PREPARE_EXECUTABLE
            for place in range(record.offset, record.offset + 96 + len(record.payload))
        ]
    draw, refused = random.Random(5), 0
    for _ in range(150):
        changed = bytearray(data)
        for place in draw.sample(places, draw.choice((1, 2, 8))):
            changed[place] = draw.choice((0, 1, 0x7F, 0xFF, draw.randrange(256)))
        path.write_bytes(changed)
        try:
            on_emulated(path)
        except (CaptureError, StatusError):
            refused += 1
    assert 20 < refused < 150  # other changes are of numbers that nothing depends on


def test_files_that_a_capture_only_names_are_not_opened(tmp_path: Path) -> None:
    source, archive = tmp_path / "model.mlir", tmp_path / "w.safetensors"
    source.write_text(PARAMETERS)
    weights, given = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    header = b'{"w":{"dtype":"F32","shape":[8],"data_offsets":[0,32]}}'
    archive.write_bytes(len(header).to_bytes(8, "little") + header + weights.tobytes())
    named = f"--parameters=model={archive}"
    path, _ = capture(source, [given], named)
    with pytest.raises(CaptureError, match="device_replay_file_policy=capture-ranges"):
        on_cpu(path)
    for policy in ("capture-ranges", "capture-all"):
        path, results = capture(source, [given], named, f"--device_replay_file_policy={policy}")
        assert [each.data for each in on_cpu(path).reads] == [results[0].tobytes()]
        assert np.array_equal(results[0], weights + 1)
