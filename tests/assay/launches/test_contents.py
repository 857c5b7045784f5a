"""Bytes of arguments out of what was written for them."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from assay.compiler.msl import Argument
from assay.launches.contents import _PERIOD, assumed_array, contents, random_array
from assay.launches.errors import LaunchInputError
from assay.launches.inputs import Exact, Fields, Filled, Given, Literal, Raw
from assay.launches.scalars import axes_of, element_of


def argument(type_name: str, size: int, **facts: object) -> Argument:
    known = {
        "name": "x",
        "kind": "buffer",
        "index": 0,
        "address_space": "device",
        "alignment": 4,
        "access": "read_write",
    }
    return Argument(type_name=type_name, size=size, **{**known, **facts})  # type: ignore[arg-type]


FLOATS = argument("float", 4)


def values(given: Given, to: Argument, dtype: object) -> list[object]:
    return contents(given, to, 1, "here").view(dtype).tolist()  # type: ignore[call-overload]


def test_fills_are_what_they_are_called() -> None:
    assert values(Filled(shape=(3,), fill="zeros"), FLOATS, np.float32) == [0, 0, 0]
    assert values(Filled(shape=(3,), fill="ones"), FLOATS, np.float32) == [1, 1, 1]
    assert values(Filled(shape=(3,), fill="iota"), FLOATS, np.float32) == [0, 1, 2]
    assert values(Filled(shape=(3,), fill=2.5), FLOATS, np.float32) == [2.5, 2.5, 2.5]
    assert values(Filled(fill=(1, 2)), FLOATS, np.float32) == [1, 2]
    assert values(Filled(dtype="int16", shape=(2, 2), fill=7), FLOATS, np.int16) == [7] * 4


def test_random_contents_are_the_same_each_time_and_small() -> None:
    given = Filled(shape=(1000,))
    floats = contents(given, FLOATS, 1, "here").view(np.float32)
    assert (floats == contents(given, FLOATS, 1, "here").view(np.float32)).all()
    assert (floats != contents(given, FLOATS, 2, "here").view(np.float32)).any()
    assert floats.min() >= -1 and floats.max() < 1 and floats.std() > 0.4
    integers = contents(given, argument("uint", 4), 1, "here").view(np.uint32)
    assert set(integers.tolist()) == set(range(8))


def test_without_a_dtype_the_shape_counts_elements_of_the_arguments_own_type() -> None:
    assert contents(Filled(shape=(3,)), argument("float4", 16), 1, "").nbytes == 48
    assert contents(Filled(shape=(3,)), argument("packed_half3", 6), 1, "").nbytes == 18
    bfloats = contents(Filled(shape=(2,), fill=1.5), argument("bfloat", 2), 1, "")
    assert bfloats.view(ml_dtypes.bfloat16).tolist() == [1.5, 1.5]


def test_scalars_get_the_type_of_the_argument() -> None:
    assert values(Literal(values=(64,)), argument("ulong", 8), np.uint64) == [64]
    assert values(Literal(values=(1,)), argument("half", 2), np.float16) == [1]
    assert values(Literal(values=(True,)), argument("bool", 1), np.bool_) == [True]
    vector = argument("uint3", 16, is_reference=True)
    assert values(Literal(values=(1, 2, 3)), vector, np.uint32) == [1, 2, 3, 0]
    assert values(Literal(values=(5,)), vector, np.uint32) == [5, 5, 5, 5]
    assert values(Literal(values=(1, 2, 3, 4, 5)), argument("int", 4), np.int32) == [1, 2, 3, 4, 5]


def test_members_of_a_struct_are_aligned_as_in_c() -> None:
    given = Fields(members=(("uint8", 1), ("uint32", 2), ("uint8", 3), ("uint64", 4)))
    raw = contents(given, argument("Params", 24), 1, "")
    assert raw.nbytes == 24
    assert (raw[0], raw[8]) == (1, 3)
    assert raw[4:8].view(np.uint32)[0] == 2 and raw[16:24].view(np.uint64)[0] == 4


def test_arrays_from_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(4, dtype=np.float32))
    assert values(Filled(fill=tmp_path / "x.npy"), FLOATS, np.float32) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("given", "to", "complaint"),
    [
        (Literal(values=(-1,)), argument("uint", 4), "-1 is not in 0..4294967295"),
        (Literal(values=(1.5,)), argument("int", 4), "1.5 is no whole number, as int32"),
        (Literal(values=(float("inf"),)), argument("int", 4), "inf is not in"),
        (Literal(values=(1,)), argument("Params", 8), "give its members"),
        (Literal(values=(1, 2, 3, 4, 5)), argument("int4", 16, is_reference=True), "5 values"),
        (Literal(values=(1, 2)), argument("uint3", 16, is_reference=True), "only 2 values"),
        (Fields(members=(("uint32", 1),)), argument("Params", 8), "8 bytes; 4 are given"),
        (Raw(bytes=2), FLOATS, "4 bytes; 2 are given"),
        (Filled(shape=(4,)), argument("Params", 8), "say what its memory holds"),
        (Filled(shape=(3,), fill=(1, 2)), FLOATS, "2 values for a shape of 3"),
        (Filled(shape=(1 << 31,)), FLOATS, "8589934592 bytes are more than the 4294967296"),
        (Filled(fill=Path("/nowhere/x.npy")), FLOATS, "cannot be read"),
        (Exact(array=np.zeros(1, np.uint8)), FLOATS, "4 bytes; 1 are given"),
    ],
    ids=lambda value: "" if isinstance(value, Argument) else None,
)
def test_what_does_not_fit_is_refused(given: Given, to: Argument, complaint: str) -> None:
    with pytest.raises(LaunchInputError, match=complaint) as caught:
        contents(given, to, 1, "args.toml:3")
    assert str(caught.value).startswith("args.toml:3: argument 'x'")


@pytest.mark.parametrize(
    ("type_name", "element", "axes"),
    [
        ("float", "float32", 1),
        ("uint3", "uint32", 3),
        ("packed_half4", "float16", 4),
        ("ushort2", "uint16", 2),
        ("atomic_uint", "uint32", 1),
        ("atomic<int>", "int32", 1),
        ("float4x4", "float32", 1),
        ("uint8_t", "uint8", 1),
        ("metal::uint", "uint32", 1),
        ("size_t", "uint64", 1),
        ("unsigned  int", "uint32", 1),
        ("bool", "bool", 1),
    ],
)
def test_types_of_msl_are_known_by_name(type_name: str, element: str, axes: int) -> None:
    assert str(element_of(type_name)) == element
    assert axes_of(type_name) == axes


def test_other_types_are_not() -> None:
    assert element_of("Params") is None and element_of("T") is None and element_of("void") is None


@pytest.mark.parametrize("count", [1, 1000, _PERIOD, _PERIOD + 1, 2 * _PERIOD + 7])
@pytest.mark.parametrize("dtype", ["<f4", "i1", "?"])
def test_assumed_arrays_are_random_ones_that_come_again(dtype: str, count: int) -> None:
    kind = np.dtype(dtype)
    found = assumed_array(kind, count, 3)
    assert found.dtype == kind and found.shape == (count,)
    np.testing.assert_array_equal(found[:_PERIOD], random_array(kind, min(count, _PERIOD), 3))
    np.testing.assert_array_equal(found[_PERIOD:], found[: max(0, count - _PERIOD)])
