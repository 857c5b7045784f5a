"""Models in StableHLO and TOSA, as text and as bytecode, and in TFLite: fixed and open shapes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.compiler.models import ModelError, compile_model, tools
from assay.hal.cpu.library import FORMAT
from assay.hal.module.file import read_module
from assay.hal.module.records import Place
from assay.hal.status import StatusError
from assay.reference import CpuModule
from tests.models.tflite.small import int8_cnn

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
STABLEHLO = """
func.func @main(%x: tensor<?x4xf32>, %m: tensor<?x4xf32>) -> (tensor<?x3xf32>, tensor<?x4xf32>) {
  %w = stablehlo.constant dense<0.5> : tensor<4x3xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
  %z = stablehlo.tanh %y : tensor<?x3xf32>
  %c = stablehlo.concatenate %x, %m, dim = 0
    : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %z, %c : tensor<?x3xf32>, tensor<?x4xf32>
}
"""
TOSA = """
func.func @main(%x: tensor<?x8x?x3xf32>) -> tensor<?x4x?x3xf32> {
  %p = "tosa.max_pool2d"(%x) <{kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>,
    pad = array<i64: 0, 0, 0, 0>, nan_mode = #tosa.nan_mode<PROPAGATE>}>
    : (tensor<?x8x?x3xf32>) -> tensor<?x4x?x3xf32>
  return %p : tensor<?x4x?x3xf32>
}
"""
VALUES = """
func.func @main(%n: tensor<1xi32>) -> tensor<?xf32> {
  %s = stablehlo.constant dense<1.0> : tensor<f32>
  %r = stablehlo.dynamic_broadcast_in_dim %s, %n, dims = []
    : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
"""
TEXTS = {"stablehlo": STABLEHLO, "tosa": TOSA}


def source(folder: Path, kind: str, *, bytecode: bool = False) -> Path:
    path = folder / f"{kind}.mlir"
    path.write_text(TEXTS[kind])
    if not bytecode:
        return path
    tool = Path(tools.iree_compile()[0]).with_name("iree-opt")
    made = path.with_suffix(".mlirbc")
    subprocess.run([tool, path, "--emit-bytecode", "-o", made], check=True, capture_output=True)
    return made


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def equals_iree(module: AssayModule, path: Path, *arrays: np.ndarray) -> None:
    whole = CpuModule(compile_model(path, target="llvm-cpu").data)
    expected = whole.invoke("main", list(arrays))
    found = module(*arrays)
    for one, other in zip(found if isinstance(found, tuple) else (found,), expected, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.parametrize("bytecode", [False, True])
def test_stablehlo_with_unknown_sizes_is_a_dynamic_model(tmp_path: Path, bytecode: bool) -> None:
    path = source(tmp_path, "stablehlo", bytecode=bytecode)
    module = load_assay(assay.build(path, devices=["cpu"]), "cpu")
    for rows, more in ((3, 5), (1, 1), (9, 2), (3, 5)):
        equals_iree(module, path, random(rows, 4), random(more, 4))
    (model,) = module.opened.module.models
    assert [model.tensors[each.tensor].place for each in model.outputs] == [Place.DYNAMIC] * 2


def test_tosa_sizes_of_results_are_computed_from_those_of_inputs(tmp_path: Path) -> None:
    path = source(tmp_path, "tosa")
    module = load_assay(assay.build(path, devices=["cpu"]), "cpu")
    for batch, width in ((1, 6), (2, 8), (3, 2)):
        assert module(random(batch, 8, width, 3)).shape == (batch, 4, width // 2, 3)
        equals_iree(module, path, random(batch, 8, width, 3))


def test_one_program_serves_exact_and_bounded_sets(tmp_path: Path) -> None:
    path = source(tmp_path, "stablehlo")
    shapes = "input0=2x4,input1=3x4; input0=nx4,input1=kx4"
    data = assay.build(path, shapes=shapes, dims={"n": "1..8", "k": "1..8"}, devices=["cpu"])
    file = read_module(data)
    assert len(file.module.kernels) == 1 and len(file.module.models) == 2
    module = load_assay(data, "cpu")
    held = module.context.memory
    for rows, more, active in ((2, 3, 0), (8, 8, 1), (2, 4, 1)):
        equals_iree(module, path, random(rows, 4), random(more, 4))
        assert module.context.context.active == active
    assert module.context.memory == held and held.dynamic == 0
    with pytest.raises(StatusError, match="no shape set fits"):
        module(random(9, 4), random(1, 4))


def test_a_size_that_the_model_fixes_cannot_be_another(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="input input0 has 8 where 9 is asked for"):
        assay.build(source(tmp_path, "tosa"), shapes="input0=1x9x4x3", devices=["cpu"])


def test_an_input_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="its inputs, with their dimensions, are input0 of 4"):
        assay.build(source(tmp_path, "tosa"), shapes="x=1x8x4x3", devices=["cpu"])


def test_the_npu_needs_shapes_that_are_numbers(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="need shapes that are numbers"):
        assay.build(source(tmp_path, "tosa"), devices=["torq"])


def test_where_shapes_follow_from_values_operators_are_told_them(tmp_path: Path) -> None:
    path = tmp_path / "values.mlir"
    path.write_text(VALUES)
    told: list[str] = []
    module = load_assay(assay.build(path, devices=["cpu"], report=told.append), "cpu")
    for count in (3, 7, 2):
        assert np.array_equal(module(np.array([count], np.int32)), np.ones(count, np.float32))
    assert told == [
        "model input0=1 on cpu: the host waits for input0, on which shapes depend",
    ]


def test_tflite_is_built_for_the_cpu(tmp_path: Path) -> None:
    path = tmp_path / "cnn.tflite"
    path.write_bytes(int8_cnn())
    module = load_assay(assay.build(path, devices=["cpu"]), "cpu")
    x = np.random.default_rng(0).integers(-128, 128, (1, 8, 8, 4)).astype(np.int8)
    equals_iree(module, path, x)


def test_a_program_that_works_in_its_arguments_memory_gets_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "update.mlir"
    path.write_text("""
func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %u = stablehlo.constant dense<7.0> : tensor<1x1xf32>
  %i = stablehlo.constant dense<0> : tensor<i32>
  %y = stablehlo.dynamic_update_slice %x, %u, %i, %i
    : (tensor<4x6xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}
""")
    module = load_assay(assay.build(path, devices=["cpu"]), "cpu")
    x = random(4, 6)
    assert module(x)[0, 0] == 7
    held = module.context.context
    assert np.array_equal(held.read(held.input_tensor("input0")), x)
