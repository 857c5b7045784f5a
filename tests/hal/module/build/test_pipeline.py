"""Several runs in flight on devices that work together."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.assay_module import AssayModule, load_assay
from assay.hal.cpu.library import FORMAT
from assay.hal.module.rounds import parts
from assay.hal.status import StatusError
from tests.hal.module.build.test_npu_split import HEAD, cnn, image, split
from tests.models.importable import cnn as float_cnn

pytest.importorskip("onnx")
pytestmark = pytest.mark.skipif(
    not (FORMAT and sys.platform.startswith("linux")), reason="CPU executables are ELF images"
)


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> AssayModule:
    path: Path = tmp_path_factory.mktemp("pipeline") / "cnn.onnx"
    path.write_bytes(cnn())
    data = assay.build(path, devices=["torq", "metal"], split=split(*HEAD))
    return load_assay(data, "torq,emulated")


def test_a_run_is_cut_where_it_crosses_to_another_device(module: AssayModule) -> None:
    assert len(parts(module.opened.module.models[0])) == 3


@pytest.mark.parametrize(
    "in_flight",
    [None, pytest.param(1, marks=pytest.mark.slow), 2, pytest.param(5, marks=pytest.mark.slow)],
)
def test_runs_in_flight_give_what_runs_one_by_one_give(
    module: AssayModule, in_flight: int | None
) -> None:
    images = [image(seed) for seed in range(7)]
    found = list(module.map(images, in_flight))
    assert len(found) == 7
    for made, given in zip(found, images, strict=True):
        assert np.array_equal(made, module(given))


@pytest.mark.slow
def test_shapes_may_differ_from_run_to_run(tmp_path: Path) -> None:
    float_cnn(tmp_path / "cnn.onnx")
    sets = "image=1x3x16x16; image=2x3x16x16"
    data = assay.build(
        tmp_path / "cnn.onnx", shapes=sets, devices=["metal", "cpu"], split="Conv metal\n* cpu\n"
    )
    loaded = load_assay(data, "emulated,cpu")
    images = [image(seed).repeat(1 + seed % 2, 0) for seed in range(5)]
    for made, given in zip(loaded.map(images), images, strict=True):
        assert np.array_equal(made, loaded(given))


def test_a_wrong_shape_ends_it_and_nothing_is_left_in_flight(module: AssayModule) -> None:
    before = threading.active_count()
    wrong = np.zeros((1, 3, 8, 8), np.float32)
    runs = module.map([image(0), image(1), wrong, image(2)])
    with pytest.raises(StatusError, match="no shape set fits"):
        list(runs)
    assert threading.active_count() <= before + 1
    assert np.array_equal(next(module.map([image(3)])), module(image(3)))


def test_results_that_nobody_takes_leave_nothing_behind(module: AssayModule) -> None:
    runs = module.map(image(seed) for seed in range(6))
    first = next(runs)
    runs.close()
    assert np.array_equal(first, module(image(0)))
