"""How long Assay modules take: all devices on one board, runs beside each other."""

import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.cpu.library import FORMAT
from assay.prediction.errors import TimeInputError
from assay.prediction.modules.result import ModuleTime
from assay.prediction.modules.timed import time_module
from tests.hal.module.build.test_npu_split import HEAD, cnn, image, split
from tests.models.importable import cnn as float_cnn

pytest.importorskip("onnx")
pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> AssayModule:
    path: Path = tmp_path_factory.mktemp("time") / "cnn.onnx"
    path.write_bytes(cnn())
    data = assay.build(path, devices=["torq", "metal"], split=split(*HEAD))
    return load_assay(data, "torq,emulated")


@pytest.fixture(scope="module")
def one(module: AssayModule) -> ModuleTime:
    return time_module(module, [image()])


@pytest.fixture(scope="module")
def six(module: AssayModule) -> ModuleTime:
    return time_module(module, [image()], runs=6)


def test_parts_of_one_run_are_one_behind_the_other(one: ModuleTime) -> None:
    kinds = [task.machine for task in one.tasks]
    assert kinds == ["GPU", "CPU", "NPU", "CPU", "GPU", "GPU", "GPU", "GPU"]
    for before, after in pairwise(one.tasks):
        # what waits for another device does so in the queue, so it may have begun to
        assert before.end <= after.end
    assert one.overlap == 0.0
    assert 0 < sum(one.busy.values()) < one.seconds


def test_runs_beside_each_other_take_less_than_one_by_one(
    module: AssayModule, one: ModuleTime, six: ModuleTime
) -> None:
    assert six.in_flight == 3
    assert six.seconds < 6 * one.seconds * 0.8
    assert six.overlap > 0
    alone = time_module(module, [image()], runs=6, in_flight=1)
    assert alone.overlap == 0.0
    assert alone.seconds == pytest.approx(6 * one.seconds, rel=0.02)


def test_the_first_run_is_as_long_as_alone(one: ModuleTime, six: ModuleTime) -> None:
    assert six.first_seconds == pytest.approx(one.seconds, rel=0.2)


def test_no_machine_does_two_runs_tasks_at_once_but_the_cpu(six: ModuleTime) -> None:
    npu = [task for task in six.tasks if task.machine == "NPU"]
    assert [task.run for task in npu] == list(range(6))
    for before, after in pairwise(npu):
        assert before.end <= after.begin


def test_every_wait_for_another_device_is_kept(six: ModuleTime) -> None:
    for run in range(6):
        mine = [task for task in six.tasks if task.run == run]
        into, out = [task for task in mine if task.machine == "CPU"]
        (npu,) = [task for task in mine if task.machine == "NPU"]
        gpu = [task for task in mine if task.machine == "GPU"]
        assert gpu[0].end <= into.begin and into.end <= npu.begin
        assert npu.end <= out.begin and all(out.end <= task.begin for task in gpu[1:])


def test_copies_go_on_beside_other_runs_work_and_hold_no_device_up(six: ModuleTime) -> None:
    npu = [task for task in six.tasks if task.machine == "NPU"]
    copies = [task for task in six.tasks if task.machine == "CPU"]
    arrived = [next(copy.end for copy in copies if copy.run == task.run) for task in npu]
    assert any(
        copy.run != work.run and copy.begin < work.end and work.begin < copy.end
        for copy in copies
        for work in npu
    )
    for before, work, end in zip(npu, npu[1:], arrived[1:], strict=False):
        assert work.begin == max(before.end, end)


def test_one_timeline_shows_all_machines_on_one_clock(six: ModuleTime, tmp_path: Path) -> None:
    trace = six.trace()
    assert {track.path[0] for track in trace.tracks} == {"CPU", "GPU", "NPU", "DRAM"}
    last = int(trace.slices.end.max())
    assert last * 1e-12 == pytest.approx(six.seconds, rel=0.05)
    six.save_trace(tmp_path / "six.html")
    assert (tmp_path / "six.html").stat().st_size > 10_000


def test_nothing_of_it_is_chance(module: AssayModule, six: ModuleTime) -> None:
    assert time_module(module, [image(1)], runs=6).to_json() == six.to_json()


def test_cpu_kernels_have_a_stated_cost(tmp_path: Path) -> None:
    float_cnn(tmp_path / "cnn.onnx")
    loaded = load_assay(assay.build(tmp_path / "cnn.onnx", devices=["cpu"]), "cpu")
    found = time_module(loaded, [])
    assert {task.machine for task in found.tasks} == {"CPU"}
    conv = next(task for task in found.tasks if task.name.startswith("Conv"))
    assert conv.end - conv.begin > 5e-6
    assert "zeros of the first shape set" in found.assumptions[0]


def test_the_host_waits_where_it_reads_what_a_device_made(tmp_path: Path) -> None:
    """What follows a read is submitted when the GPU's end has reached the host, not before."""
    graph = OnnxGraph("cut")
    x = graph.input("x", (8, 8))
    end = graph.node("Cast", graph.node("Abs", graph.input("n", (1,))), to=7)
    zero = graph.weight(np.int64([0]))
    cut = graph.node("Slice", x, zero, end, zero)
    graph.output(graph.node("Softmax", cut), ("n", 8))
    (tmp_path / "cut.onnx").write_bytes(graph.to_bytes())
    loaded = load_assay(assay.build(tmp_path / "cut.onnx", devices=["metal"]))
    found = time_module(loaded, [np.ones((8, 8), np.float32), np.float32([3])])
    before = [task for task in found.tasks if "Softmax" not in task.name]
    after = [task for task in found.tasks if "Softmax" in task.name]
    assert after[0].begin - before[-1].end > 20e-6  # the way to the host and back


def test_what_cannot_be_is_refused(module: AssayModule) -> None:
    with pytest.raises(TimeInputError, match="0 runs"):
        time_module(module, [image()], runs=0)
    with pytest.raises(TimeInputError, match="it takes 1 inputs"):
        time_module(module, [image(), np.zeros(3)])
