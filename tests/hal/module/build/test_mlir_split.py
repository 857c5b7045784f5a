"""Models in TFLite, TOSA and StableHLO whose operators are on several devices."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.assay_module import built, load_assay
from assay.compiler.graph.symbolic.graph import Operator
from assay.compiler.models import ModelError, compile_model, importers, tools
from assay.hal.cpu.library import FORMAT
from assay.hal.module.build.build import build_module
from assay.hal.module.records import Call, Copy, Forward, Place
from assay.reference import CpuModule, run_by_litert
from tests.hal.module.build.test_npu_split import calls, crossings
from tests.models.tflite.drawn import network
from tests.models.tflite.models import mobilenet_v2
from tests.models.tflite.small import int8_cnn, open_cnn
from tests.models.zoo import MODELS, Model

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
HEAD = "dense_8* metal\n* torq\n"


def _weights(seed: int) -> str:
    return str(np.random.default_rng(seed).integers(-9, 9, (6, 6)).astype(float).tolist())


LAYERS = f"""
func.func @main(%x: tensor<?x6xf32>) -> tensor<?xf32> {{
  %w = stablehlo.constant dense<{_weights(1)}> : tensor<6x6xf32>
  %v = stablehlo.constant dense<{_weights(2)}> : tensor<6x6xf32>
  %a = stablehlo.dot %x, %w : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %b = stablehlo.tanh %a : tensor<?x6xf32>
  %c = stablehlo.dot %b, %v : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %d = stablehlo.tanh %c : tensor<?x6xf32>
  %e = stablehlo.dot %d, %v : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
    : (tensor<?x6xf32>, tensor<f32>) -> tensor<?xf32>
  return %s : tensor<?xf32>
}}
"""
COUNTED = """
func.func @main(%x: tensor<?xf32>, %n: tensor<1xi32>) -> (tensor<?x?xf32>, tensor<1xi32>) {
  %m = stablehlo.multiply %n, %n : tensor<1xi32>
  %d = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
  %r = stablehlo.reshape %d : (tensor<i32>) -> tensor<1xi32>
  %s = stablehlo.concatenate %m, %r, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %h = stablehlo.constant dense<0.5> : tensor<f32>
  %t = stablehlo.dynamic_broadcast_in_dim %h, %s, dims = []
    : (tensor<f32>, tensor<2xi32>) -> tensor<?x?xf32>
  %y = stablehlo.tanh %t : tensor<?x?xf32>
  return %y, %m : tensor<?x?xf32>, tensor<1xi32>
}
"""
ALIKE = """
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<3xf32>,
                                      tensor<4xf32>) {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %t = stablehlo.tanh %x : tensor<4xf32>
  %r = stablehlo.reshape %t : (tensor<4xf32>) -> tensor<2x2xf32>
  return %x, %t, %r, %c, %t
    : tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<3xf32>, tensor<4xf32>
}
"""


def write(folder: Path, text: str, *, bytecode: bool = False) -> Path:
    path = folder / "model.mlir"
    path.write_text(text)
    if not bytecode:
        return path
    tool = Path(tools.iree_compile()[0]).with_name("iree-opt")
    made = path.with_suffix(".mlirbc")
    subprocess.run([tool, path, "--emit-bytecode", "-o", made], check=True, capture_output=True)
    return made


def cnn(folder: Path, kind: str) -> Path:
    """The same int8 CNN in TFLite, or as TOSA in bytecode or text."""
    path = folder / "cnn.tflite"
    path.write_bytes(int8_cnn())
    if kind == "tflite":
        return path
    made, _ = importers.to_mlir(path, "tflite", folder, lambda text: None, locations=True)
    if kind == "mlirbc":
        return made
    tool = Path(tools.iree_compile()[0]).with_name("iree-opt")
    text = folder / "cnn.mlir"
    command = [tool, made, "--mlir-print-debuginfo", "-o", text]
    subprocess.run(command, check=True, capture_output=True)
    return text


def image(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-128, 128, (1, 8, 8, 4)).astype(np.int8)


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def expected(path: Path, *arrays: np.ndarray) -> list[Any]:
    module = CpuModule(compile_model(path, target="llvm-cpu").data)
    return [np.asarray(each) for each in module.invoke("main", list(arrays))]


@pytest.mark.parametrize(
    "kind",
    [
        "tflite",
        pytest.param("mlir", marks=pytest.mark.slow),
        pytest.param("mlirbc", marks=pytest.mark.slow),
    ],
)
def test_convolutions_on_the_npu_and_a_head_on_metal_are_exact(kind: str, tmp_path: Path) -> None:
    path = cnn(tmp_path, kind)
    told: list[str] = []
    data = assay.build(path, devices=["torq", "metal"], split=HEAD, report=told.append)
    module = load_assay(data, "torq,emulated")
    for seed in range(3):
        (wanted,) = expected(path, image(seed))
        assert np.array_equal(module(image(seed)), wanted)
    if kind == "tflite":
        (by_litert,) = run_by_litert(path, [image(0)])
        assert np.array_equal(module(image(0)), by_litert)
    done = calls(module)
    on_npu = "tosa.conv2d+tosa.rescale+tosa.max_pool2d"
    assert done == {on_npu: "torq", "tosa.conv2d+tosa.rescale": "metal"}
    assert [tensor.shape for tensor in crossings(module)] == [(1, 1, 1, 128)]
    assert not told


def test_what_the_npu_cannot_do_falls_to_the_next_device_and_is_named(tmp_path: Path) -> None:
    text = """
