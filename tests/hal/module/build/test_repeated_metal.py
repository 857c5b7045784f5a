"""Calls that are repeated on the emulated GPU: what is the same each time is encoded once."""

import sys

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, ModuleContext, build
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.metal.emulated.programs.argument import MTLArgumentEncoder
from assay.hal.metal.encoding import Encoding
from assay.hal.module.records import Call
from assay.hal.observe import checking
from assay.hal.status import StatusError
from assay.sim.check import Checker

LAYERS = 12


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> AssayModule:
    """Layers of products and softmaxes, for one number of rows, and for any."""
    folder = tmp_path_factory.mktemp("repeated-metal")
    random = np.random.default_rng(0)
    graph = OnnxGraph("chain")
    x = graph.input("x", ("rows", 32))
    for layer in range(LAYERS):
        weights = random.standard_normal((32, 32)).astype(np.float32) / 6
        x = graph.node("MatMul", x, graph.weight(weights))
        x = graph.node("Relu" if layer % 2 else "Softmax", x)
    graph.output(x, ("rows", 32))
    path = folder / "chain.onnx"
    path.write_bytes(graph.to_bytes())
    build(path, folder / "chain.assay", shapes="x=4x32; x=rowsx32", devices=["metal"])
    return assay.load(str(folder / "chain.assay"), device="metal")


def data(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, 32), np.float32)


def warm(module: AssayModule, rows: int) -> ModuleContext:
    """A context that repeats what it does with so many rows."""
    context = module.new_context()
    for seed in range(3):
        context(data(rows, seed))
    return context


@pytest.mark.parametrize("rows", [4, 5])
def test_argument_buffers_are_written_once_and_results_follow_the_inputs(
    module: AssayModule, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [module.new_context()(data(rows, seed)) for seed in range(3)]
    assert not np.array_equal(expected[0], expected[1])
    context = warm(module, rows)
    written: list[object] = []
    monkeypatch.setattr(
        MTLArgumentEncoder, "setArgumentBuffer_offset_", lambda *given: written.append(given)
    )
    for seed in (2, 0, 1):
        assert np.array_equal(context(data(rows, seed)), expected[seed])
    assert not written


@pytest.mark.parametrize(("rows", "most"), [(4, 75), (5, 130)])
def test_the_host_takes_few_steps_for_a_call(module: AssayModule, rows: int, most: int) -> None:
    context = warm(module, rows)
    items = context.context.model.regions[0].instructions
    calls = sum(isinstance(item, Call) for item in items)
    steps = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal steps
        steps += event == "call"

    sys.setprofile(count)
    try:
        context.run()
    finally:
        sys.setprofile(None)
    # A submission by itself takes some hundreds, on top of what its calls take.
    assert (steps - 400) / calls < most


def found_when_repeated(module: AssayModule) -> list[str]:
    with checking(Checker({"race"})) as checker:
        context = warm(module, 4)
        context(data(4, 0))
    return [finding.check for finding in checker.findings]


def test_what_is_repeated_is_checked_like_everything_else(
    module: AssayModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not found_when_repeated(module)
    monkeypatch.setattr(Encoding, "barrier", lambda self: None)
    assert "race" in found_when_repeated(module)


def test_a_submission_that_is_refused_can_be_repeated(
    module: AssayModule, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = module.new_context()
    expected = context(data(4, 0))

    def fails(*_: object) -> None:
        raise StatusError("INTERNAL", "it fell over")

    with monkeypatch.context() as patched:
        patched.setattr(MTLArgumentEncoder, "setArgumentBuffer_offset_", fails)
        with pytest.raises(StatusError, match="it fell over"):
            context(data(4, 0))
    for _ in range(3):
        assert np.array_equal(context(data(4, 0)), expected)
