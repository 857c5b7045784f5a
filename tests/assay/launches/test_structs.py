"""Structs as the compiler lays them out: members by name, type and offset, or nothing at all."""

from pathlib import Path

import numpy as np
import pytest

import assay
from assay.checks import Report, SourceOptions, check_source
from assay.compiler.msl import Argument, compile_library
from assay.launches.documents import Document
from assay.launches.inputs import Members
from assay.launches.setups import read_setups
from assay.launches.structs import members_of
from tests.support.msl import PRELUDE

ARGS = """
// struct args_t { int wrong; };
typedef struct {
    int32_t  ne00; /* elements */
    ulong nb01, nb02;
    const float eps;
    float3 bias;
    uint  shape[4];
    packed_half3 p;
    unsigned int last;
} args_t;
"""
REORDERED = {
    "another namespace has one of that name": """
namespace old { struct Args { uint n; uint m; }; }
struct Args { uint m; uint n; };
""",
    "it depends on the preprocessor": """
#ifdef OLD
struct Args { uint n; uint m; };
#else
struct Args { uint m; uint n; };
#endif
""",
    "a macro renames": """
#define FIRST m
struct Args { uint FIRST; uint n; };
""",
    "its alias is of another": """
namespace a { struct Other { uint m; uint n; }; }
namespace b { struct Args { uint n; uint m; }; }
typedef a::Other Args;
""",
}
ALIGNED = "struct Args { uint m; alignas(8) uint n; uint a; float4 v; };\n"


def compiled(text: str, type_name: str, *, ahead: int = 0) -> Argument:
    """The first argument of a kernel that takes such a struct, or of one of several of them."""
    names = [f"k{number}" for number in range(ahead or 1)]
    kernels = (
        f"kernel void {name}(constant {type_name}& s, device float* x) {{ x[{number}] = 1; }}\n"
        for number, name in enumerate(names)
    )
    library = compile_library(f"{PRELUDE}{text}\n{''.join(kernels)}")
    library.prepare(names)
    return library.function(names[-1]).arguments[0]


def members(text: str, type_name: str) -> list[tuple[str, int, int]]:
    """Name, count and offset of each member of a struct."""
    return [(m.name, m.count, m.offset) for m in members_of(compiled(text, type_name))]


def checked(source: str) -> Report:
    report = Report(seeds=())
    check_source(source, "k.metal", report, SourceOptions())
    return report


def test_members_have_the_offsets_of_the_language() -> None:
    known = members_of(compiled(ARGS, "args_t"))
    assert [(m.name, str(m.element), m.count, m.offset) for m in known] == [
        ("ne00", "int32", 1, 0),
        ("nb01", "uint64", 1, 8),
        ("nb02", "uint64", 1, 16),
        ("eps", "float32", 1, 24),
        ("bias", "float32", 4, 32),
        ("shape", "uint32", 4, 48),
        ("p", "float16", 3, 64),
        ("last", "uint32", 1, 72),
    ]
    assert {m.name: m.length for m in known if m.count > 1} == {"bias": 3, "shape": 4, "p": 3}


def test_a_struct_is_found_by_its_qualified_name() -> None:
    text = "namespace a { struct P { half4 v; float2x2 m; }; }"
    assert members(text, "a::P") == [("v", 4, 0), ("m", 4, 8)]


@pytest.mark.parametrize("why", REORDERED)
def test_members_are_those_that_the_compiler_takes(why: str) -> None:
    assert members(REORDERED[why], "Args") == [("m", 1, 0), ("n", 1, 4)]


def test_members_lie_where_attributes_put_them() -> None:
    assert members(ALIGNED, "Args") == [("m", 1, 0), ("n", 1, 8), ("a", 1, 12), ("v", 4, 16)]
    packed = "struct __attribute__((packed)) Args { uchar c; uint n; };"
    assert members(packed, "Args") == [("c", 1, 0), ("n", 1, 1)]


