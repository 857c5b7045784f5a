"""Arrays in and out: every dtype, every layout, and what cannot be passed."""

import ml_dtypes
import numpy as np
import pytest

from assay.hal import element_type as elements
from assay.hal.buffer import BufferView
from assay.hal.device import Device
from assay.hal.status import StatusError
from assay.hal.vm.marshal import array_view, from_program
from assay.hal.vm.values import VmList

from .doubles import recording_device

DTYPES = [
    np.bool_,
    *(np.dtype(f"{sign}{size}") for sign in "iu" for size in (1, 2, 4, 8)),
    np.float16,
    np.float32,
    np.float64,
    np.complex64,
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
]


@pytest.fixture(scope="module")
def device() -> Device:
    return recording_device()[0]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0, 4), (1, 1, 7)])
def test_an_array_comes_back_as_it_went(device: Device, dtype: type, shape: tuple) -> None:
    array = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    back = from_program(device, array_view(device, array))
    assert back.dtype == array.dtype and back.shape == array.shape
    assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=np.int32).reshape(3, 4).T,
        np.arange(12, dtype=np.int32)[::2],
        np.arange(6, dtype=">i4"),
        np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)),
    ],
)
def test_any_layout_and_byte_order_is_taken(device: Device, array: np.ndarray) -> None:
    np.testing.assert_array_equal(from_program(device, array_view(device, array)), array)


def test_a_result_is_a_copy_that_can_be_written(device: Device) -> None:
    view = array_view(device, np.zeros(4, np.float32))
    first, second = from_program(device, view), from_program(device, view)
    first[0] = 1
    assert second[0] == 0


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([object()])])
def test_what_iree_has_no_type_for_is_refused_with_the_choices(
    device: Device, array: np.ndarray
) -> None:
    with pytest.raises(StatusError, match="cannot be passed; choices: bfloat16, bool"):
        array_view(device, array)


def test_a_view_larger_than_its_buffer_is_refused(device: Device) -> None:
    view = array_view(device, np.zeros(4, np.float32))
    larger = BufferView(view.buffer, (5,), view.element_type, view.encoding_type)
    with pytest.raises(StatusError, match="takes 20 bytes, its buffer has 16"):
        from_program(device, larger)


def test_ranks_that_numpy_lacks_and_endless_lists_are_refused(device: Device) -> None:
    view = array_view(device, np.zeros(1, np.float32))
    with pytest.raises(StatusError, match="rank 65"):
        from_program(device, BufferView(view.buffer, (1,) * 65, view.element_type, 1))
    endless = VmList("?")
    endless.items.append(endless)
    with pytest.raises(StatusError, match="nested deeper than 32"):
        from_program(device, endless)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0x21000020, "f32"),
        (0x22000010, "bf16"),
        (0x10000040, "i64"),
        (0x11000008, "si8"),
        (0x12000010, "ui16"),
        (0x13000008, "i1"),
        (0x23000040, "complex<f32>"),
        (0x25000008, "f8E4M3FN"),
        (0x00000020, "x32"),
    ],
)
def test_element_types_are_spelled_as_iree_spells_them(code: int, text: str) -> None:
    assert elements.text(code) == text
