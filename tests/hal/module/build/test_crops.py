"""Shapes that depend on what tensors hold: a detector whose box is cut out for a second network."""

import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.compiler.models import ModelError, compile_model
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.cpu.library import FORMAT
from assay.hal.module.records import Place, Read
from assay.hal.status import StatusError
from assay.reference import CpuModule

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
INT64 = 7


def ints(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def detector(path: Path) -> None:
    """image -> box, from a network; the box of the image at 8x8 -> landmarks, by another."""
    random = np.random.default_rng(5)

    def normal(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32)

    def pooled(x: str, stride: int) -> str:
        zeros = np.zeros(4, np.float32)
        y = graph.node(
            "Relu", graph.convolution(x, normal(4, 3, 3, 3), zeros, stride=stride, pad=1)
        )
        return graph.node("Flatten", graph.node("GlobalAveragePool", y))

    graph = OnnxGraph("detector")
    x = graph.input("image", (1, 3, "rows", "columns"))
    box = graph.linear(pooled(x, 2), 3 * normal(4, 4), np.array([-2, -2, 2, 2], np.float32))
    scale, start = (
        graph.weight(np.array(n, np.float32)) for n in ([12, 12, 15, 15], [0, 0, 16, 16])
    )
    box = graph.node("Add", graph.node("Mul", graph.node("Sigmoid", box), scale), start)
    box = graph.node("Reshape", graph.node("Cast", box, to=INT64), graph.weight(ints(4)))
    low, high = (
        graph.node("Slice", box, graph.weight(ints(at)), graph.weight(ints(at + 2)))
        for at in (0, 2)
    )
    crop = graph.node("Slice", x, low, high, graph.weight(ints(2, 3)))
    sizes = graph.weight(ints(1, 3, 8, 8))
    same = graph.node("Resize", crop, "", "", sizes, mode="linear")
    landmarks = graph.linear(pooled(same, 1), normal(4, 6), np.zeros(6, np.float32))
    graph.output(landmarks, (1, 6))
    path.write_bytes(graph.to_bytes())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("crops") / "detector.onnx"
    detector(made)
    return made


def images(*sizes: tuple[int, int]) -> list[np.ndarray]:
    return [
        (1 + seed) * np.random.default_rng(seed).standard_normal((1, 3, *size)).astype(np.float32)
        for seed, size in enumerate(sizes)
    ]


def equals_the_whole_model(module: AssayModule, path: Path, given: list[np.ndarray]) -> None:
    whole = CpuModule(compile_model(path, target="llvm-cpu").data)
    for x in given:
        (expected,) = whole.invoke("detector", [x])
        assert np.allclose(module(x), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_crops_of_predicted_boxes_are_dynamic_end_to_end(path: Path) -> None:
    data = assay.build(path, shapes="image=1x3xrowsxwidth", devices=["cpu"])
    module = load_assay(data, "cpu")
    given = images((32, 32), (40, 36), (33, 64), (32, 32))
    equals_the_whole_model(module, path, given)
    model = module.opened.module.models[0]
    assert Place.DYNAMIC in [tensor.place for tensor in model.tensors]
    for x in given * 2:  # kernels that are repeated have a workspace from their second run on
        module(x)
    held = module.context.memory
    for x in given * 2:
        module(x)
    assert module.context.memory == held


def test_a_crop_of_an_image_of_a_known_size_is_planned_at_the_images_size(path: Path) -> None:
    data = assay.build(path, shapes="image=1x3x32x32", devices=["cpu"])
    module = load_assay(data, "cpu")
    equals_the_whole_model(module, path, images((32, 32), (32, 32), (32, 32)))
    assert module.context.memory.dynamic == 0
    model = module.opened.module.models[0]
    (crop,) = [tensor for tensor in model.tensors if tensor.shape == (1, 3, -1, -1)]
    assert (crop.place, crop.size) == (Place.PLANNED, 4 * 3 * 32 * 32)


def test_reads_are_the_tensors_that_shapes_depend_on(path: Path) -> None:
    told: list[str] = []
    data = assay.build(path, shapes="image=1x3x32x32", devices=["cpu"], report=told.append)
    model = load_assay(data, "cpu").opened.module.models[0]
    reads = [item for item in model.regions[0].instructions if isinstance(item, Read)]
    assert [model.tensors[item.tensor].shape for item in reads] == [(2,), (2,)]
    names = [model.tensors[item.tensor].name for item in reads]
    where = "model image=1x3x32x32 on cpu: the host waits for"
    assert told == [f"{where} {name}, on which shapes depend" for name in names]


def cut(tmp_path: Path) -> AssayModule:
    """y = x[start:end, 1:], of x f32[6, 4]; start and end are inputs. z is its largest element."""
    graph = OnnxGraph("cut")
    x, start, end = graph.input("x", (6, 4)), graph.input("start", (1,)), graph.input("end", (1,))
    whole = [graph.node("Cast", each, to=INT64) for each in (start, end)]
    y = graph.node("Slice", x, *whole, graph.weight(ints(0)))
    y = graph.node(
        "Slice", y, graph.weight(ints(1)), graph.weight(ints(1 << 40)), graph.weight(ints(1))
    )
    graph.output(y, ("n", 3))
    graph.output(graph.node("Relu", y), ("n", 3))
    path = tmp_path / "cut.onnx"
    path.write_bytes(graph.to_bytes())
    return load_assay(assay.build(path, devices=["cpu"]), "cpu")


def test_places_of_slices_mean_what_they_mean_in_python(tmp_path: Path) -> None:
    module = cut(tmp_path)
    x = np.arange(24, dtype=np.float32).reshape(6, 4)
    for start in range(-8, 9):
        for end in (-7, -6, -1, 0, 3, 6, 1 << 40):
            y, relu = module(x, [start], [end])
            assert np.array_equal(y, x[start:end, 1:]) and np.array_equal(relu, y)


def test_a_window_over_an_empty_crop_is_an_error_and_the_next_run_works(path: Path) -> None:
    graph = OnnxGraph("empty")
    x, end = graph.input("x", (1, 1, 8, 8)), graph.input("end", (1,))
    y = graph.node(
        "Slice", x, graph.weight(ints(0)), graph.node("Cast", end, to=INT64), graph.weight(ints(2))
    )
    graph.output(graph.node("Resize", y, "", "", graph.weight(ints(1, 1, 4, 4))), (1, 1, 4, 4))
    made = path.with_name("empty.onnx")
    made.write_bytes(graph.to_bytes())
    module = load_assay(assay.build(made, devices=["cpu"]), "cpu")
    x_values = np.ones((1, 1, 8, 8), np.float32)
    with pytest.raises(StatusError, match=r"Resize resize_2: .* is empty"):
        module(x_values, [0])
    assert np.array_equal(module(x_values, [3]), np.ones((1, 1, 4, 4), np.float32))


def test_what_iree_cannot_compile_is_told_by_the_models_operators(tmp_path: Path) -> None:
    graph = OnnxGraph("strided")
    x = graph.input("x", (1, 8, 2, 2))
    weights = graph.weight(np.zeros((8, 1, 3, 3), np.float32))
    y = graph.node("Conv", x, weights, group=8, pads=[1] * 4, strides=[2, 2], kernel_shape=[3, 3])
    graph.output(y, (1, 8, 1, 1))
    path = tmp_path / "strided.onnx"
    path.write_bytes(graph.to_bytes())
    with pytest.raises(ModelError, match="cannot compile kernels of this model:\n  Conv conv_0\n"):
        assay.build(path, devices=["cpu"])


@pytest.mark.slow
def test_crops_on_metal_equal_the_whole_model_on_the_cpu(path: Path) -> None:
    module = load_assay(assay.build(path, shapes="image=1x3x32x32", devices=["metal"]))
    equals_the_whole_model(module, path, images((32, 32), (32, 32), (32, 32)))
