"""ONNX models of older opsets than IREE reads."""

from pathlib import Path
from typing import Any

import onnx
import pytest

from assay.compiler.models import opsets

FLOAT = onnx.TensorProto.FLOAT


def model(opset: int, operator: str = "Relu", **attributes: Any) -> onnx.ModelProto:
    info = onnx.helper.make_tensor_value_info
    node = onnx.helper.make_node(operator, ["x"], ["y"], **attributes)
    graph = onnx.helper.make_graph(
        [node], "old", [info("x", FLOAT, [1, 2, 8, 8])], [info("y", FLOAT, None)]
    )
    imports = [onnx.helper.make_opsetid("", opset)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=4)


@pytest.mark.parametrize(("opset", "older"), [(9, True), (16, True), (17, False), (21, False)])
def test_a_file_is_older_below_the_oldest_opset_that_is_read(
    opset: int, older: bool, tmp_path: Path
) -> None:
    onnx.save(model(opset), tmp_path / "m.onnx")
    assert opsets.is_older(tmp_path / "m.onnx") is older


def test_what_is_no_model_is_left_to_the_importer(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"\xff\xff nothing")
    assert not opsets.is_older(tmp_path / "m.onnx")


def test_an_older_model_is_brought_to_the_opset_without_shapes_it_did_not_say() -> None:
    made = opsets.brought(onnx, model(9, "MaxPool", kernel_shape=[2, 2]))
    assert [entry.version for entry in made.opset_import] == [opsets.OLDEST_READ]
    assert [node.op_type for node in made.graph.node] == ["MaxPool"] and not made.graph.value_info


def test_a_model_that_onnx_cannot_bring_there_stays_as_it_is() -> None:
    old = model(9, "NoSuchOperator")
    assert opsets.brought(onnx, old) is old
