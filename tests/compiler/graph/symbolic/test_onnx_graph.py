"""ONNX models for one set of input shapes: sizes with names, shapes that are computed."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.compiler.graph.symbolic.dims import Dims, Element, Named
from assay.compiler.graph.symbolic.graph import Forward, Graph, Operator
from assay.compiler.graph.symbolic.onnx_graph import graph_of
from assay.compiler.graph.symbolic.onnx_model import OnnxModel
from assay.compiler.models import ModelError
from assay.examples.onnx_graph import OnnxGraph
from tests.models.onnx.network import Network

N, H = Named("n"), Named("h")
Make = Callable[[OnnxGraph, str], str]


def graph(tmp_path: Path, make: Make, dims: Dims, rank: int | None = None) -> Graph:
    """The graph of y = make(x), x having these sizes and the model leaving them open."""
    drawn = OnnxGraph("drawn")
    names = tuple(f"d{axis}" for axis in range(len(dims) if rank is None else rank))
    y = make(drawn, drawn.input("x", names))
    drawn.output(y, ("?",))
    path = tmp_path / "drawn.onnx"
    path.write_bytes(drawn.to_bytes())
    return graph_of(OnnxModel(path), {"x": dims})


def result(graph: Graph) -> Dims:
    return graph.tensors[graph.outputs[0]].dims


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def test_a_convolution_of_named_sizes(tmp_path: Path) -> None:
    def conv(g: OnnxGraph, x: str) -> str:
        weights = np.zeros((8, 3, 3, 3), np.float32)
        return g.convolution(x, weights, np.zeros(8, np.float32), stride=2, pad=1)

    assert str(result(graph(tmp_path, conv, (N, 3, H, 16)))[2]) == "(((h + -1) // 2) + 1)"
    assert result(graph(tmp_path, conv, (1, 3, 9, 16))) == (1, 8, 5, 8)


def test_a_reshape_computed_from_shapes_becomes_a_forward_without_a_kernel(tmp_path: Path) -> None:
    def flat(g: OnnxGraph, x: str) -> str:
        shape = g.node("Shape", x)
        first = g.node("Gather", shape, g.weight(ints(0)), axis=0)
        rest = g.weight(ints(-1))
        return g.node("Reshape", x, g.node("Concat", first, rest, axis=0))

    made = graph(tmp_path, flat, (N, 4, H))
    assert [type(step) for step in made.steps] == [Forward]
    assert str(result(made)[1]) == "(h * 4)" and result(made)[0] == N


def test_a_contiguous_slice_is_a_forward_and_another_one_is_not(tmp_path: Path) -> None:
    def cut(axis: int) -> Make:
        def make(g: OnnxGraph, x: str) -> str:
            bounds = [g.weight(ints(each)) for each in (1, 3, axis)]
            return g.node("Slice", x, *bounds)

        return make

    rows = graph(tmp_path, cut(0), (5, 4))
    assert rows.steps[0] == Forward(
        name="slice_0", operator="Slice", source="x", target=rows.outputs[0], offset=4
    )
    columns = graph(tmp_path, cut(1), (5, 4))
    assert isinstance(columns.steps[0], Operator) and result(columns) == (5, 2)


def test_constants_are_computed_when_the_graph_is_read(tmp_path: Path) -> None:
    def scaled(g: OnnxGraph, x: str) -> str:
        a, b = (g.weight(np.array([n], np.float32)) for n in (2, 3))
        return g.node("Mul", x, g.node("Add", a, b))

    made = graph(tmp_path, scaled, (4,))
    assert len(made.steps) == 1
    assert 5.0 in [array.flat[0] for array in made.constants.values()]


def test_a_shape_that_depends_on_values_is_recognised_by_what_the_operator_is(
    tmp_path: Path,
) -> None:
    def crop(g: OnnxGraph, x: str) -> str:
        start = g.node("Cast", g.node("ReduceMin", x, keepdims=0, axes=[0, 1]), to=7)
        start = g.node("Reshape", start, g.weight(ints(1)))
        return g.node("Slice", x, start, g.weight(ints(1 << 40)), g.weight(ints(0)))

    made = graph(tmp_path, crop, (6, 4))
    (read,) = made.reads
    assert Element(read, 0) in _parts(result(made))


def _parts(dims: Dims) -> list[object]:
    from assay.compiler.graph.symbolic.dims import parts

    return [part for dim in dims for part in parts(dim)]


def test_a_shape_that_only_the_kernel_could_tell_is_refused_with_its_node(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"Compress at node compress_1: .*depends on what"):
        graph(tmp_path, lambda g, x: g.node("Compress", x, g.node("Cast", x, to=9)), (4,))


def test_sizes_frozen_in_a_reshape_are_found(tmp_path: Path) -> None:
    def frozen(g: OnnxGraph, x: str) -> str:
        return g.node("Reshape", x, g.weight(ints(1, 48)))

    assert result(graph(tmp_path, frozen, (1, 3, 16))) == (1, 48)
    with pytest.raises(ModelError, match="sizes were frozen for another shape"):
        graph(tmp_path, frozen, (2, 3, 16))


def test_a_constant_result_is_refused(tmp_path: Path) -> None:
    def constant(g: OnnxGraph, x: str) -> str:
        return g.node("Identity", g.weight(np.zeros(2, np.float32)))

    with pytest.raises(ModelError, match="same whatever the inputs are"):
        graph(tmp_path, constant, (4,))


def test_shapes_of_other_inputs_than_the_models_are_refused(tmp_path: Path) -> None:
    graph(tmp_path, lambda g, x: g.node("Relu", x), (4,))
    with pytest.raises(ModelError, match="the model's inputs are x"):
        graph_of(OnnxModel(tmp_path / "drawn.onnx"), {"z": (4,)})


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "no.onnx"
    path.write_bytes(b"\xff\xff nothing")
    with pytest.raises(ModelError, match="no ONNX model"):
        OnnxModel(path)


def test_named_sizes_of_the_file_keep_their_names(tmp_path: Path) -> None:
    graph(tmp_path, lambda g, x: g.node("Relu", x), (4, 4))
    assert OnnxModel(tmp_path / "drawn.onnx").declared() == {"x": (Named("d0"), Named("d1"))}


@pytest.mark.parametrize("opset", [13, 21])
def test_dequantised_weights_are_computed_whatever_the_opset(opset: int, tmp_path: Path) -> None:
    net = Network(1, opset=opset)
    integers = np.arange(-6, 6).reshape(2, 3, 2).astype(np.int8)
    scale = np.float32([0.5, 1, 2])
    zero = np.int8([0, 1, -1])
    weights = net.node(
        "DequantizeLinear", net.const(integers), net.const(scale), net.const(zero), axis=1
    )
    path = tmp_path / "m.onnx"
    path.write_bytes(net.finish(net.node("Add", net.input((2, 3, 2)), weights)))
    model = OnnxModel(path)
    graph = graph_of(model, model.declared())
    expected = (integers - zero.astype(np.float32)[:, None]) * scale[:, None]
    assert np.array_equal(graph.constants[weights], expected)
    assert graph.constants[weights].dtype == np.float32


@pytest.mark.parametrize("operator", ["Squeeze", "Unsqueeze"])
def test_axes_that_only_a_run_knows_are_refused(operator: str, tmp_path: Path) -> None:
    drawn = OnnxGraph("drawn")
    x, axes = drawn.input("x", (1, 4)), drawn.node("Cast", drawn.input("axes", (1,)), to=7)
    drawn.output(drawn.node(operator, x, axes), ("?",))
    path = tmp_path / "drawn.onnx"
    path.write_bytes(drawn.to_bytes())
    with pytest.raises(ModelError, match="which axes it is about is known only when"):
        graph_of(OnnxModel(path), {"x": (1, 4), "axes": (1,)})
