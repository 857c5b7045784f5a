"""From a model to a module and its results, which are those of IREE's CPU backend."""

import sys
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.compiler.models import ModelError, compile_model
from assay.examples.mobilenet import build as mobilenet
from assay.hal.cpu.library import FORMAT
from assay.hal.module.file import read_module
from assay.hal.module.records import Forward, Reserve
from assay.hal.status import StatusError
from assay.reference import CpuModule
from tests.models.importable import cnn, transformer

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
SETS = ((1, 3, 16, 16), (2, 3, 24, 24))


def text(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("built")
    cnn(made / "cnn.onnx")
    transformer(made / "transformer.onnx")
    return made


@pytest.fixture(scope="module")
def two_sets(folder: Path) -> bytes:
    shapes = "; ".join(f"image={text(shape)}" for shape in SETS)
    return assay.build(folder / "cnn.onnx", folder / "cnn.assay", shapes=shapes, devices=("cpu",))


@pytest.fixture
def module(two_sets: bytes) -> AssayModule:
    return load_assay(two_sets, "cpu")


def normal(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(shape).astype(np.float32)


def reference(path: Path, function: str, x: np.ndarray) -> np.ndarray:
    (result,) = CpuModule(compile_model(path, target="llvm-cpu").data).invoke(function, [x])
    assert isinstance(result, np.ndarray)
    return result


def test_a_shape_set_gives_what_the_whole_model_gives_to_the_bit(
    module: AssayModule, folder: Path
) -> None:
    x = normal(SETS[0])
    assert np.array_equal(module(x), reference(folder / "cnn.onnx", "cnn", x))


def test_the_second_set_gives_the_first_ones_results_where_it_holds_them(
    module: AssayModule,
) -> None:
    """A batch of two images is each of them alone."""
    x = normal(SETS[1])
    both = module(x)
    assert module.context.active == "image=2x3x24x24 on cpu"
    x[0] = 0
    assert np.array_equal(module(x)[1], both[1])
    assert not np.array_equal(module(x)[0], both[0])


def test_weights_are_there_once_for_all_sets(two_sets: bytes) -> None:
    module = read_module(two_sets).module
    assert len(module.models) == 2
    assert [weight.shape for weight in module.weights] == [(8, 3, 3, 3), (16, 4, 3, 3), (16, 10)]


def test_flatten_is_a_forward(two_sets: bytes) -> None:
    module = read_module(two_sets).module
    for model in module.models:
        items = model.regions[0].instructions
        (forward,) = [item for item in items if isinstance(item, Forward)]
        location = module.locations[model.tensors[forward.target].location]
        assert (location.operator, location.file) == ("Flatten", "cnn.onnx")


def test_reshape_of_an_input_switches_and_old_views_raise(module: AssayModule) -> None:
    module.input("image").reshape(*SETS[1])
    view = module.input("image").view()
    module.input("image").write(normal(SETS[1]))
    module.run()
    output = module.output(module.context.outputs[0])
    assert output.shape == (2, 10)
    kept = output.numpy()
    module.run()
    with pytest.raises(StatusError, match="stale"):
        output.numpy()
    assert np.array_equal(module.output(module.context.outputs[0]).numpy(), kept)
    assert view.shape == SETS[1]
    module.input("image").reshape(*SETS[0])
    for stale in (view.numpy, output.numpy):
        with pytest.raises(StatusError, match="stale"):
            stale()


def test_a_shape_without_a_set_lists_the_sets(module: AssayModule) -> None:
    with pytest.raises(StatusError, match="there are: image=1x3x16x16; image=2x3x24x24"):
        module.input("image").reshape(1, 3, 17, 17)
    module(normal(SETS[0]))


def test_memory_is_that_of_the_largest_set_and_the_weights_once(module: AssayModule) -> None:
    memory = module.context.memory
    sizes = [model.arenas[0].size for model in module.opened.module.models]
    assert memory.arenas == max(sizes)
    assert memory.inputs == normal(SETS[1]).nbytes
    assert memory.weights == 4 * (8 * 27 + 16 * 36 + 160)


@pytest.mark.parametrize("dims", [{}, {"batch": "1..4"}])
def test_a_transformer_of_any_batch_equals_the_whole_model(
    folder: Path, dims: dict[str, str]
) -> None:
    path = folder / "transformer.onnx"
    data = assay.build(path, shapes="tokens=batchx12x32", dims=dims, devices=["cpu"])
    module = load_assay(data, "cpu")
    model = module.opened.module.models[0]
    reserves = [i for i in model.regions[0].instructions if isinstance(i, Reserve)]
    assert bool(reserves) == (not dims)
    held = module.context.memory
    for batch in (1, 4, 2):
        x = normal((batch, 12, 32))
        assert np.array_equal(module(x), reference(path, "transformer", x))
    assert (module.context.memory == held) == bool(dims)


def test_bounds_of_a_size_that_no_set_has_are_refused(folder: Path) -> None:
    with pytest.raises(ModelError, match="no shape set has a dimension rows"):
        assay.build(folder / "cnn.onnx", devices=["cpu"], dims={"rows": "1..2"})


@pytest.mark.parametrize("devices", [[], ["gpu"], ["cpu", "cpu"]])
def test_devices_that_there_are_not_are_refused(folder: Path, devices: list[str]) -> None:
    with pytest.raises(ModelError, match="devices:"):
        assay.build(folder / "cnn.onnx", devices=devices)


def test_a_module_for_the_cpu_never_runs_its_machine_code_unasked(two_sets: bytes) -> None:
    with pytest.raises(StatusError, match="not built for the GPU; choose its device: cpu"):
        assay.load(two_sets)


@pytest.mark.slow
def test_metal_and_cpu_from_one_file(folder: Path) -> None:
    shapes = "; ".join(f"image={text(shape)}" for shape in SETS)
    data = assay.build(folder / "cnn.onnx", shapes=shapes, devices=["metal", "cpu"])
    gpu, cpu = load_assay(data), load_assay(data, "cpu")
    for shape in (*SETS, SETS[0]):
        x = normal(shape)
        assert np.allclose(gpu(x), cpu(x), rtol=1e-5, atol=1e-6)
    assert [model.name for model in map(gpu.opened.model, gpu.opened.models)] == [
        "image=1x3x16x16 on metal",
        "image=2x3x24x24 on metal",
    ]


@pytest.mark.slow
def test_mobilenet_at_three_batches_and_two_resolutions_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "mobilenet.onnx"
    path.write_bytes(mobilenet(size=64, width=0.25, classes=10))
    sets = [(batch, 3, size, size) for size in (64, 96) for batch in (1, 2, 4)]
    shapes = "; ".join(f"image={text(shape)}" for shape in sets)
    module = load_assay(assay.build(path, shapes=shapes, devices=["cpu"]), "cpu")
    largest = max(model.arenas[0].size for model in module.opened.module.models)
    for shape in [*sets, *reversed(sets)]:
        x = normal(shape)
        assert np.array_equal(module(x), module(x))  # by its programs, and repeated
        assert np.allclose(module(x), fixed(path, shape, x), rtol=1e-4, atol=1e-6)
    held = module.context.memory
    assert (held.arenas, held.inputs) == (largest, normal((4, 3, 96, 96)).nbytes)
    for shape in sets:
        module(normal(shape))
    assert module.context.memory == held


def fixed(path: Path, shape: tuple[int, ...], x: np.ndarray) -> np.ndarray:
    """What IREE's CPU backend makes of the model if it declares this shape."""
    import onnx

    model = onnx.load(str(path))
    for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, shape, strict=True):
        dim.dim_value = size
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = shape[0]
    made = path.with_name(f"{text(shape)}.onnx")
    onnx.save(model, str(made))
    return reference(made, "mobilenet", x)


def test_doubles_are_doubles_on_the_cpu_and_refused_for_metal(tmp_path: Path) -> None:
    import onnx

    make, double = onnx.helper, onnx.TensorProto.DOUBLE
    given, made = (make.make_tensor_value_info(name, double, [3, 3]) for name in "xy")
    graph = make.make_graph([make.make_node("MatMul", ["x", "x"], ["y"])], "d", [given], [made])
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "doubles.onnx"
    path.write_bytes(model.SerializeToString())
    x = np.random.default_rng(1).standard_normal((3, 3))
    assert np.allclose(load_assay(assay.build(path, devices=["cpu"]), "cpu")(x), x @ x, rtol=1e-15)
    with pytest.raises(ModelError, match="MatMul matmul_0"):
        assay.build(path, devices=["metal"])
