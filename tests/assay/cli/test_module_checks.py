"""`assay check` of Assay modules: kernels of all devices, and missing waits between them."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay as package
from assay.assay_module import AssayModule, load_assay
from assay.checks import Report, chosen_checks
from assay.checks.modules import check_assay_module
from assay.examples import mobilenet_int8
from assay.hal.buffer import Buffer
from assay.hal.cpu.library import FORMAT
from assay.hal.module.queues import Bridge, CopyWork, Job, Lane, outside_fence
from assay.module_tensors import tensors_of
from tests.hal.module.build.test_npu_split import HEAD, cnn, image, split
from tests.support.tool_runs import tool_runs

from .conftest import Done

pytest.importorskip("onnx")
pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)
Assay = Callable[..., Done]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("check")
    (made / "cnn.onnx").write_bytes(cnn())
    package.build(
        made / "cnn.onnx", made / "gpu.assay", devices=["torq", "metal"], split=split(*HEAD)
    )
    package.build(
        made / "cnn.onnx",
        made / "cpu.assay",
        devices=["torq", "cpu"],
        split=split(*HEAD, device="cpu"),
    )
    return made


@pytest.fixture
def module(folder: Path) -> AssayModule:
    return load_assay(folder / "cpu.assay", "torq,cpu")


def found(module: AssayModule) -> list[str]:
    report = Report(chosen_checks("all"))
    check_assay_module(module, [image()], report)
    assert not report.unchecked
    return [finding.message for finding in report.findings if finding.kind == "missing-wait"]


def test_a_module_on_all_devices_is_clean(folder: Path) -> None:
    module = load_assay(folder / "gpu.assay", "torq,emulated")
    report = Report(chosen_checks("all"))
    results = check_assay_module(module, [image()], report)
    assert results is not None and np.array_equal(results[0], module(image()))
    assert not report.findings
    checked = {record.name for record in report.kernels}
    assert any(name.startswith("npu_") for name in checked)
    assert any(name.startswith("softmax") for name in checked)


def copy_at_once(
    self: Bridge, source: Lane, data: Buffer, target: Lane, place: Buffer, length: int
) -> None:
    """The runtime's copy without its wait for who makes the data."""
    done = outside_fence(target.device)
    work = CopyWork(data.subspan(0, length), place.subspan(0, length))
    self._start(Job(waits=(target.last,), reaches=done, copy=work))
    target.wait_for(done)
    self.carry(done, source)


def copy_unseen(
    self: Bridge, source: Lane, data: Buffer, target: Lane, place: Buffer, length: int
) -> None:
    """The same, and the device that reads the copy does not wait for it."""
    done = outside_fence(target.device)
    work = CopyWork(data.subspan(0, length), place.subspan(0, length))
    self._start(Job(waits=(source.last, target.last), reaches=done, copy=work))
    self.carry(done, source)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (copy_at_once, "a copy between devices reads bytes that .* writes"),
        (copy_unseen, "npu_.* on torq reads bytes that a copy between devices writes"),
    ],
)
def test_a_wait_that_the_runtime_forgets_is_found_though_the_results_may_be_right(
    module: AssayModule, monkeypatch: pytest.MonkeyPatch, broken: Any, message: str
) -> None:
    assert found(module) == []
    monkeypatch.setattr(Bridge, "copy", broken)
    assert any(re.match(message, each) for each in found(module))


def test_the_command_checks_modules(assay: Assay, folder: Path) -> None:
    given = (folder / "cpu.assay", "--device", "torq,cpu")
    done = assay("check", *given, "--input", "1x3x16x16xf32=1")
    assert done.code == 0 and "1 executable, no findings" in done.out, done.err
    done = assay("check", *given, "--function", "f")
    assert done.code == 2 and "--function is not for Assay modules" in done.err


def test_diff_compares_every_tensor_with_irees_cpu_backend(assay: Assay, folder: Path) -> None:
    given = (folder / "gpu.assay", "--device", "torq,emulated", "--model", folder / "cnn.onnx")
    done = assay("diff", *given, "--json")
    document = json.loads(done.out)
    assert done.code == 0 and document["equal"], done.err
    names = [each["name"] for each in document["results"]]
    assert names[0] == "quantizelinear_0" and names[-1].startswith("softmax")
    assert len(names) == 6  # what the NPU keeps to itself is not among them


def test_diff_compiles_again_if_asked_for(
    assay: Assay, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = (folder / "gpu.assay", "--device", "torq,emulated", "--model", folder / "cnn.onnx")
    assert assay("diff", *given).code == 0
    runs = tool_runs(monkeypatch)
    assert assay("diff", *given).code == 0
    reading = runs.count("iree-compile")
    assert assay("diff", *given, "--no-cache").code == 0
    # The model, and what the NPU does of it.
    assert runs.count("iree-compile") == 2 * reading + 2


def test_diff_needs_something_for_the_cpu(assay: Assay, folder: Path) -> None:
    done = assay("diff", folder / "gpu.assay", "--device", "torq,emulated")
    assert done.code == 2 and "give the model that it was built from with --model" in " ".join(
        done.err.split()
    )
    done = assay("diff", folder / "gpu.assay", "--device", "torq,emulated", "--against", "tosa")
    assert done.code == 2 and "--against llvm-cpu" in done.err


def test_differences_of_one_kernel_do_not_go_on_to_the_next(module: AssayModule) -> None:
    alone = tensors_of(module, [image()])
    (first, *_, last) = alone
    other = {first: np.zeros_like(alone[first])}
    changed = tensors_of(module, [image()], other)
    assert np.array_equal(changed[first], alone[first])
    assert not np.array_equal(changed[last], alone[last])


@pytest.mark.slow
def test_mobilenet_on_the_npu_with_a_float_head_on_metal_is_what_irees_cpu_backend_makes(
    assay: Assay, tmp_path: Path
) -> None:
    model = tmp_path / "mobilenet.onnx"
    model.write_bytes(mobilenet_int8.build(size=64, width=0.25))
    made = tmp_path / "mobilenet.assay"
    package.build(model, made, devices=["torq", "metal"], split="* torq\n")
    done = assay("diff", made, "--device", "torq,emulated", "--model", model, "--json")
    results = {each["name"]: each for each in json.loads(done.out)["results"]}
    assert done.code == 0, done.err
    assert results["quantizelinear276"]["max_absolute"] == 0  # 53 convolutions, to the bit
    assert results["probabilities"]["equal"]


@pytest.mark.slow
def test_unsigned_integers_are_compared_with_floats_between_quantisers(
    assay: Assay, tmp_path: Path
) -> None:
    model, made = tmp_path / "cnn.onnx", tmp_path / "cnn.assay"
    model.write_bytes(cnn("uint8"))
    package.build(model, made, devices=["torq", "cpu"], split=split(*HEAD, device="cpu"))
    done = assay("diff", made, "--device", "torq,cpu", "--model", model, "--steps", "1")
    assert done.code == 0, done.out
