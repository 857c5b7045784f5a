"""Structs read out of source: members by name, type and offset, or nothing at all."""

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.launches.documents import Document
from assay.launches.inputs import Members
from assay.launches.setups import read_setups
from assay.launches.structs import members_of

ARGS = """
// struct args_t { int wrong; };
typedef struct {
    int32_t  ne00; /* elements */
    ulong nb01, nb02;
    const float eps;
    float3 bias [[id(0)]];
    uint  shape[4];
    packed_half3 p;
    unsigned int last;
} args_t;
"""


def test_members_have_the_offsets_of_the_language() -> None:
    members = members_of("args_t", 80, [ARGS])
    assert [(m.name, str(m.element), m.count, m.offset) for m in members] == [
        ("ne00", "int32", 1, 0),
        ("nb01", "uint64", 1, 8),
        ("nb02", "uint64", 1, 16),
        ("eps", "float32", 1, 24),
        ("bias", "float32", 4, 32),
        ("shape", "uint32", 4, 48),
        ("p", "float16", 3, 64),
        ("last", "uint32", 1, 72),
    ]


def test_a_struct_is_found_by_its_tag_and_by_its_qualified_name() -> None:
    text = "namespace a { struct P { half4 v; float2x2 m; }; }"
    assert [member.offset for member in members_of("a::P", 24, [text])] == [0, 8]


@pytest.mark.parametrize(
    "text",
    [
        "struct P { int x; };",  # not of that size
        "struct P { Q q; };",
        "struct P { device float* x; };",
        "struct P { int f() { return 1; } };",
        "struct P { uint x[N]; };",
        "struct Q { uint x, y; };",
        "",
    ],
)
def test_what_is_not_understood_or_does_not_add_up_is_left_alone(text: str) -> None:
    assert members_of("P", 8, [text]) == ()


def test_members_of_structs_in_a_struct_have_the_names_that_lead_to_them() -> None:
    text = """
    struct Inner { uchar a; float2 b[2]; };
    struct Outer { uint n; Inner inner; Inner many[2]; ushort last; };
    """
    members = members_of("Outer", 88, [text])
    assert [(m.name, m.count, m.offset) for m in members] == [
        ("n", 1, 0),
        ("inner.a", 1, 8),
        ("inner.b", 4, 16),
        ("many.0.a", 1, 32),
        ("many.0.b", 4, 40),
        ("many.1.a", 1, 56),
        ("many.1.b", 4, 64),
        ("last", 1, 80),
    ]


def test_a_struct_that_holds_itself_is_left_alone() -> None:
    assert members_of("P", 8, ["struct P { P p; };"]) == ()


def test_structs_in_a_struct_are_given_by_tables_and_lists() -> None:
    document = Document(
        "kernel.f.arguments.o = { n = 7, inner = { b = [1, 2] }, many = [{ a = 3 }, { a = 4 }] }",
        "args.toml",
        Path(),
    )
    (setup,) = read_setups(document)["f"]
    assert not setup.problem
    assert setup.arguments["o"] == Members(
        values={"n": (7,), "inner.b": (1, 2), "many.0.a": (3,), "many.1.a": (4,)}
    )


def test_members_of_a_struct_that_a_template_takes_are_known_by_name() -> None:
    source = """struct P { uint n; float s; };
template <typename A> [[kernel]] void k(constant A& p, device float* x,
                                        uint i [[thread_position_in_grid]]) { x[i] *= p.s; }
template [[host_name("k_p")]] [[kernel]] decltype(k<P>) k<P>;
"""
    x = np.ones(4, np.float32)
    assay.check_kernel(source, "k_p", {"n": 4, "s": 3.0}, x, threads=4).raise_if_any()
    assert x.tolist() == [3.0] * 4
