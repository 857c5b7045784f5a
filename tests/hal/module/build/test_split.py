"""One model on two devices together: copies where it crosses, the same results."""

import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.compiler.models import ModelError, compile_model
from assay.compiler.module.split import Split
from assay.hal.cpu.library import FORMAT
from assay.hal.module.records import Call, Copy
from assay.hal.status import StatusError
from assay.reference import CpuModule
from tests.models.importable import cnn, transformer

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
SPLIT = """
Conv metal   # with the Relu behind it
MaxPool metal
* cpu
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("split")
    cnn(made / "cnn.onnx")
    transformer(made / "transformer.onnx")
    return made


@pytest.fixture(scope="module")
def data(folder: Path) -> bytes:
    relu = "Relu metal\n"
    return assay.build(folder / "cnn.onnx", devices=["metal", "cpu"], split=relu + SPLIT)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(4).standard_normal(shape).astype(np.float32)


def crossings(module: AssayModule) -> list[str]:
    model = module.opened.module.models[0]
    items = model.regions[0].instructions
    return [model.tensors[item.target].name for item in items if isinstance(item, Copy)]


def test_two_devices_give_what_the_whole_model_gives(data: bytes, folder: Path) -> None:
    module = load_assay(data, "emulated,cpu")
    whole = CpuModule(compile_model(folder / "cnn.onnx", target="llvm-cpu").data)
    for _ in range(3):
        x = normal(1, 3, 16, 16)
        (expected,) = whole.invoke("cnn", [x])
        assert np.allclose(module(x), expected, rtol=1e-5, atol=1e-6)
    assert crossings(module) == ["relu4 on cpu"]


def test_each_device_does_what_the_split_says(data: bytes) -> None:
    module = load_assay(data, "emulated,cpu").opened.module
    done = {
        module.locations[module.models[0].tensors[item.outputs[0]].location].operator: (
            module.devices[module.kernels[item.kernel].device]
        )
        for item in module.models[0].regions[0].instructions
        if isinstance(item, Call)
    }
    assert done == {
        "Conv+Relu": "metal",
        "MaxPool": "metal",
        "GlobalAveragePool": "cpu",
        "Gemm": "cpu",
        "Softmax": "cpu",
    }


def test_a_device_alone_cannot_run_what_both_do(data: bytes) -> None:
    with pytest.raises(StatusError, match="no model of it runs on cpu alone"):
        load_assay(data, "cpu")


@pytest.mark.slow
def test_shapes_that_are_not_known_cross_too(folder: Path) -> None:
    path = folder / "transformer.onnx"
    data = assay.build(path, devices=["metal", "cpu"], split="Softmax metal\n* cpu\n")
    module = load_assay(data, "emulated,cpu")
    whole = CpuModule(compile_model(path, target="llvm-cpu").data)
    for batch in (2, 1, 3):
        x = normal(batch, 12, 32)
        (expected,) = whole.invoke("transformer", [x])
        assert np.allclose(module(x), expected, rtol=1e-4, atol=1e-5)
    assert len(crossings(module)) == 2


def test_a_line_without_a_device_is_refused_with_its_number() -> None:
    for wrong in ("Conv", "Conv npu", "Conv metal cpu"):
        with pytest.raises(ModelError, match=r"here:2: 'Conv.*' is no pattern"):
            Split(f"\n{wrong}\n", ["metal", "cpu"], "here")
