"""`assay.load` and what it returns, used as people use `iree.runtime`."""

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.hal.vm import VmError

from .conftest import Builds
from .zoo import MLIR, find


@pytest.fixture(scope="module")
def two(builds: Builds) -> assay.Module:
    return assay.load(builds.module(MLIR / "two_exports.mlir", "metal"))


def test_functions_are_attributes_and_items(two: assay.Module) -> None:
    x = np.arange(16, dtype=np.float32)
    np.testing.assert_array_equal(two.double(x), 2 * x)
    np.testing.assert_array_equal(two["scale"](x, 3.0), 3 * x)
    assert list(two) == ["double", "scale"]
    assert {"double", "scale"} <= set(dir(two))


def test_lists_and_numbers_take_the_declared_types(two: assay.Module) -> None:
    result = two.scale(list(range(16)), 3)
    assert result.dtype == np.float32
    assert result[5] == 15


def test_signatures_and_help_say_what_goes_in(two: assay.Module) -> None:
    assert str(two.scale.signature) == (
        "scale(input0: tensor<16xf32>, input1: f32) -> (tensor<16xf32>)"
    )
    assert "tensor<16xf32>" in (two.scale.__doc__ or "")
    assert "scale" in repr(two.scale)


def test_unknown_functions_are_told_with_those_there_are(two: assay.Module) -> None:
    with pytest.raises(AttributeError, match="no function 'triple'; it has double, scale"):
        two.triple(1)
    with pytest.raises(KeyError, match="no function 'triple'; it has double, scale"):
        two["triple"]


def test_several_results_are_a_tuple_and_scalars_are_numbers(builds: Builds) -> None:
    module = assay.load(builds.module(MLIR / "scalars.mlir", "metal"))
    tensor, i, j, f = module.main(np.ones(4, np.float32), 7, 1 << 40, 2.5)
    assert tensor.shape == (4,)
    assert (i, j, f) == (21, 1 << 41, 1.25)


def test_a_path_bytes_and_a_model_load_alike(builds: Builds, tmp_path: Path) -> None:
    source = MLIR / "constants.mlir"
    data = builds.module(source, "metal")
    path = tmp_path / "module.vmfb"
    path.write_bytes(data)
    x = np.ones((4, 8), np.float32)
    results = [assay.load(what).main(x) for what in (path, str(path), data, source)]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


def test_state_lasts_as_long_as_the_module(builds: Builds) -> None:
    data = builds.module(MLIR / "globals.mlir", "metal")
    one, other = assay.load(data), assay.load(data)
    x = np.ones(16, np.float32)
    one.main(x)
    assert one.main(x)[0] == 2
    assert other.main(x)[0] == 1


def test_wrong_arguments_raise_irees_messages(two: assay.Module) -> None:
    with pytest.raises(VmError, match="INVALID_ARGUMENT"):
        two.double(np.ones(15, np.float32))
    with pytest.raises(VmError, match="INVALID_ARGUMENT"):
        two.double()


def test_an_index_out_of_range_stops_the_kernel_and_nothing_else(builds: Builds) -> None:
    module = assay.load(builds.model(find("gather"), "metal"))
    table = np.arange(32 * 16, dtype=np.float32).reshape(32, 16)
    bad, good = np.full(8, 1 << 20, np.int32), np.arange(8, dtype=np.int32)
    with pytest.raises(VmError, match="out-of-bounds read"):
        module.main(table, bad)
    again = assay.load(builds.model(find("gather"), "metal"))
    np.testing.assert_array_equal(again.main(table, good), table[:8])


def test_many_modules_live_side_by_side(builds: Builds) -> None:
    data = builds.module(MLIR / "constants.mlir", "metal")
    x = np.ones((4, 8), np.float32)
    modules = [assay.load(data) for _ in range(8)]
    results = [module.main(x) for module in modules]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
