"""Parameter files: each format's reader, its refusals, and programs that load from them."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from assay.hal.vm import Session, VmError
from assay.hal.vm.parameters import ParameterIndex, open_parameters

from .doubles import compiled, recording_device

WEIGHTS = np.arange(12, dtype=np.float32)
BIAS = np.array([7, 8, 9], np.int16)

PROGRAM = """
util.global private @weights = #flow.parameter.named<"model"::"weights"> : tensor<12xf32>
func.func @main() -> tensor<12xf32> {
  %weights = util.global.load @weights : tensor<12xf32>
  return %weights : tensor<12xf32>
}
"""


def safetensors(folder: Path) -> Path:
    header = {
        "__metadata__": {"made": "here"},
        "weights": {"dtype": "F32", "shape": [12], "data_offsets": [0, 48]},
        "bias": {"dtype": "I16", "shape": [3], "data_offsets": [48, 54]},
    }
    text = json.dumps(header).encode()
    path = folder / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + WEIGHTS.tobytes() + BIAS.tobytes())
    return path


def gguf(folder: Path) -> Path:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    head = b"GGUF" + struct.pack("<IQQ", 3, 2, 4)
    head += text("general.alignment") + struct.pack("<II", 4, 64)
    head += text("general.name") + struct.pack("<I", 8) + text("a model")
    head += text("some.numbers") + struct.pack("<IIQ", 9, 5, 3) + struct.pack("<3i", 1, 2, 3)
    head += text("some.words") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b")
    head += text("weights") + struct.pack("<IQIQ", 1, 12, 0, 0)
    head += text("bias") + struct.pack("<IQIQ", 1, 3, 25, 64)
    data = head + bytes(-len(head) % 64)
    data += WEIGHTS.tobytes() + bytes(16) + BIAS.tobytes()
    path = folder / "model.gguf"
    path.write_bytes(data)
    return path


def irpa(folder: Path) -> Path:
    runtime = pytest.importorskip("iree.runtime")
    index = runtime.ParameterIndex()
    index.add_buffer("weights", WEIGHTS.tobytes())
    index.add_buffer("bias", BIAS.tobytes())
    index.add_splat("splat", np.int32(5).tobytes(), 40)
    path = folder / "model.irpa"
    index.create_archive_file(str(path))
    return path


@pytest.mark.parametrize("write", [safetensors, gguf, irpa])
def test_a_file_gives_each_parameter_with_its_bytes(write, tmp_path: Path) -> None:
    entries = open_parameters(write(tmp_path))
    weights, bias = entries["weights"], entries["bias"]
    assert bytes(weights.span(0, 48)) == WEIGHTS.tobytes()
    assert bytes(weights.span(8, 4)) == WEIGHTS[2:3].tobytes()
    assert bytes(bias.span(0, 6)) == BIAS.tobytes()
    with pytest.raises(VmError, match="parameter `bias` range out of bounds"):
        bias.span(4, 4)


def test_a_splat_repeats_its_pattern_from_any_offset(tmp_path: Path) -> None:
    splat = open_parameters(irpa(tmp_path))["splat"]
    assert bytes(splat.span(0, 8)) == struct.pack("<2i", 5, 5)
    assert bytes(splat.span(6, 4)) == struct.pack("<3i", 5, 5, 5)[2:6]


@pytest.mark.parametrize("write", [safetensors, gguf, irpa])
def test_a_program_loads_its_parameters(write, tmp_path: Path) -> None:
    path = write(tmp_path)
    session = Session(recording_device()[0], parameters={"model": path})
    (result,) = session.load(compiled(PROGRAM)).invoke("main")
    np.testing.assert_array_equal(result, WEIGHTS)


@pytest.mark.parametrize("write", [safetensors, gguf, irpa])
def test_damaged_files_are_refused_or_read_but_never_crash(write, tmp_path: Path) -> None:
    path = write(tmp_path)
    data = path.read_bytes()
    random = np.random.default_rng(5)
    for _ in range(200):
        damaged = bytearray(data)
        for _ in range(int(random.integers(1, 4))):
            damaged[int(random.integers(min(len(data), 400)))] ^= 1 << int(random.integers(8))
        path.write_bytes(damaged[: int(random.integers(1, len(data) + 1))])
        try:
            entries = open_parameters(path)
        except VmError as error:
            assert str(path) in str(error)
        else:
            assert all(entry.length >= 0 for entry in entries.values())


def test_a_scope_that_was_not_given_is_reported_with_the_way_to_give_it() -> None:
    session = Session(recording_device()[0])
    with pytest.raises(VmError, match=r"scope `model`.*--parameters=model=FILE") as error:
        session.load(compiled(PROGRAM))
    assert error.value.status == "NOT_FOUND"


def test_a_missing_key_is_reported_with_the_keys_there_are() -> None:
    with pytest.raises(VmError, match="parameter `w` not found in scope `model`; there are 0"):
        ParameterIndex("model", {}).lookup("w")


def test_a_missing_file_and_an_unknown_kind_of_file_are_reported(tmp_path: Path) -> None:
    with pytest.raises(VmError, match="cannot read the parameter file"):
        open_parameters(tmp_path / "none.irpa")
    with pytest.raises(VmError, match=r"expected a name ending in .gguf, .irpa, .safetensors"):
        open_parameters(tmp_path / "weights.bin")
