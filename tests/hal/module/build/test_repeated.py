"""Calls whose commands are known are repeated without their programs, with the same results."""

import gc
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, build
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.buffer import Buffer, Storage
from assay.hal.cpu.library import FORMAT
from assay.hal.module.memory import allocate
from assay.hal.module.noting import NotingDevice
from assay.hal.module.programs import ASYNC, VmProgram
from assay.hal.module.records import Call
from assay.hal.status import StatusError
from assay.hal.vm.archive import read_module
from assay.hal.vm.host_part import follows_shapes_alone
from tests.models.importable import cnn

pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
LAYERS = 40


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("repeated")


@pytest.fixture(scope="module")
def module(folder: Path) -> AssayModule:
    """Layers of products, for two numbers of rows."""
    random = np.random.default_rng(0)
    graph = OnnxGraph("chain")
    x = graph.input("x", ("rows", 32))
    for _ in range(LAYERS):
        weights = random.standard_normal((32, 32)).astype(np.float32) / 6
        x = graph.node("Relu", graph.node("MatMul", x, graph.weight(weights)))
    graph.output(x, ("rows", 32))
    path = folder / "chain.onnx"
    path.write_bytes(graph.to_bytes())
    build(path, folder / "chain.assay", shapes="x=4x32; x=8x32", devices=["cpu"])
    return assay.load(str(folder / "chain.assay"), device="cpu")


def data(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, 32), np.float32)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The kernels whose programs ran."""
    called: list[str] = []
    run = VmProgram.call

    def counted(self: VmProgram, entry: str, *rest: object) -> object:
        called.append(entry)
        return run(self, entry, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(VmProgram, "call", counted)
    return called


def test_from_the_second_run_on_no_program_runs_and_results_follow_the_inputs(
    module: AssayModule, programs: list[str]
) -> None:
    expected = [module.new_context()(data(4, seed)) for seed in range(4)]
    assert not np.array_equal(expected[0], expected[1])
    programs.clear()
    context = module.new_context()
    for seed in range(4):
        assert np.array_equal(context(data(4, seed)), expected[seed])
        assert len(programs) == LAYERS


def test_switches_in_between_change_nothing(module: AssayModule, programs: list[str]) -> None:
    context = module.new_context()
    for seed, rows in enumerate((4, 8, 4, 4, 8, 8, 4)):
        expected = module.new_context()(data(rows, seed))
        assert np.array_equal(context(data(rows, seed)), expected)


def test_an_input_elsewhere_is_noticed(module: AssayModule, programs: list[str]) -> None:
    context = module.new_context()
    for seed in range(2):
        context(data(4, seed))
    for seed in (5, 6):
        outside = allocate(context.context.opened.devices[0], 4 * 4 * 32)
        outside.write(0, data(4, seed).tobytes())
        context.context.bind("x", outside)
        context.run()
        found = context.output(context.outputs[0]).numpy()
        assert np.array_equal(found, module.new_context()(data(4, seed)))


def test_contexts_in_threads_of_their_own_do_not_mix(module: AssayModule) -> None:
    def work(seed: int) -> bool:
        context = module.new_context()
        expected = context(data(4, seed))
        return all(np.array_equal(context(data(4, seed)), expected) for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_the_host_takes_under_20_us_per_call_kernels_included(module: AssayModule) -> None:
    context = module.new_context()
    for seed in range(3):
        context(data(4, seed))
    items = context.context.model.regions[0].instructions
    assert sum(isinstance(item, Call) for item in items) == LAYERS
    taken = []
    for _ in range(20):
        start = time.thread_time()
        context.run()
        taken.append((time.thread_time() - start) / LAYERS)
    assert min(taken) < 20e-6


def test_what_kernels_take_for_themselves_is_one_workspace(tmp_path: Path) -> None:
    cnn(tmp_path / "cnn.onnx")
    build(tmp_path / "cnn.onnx", tmp_path / "cnn.assay", devices=["cpu"])
    context = assay.load(str(tmp_path / "cnn.assay"), device="cpu").new_context()
    shape = context.input("image").shape
    images = [np.random.default_rng(seed).random(shape, np.float32) for seed in range(4)]
    first = [context(images[seed]) for seed in range(2)]
    held = context.memory
    assert held.workspaces > 0
    for _ in range(3):
        for image, expected in zip(images, first, strict=False):
            assert np.array_equal(context(image), expected)
    assert context.memory == held
    context.close()
    assert context.memory.workspaces == 0


def test_a_call_that_fails_is_named_and_the_next_run_works(
    module: AssayModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise StatusError("INTERNAL", "it fell over")

    context = module.new_context()
    with monkeypatch.context() as patched:
        patched.setattr(VmProgram, "call", fails)
        with pytest.raises(StatusError, match="it fell over") as caught:
            context(data(4, 1))
    assert "MatMul+Relu" in str(caught.value)
    assert np.array_equal(context(data(4, 1)), module.new_context()(data(4, 1)))


def test_functions_that_wait_or_look_at_elements_are_not_repeated(module: AssayModule) -> None:
    opened = module.opened
    entry = opened.module.kernels[0].entry
    program = opened.program(0)
    assert isinstance(program, VmProgram) and program.noted(entry) is not None
    definition = read_module(
        bytes(opened.file.segment(opened.module.kernels[0].segment)), "kernels"
    )
    assert follows_shapes_alone(definition, entry + ASYNC)
    assert not follows_shapes_alone(definition, entry)  # it waits for its result
    assert not follows_shapes_alone(definition, "__init")  # it sets globals


def test_memory_that_kernels_took_for_themselves_is_not_kept_beside_the_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[weakref.ref[Storage]] = []
    take = NotingDevice.queue_alloca

    def noticed(self: NotingDevice, *rest: Any) -> Buffer:
        buffer = take(self, *rest)
        made.append(weakref.ref(buffer.storage))
        return buffer

    monkeypatch.setattr(NotingDevice, "queue_alloca", noticed)
    cnn(tmp_path / "cnn.onnx")
    build(tmp_path / "cnn.onnx", tmp_path / "cnn.assay", devices=["cpu"])
    context = assay.load(str(tmp_path / "cnn.assay"), device="cpu").new_context()
    context(np.ones(context.input("image").shape, np.float32))
    gc.collect()
    assert made and not any(each() for each in made)
