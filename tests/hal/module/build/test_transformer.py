"""A transformer block whose sequence length is known only when it runs, by several threads."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.compiler.models import compile_model
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.cpu.library import FORMAT
from assay.hal.status import StatusError
from assay.reference import CpuModule

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
WIDTH, HEADS = 32, 2


def block(path: Path) -> None:
    """Attention of two heads, and a layer; the model computes its shapes by operators."""
    random = np.random.default_rng(2)
    graph = OnnxGraph("block")

    def weight(*shape: int) -> str:
        return graph.weight(0.2 * random.standard_normal(shape).astype(np.float32))

    def ints(*numbers: int) -> str:
        return graph.weight(np.array(numbers, np.int64))

    x = graph.input("tokens", (1, "length", WIDTH))
    length = graph.node("Gather", graph.node("Shape", x), ints(1), axis=0)
    split = graph.node("Concat", ints(1), length, ints(HEADS, WIDTH // HEADS), axis=0)
    joined = graph.node("Concat", ints(1), length, ints(WIDTH), axis=0)
    q, k, v = (
        graph.node(
            "Transpose",
            graph.node("Reshape", graph.node("MatMul", x, weight(WIDTH, WIDTH)), split),
            perm=[0, 2, 1, 3],
        )
        for _ in range(3)
    )
    scores = graph.node("MatMul", q, graph.node("Transpose", k, perm=[0, 1, 3, 2]))
    mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=3), v)
    mixed = graph.node("Reshape", graph.node("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
    y = graph.node("Add", x, graph.node("MatMul", mixed, weight(WIDTH, WIDTH)))
    graph.output(graph.node("Relu", graph.node("MatMul", y, weight(WIDTH, 48))), (1, "length", 48))
    path.write_bytes(graph.to_bytes())


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("transformer") / "block.onnx"
    block(made)
    return made


@pytest.fixture(scope="module")
def whole(path: Path) -> CpuModule:
    return CpuModule(compile_model(path, target="llvm-cpu").data)


def tokens(length: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((1, length, WIDTH)).astype(np.float32)


def expected(whole: CpuModule, x: np.ndarray) -> np.ndarray:
    (result,) = whole.invoke("block", [x])
    assert isinstance(result, np.ndarray)
    return result


@pytest.fixture(scope="module")
def dynamic(path: Path) -> AssayModule:
    return load_assay(assay.build(path, devices=["cpu"]), "cpu")


@pytest.mark.slow
def test_any_length_equals_the_whole_model_to_the_bit(
    dynamic: AssayModule, whole: CpuModule
) -> None:
    for length in (5, 1, 64, 17, 5):
        x = tokens(length)
        assert np.array_equal(dynamic(x), expected(whole, x))


def test_bounds_make_it_a_model_that_never_allocates(path: Path, whole: CpuModule) -> None:
    data = assay.build(path, dims={"length": "8..64:8"}, devices=["cpu"])
    module = load_assay(data, "cpu")
    held = module.context.memory
    assert held.dynamic == 0
    for length in (8, 64, 24):
        x = tokens(length)
        assert np.array_equal(module(x), expected(whole, x))
    for length in (0, 4, 12, 72):
        with pytest.raises(StatusError, match="no shape set fits"):
            module(tokens(length))
    assert module.context.memory == held


def test_threads_share_one_module_and_get_their_own_results(
    dynamic: AssayModule, whole: CpuModule
) -> None:
    wrong: list[int] = []

    def work(seed: int) -> None:
        for step in range(6):
            x = tokens(3 + seed + 7 * step, seed)
            if not np.allclose(dynamic(x), expected(whole, x), atol=1e-6):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
