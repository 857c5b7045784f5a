from pathlib import Path

import numpy as np

from assay.compiler.graph.symbolic.graph import Forward
from assay.compiler.graph.symbolic.onnx_graph import graph_of
from assay.compiler.graph.symbolic.onnx_model import OnnxModel
from assay.compiler.module.groups import Group, grouped
from assay.compiler.module.kernels import kernel_of
from assay.examples.mobilenet import build
from assay.examples.onnx_graph import OnnxGraph


def groups(graph: OnnxGraph, path: Path) -> list[list[str]]:
    """The operators of each kernel, for the shapes that the model declares."""
    path.write_bytes(graph.to_bytes())
    model = OnnxModel(path)
    steps = grouped(graph_of(model, model.declared()))
    return [
        [operator.node.op_type for operator in step.operators]
        for step in steps
        if isinstance(step, Group)
    ]


def test_what_follows_element_by_element_is_done_where_it_is_made(tmp_path: Path) -> None:
    graph = OnnxGraph("chain")
    x = graph.input("x", (4, 8))
    y = graph.node("MatMul", x, graph.weight(np.zeros((8, 8), np.float32)))
    y = graph.node("Relu", graph.node("Add", y, x))
    graph.output(graph.node("Softmax", y), (4, 8))
    assert groups(graph, tmp_path / "m.onnx") == [["MatMul", "Add", "Relu"], ["Softmax"]]


def test_what_others_read_too_ends_a_group(tmp_path: Path) -> None:
    graph = OnnxGraph("fork")
    x = graph.input("x", (4, 4))
    y = graph.node("MatMul", x, x)
    graph.output(graph.node("Add", graph.node("Relu", y), graph.node("Neg", y)), (4, 4))
    assert groups(graph, tmp_path / "m.onnx") == [["MatMul"], ["Neg"], ["Relu", "Add"]] or groups(
        graph, tmp_path / "m.onnx"
    ) == [["MatMul"], ["Relu"], ["Neg", "Add"]]


def test_a_result_of_the_model_ends_a_group(tmp_path: Path) -> None:
    graph = OnnxGraph("results")
    y = graph.node("MatMul", graph.input("x", (4, 4)), graph.input("w", (4, 4)))
    graph.output(y, (4, 4))
    graph.output(graph.node("Relu", y), (4, 4))
    assert groups(graph, tmp_path / "m.onnx") == [["MatMul"], ["Relu"]]


def test_every_step_comes_behind_what_it_reads(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(build(size=64, width=0.25, classes=10))
    model = OnnxModel(path)
    graph = graph_of(model, model.declared())
    known = {"image", *graph.constants}
    for step in grouped(graph):
        reads = (step.source,) if isinstance(step, Forward) else step.inputs
        assert known.issuperset(reads)
        known.update((step.target,) if isinstance(step, Forward) else step.outputs)
    assert known.issuperset(graph.outputs)


def test_layers_that_do_the_same_with_other_weights_share_a_kernel(tmp_path: Path) -> None:
    graph = OnnxGraph("twice")
    random = np.random.default_rng(0)
    x = graph.input("x", (4, 32))
    for _ in range(3):
        x = graph.node("MatMul", x, graph.weight(random.random((32, 32), np.float32)))
        x = graph.node("Relu", x)
    graph.output(x, (4, 32))
    path = tmp_path / "m.onnx"
    path.write_bytes(graph.to_bytes())
    model = OnnxModel(path)
    made = graph_of(model, model.declared())
    kernels = [kernel_of(made, step) for step in grouped(made) if isinstance(step, Group)]
    assert len(kernels) == 3 and len({kernel.entry for kernel in kernels}) == 1
    assert kernels[0].arguments != kernels[1].arguments
