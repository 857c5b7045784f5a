"""Argument buffers of compiled libraries, as their metadata describes them."""

from __future__ import annotations

import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.msl import CompileError
from tests.support.metallib import Buffer, kernel, library

# As the argument buffers of PyTorch's optimizers are: arrays of addresses, which are structs.
LISTED = """!60 = !{!"air.struct_type_info", !61, i32 0, i32 16, i32 0, !"metal::array", !"x",
  !"air.indirect_argument", i32 0, !"air.struct_type_info", !61, i32 16, i32 16, i32 0,
  !"metal::array", !"y", !"air.indirect_argument", i32 2}
!61 = !{i32 0, i32 8, i32 2, !"float", !"__elems", !"air.indirect_argument", !62}
!62 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", \
!"air.address_space", i32 1, !"air.arg_type_name", !"float", !"air.arg_name", !"__elems"}"""


def listed(constants: str) -> AirLibrary:
    text = kernel(
        "listed",
        "  store i32 1, ptr addrspace(1) %b1",
        (
            Buffer(name="lists", element="i8", space=2, access="read", members="60"),
            Buffer(name="o", element="i32"),
        ),
        constants=constants,
    )
    return AirLibrary(library({"listed": text}), "listed.metallib")


def test_arrays_in_argument_buffers_have_an_id_for_each_element() -> None:
    (argument, _) = listed(LISTED).function("listed").arguments
    assert [(each.name, each.id, each.offset) for each in argument.members] == [
        ("x.__elems[0]", 0, 0),
        ("x.__elems[1]", 1, 8),
        ("y.__elems[0]", 2, 16),
        ("y.__elems[1]", 3, 24),
    ]
    assert {(each.kind, each.address_space) for each in argument.members} == {("buffer", "device")}


def test_an_argument_buffer_that_holds_itself_is_refused() -> None:
    # The array's struct is its own element.
    one = '!{i32 0, i32 8, i32 2, !"float", !"__elems", !"air.indirect_argument", !62}'
    held = '!{!"air.struct_type_info", !61, i32 0, i32 8, i32 0, !"s", !"s", ' + (
        '!"air.indirect_argument", i32 1}'
    )
    assert one in LISTED
    endless = LISTED.replace(one, held)
    with pytest.raises(CompileError, match="more than 256 structs"):
        listed(endless).function("listed")