func.func @main(%x: tensor<1x4x8xi32>) -> tensor<1x4x8xf32> {
  %a = tosa.add %x, %x : (tensor<1x4x8xi32>, tensor<1x4x8xi32>) -> tensor<1x4x8xi32> loc("sum")
  %b = tosa.cast %a : (tensor<1x4x8xi32>) -> tensor<1x4x8xf32> loc("wide")
  %c = tosa.tanh %b : (tensor<1x4x8xf32>) -> tensor<1x4x8xf32> loc("squash")
  return %c : tensor<1x4x8xf32>
}
"""
    path = write(tmp_path, text)
    told: list[str] = []
    data = assay.build(path, devices=["torq", "cpu"], split="* torq\n", report=told.append)
    assert all(line.startswith("not on torq but on cpu: ") for line in told)
    assert {line.split(": ")[1] for line in told} == {"tosa.cast wide", "tosa.tanh squash"}
    x = np.arange(32, dtype=np.int32).reshape(1, 4, 8)
    module = load_assay(data, "torq,cpu")
    assert np.array_equal(module(x), expected(path, x)[0])
    assert sorted(calls(module).values()) == ["cpu", "torq"]


def test_the_npu_alone_says_what_of_mlir_it_cannot_do(tmp_path: Path) -> None:
    path = write(tmp_path, LAYERS)
    with pytest.raises(ModelError, match=r"NPU alone cannot do all of it:(?s:.*)stablehlo\.dot"):
        assay.build(path, devices=["torq"], split="* torq\n")


@pytest.mark.parametrize("bytecode", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_dynamic_dimension_is_split_over_devices(bytecode: bool, tmp_path: Path) -> None:
    path = write(tmp_path, LAYERS, bytecode=bytecode)
    data = assay.build(path, devices=["metal", "cpu"], split="stablehlo.reduce cpu\n* metal\n")
    module = load_assay(data, "emulated,cpu")
    for count in (3, 1, 8, 3):
        (wanted,) = expected(path, rows(count, 6))
        assert np.allclose(module(rows(count, 6)), wanted, rtol=2e-4, atol=2e-5)
    assert calls(module)["stablehlo.reduce"] == "cpu"
    assert len(crossings(module)) == 1


def test_equal_layers_are_one_kernel_and_weights_are_there_once(tmp_path: Path) -> None:
    data = assay.build(write(tmp_path, LAYERS), devices=["cpu"], split="* cpu\n")
    module = load_assay(data, "cpu").opened.module
    assert sum(kernel.entry.startswith("dot_tanh_") for kernel in module.kernels) == 1
    assert [weight.shape for weight in module.weights] == [(6, 6), (6, 6)]
    (model,) = module.models
    items = model.regions[0].instructions
    assert sum(isinstance(item, Call) for item in items) == 4


@pytest.mark.parametrize(
    "split", ["", pytest.param("pool* metal\n* cpu\n", marks=pytest.mark.slow)]
)
def test_tflite_may_leave_the_number_of_images_open(split: str, tmp_path: Path) -> None:
    path = tmp_path / "open.tflite"
    path.write_bytes(open_cnn())
    data = assay.build(path, devices=["metal", "cpu"] if split else ["cpu"], split=split or None)
    module = load_assay(data, "emulated,cpu" if split else "cpu")
    for count in (1, 3):
        images = np.concatenate([image(seed) for seed in range(count)])
        assert np.array_equal(module(images), expected(path, images)[0])


def test_what_is_computed_of_constants_is_computed_once(tmp_path: Path) -> None:
    text = f"""
