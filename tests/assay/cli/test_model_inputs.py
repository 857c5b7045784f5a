"""What a model from ONNX takes is known, though its module declares nothing."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.compiler.models import compile_model
from assay.module import load

from .conftest import Done

Assay = Callable[..., Done]
onnx = pytest.importorskip("onnx", reason="onnx is not installed: it comes with IREE's compiler")

INPUTS = """
  0: tensor<2x3xf32>          such as --input 2x3xf32=0
  1: tensor<?x3xf32>          such as --input 1x3xf32=0
  2: tensor<3xi64>            such as --input 3xi64=0
  3: tensor<i1>               such as --input i1=0
"""


def with_an_idle_input(path: Path) -> Path:
    """A model that does nothing with its second input, of which its module knows nothing."""
    from onnx import TensorProto, helper

    given = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("idle", TensorProto.FLOAT, [7]),
    ]
    gives = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", given, gives)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, path)
    return path


def saved(path: Path) -> Path:
    """A model with inputs of fixed and open shapes, integers, and a condition."""
    from onnx import TensorProto, helper

    nodes = [
        helper.make_node("Cast", ["index"], ["number"], to=TensorProto.FLOAT),
        helper.make_node("Add", ["image", "number"], ["near"]),
        helper.make_node("Where", ["flag", "near", "number"], ["chosen"]),
        helper.make_node("Relu", ["rows"], ["more"]),
    ]
    given = [
        helper.make_tensor_value_info("image", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("rows", TensorProto.FLOAT, ["n", 3]),
        helper.make_tensor_value_info("index", TensorProto.INT64, [3]),
        helper.make_tensor_value_info("flag", TensorProto.BOOL, []),
    ]
    gives = [
        helper.make_tensor_value_info("chosen", TensorProto.FLOAT, [2, 3]),
        helper.make_tensor_value_info("more", TensorProto.FLOAT, ["n", 3]),
    ]
    graph = helper.make_graph(nodes, "choose", given, gives)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.save(model, path)
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as ONNX, as the MLIR that IREE's importer makes of it, and compiled."""
    folder = tmp_path_factory.mktemp("onnx")
    model = saved(folder / "choose.onnx")
    importer = [sys.executable, "-m", "iree.compiler.tools.import_onnx", str(model)]
    subprocess.run([*importer, "-o", str(folder / "choose.mlir")], check=True)
    compile_model(model, folder / "choose.vmfb")
    return folder


@pytest.mark.parametrize("suffix", [".onnx", ".mlir", ".vmfb"])
def test_missing_inputs_are_described_with_type_and_shape(
    assay: Assay, folder: Path, suffix: str
) -> None:
    done = assay("run", folder / f"choose{suffix}")
    assert done.code == 2
    assert done.err == f"error: choose takes 4 inputs, none given:{INPUTS}"


def test_inspect_shows_what_both_forms_of_a_function_take(assay: Assay, folder: Path) -> None:
    done = assay("inspect", folder / "choose.vmfb", "--json")
    takes = {each["name"]: each["takes"] for each in json.loads(done.out)["functions"]}
    kinds = ["tensor<2x3xf32>", "tensor<?x3xf32>", "tensor<3xi64>", "tensor<i1>"]
    assert takes == {"choose$async": kinds, "choose": kinds}


def test_lists_and_numbers_get_the_types_that_the_model_takes(folder: Path) -> None:
    module = load(folder / "choose.vmfb")
    chosen, more = module.choose([[1, 2, 3], [4, 5, 6]], [[-1, 1, 2]], [10, 20, 30], True)
    assert np.array_equal(chosen, np.float32([[11, 22, 33], [14, 25, 36]]))
    assert np.array_equal(more, np.float32([[0, 1, 2]]))


def test_time_without_inputs_takes_random_ones_and_says_so(assay: Assay, folder: Path) -> None:
    done = assay("time", folder / "choose.vmfb", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["assumptions"] == [
        "input0: 2x3xf32, random",
        "input1: ?x3xf32 taken as 4x3xf32, random",
        "input2: 3xi64, random",
        "input3: i1, random",
    ]
    again = assay("time", folder / "choose.vmfb")
    assert "assumed: input0: 2x3xf32, random; input1: ?x3xf32 taken as" in again.out


def test_an_input_that_the_model_does_not_look_at_may_be_anything(
    assay: Assay, tmp_path: Path
) -> None:
    model = with_an_idle_input(tmp_path / "relu.onnx")
    done = assay("run", model)
    assert "\n  1: any array (unused)       such as --input 1xf32=0\n" in done.err
    assert assay("run", model, "--input", "2x3xf32=1", "--input", "1xf32=0").code == 0
    timed = assay("time", model, "--json")
    assert timed.code == 0, timed.err
    assert json.loads(timed.out)["assumptions"] == [
        "input0: 2x3xf32, random",
        "input1: not looked at",
    ]


def test_time_with_some_inputs_asks_for_the_others(assay: Assay, folder: Path) -> None:
    done = assay("time", folder / "choose.vmfb", "--input", "2x3xf32=0")
    assert done.code == 2
    assert f"choose takes 4 inputs, 1 given:{INPUTS}" in done.err


def test_time_with_all_inputs_assumes_nothing(assay: Assay, add: Path) -> None:
    done = assay("time", add, "--input", "2x2xf32=1", "--input", "3", "--json")
    assert json.loads(done.out)["assumptions"] == []
    assert json.loads(assay("time", add, "--json").out)["assumptions"] == [
        "input0: 2x2xf32, random",
        "input1: i32, random",
    ]
