"""A quantised model for the NPU, the CPU and the GPU in one file."""

import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import load_assay
from assay.compiler.models import ModelError
from assay.hal.cpu.library import FORMAT
from assay.hal.module.file import read_module
from assay.hal.module.listing import listing
from tests.models.tflite.small import int8_cnn

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("npu") / "cnn.tflite"
    made.write_bytes(int8_cnn())
    return made


def given(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-128, 128, (1, 8, 8, 4)).astype(np.int8)


def test_the_npu_and_the_cpu_give_the_same_bits_from_one_file(path: Path) -> None:
    data = assay.build(path, devices=["torq", "cpu"])
    npu, cpu = load_assay(data, "torq"), load_assay(data, "cpu")
    for seed in range(3):
        result = npu(given(seed))
        assert result.dtype == np.int8 and len(set(result.flat)) > 1
        assert np.array_equal(result, cpu(given(seed)))
    assert list(npu.opened.devices) == [0] and list(cpu.opened.devices) == [1]


def test_inputs_and_outputs_have_the_models_names(path: Path) -> None:
    module = load_assay(assay.build(path, devices=["cpu"]), "cpu")
    assert (module.context.inputs, module.context.outputs) == (("input_1",), ("dense_8",))


def test_inspect_lists_a_whole_model(path: Path) -> None:
    file = read_module(assay.build(path, devices=["torq"]))
    text = "\n".join(listing(file, whole=True))
    assert "model 0: input_1=1x8x8x4 (exact)" in text
    assert "dense_8 = main(input_1)  # the whole model main" in text


def test_shapes_that_are_fixed_cannot_be_chosen(path: Path) -> None:
    with pytest.raises(ModelError, match="the NPU's programs have the model's own shapes"):
        assay.build(path, shapes="input_1=2x8x8x4", devices=["torq"])


def test_an_onnx_model_cannot_be_for_the_npu(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"")
    with pytest.raises(ModelError):
        assay.build(tmp_path / "m.onnx", devices=["torq"])


@pytest.mark.slow
def test_the_gpu_gives_the_same_bits_too(path: Path) -> None:
    data = assay.build(path, devices=["metal", "torq"])
    gpu, npu = load_assay(data), load_assay(data, "torq")
    assert np.array_equal(gpu(given(7)), npu(given(7)))