func.func @main(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {{
  %w = stablehlo.constant dense<{_weights(3)}> : tensor<6x6xf32>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<6x6xf32>) -> tensor<6x6xf32>
  %y = stablehlo.dot %x, %t : (tensor<2x6xf32>, tensor<6x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}}
"""
    path = write(tmp_path, text)
    module = load_assay(assay.build(path, devices=["cpu"], split="* cpu\n"), "cpu")
    assert not module.opened.module.weights  # IREE transposes what it is given with the kernel
    for _ in range(2):
        wanted = expected(path, rows(2, 6))[0]
        assert np.allclose(module(rows(2, 6)), wanted, rtol=2e-4, atol=2e-5)


@pytest.mark.slow
def test_mobilenet_on_the_npu_with_its_softmax_on_metal_is_litert_s(tmp_path: Path) -> None:
    path = tmp_path / "mobilenet.tflite"
    path.write_bytes(mobilenet_v2(size=96))
    told: list[str] = []
    split = "softmax* metal\n* torq\n"
    data = assay.build(path, devices=["torq", "metal"], split=split, report=told.append)
    module = load_assay(data, "torq,emulated")
    (given,) = module.zeros()
    x = np.random.default_rng(0).integers(-128, 128, given.shape).astype(np.int8)
    (wanted,) = run_by_litert(path, [x])
    assert np.array_equal(module(x), wanted)
    whole = module.opened.module
    on_npu = [each for each in whole.kernels if whole.devices[each.device] == "torq"]
    assert len(on_npu) == 1 and len(whole.kernels) > 5 and not told


@pytest.mark.slow
def test_a_split_that_is_chosen_can_be_kept_and_given(tmp_path: Path) -> None:
    path = write(tmp_path, LAYERS)
    kept: list[str] = []
    told: list[str] = []
    data = built(
        path,
        devices=["metal", "cpu"],
        shapes="",
        dims=["input0_0=1..64"],
        split="auto",
        report=told.append,
        chosen=kept.append,
    )
    assert told[-1].startswith("predicted for a run on Apple M1: ")
    (text,) = kept
    assert [line.split()[0] for line in text.splitlines()][:2] == ["dot_3", "tanh_4"]
    devices, dims = ["metal", "cpu"], {"input0_0": "1..64"}
    assert assay.build(path, devices=devices, dims=dims, split=text) == data


def test_shapes_that_follow_from_values_are_told_to_kernels(tmp_path: Path) -> None:
    path = write(tmp_path, COUNTED)
    told: list[str] = []
    data = assay.build(
        path,
        devices=["metal", "cpu"],
        split="stablehlo.multiply metal\n* cpu\n",
        report=told.append,
    )
    assert told[0].endswith("the host waits for output1, on which shapes depend")
    module = load_assay(data, "emulated,cpu")
    for count, width in ((2, 3), (3, 1), (1, 5)):
        given = rows(width), np.array([count], np.int32)
        for one, other in zip(module(*given), expected(path, *given), strict=True):
            assert np.array_equal(one, other)


def test_results_may_be_inputs_constants_views_and_each_other(tmp_path: Path) -> None:
    path = write(tmp_path, ALIKE)
    module = load_assay(assay.build(path, devices=["cpu"], split="* cpu\n"), "cpu")
    for one, other in zip(module(rows(4)), expected(path, rows(4)), strict=True):
        assert np.array_equal(one, other)
    model = module.opened.module.models[0]
    kinds = [type(item) for item in model.regions[0].instructions]
    assert kinds.count(Forward) == 3 and Copy not in kinds
    assert model.tensors[model.outputs[0].tensor].place == Place.VIEW


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [each for each in MODELS if not (each.works_around or each.flags or each.parameters)],
    ids=lambda each: each.name,
)
def test_operators_one_by_one_give_what_the_whole_model_gives(model: Model, tmp_path: Path) -> None:
    from assay.compare import Tolerance, compare

    path = model.source(tmp_path)
    if path.suffix == ".onnx":
        pytest.skip("ONNX models have tests of their own")
    try:
        data = build_module(path, devices=["cpu"], apart=True)
        wanted = CpuModule(compile_model(path, target="llvm-cpu").data).invoke(
            model.function, model.arguments()
        )
    except (ModelError, RuntimeError) as error:
        assert _is_refused(str(error)), error
        return
    module = load_assay(data, "cpu")
    found = module(*model.arguments())
    tolerance = Tolerance(relative=model.relative, absolute=model.absolute, widen=False)
    results: list[Any] = list(found) if isinstance(found, tuple) else [found]
    for one, other in zip(results, wanted, strict=True):
        assert compare(one, np.asarray(other), tolerance).equal
    context = module.context.context
    for name, given in zip(module.context.inputs, model.arguments(), strict=True):
        kept = context.read(context.input_tensor(name))
        assert kept.tobytes() == np.asarray(given).tobytes(), f"{name} was written over"


def _is_refused(text: str) -> bool:
    """What modules have no place for, and what IREE's CPU backend cannot do itself."""
    reasons = (
        "which is no tensor",
        "tensors of f64",
        "outside of the function",
        "public functions",
        "undefined symbol: log10f",
        "indirect buffer reference",
    )
    return any(reason in text for reason in reasons)


class _Drawn:
    """Each operator on either device, by the tossing of a coin."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self._chosen: dict[str, int] = {}

    def device(self, operator: Operator) -> int:
        return self._chosen.setdefault(operator.name, int(self._random.integers(2)))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_drawn_networks_split_anyhow_are_exact(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    path = tmp_path / "drawn.tflite"
    path.write_bytes(network(lambda below: int(random.integers(below)), 8))
    split: Any = _Drawn(seed)
    module = load_assay(build_module(path, devices=["torq", "cpu"], split=split), "torq,cpu")
    values = []
    for like in module.zeros():
        limits = np.iinfo(like.dtype)
        drawn = random.integers(limits.min, limits.max, like.shape, endpoint=True)
        values.append(drawn.astype(like.dtype))
    alone = load_assay(build_module(path, devices=["torq"]), "torq")
    assert all(map(np.array_equal, several(module(*values)), several(alone(*values))))
    if values[0].dtype == np.int8:  # sums of int16 saturate otherwise in IREE than on the NPU
        assert all(map(np.array_equal, several(module(*values)), expected(path, *values)))


def several(found: Any) -> tuple[Any, ...]:
    return found if isinstance(found, tuple) else (found,)
