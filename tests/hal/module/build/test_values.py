"""Operators whose results' shapes depend on what tensors hold, each recognised by what it is."""

import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.compiler.models import ModelError
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.cpu.library import FORMAT
from assay.hal.module.records import Call, Read
from assay.hal.status import StatusError

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
INT64 = 7


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32)


def built(graph: OnnxGraph, folder: Path, device: str = "cpu") -> AssayModule:
    path = folder / "model.onnx"
    path.write_bytes(graph.to_bytes())
    return load_assay(
        assay.build(path, devices=[device]), {"cpu": "cpu", "metal": "emulated"}[device]
    )


def whole(graph: OnnxGraph, name: str) -> str:
    """An input of one number, as a whole number; models' inputs here are f32."""
    return graph.node("Cast", graph.input(name, (1,)), to=INT64)


def reads(module: AssayModule) -> int:
    (model,) = module.opened.module.models
    return sum(isinstance(item, Read) for item in model.regions[0].instructions)


@pytest.mark.parametrize(
    "shape",
    [
        (7,),
        pytest.param((2, 3, 4), marks=pytest.mark.slow),
        pytest.param(("rows", 3), marks=pytest.mark.slow),
    ],
)
def test_nonzero_reads_how_many_there_are_and_nothing_else(
    tmp_path: Path, shape: tuple[int | str, ...]
) -> None:
    graph = OnnxGraph("nonzero")
    x = graph.node("Relu", graph.input("x", shape))
    places = graph.node("Cast", graph.node("NonZero", x), to=1)
    graph.output(places, (len(shape), "count"))
    module = built(graph, tmp_path)
    assert reads(module) == 1
    for rows in (5, 2, 8):
        sizes = [rows if isinstance(size, str) else size for size in shape]
        for data in (random(*sizes), np.zeros(sizes, np.float32), np.ones(sizes, np.float32)):
            found = module(data)
            assert np.array_equal(found, np.nonzero(np.maximum(data, 0)))


def test_nonzero_of_sizes_that_are_open_behind_the_first_is_refused(tmp_path: Path) -> None:
    graph = OnnxGraph("nonzero")
    graph.output(graph.node("NonZero", graph.input("x", (2, "columns"))), (2, "count"))
    with pytest.raises(ModelError, match="only the first size may be open"):
        built(graph, tmp_path)


@pytest.mark.parametrize(("axis", "largest"), [(1, 1), pytest.param(0, 0, marks=pytest.mark.slow)])
def test_topk_of_a_computed_k(tmp_path: Path, axis: int, largest: int) -> None:
    graph = OnnxGraph("topk")
    x, k = graph.input("x", (4, 6)), whole(graph, "k")
    graph._nodes.append(
        graph._onnx.helper.make_node("TopK", [x, k], ["v", "i"], axis=axis, largest=largest)
    )
    graph.output("v", ("a", "b"))
    graph.output(graph.node("Cast", "i", to=1), ("a", "b"))
    module = built(graph, tmp_path)
    assert reads(module) == 1
    data = random(4, 6)
    order = np.argsort(-data if largest else data, axis=axis, kind="stable")
    for count in (1, 3, 4):
        first = np.take(order, range(count), axis)
        values, places = module(data, [count])
        assert np.array_equal(places, first)
        assert np.array_equal(values, np.take_along_axis(data, first, axis))


def test_range_between_values(tmp_path: Path) -> None:
    graph = OnnxGraph("range")
    ends = [
        graph.node("Reshape", whole(graph, name), graph.weight(np.zeros(0, np.int64)))
        for name in ("start", "limit", "delta")
    ]
    graph.output(graph.node("Relu", graph.node("Cast", graph.node("Range", *ends), to=1)), ("n",))
    module = built(graph, tmp_path)
    assert reads(module) == 3
    for start, limit, delta in ((0, 5, 1), (3, 20, 4), (9, 0, -2), (5, 5, 1), (6, 2, 1)):
        expected = np.maximum(np.arange(start, limit, delta), 0)
        assert np.array_equal(module([start], [limit], [delta]), expected)
    with pytest.raises(StatusError, match="by 0"):
        module([0], [5], [0])
    assert len(module([0], [3], [1])) == 3


def test_tile_by_values(tmp_path: Path) -> None:
    graph = OnnxGraph("tile")
    x = graph.input("x", (2, 3))
    times = graph.node("Concat", whole(graph, "down"), whole(graph, "across"), axis=0)
    graph.output(graph.node("Tile", x, times), ("a", "b"))
    module = built(graph, tmp_path)
    for down, across in ((1, 1), (3, 2), (0, 4), (2, 5)):
        found = module(random(2, 3), [down], [across])
        assert np.array_equal(found, np.tile(random(2, 3), (down, across)))
    with pytest.raises(StatusError, match="would be -2 long"):
        module(random(2, 3), [-1], [1])


