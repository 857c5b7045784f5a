"""Results that old models have and nobody reads."""

from pathlib import Path

import numpy as np
import onnx

from assay.compiler.graph.symbolic.graph import Forward
from assay.compiler.graph.symbolic.onnx_graph import graph_of
from assay.compiler.graph.symbolic.onnx_model import OnnxModel

FLOAT = onnx.TensorProto.FLOAT


def model(tmp_path: Path, node: onnx.NodeProto, opset: int, *outputs: str) -> OnnxModel:
    """A model of one node of x, 4 x 6."""
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(
        [node],
        "old",
        [info("x", FLOAT, [4, 6])],
        [info(name, FLOAT, None) for name in outputs],
        [onnx.numpy_helper.from_array(np.array([2], np.int64), "two")],
    )
    opsets = [onnx.helper.make_opsetid("", opset)]
    made = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    path = tmp_path / "old.onnx"
    onnx.save(made, path)
    return OnnxModel(path)


def test_the_mask_of_an_old_dropout_that_nobody_reads_is_left_out(tmp_path: Path) -> None:
    node = onnx.helper.make_node("Dropout", ["x"], ["y", "mask"])
    made = graph_of(model(tmp_path, node, 6, "y"), {"x": (4, 6)})
    assert [type(step) for step in made.steps] == [Forward]
    assert made.tensors["y"].dims == (4, 6) and "mask" not in made.tensors


def test_an_optional_result_that_the_model_gives_stays(tmp_path: Path) -> None:
    node = onnx.helper.make_node("Dropout", ["x"], ["y", "mask"])
    made = graph_of(model(tmp_path, node, 13, "y", "mask"), {"x": (4, 6)})
    assert made.outputs == ("y", "mask") and made.tensors["mask"].dims == (4, 6)


def test_results_that_an_operator_must_have_stay_though_nobody_reads_them(tmp_path: Path) -> None:
    node = onnx.helper.make_node("TopK", ["x", "two"], ["largest", "where"])
    assert list(model(tmp_path, node, 11, "largest").proto.graph.node[0].output) == [
        "largest",
        "where",
    ]
