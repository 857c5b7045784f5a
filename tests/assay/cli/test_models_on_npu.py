"""Models with `--device torq`: compiled for the NPU, run, checked, timed and compared."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay as package
from assay.npu.layers import LayeredModel
from assay.reference import CpuModule, tensors_by_onnxruntime
from tests.compiler.graph import models
from tests.models.onnx.cases import CASES
from tests.models.onnx.network import Network
from tests.models.onnx.networks import NETWORKS

Assay = Callable[..., Any]
pytestmark = pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
_NPU = ("--device", "torq")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def model(folder: Path) -> Path:
    return models.tflite_file("small", folder)


def test_a_model_runs_on_the_npu_with_tosas_results(
    assay: Assay, model: Path, folder: Path
) -> None:
    (x,), (expected,) = models.reference("small", folder)
    np.save(folder / "x.npy", x)
    given = ("--input", f"@{folder / 'x.npy'}", "--output", f"@{folder / 'y.npy'}")
    done = assay("run", model, *_NPU, *given)
    assert done.code == 0 and "cycles of the NPU" in done.out
    found = np.load(folder / "y.npy")
    assert found.dtype == expected.dtype
    assert np.array_equal(found, expected)
    loaded = package.load(model, device="torq")
    assert np.array_equal(loaded.find(None)(x), expected)


@pytest.mark.parametrize("against", ["tosa", "litert", "llvm-cpu"])
def test_the_npus_results_are_compared_with_others(assay: Assay, model: Path, against: str) -> None:
    if against == "litert" and importlib.util.find_spec("ai_edge_litert") is None:
        pytest.skip("LiteRT is missing")
    done = assay("diff", model, *_NPU, "--against", against, "--json")
    found = json.loads(done.out)
    assert done.code == 0 and found["equal"]
    assert found["results"][0]["elements"] > 1


@pytest.mark.parametrize("against", ["tosa", "onnxruntime", "llvm-cpu"])
def test_the_npus_results_of_onnx_are_compared_with_others(
    assay: Assay, folder: Path, against: str
) -> None:
    pytest.importorskip("onnx")
    if against == "onnxruntime":
        pytest.importorskip("onnxruntime")
    path = folder / "integers.onnx"
    path.write_bytes(CASES["integers in and out"](Network(1)))
    steps = ("--steps", "1") if against == "onnxruntime" else ("--exact",)
    done = assay("diff", path, *_NPU, "--against", against, "--json", *steps)
    found = json.loads(done.out)
    assert done.code == 0 and found["equal"]
    assert found["results"][0]["elements"] == 288


def test_an_onnx_model_runs_with_the_integers_inside_of_its_quantisers(
    assay: Assay, folder: Path
) -> None:
    pytest.importorskip("onnx")
    path = folder / "detector.onnx"
    path.write_bytes(NETWORKS["detector"](Network(1)))
    done = assay("run", path, *_NPU)
    assert done.code == 2 and "such as --input 1x3x16x16xi8=0" in done.err
    assert assay("check", path, *_NPU).code == 0
    layers = assay("diff", path, *_NPU, "--layers", "--against", "tosa")
    assert layers.code == 0 and "none of them different" in layers.out


def test_tensors_of_onnx_are_compared_with_onnx_runtime_and_a_board(
    assay: Assay, folder: Path
) -> None:
    pytest.importorskip("onnxruntime")
    path, x = folder / "layers.onnx", folder / "layers.npy"
    net = Network(1, "uint8")
    y = net.qdq(net.input((1, 6, 9, 11)))
    y = net.qdq(net.node("Conv", y, net.weights((8, 6, 3, 3), by_channel=0), net.bias(8)), 0.2)
    y = net.qdq(net.node("Sigmoid", net.node("Transpose", y, perm=[0, 2, 3, 1])), 1 / 256, 0)
    path.write_bytes(net.finish(y))
    image = np.random.default_rng(1).integers(0, 256, (1, 6, 9, 11)).astype(np.uint8)
    np.save(x, image.view(np.int8))
    given = ("diff", path, *_NPU, "--layers", "--input", f"@{x}")
    done = assay(*given, "--against", "onnxruntime", "--steps", "1")
    assert done.code == 0 and "3 tensors compared, none of them different" in done.out
    tensors = tensors_by_onnxruntime(path, [image.view(np.int8)])
    (sums,) = (
        name
        for name, found in tensors.items()
        if found.dtype == np.uint8 and found.shape == (1, 8, 7, 9)
    )
    tensors[sums] = np.where(tensors[sums] < 250, tensors[sums] + 3, 0)
    np.savez(folder / "layers.npz", **{sums: tensors[sums]})
    done = assay(*given, "--reference", folder / "layers.npz", "--steps", "1")
    assert done.code == 1 and "(convolution): first difference at [0, " in done.out


def test_a_model_is_compiled_once_and_run(assay: Assay, model: Path, tmp_path: Path) -> None:
    usual, vendor = tmp_path / "usual.torq", tmp_path / "vendor.torq"
    done = assay("compile", model, *_NPU, "-o", usual)
    assert done.code == 0 and "runs of slices" in done.out
    told = assay("inspect", usual).out.partition("the run as a whole\n")[2]
    (cycles,) = re.findall(r"([\d,]+) cycles expected", done.out)
    (peak,) = re.findall(r"LRAM: ([\d,]+) bytes at most", done.out)
    assert f"expected: {cycles} cycles" in told and f"LRAM: {peak} of 524,288 B" in told
    assert "operators of the model: " in told and " direct; " in told
    whole = json.loads(assay("inspect", usual, "--json").out)["executables"][0]["run"]
    assert whole["loads"] + whole["stores"] > 2 and 0 < whole["utilisation"] < 1
    assert assay("run", usual, "--input", "1x8x8x4xi8=1").code == 0
    found = json.loads(
        assay("compile", model, *_NPU, "--schedule", "vendor", "-o", vendor, "--json").out
    )
    assert found["output"] == str(vendor) and found["schedule"]["cycles"] > 0
    assert usual.read_bytes() != vendor.read_bytes()


def test_results_that_differ_end_with_code_1(assay: Assay, model: Path, folder: Path) -> None:
    (x,), (expected,) = models.reference("small", folder)
    wrong = expected.copy()
    wrong.flat[-1] ^= 1
    np.save(folder / "wrong.npy", wrong)
    np.save(folder / "x.npy", x)
    given = ("--input", f"@{folder / 'x.npy'}", "--reference", f"@{folder / 'wrong.npy'}")
    done = assay("diff", model, *_NPU, *given)
    assert done.code == 1
    assert f"1 of {wrong.size}" in done.out and "emulated NPU against reference" in done.out


def test_every_tensor_between_operators_is_compared(assay: Assay, folder: Path) -> None:
    path = models.tflite_file("small", folder)
    found = json.loads(assay("diff", path, *_NPU, "--layers", "--against", "tosa", "--json").out)
    names = [result["name"] for result in found["results"]]
    assert found["equal"] and len(names) == 4, names
    assert any(name.startswith("conv_2") for name in names), names


def test_truth_values_between_operators_are_compared(assay: Assay, tmp_path: Path) -> None:
    path, kind = tmp_path / "larger.mlir", "tensor<4xi8>"
    path.write_text(
        f"func.func @main(%a: {kind}, %b: {kind}) -> {kind} {{\n"
        f"  %0 = tosa.greater %a, %b : ({kind}, {kind}) -> tensor<4xi1>\n"
        f"  %1 = tosa.select %0, %a, %b : (tensor<4xi1>, {kind}, {kind}) -> {kind}\n"
        f"  return %1 : {kind}\n}}"
    )
    done = assay("diff", path, *_NPU, "--against", "tosa", "--layers")
    assert done.code == 0 and "2 tensors compared, none of them different" in done.out


def test_inputs_in_another_order_of_axes_are_refused(
    assay: Assay, model: Path, tmp_path: Path
) -> None:
    words, module = tmp_path / "small.torq", tmp_path / "small.vmfb"
    for path in (words, module):
        assert assay("compile", model, *_NPU, "-o", path).code == 0
        done = assay("run", path, "--input", "1x4x8x8xi8=0")
        assert done.code == 2
        assert "an input of shape 1x4x8x8 for " in done.err and "1x8x8x4xi8" in done.err
        assert assay("run", path, "--input", "256xi8=0").code == 0


def test_tensors_are_compared_in_the_models_order_of_channels(assay: Assay, folder: Path) -> None:
    pytest.importorskip("ai_edge_litert")
    path = models.tflite_file("small", folder)
    done = assay("diff", path, *_NPU, "--layers", "--against", "litert")
    assert done.code == 0 and "3 tensors compared, none of them different" in done.out


def test_the_first_tensor_that_differs_from_a_boards_is_named(
    assay: Assay, model: Path, folder: Path
) -> None:
    (x,), _ = models.reference("small", folder)
    np.save(folder / "x.npy", x)
    pixels = LayeredModel(model).run([x])[0]
    assert pixels.expected is not None and pixels.in_planes
    board = {"conv_2": pixels.expected.transpose(0, 2, 3, 1).copy(), "another": np.zeros(3)}
    given = ("--input", f"@{folder / 'x.npy'}", "--reference", folder / "board.npz")
    np.savez(folder / "board.npz", **board)
    same = assay("diff", model, *_NPU, "--layers", *given)
    assert same.code == 0
    assert "1 tensor compared, none of them different, 3 have nothing" in same.out
    board["conv_2"][0, 3, 4, 5] ^= 1
    np.savez(folder / "board.npz", **board)
    other = assay("diff", model, *_NPU, "--layers", *given)
    assert other.code == 1
    assert "result conv_2 (convolution): first difference at [0, 5, 3, 4]" in other.out


def test_tensors_of_other_names_are_not_called_equal(
    assay: Assay, model: Path, tmp_path: Path
) -> None:
    np.savez(tmp_path / "board.npz", another=np.zeros(3))
    done = assay("diff", model, *_NPU, "--layers", "--reference", tmp_path / "board.npz")
    assert done.code == 2 and "no tensor has a name of the model's" in done.err
    assert "conv_2" in done.err


def test_a_damaged_file_of_tensors_is_refused(assay: Assay, model: Path, tmp_path: Path) -> None:
    path = tmp_path / "board.npz"
    path.write_bytes(b"PK\x03\x04 and no more")
    done = assay("diff", model, *_NPU, "--layers", "--reference", path)
    assert done.code == 2 and "is not a readable .npz file" in done.err


def test_tensors_between_operators_need_a_model_on_the_npu(assay: Assay, model: Path) -> None:
    done = assay("diff", model, "--layers")
    assert done.code == 2 and "--layers is for models with --device torq" in done.err


def test_every_tensor_of_a_tflite_model_is_compared_with_llvm_cpu(
    assay: Assay, model: Path
) -> None:
    done = assay("diff", model, *_NPU, "--layers", "--exact")
    assert "emulated NPU against llvm-cpu: 3 tensors compared, none of them different" in done.out


_SCALED = """
func.func @scaled(%x: tensor<1x4x4x8xi8>, %w: tensor<4xi8>)
    -> (tensor<1x4x4x16xi8>, tensor<4xi8>) {
  %weights = "tosa.const"() {values = dense<3> : tensor<8x1x1x8xi8>} : () -> tensor<8x1x1x8xi8>
  %bias = "tosa.const"() {values = dense<5> : tensor<8xi32>} : () -> tensor<8xi32>
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %wide = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %by = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<34> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.conv2d %x, %weights, %bias, %zero, %zero {acc_type = i32,
    dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
    : (tensor<1x4x4x8xi8>, tensor<8x1x1x8xi8>, tensor<8xi32>, tensor<1xi8>, tensor<1xi8>)
    -> tensor<1x4x4x8xi32>
  %1 = tosa.rescale %0, %by, %shift, %wide, %zero {input_unsigned = false,
    output_unsigned = false, per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true}
    : (tensor<1x4x4x8xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>)
    -> tensor<1x4x4x8xi8>
  %2 = tosa.clamp %1 {min_val = -20 : i8, max_val = 20 : i8}
    : (tensor<1x4x4x8xi8>) -> tensor<1x4x4x8xi8>
  %3 = tosa.concat %2, %x {axis = 3 : i32}
    : (tensor<1x4x4x8xi8>, tensor<1x4x4x8xi8>) -> tensor<1x4x4x16xi8>
  %4 = tosa.bitwise_not %w : (tensor<4xi8>) -> tensor<4xi8>
  return %3, %4 : tensor<1x4x4x16xi8>, tensor<4xi8>
}
"""


def test_every_tensor_of_text_is_compared_with_llvm_cpu(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "scaled.mlir"
    path.write_text(_SCALED)
    done = json.loads(assay("diff", path, *_NPU, "--layers", "--exact", "--json").out)
    assert done["equal"]
    names = [result["name"] for result in done["results"]]
    assert names[0].startswith("line 10, column ") and names[0].endswith(" (transpose)")
    assert len(names) == 3


def test_every_tensor_of_linalg_is_compared_with_llvm_cpu(assay: Assay, tmp_path: Path) -> None:
    path, kind = tmp_path / "sums.mlir", "tensor<4x8xi32>"
    same = "affine_map<(d0, d1) -> (d0, d1)>"
    path.write_text(
        f"func.func @sums(%a: tensor<4x16xi8>, %b: tensor<16x8xi8>, %c: {kind}) -> {kind} {{\n"
        "  %zero = arith.constant 0 : i32\n"
        f"  %empty = tensor.empty() : {kind}\n"
        f"  %0 = linalg.fill ins(%zero : i32) outs(%empty : {kind}) -> {kind}\n"
        "  %1 = linalg.matmul ins(%a, %b : tensor<4x16xi8>, tensor<16x8xi8>)"
        f" outs(%0 : {kind}) -> {kind}\n"
        f"  %2 = linalg.generic {{indexing_maps = [{same}, {same}, {same}],"
        ' iterator_types = ["parallel", "parallel"]}'
        f" ins(%1, %c : {kind}, {kind}) outs(%empty : {kind}) {{\n"
        "  ^bb0(%l: i32, %r: i32, %o: i32):\n"
        "    %s = arith.addi %l, %r : i32\n"
        f"    linalg.yield %s : i32 }} -> {kind}\n"
        f"  return %2 : {kind}\n}}"
    )
    done = assay("diff", path, *_NPU, "--layers", "--exact")
    assert "llvm-cpu: 2 tensors compared, none of them different" in done.out


@pytest.mark.parametrize(
    "name",
    [n if n == "residual cnn" else pytest.param(n, marks=pytest.mark.slow) for n in NETWORKS],
)
def test_every_tensor_of_onnx_is_compared_with_llvm_cpu(
    assay: Assay, folder: Path, name: str
) -> None:
    pytest.importorskip("onnx")
    path = folder / "layers.onnx"
    path.write_bytes(NETWORKS[name](Network(1)))
    done = assay("diff", path, *_NPU, "--layers", "--exact", "--json")
    found = json.loads(done.out)
    assert found["equal"] and len(found["results"]) > 5


def test_a_tensor_that_another_backend_makes_otherwise_is_named(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scaled.mlir"
    path.write_text(_SCALED)

    def wrong(module: object, function: str, values: object) -> list[np.ndarray]:
        results = [np.array(result) for result in invoke(module, function, values)]
        results[1][0, 1, 2, 3] ^= 1
        results[2][0, 1, 2, 3] ^= 1
        return results

    invoke = CpuModule.invoke
    monkeypatch.setattr(CpuModule, "invoke", wrong)
    done = assay("diff", path, *_NPU, "--layers", "--exact")
    assert done.code == 1
    assert "line 10, column 8 (transpose): first difference at [0, 1, 2, 3]" in done.out


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        (("a",), "the model has no operators"),
        (("a", "b"), "the model has 2 functions, a, b; one is possible"),
    ],
)
def test_models_without_tensors_to_compare_are_refused(
    assay: Assay, tmp_path: Path, functions: tuple[str, ...], message: str
) -> None:
    path = tmp_path / "same.mlir"
    kind = "tensor<4xi8>"
    path.write_text(
        "".join(f"func.func @{f}(%x: {kind}) -> {kind} {{ return %x : {kind} }}" for f in functions)
    )
    done = assay("diff", path, *_NPU, "--against", "tosa", "--layers")
    assert done.code in (1, 2) and message in done.err


def test_a_model_is_checked_and_timed_on_the_npu(assay: Assay, model: Path) -> None:
    done = assay("check", model, *_NPU)
    assert done.code == 0 and "1 executable, no findings" in done.out
    assert json.loads(assay("time", model, *_NPU, "--json").out)["cycles"] > 0


def test_the_inputs_that_are_missing_are_named(assay: Assay, model: Path) -> None:
    done = assay("run", model, *_NPU)
    assert done.code == 2 and "such as --input 1x8x8x4xi8=0" in done.err


def test_a_tflite_model_says_which_device_it_took(assay: Assay, model: Path) -> None:
    done = assay("run", model, "--input", "1x8x8x4xi8=0")
    assert done.code == 0 and "--device torq takes the NPU" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--device", "gpu"), "expected emulated, native, torq"),
        (("run", *_NPU, "--parameters", "w=x.irpa"), "--parameters is not for the NPU"),
        (("time", "--device", "native"), "expected emulated or torq"),
        (("time", *_NPU, "--grid", "3"), "--grid is not for the NPU"),
        (("check", "--device", "native"), "expected emulated or torq"),
        (("compile", *_NPU, "--target", "both"), "--target is not for the NPU"),
        (("compile", *_NPU, "--schedule", "fast"), "there are overlap and vendor"),
        (("compile", "--no-double-buffer"), "options of schedules are for --device torq"),
        (("run", "--torq-hw", "SL2610"), "--torq-hw and --skip-host-code are for Torq executables"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    assay: Assay, model: Path, arguments: tuple[str, ...], message: str
) -> None:
    command, *options = arguments
    done = assay(command, model, *options)
    assert done.code == 2 and message in done.err


@pytest.mark.parametrize("command", ["run", "check", "time", "diff"])
def test_what_is_no_model_for_the_npu_is_refused(
    assay: Assay, tmp_path: Path, command: str
) -> None:
    path = tmp_path / "cut.tflite"
    path.write_bytes(b"\x1c\x00\x00\x00TFL3" + bytes(8))
    done = assay(command, path, *_NPU)
    assert done.code in (1, 2) and "cut.tflite" in done.err and not done.out
