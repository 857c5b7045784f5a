"""Types of arguments as text, taken apart."""

from assay.signatures import Slot


def test_a_tensor_type_gives_shape_and_element() -> None:
    slot = Slot(name="input0", type="tensor<4x?x8xf32>")
    assert (slot.shape, slot.element, slot.text) == ((4, None, 8), "f32", "4x?x8xf32")


def test_a_tensor_of_rank_zero_has_no_sizes() -> None:
    slot = Slot(name="input0", type="tensor<i64>")
    assert (slot.shape, slot.element, slot.text) == ((), "i64", "i64")


def test_elements_with_an_x_in_their_name_are_kept_whole() -> None:
    slot = Slot(name="input0", type="tensor<2xcomplex<f32>>")
    assert (slot.shape, slot.element) == ((2,), "complex<f32>")


def test_a_scalar_is_no_tensor() -> None:
    slot = Slot(name="input0", type="i32")
    assert not slot.is_tensor
    assert slot.text == "i32"
