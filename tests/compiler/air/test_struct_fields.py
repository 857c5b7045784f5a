"""Members of structs in compiled libraries, as their metadata describes them."""

from __future__ import annotations

import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.msl import Argument
from assay.launches.structs import members_of
from tests.support.metallib import Buffer, kernel, library

# struct Inner { uchar a; float2 b[2]; }; struct Outer { uint n; Inner inner; Inner many[2]; };
OUTER = """!60 = !{i32 0, i32 4, i32 0, !"uint", !"n", !"air.struct_type_info", !61, \
i32 8, i32 24, i32 0, !"Inner", !"inner", \
!"air.struct_type_info", !61, i32 32, i32 24, i32 2, !"Inner", !"many"}
!61 = !{i32 0, i32 1, i32 0, !"uchar", !"a", i32 8, i32 8, i32 2, !"float2", !"b"}"""


def argument(described: str, size: int) -> Argument:
    """An argument of a struct that some nodes describe, of so many bytes."""
    text = kernel(
        "k",
        "  store i32 1, ptr addrspace(1) %b1",
        (
            Buffer(name="s", element="i8", space=2, access="read", members="60"),
            Buffer(name="o", element="i32"),
        ),
        constants=described,
    ).replace('!"air.indirect_buffer"', '!"air.buffer"')
    sized = text.replace('!"air.arg_type_size", i32 1', f'!"air.arg_type_size", i32 {size}')
    return AirLibrary(library({"k": sized}), "k.metallib").function("k").arguments[0]


def test_members_lie_where_the_metadata_says() -> None:
    members = members_of(argument(OUTER, 80))
    assert [(m.name, str(m.element), m.count, m.offset) for m in members] == [
        ("n", "uint32", 1, 0),
        ("inner.a", "uint8", 1, 8),
        ("inner.b", "float32", 4, 16),
        ("many.0.a", "uint8", 1, 32),
        ("many.0.b", "float32", 4, 40),
        ("many.1.a", "uint8", 1, 56),
        ("many.1.b", "float32", 4, 64),
    ]


@pytest.mark.parametrize(
    "described",
    [
        '!60 = !{i32 0, i32 4, i32 0, !"uint", !"a", i32 0, i32 4, i32 0, !"float", !"b"}',
        '!60 = !{i32 0, i32 4, i32 0, !"E", !"a"}',
        '!60 = !{i32 0, i32 4, i32 0, !"uint", !"a", i32 8, i32 4, i32 0, !"uint", !"b"}',
        '!60 = !{i32 0, i32 4, i32 9999, !"uint", !"a"}',
        '!60 = !{!"air.struct_type_info", !60, i32 0, i32 8, i32 0, !"P", !"p"}',
        '!60 = !{!"air.struct_type_info", !61, i32 0, i32 1, i32 9999, !"I", !"p"}\n'
        '!61 = !{i32 0, i32 1, i32 0, !"uchar", !"a"}',
    ],
    ids=["share bytes", "unknown", "beyond the end", "too many", "holds itself", "too many inside"],
)
def test_what_is_not_plain_is_left_alone(described: str) -> None:
    assert members_of(argument(described, 8)) == ()