@pytest.mark.parametrize("text", [*REORDERED.values(), ALIGNED])
def test_kernels_that_are_compiled_together_have_their_own_layouts(text: str) -> None:
    alone, together = compiled(text, "Args"), compiled(text, "Args", ahead=3)
    assert alone.fields == together.fields != ()


def test_a_text_that_is_parsed_once_has_layouts() -> None:
    text = PRELUDE + (
        "constant uint N [[function_constant(0)]];\n"
        "namespace old { struct Args { uint n; uint m; }; } struct Args { uint m; uint n; };\n"
        "kernel void a(constant Args& s, device float* x) { x[0] = N; }\n"
        "kernel void b(constant old::Args& s, device float* x) { x[1] = N; }\n"
    )
    library = compile_library(text)
    library.prepare(["a", "b"])
    found = [library.function(name, {"N": 1}).arguments[0] for name in "ab"]
    assert [[f.name for f in each.fields] for each in found] == [["m", "n"], ["n", "m"]]


def test_what_the_cache_has_knows_its_layouts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    first = compiled(ALIGNED, "Args")
    assert compiled(ALIGNED, "Args").fields == first.fields != ()


@pytest.mark.parametrize(
    "text",
    [
        "struct P { device float* x; uint n; };",
        "struct P { uint x : 4; uint n; };",
        "struct P { uint : 0; uint n; };",
        "struct P { union { uint a; float b; }; uint n; };",
        "union P { uint a; float b; };",
        "typedef union { uint a; float b; } P;",
        "typedef union { uint a; float b; } U; struct P { U u; uint n; };",
        "typedef union { uint a; float b; } U; struct P { U u[2]; uint n; };",
        "typedef enum { A, B } E; struct P { E e; uint n; };",
        "struct Q { uint n; }; struct P { constant Q* q; uint n; };",
        "struct Q { uint n; }; struct P { constant Q* q[2]; uint n; };",
        "struct B { uint a; }; struct P : B { uint n; };",
        "struct P { uint x[2][3]; };",
        "struct P { array<uint, 2> x; };",
        "struct E {}; struct P { E e; uint n; };",
        "struct P { struct { uint a; }; uint n; };",
        "struct P { uint x[5000]; };",
        "struct I { uint a, b; }; struct P { I x[5000]; };",
        "typedef atomic_uint P;",
        "typedef float3 P;",
    ],
)
def test_what_is_not_plain_is_left_alone(text: str) -> None:
    assert members(text, "P") == []


def test_methods_take_no_room() -> None:
    text = "struct P { uint n; uint twice() const constant { return 2 * n; } uint m; };"
    assert members(text, "P") == [("n", 1, 0), ("m", 1, 4)]


def test_members_of_structs_in_a_struct_have_the_names_that_lead_to_them() -> None:
    text = """
    struct Inner { uchar a; float2 b[2]; };
    struct Outer { uint n; Inner inner; Inner many[2]; ushort last; };
    """
    assert members(text, "Outer") == [
        ("n", 1, 0),
        ("inner.a", 1, 8),
        ("inner.b", 4, 16),
        ("many.0.a", 1, 32),
        ("many.0.b", 4, 40),
        ("many.1.a", 1, 56),
        ("many.1.b", 4, 64),
        ("last", 1, 80),
    ]


@pytest.mark.parametrize("text", [*REORDERED.values(), ALIGNED])
def test_annotations_give_the_member_that_the_kernel_reads(text: str) -> None:
    kernel = (
        "//! [kernel.k]\n//! threads = 64\n//! threadgroup = 64\n"
        "//! arguments.args = { m = 64, n = 3 }\n"
        "kernel void k(constant Args& args, device float* y, uint i "
        "[[thread_position_in_grid]]) { threadgroup float s[64]; s[args.n] = 1; y[i] = 1; }\n"
    )
    report = checked(PRELUDE + text + kernel)
    assert [f.kind for f in report.findings if "out-of-bounds" in f.kind] == []
    swapped = kernel.replace("m = 64, n = 3", "m = 3, n = 64")
    report = checked(PRELUDE + text + swapped)
    assert "out-of-bounds-write" in [f.kind for f in report.findings]


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