@pytest.mark.parametrize(
    ("mode", "attributes"),
    [
        ("linear", {}),
        pytest.param(
            "linear",
            {"coordinate_transformation_mode": "align_corners"},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "nearest",
            {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_resize_to_computed_sizes(tmp_path: Path, mode: str, attributes: dict[str, str]) -> None:
    """The sizes are read; the same sizes as constants give what IREE makes of them."""

    def resized(sizes: tuple[int, int] | None) -> AssayModule:
        graph = OnnxGraph("resize")
        x = graph.input("x", (1, 2, "rows", "columns"))
        if sizes is None:
            first = graph.weight(ints(1, 2))
            wanted = graph.node("Concat", first, whole(graph, "h"), whole(graph, "w"), axis=0)
        else:
            wanted = graph.weight(ints(1, 2, *sizes))
        y = graph.node("Resize", x, "", "", wanted, mode=mode, **attributes)
        graph.output(y, (1, 2, "h", "w"))
        return built(graph, tmp_path)

    module = resized(None)
    data = random(1, 2, 6, 5)
    for sizes in ((12, 10), (3, 4), (6, 5)):
        found = module(data, *[[size] for size in sizes])
        assert found.shape == (1, 2, *sizes)
        assert np.allclose(found, resized(sizes)(data), atol=1e-6)


def test_a_resize_of_what_is_no_image_size_is_an_error(tmp_path: Path) -> None:
    graph = OnnxGraph("resize")
    x = graph.input("x", (1, 2, 4, 4))
    sizes = [whole(graph, "channels"), graph.weight(ints(8, 8))]
    wanted = graph.node("Concat", graph.weight(ints(1)), *sizes, axis=0)
    graph.output(graph.node("Resize", x, "", "", wanted, mode="linear"), (1, 2, "h", "w"))
    module = built(graph, tmp_path)
    with pytest.raises(StatusError, match="Resize resize_2: size 1 would change"):
        module(random(1, 2, 4, 4), [3])
    assert module(random(1, 2, 4, 4), [2]).shape == (1, 2, 8, 8)


def test_a_resize_that_kernels_cannot_do_to_computed_sizes_says_which_can(tmp_path: Path) -> None:
    graph = OnnxGraph("resize")
    x = graph.input("x", (1, 2, 4, 4))
    sizes = [graph.weight(ints(1, 2)), whole(graph, "h"), whole(graph, "w")]
    wanted = graph.node("Concat", *sizes, axis=0)
    graph.output(graph.node("Resize", x, "", "", wanted, mode="cubic"), (1, 2, "h", "w"))
    with pytest.raises(ModelError, match="not for cubic"):
        built(graph, tmp_path)


def test_what_follows_a_kernel_that_is_told_sizes_has_a_kernel_of_its_own(tmp_path: Path) -> None:
    graph = OnnxGraph("cut")
    x, end = graph.input("x", (6, 4)), whole(graph, "end")
    y = graph.node("Slice", x, graph.weight(ints(0)), end, graph.weight(ints(1)))
    graph.output(graph.node("Relu", y), (6, "n"))
    module = built(graph, tmp_path)
    (model,) = module.opened.module.models
    assert sum(isinstance(item, Call) for item in model.regions[0].instructions) == 3
    for count in (1, 4, 2):
        assert np.array_equal(module(random(6, 4), [count]), np.maximum(random(6, 4)[:, :count], 0))


@pytest.mark.slow
def test_the_gpu_does_all_of_them_too(tmp_path: Path) -> None:
    graph = OnnxGraph("all")
    x, k = graph.input("x", (4, 5)), whole(graph, "k")
    graph._nodes.append(graph._onnx.helper.make_node("TopK", [x, k], ["v", "i"], axis=1))
    graph.output("v", ("a", "b"))
    graph.output(graph.node("Tile", x, graph.node("Concat", k, k, axis=0)), ("a", "b"))
    places = graph.node("NonZero", graph.node("Relu", x))
    graph.output(graph.node("Cast", places, to=1), (2, "c"))
    module = built(graph, tmp_path, "metal")
    for count, sign in ((1, 1), (3, -1), (5, 0), (2, 1)):
        data = sign * random(4, 5)
        values, tiled, found = module(data, [count])
        assert np.array_equal(values, -np.sort(-data, 1)[:, :count])
        assert np.array_equal(tiled, np.tile(data, (count, count)))
        assert np.array_equal(found, np.nonzero(np.maximum(data, 0)))


@pytest.mark.parametrize("operator", ["TopK", "ScatterElements"])
def test_no_kernel_writes_over_what_it_reads(tmp_path: Path, operator: str) -> None:
    """IREE's kernels for these work in the memory of their first operand."""
    graph = OnnxGraph("over")
    x = graph.input("x", (4, 6))
    if operator == "TopK":
        k = graph.weight(ints(3))
        graph._nodes.append(graph._onnx.helper.make_node("TopK", [x, k], ["y", "i"], axis=1))
    else:
        where = graph.weight(np.zeros((4, 1), np.int64))
        graph.node(operator, x, where, graph.weight(np.ones((4, 1), np.float32)), name="y", axis=1)
    graph.output("y", ("a", "b"))
    module = built(graph, tmp_path)
    expected = -np.sort(-random(4, 6), 1)[:, :3] if operator == "TopK" else random(4, 6)
    if operator != "TopK":
        expected[:, 0] = 1
    for _ in range(3):
        assert np.array_equal(module(random(4, 6)), expected)
        held = module.context.context
        assert np.array_equal(held.read(held.input_tensor("x")), random(4, 6))
