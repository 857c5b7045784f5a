"""Values as text, in the notation of `iree-run-module`."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from assay.text_values import InputError, format_value, parse_input, read_npy, write_npy


def one(text: str) -> np.ndarray:
    (value,) = parse_input(text)
    assert isinstance(value, np.ndarray)
    return value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2x2xf32=1,2,3,4", np.array([[1, 2], [3, 4]], np.float32)),
        ("2x2xi32=1 2 3 4", np.array([[1, 2], [3, 4]], np.int32)),
        ("2x2xi32=[[1 2][3 4]]", np.array([[1, 2], [3, 4]], np.int32)),
        ("3xf32=7", np.full(3, 7, np.float32)),
        ("2xf32", np.zeros(2, np.float32)),
        ("f32=1e-7", np.array(1e-7, np.float32)),
        ("0x3xf32=", np.zeros((0, 3), np.float32)),
        ("2xi8=255,-1", np.array([-1, -1], np.int8)),
        ("2xui8=255,0", np.array([255, 0], np.uint8)),
        ("2xi1=1,false", np.array([True, False])),
        ("2xf32=0x10,-inf", np.array([16, -np.inf], np.float32)),
        ("2xi64=0xffffffffff", np.full(2, 0xFFFFFFFFFF, np.int64)),
        ("3xbf16=1 -2.5 nan", np.array([1, -2.5, np.nan], ml_dtypes.bfloat16)),
        ("2xf16=1e9", np.full(2, np.inf, np.float16)),
    ],
)
def test_a_tensor_is_read_from_text(text: str, expected: np.ndarray) -> None:
    value = one(text)
    assert value.dtype == expected.dtype
    np.testing.assert_array_equal(value.astype(float), expected.astype(float))


def test_numbers_alone_are_scalars() -> None:
    assert [*parse_input("3"), *parse_input("-2.5"), *parse_input("0x10")] == [3, -2.5, 16]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2xf32=1 2 3", "3 values for the 2 elements"),
        ("2xf32=a", "'a' is no value of type f32"),
        ("2xi8=300", "'300' is no value of type i8"),
        ("2xi32=1.5", "'1.5' is no value of type i32"),
        ("2x?xf32=1", "give every size"),
        ("2xf99=1", "f99"),
        ("", "empty"),
        ("4x4", "expected SHAPExTYPE"),
        ("99999x99999x99999xf32", "more than can be held"),
        ("@nowhere.npy", "nowhere.npy cannot be read"),
        ("4xf32=@nowhere.bin", "nowhere.bin cannot be read"),
    ],
)
def test_a_wrong_input_is_told_with_what_was_expected(text: str, says: str) -> None:
    with pytest.raises(InputError, match="--input") as told:
        parse_input(text)
    assert says in str(told.value)


def test_raw_bytes_must_have_the_right_length(tmp_path: Path) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(np.arange(4, dtype=np.float32).tobytes())
    np.testing.assert_array_equal(one(f"2x2xf32=@{path}"), [[0, 1], [2, 3]])
    with pytest.raises(InputError, match="has 16 bytes; 5xf32 takes 20"):
        one(f"5xf32=@{path}")


def test_several_arrays_in_one_file_are_several_inputs(tmp_path: Path) -> None:
    path = tmp_path / "many.npy"
    values = [np.arange(3, dtype=np.int16), np.array(2.5), np.ones(2, ml_dtypes.bfloat16)]
    with path.open("wb") as file:
        for value in values:
            write_npy(file, value)
    read = read_npy(path)
    assert [value.dtype for value in read] == [value.dtype for value in values]
    for a, b in zip(read, values, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", b"nonsense", b"\x93NUMPY\x01\x00v\x00{'de"])
def test_a_damaged_file_is_told(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "bad.npy"
    path.write_bytes(damage)
    with pytest.raises(InputError, match=r"bad\.npy"):
        read_npy(path)


def test_a_pickle_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "objects.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="not a readable"):
        read_npy(path)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([[2, 4], [6, 9]], np.float32), "2x2xf32=[2 4][6 9]"),
        (np.array([-6, -6], np.int32), "2xi32=-6 -6"),
        (np.array(1e-7, np.float32), "f32=1E-07"),
        (np.full((1, 2, 2), 1 / 3, np.float32), None),
        (np.array([1, -2.25, np.nan], np.float16), "3xf16=1 -2.25 NAN"),
        (np.array([np.inf, -np.inf], np.float32), "2xf32=INF -INF"),
        (np.array([0.1, 16777217], np.float32), "2xf32=0.1 1.67772E+07"),
        (np.zeros((0, 3), np.float32), "0x3xf32="),
        (np.array([True, False]), "2xi1=1 0"),
        (7, "i32=7"),
        (1.5, "f32=1.5"),
    ],
)
def test_results_are_printed_as_iree_prints_them(value: object, text: str | None) -> None:
    wanted = text or "1x2x2xf32=[[0.333333 0.333333][0.333333 0.333333]]"
    assert format_value(value) == wanted  # type: ignore[arg-type]


def test_long_results_are_cut() -> None:
    assert format_value(np.arange(5, dtype=np.int32), limit=3) == "5xi32=0 1 2 ..."


@given(arrays.arrays(np.int32, arrays.array_shapes(max_dims=3, max_side=4)))
def test_integers_survive_printing_and_reading(value: np.ndarray) -> None:
    np.testing.assert_array_equal(one(format_value(value)), value)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        parse_input(text)
    except InputError as error:
        assert str(error).startswith("--input")
