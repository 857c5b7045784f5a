"""The `check` module: what passes, what fails, and in which words."""

import numpy as np
import pytest

from assay.hal import element_type as elements
from assay.hal.device import Device
from assay.hal.vm import Session
from assay.hal.vm.checks import run_tests
from assay.hal.vm.marshal import array_view
from assay.hal.vm.modules.check import CheckModule

from .doubles import compiled, recording_device

PROGRAM = """
func.func @passes() {
  %one = util.unfoldable_constant 1 : i32
  check.expect_true(%one) : i32
  return
}
func.func @fails_twice() {
  %zero = util.unfoldable_constant 0 : i32
  check.expect_true(%zero) : i32
  %two = util.unfoldable_constant 2 : i32
  check.expect_false(%two) : i32
  return
}
func.func @takes_arguments(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
"""


@pytest.fixture(scope="module")
def device() -> Device:
    return recording_device()[0]


def failures(device: Device, name: str, *arguments: object) -> list[str]:
    module = CheckModule()
    views = [
        array_view(device, argument) if isinstance(argument, np.ndarray) else argument
        for argument in arguments
    ]
    module.exports()[name][1](device, *views)
    return module.take_failures()


def test_every_function_of_a_module_is_run_and_its_failures_are_kept_apart() -> None:
    session = Session(recording_device()[0])
    results = {
        result.name: result for result in run_tests(session, session.load(compiled(PROGRAM)))
    }
    assert results["passes"].outcome == "passed"
    assert results["fails_twice"].failures == (
        "Expected 0 to be nonzero.",
        "Expected 2 to be zero.",
    )
    assert "expected function with no inputs" in str(results["takes_arguments"].error)


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int64, np.float32])
def test_all_true_wants_every_element_nonzero(device: Device, dtype: type) -> None:
    assert not failures(device, "expect_all_true", np.ones(5, dtype))
    (text,) = failures(device, "expect_all_true", np.array([1, 0, 1], dtype))
    assert "element 1 is not" in text


def test_equality_is_of_bits_type_and_shape(device: Device) -> None:
    nan = np.array([np.nan, 1], np.float32)
    assert not failures(device, "expect_eq", nan, nan)
    (text,) = failures(device, "expect_eq", np.float32([0.0]), np.float32([-0.0]))
    assert text.startswith("Expected equality of these values. Contents does not match.")
    (text,) = failures(device, "expect_eq", np.zeros((2, 2), np.int32), np.zeros(4, np.int32))
    assert "Shapes do not match." in text and "2x2xi32=[0 0][0 0]" in text
    (text,) = failures(device, "expect_eq", np.zeros(2, np.int32), np.zeros(2, np.float32))
    assert "Element types do not match." in text


@pytest.mark.parametrize(
    ("left", "right", "tolerances", "passes"),
    [
        (1.0, 1.00005, (1e-4, 0.0), True),
        (1.0, 1.001, (1e-4, 0.0), False),
        (1000.0, 1001.0, (0.0, 1e-2), True),
        (np.nan, np.nan, (0.0, 0.0), True),
        (np.nan, 0.0, (1e9, 1e9), False),
        (np.inf, np.inf, (0.0, 0.0), True),
        (1.0, np.inf, (1e9, 1e9), False),
    ],
)
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_near_equality_is_numpys_isclose(
    device: Device,
    left: float,
    right: float,
    tolerances: tuple[float, float],
    passes: bool,
    dtype: str,
) -> None:
    if dtype != "f32" and abs(left - right) < 0.01 and not passes:
        pytest.skip("the difference is below the type's precision")
    codes = {"f32": 0x21000020, "f16": 0x21000010, "bf16": 0x22000010}
    kind = elements.dtype_of(codes[dtype])
    a, b = np.array([left], kind), np.array([right], kind)
    assert (not failures(device, "expect_almost_eq", a, b, *tolerances)) == passes


def test_near_equality_names_the_first_difference(device: Device) -> None:
    a, b = np.float32([1, 2, 3]), np.float32([1, 2.5, 4])
    (text,) = failures(device, "expect_almost_eq", a, b, 1e-4, 0.0)
    assert (
        "Contents does not match to tolerance parameters atol=0.0001, rtol=0. The first failure "
        "occurs at index 1 as the lhs value 2 differs from the rhs value 2.5 by 5.000e-01."
    ) in text
