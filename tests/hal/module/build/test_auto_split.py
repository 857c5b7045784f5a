"""`--split auto`: devices chosen by what each can do and by predicted times."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import built, load_assay
from assay.compiler.models import ModelError
from assay.compiler.models.compile import CompiledModel, Target
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.cpu.library import FORMAT
from assay.hal.module.build import times
from assay.hw.facts import SpecError
from assay.prediction.modules.timed import time_module
from tests.hal.module.build.test_npu_split import calls, cnn, conv, expected, image, with_shape
from tests.models.importable import cnn as float_cnn
from tests.models.importable import transformer
from tests.models.onnx.network import Network

pytest.importorskip("onnx")
pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)


def large() -> bytes:
    """Two convolutions of 64 channels, which the NPU is worth while for."""
    net = Network(7)
    x = net.qdq(net.input((1, 16, 32, 32)), 0.02)
    x = net.qdq(net.node("Relu", conv(net, x, 16, 64)), 0.05)
    x = net.qdq(net.node("Relu", conv(net, x, 64, 64)), 0.2)
    return with_shape(net.finish(net.node("ReduceMean", x, axes_of(net))), 1, 64, 1, 1)


def axes_of(net: Network) -> str:
    return net.const(np.int64([2, 3]))


@dataclass(frozen=True, kw_only=True, slots=True)
class Split:
    """A module whose devices were chosen, what was told meanwhile, and the choice as text."""

    path: Path
    data: bytes
    told: list[str]
    chosen: str


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Split:
    path = tmp_path_factory.mktemp("split") / "large.onnx"
    path.write_bytes(large())
    told: list[str] = []
    kept: list[str] = []
    data = built(
        path,
        devices=["torq", "cpu"],
        shapes="",
        dims=[],
        split="auto",
        report=told.append,
        chosen=kept.append,
    )
    (text,) = kept
    return Split(path=path, data=data, told=told, chosen=text)


def test_the_npu_gets_what_it_is_faster_at(split: Split) -> None:
    path, data, told = split.path, split.data, split.told
    module = load_assay(data, "torq,cpu")
    on_npu = [kinds for kinds, device in calls(module).items() if device == "torq"]
    assert [kinds.count("Conv") for kinds in on_npu] == [2]
    assert "not on torq: QuantizeLinear" in told[0]
    assert re.match(r"predicted for a run on Apple M1: \d+\.\d{3} ms", told[-1])
    (predicted,) = re.findall(r": ([\d.]+) ms", told[-1])
    timed = time_module(module, [])
    assert timed.seconds * 1e3 == pytest.approx(float(predicted), rel=0.15)
    x = np.random.default_rng(0).standard_normal((1, 16, 32, 32)).astype(np.float32)
    assert np.abs(module(x) - expected(path, x)).max() < 0.01


def test_what_was_chosen_can_be_kept_edited_and_given_again(split: Split) -> None:
    path, text, devices = split.path, split.chosen, ["torq", "cpu"]
    assert re.search(r"^n\d+_Conv +torq  # Conv$", text, re.M)
    assert assay.build(path, devices=devices, split=text) == split.data
    moved = re.sub(r"torq(  # Conv)", r"cpu\1", text)
    module = load_assay(assay.build(path, devices=devices, split=moved), "torq,cpu")
    assert {device for kinds, device in calls(module).items() if "Conv" in kinds} == {"cpu"}


def test_work_that_is_too_little_for_a_crossing_stays_together(tmp_path: Path) -> None:
    """The NPU's start and interrupt alone take longer than these convolutions elsewhere."""
    net = Network(8)
    x = net.qdq(net.input((1, 3, 4, 4)), 0.02)
    x = net.qdq(conv(net, x, 3, 4), 0.1)
    path = tmp_path / "small.onnx"
    path.write_bytes(with_shape(net.finish(x), 1, 4, 4, 4))
    data = assay.build(path, devices=["torq", "cpu"], split="auto")
    module = load_assay(data, "torq,cpu")
    assert set(calls(module).values()) == {"cpu"}


def test_sizes_without_bounds_cannot_be_predicted(tmp_path: Path) -> None:
    transformer(tmp_path / "t.onnx")
    with pytest.raises(ModelError, match="may have any size, so nothing can be predicted"):
        assay.build(tmp_path / "t.onnx", devices=["cpu"], split="auto")
    with pytest.raises(SpecError, match="m99"):
        assay.build(tmp_path / "t.onnx", devices=["cpu"], split="auto", chip="m99")


def test_what_cannot_be_compiled_for_the_gpu_falls_to_the_cpu_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = times.compile_model
    cached: list[bool] = []

    def without_softmax(
        source: Path, *, target: Target, flags: Sequence[str], cache: bool
    ) -> CompiledModel:
        cached.append(cache)
        if target == "metal" and "softmax" in source.read_text():
            raise ModelError("kernels.mlir\nerror: failed to legalize 'softmax'")
        return compiled(source, target=target, flags=flags, cache=cache)

    monkeypatch.setattr(times, "compile_model", without_softmax)
    graph = OnnxGraph("two")
    y = graph.node("Softmax", graph.input("x", (64, 64)), axis=1)
    graph.output(graph.node("MatMul", y, y), (64, 64))
    (tmp_path / "two.onnx").write_bytes(graph.to_bytes())
    told: list[str] = []
    data = assay.build(
        tmp_path / "two.onnx",
        devices=["metal", "cpu"],
        split="auto",
        report=told.append,
        cache=False,
    )
    assert set(cached) == {False}
    assert "not on metal: Softmax softmax_0: error: failed to legalize 'softmax'" in told
    assert calls(load_assay(data, "emulated,cpu"))["Softmax"] == "cpu"


@pytest.mark.slow
def test_gpu_and_cpu_share_a_float_network_as_it_is_predicted_best(tmp_path: Path) -> None:
    float_cnn(tmp_path / "cnn.onnx")
    told: list[str] = []
    data = assay.build(
        tmp_path / "cnn.onnx", devices=["metal", "cpu"], split="auto", report=told.append
    )
    module = load_assay(data, "emulated,cpu")
    split = time_module(module, []).seconds
    for device, opened in (("metal", "emulated"), ("cpu", "cpu")):
        alone = load_assay(assay.build(tmp_path / "cnn.onnx", devices=[device]), opened)
        assert split <= time_module(alone, []).seconds * 1.05


@pytest.mark.slow
def test_all_three_devices_take_part_in_the_choice(tmp_path: Path) -> None:
    path = tmp_path / "cnn.onnx"
    path.write_bytes(cnn())
    data = assay.build(path, devices=["torq", "metal", "cpu"], split="auto")
    module = load_assay(data, "torq,emulated,cpu")
    assert np.abs(module(image()) - expected(path, image())).max() < 2e-3
