"""What IREE compiles for CPUs gives the same numbers on our CPU device as in IREE's runtime."""

import sys
from pathlib import Path

import numpy as np
import pytest

from assay.compiler.models import compile_model
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.cpu.device import CpuDriver
from assay.hal.cpu.library import FORMAT, Library
from assay.hal.status import StatusError
from assay.hal.vm import Session
from assay.reference import CpuModule

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)

MATMUL = """
func.func @main(%x: tensor<?x24xf32>, %w: tensor<24x40xf32>) -> tensor<?x40xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x24xf32>
  %empty = tensor.empty(%n) : tensor<?x40xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x40xf32>) -> tensor<?x40xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x24xf32>, tensor<24x40xf32>)
       outs(%start : tensor<?x40xf32>) -> tensor<?x40xf32>
  return %y : tensor<?x40xf32>
}
"""


@pytest.fixture(scope="module")
def matmul(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    source = tmp_path_factory.mktemp("cpu") / "matmul.mlir"
    source.write_text(MATMUL)
    return compile_model(source, target="llvm-cpu").data


def test_a_matrix_product_of_any_height_equals_irees_runtime(matmul: bytes) -> None:
    ours = Session(CpuDriver().open()).load(matmul)
    theirs = CpuModule(matmul)
    random = np.random.default_rng(1)
    for rows in (1, 7, 64, 3):
        x = random.standard_normal((rows, 24), np.float32)
        w = random.standard_normal((24, 40), np.float32)
        (expected,) = theirs.invoke("main", [x, w])
        assert np.array_equal(ours.invoke("main", x, w)[0], expected)


def test_a_convolution_equals_irees_runtime(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    graph = OnnxGraph("net")
    x = graph.input("x", (1, 3, 20, 20))
    weights = random.standard_normal((8, 3, 3, 3), np.float32)
    x = graph.convolution(x, weights, random.standard_normal(8, np.float32), stride=2, pad=1)
    graph.output(graph.node("Softmax", x, axis=1), (1, 8, 10, 10))
    source = tmp_path / "net.onnx"
    source.write_bytes(graph.to_bytes())
    data = compile_model(source, target="llvm-cpu").data
    image = random.standard_normal((1, 3, 20, 20), np.float32)
    (expected,) = CpuModule(data).invoke("net", [image])
    (result,) = Session(CpuDriver().open()).load(data).invoke("net", image)
    assert np.array_equal(result, expected)


def test_what_is_no_library_is_refused() -> None:
    with pytest.raises(StatusError, match="no usable CPU executable"):
        Library(memoryview(b"\x7fELF" + bytes(100)), ())


def test_an_executable_for_another_processor_is_refused() -> None:
    with pytest.raises(StatusError, match="not for this processor"):
        CpuDriver().open().executable_cache.prepare("embedded-elf-riscv_64", memoryview(b""), ())


def test_there_is_one_device() -> None:
    assert CpuDriver().open("0").info in CpuDriver().devices()
    with pytest.raises(StatusError, match="no CPU device '1'"):
        CpuDriver().open("1")
