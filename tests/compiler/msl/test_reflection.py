from assay.compiler.msl import Argument, ArgumentBufferMember, compile_library
from tests.support.msl import PRELUDE

SOURCE = """#include <metal_stdlib>
using namespace metal;
struct Inner { float3 a; half b; };
struct Arguments {
  device float* out [[id(0)]];
  constant Inner& inner [[id(3)]];
  uint count [[id(1)]];
};
kernel void k(constant Arguments& arguments [[buffer(2)]],
              const device packed_float3* points,
              device atomic_uint* counter [[buffer(0)]],
              constant uint* sizes,
              threadgroup float4* shared [[threadgroup(1)]],
              threadgroup half* more,
              device void* anything [[buffer(9)]],
              uint2 position [[thread_position_in_grid]],
              ushort lane [[thread_index_in_simdgroup]]) {}
"""


def argument(**changes: object) -> Argument:
    plain = {"kind": "buffer", "address_space": "device", "access": "read_write", "members": ()}
    return Argument(**{**plain, **changes})  # type: ignore[arg-type]


def test_arguments_carry_all_that_a_host_must_know() -> None:
    kernel = compile_library(SOURCE).function("k")
    members = (
        ArgumentBufferMember(name="out", id=0, offset=0, kind="buffer", address_space="device"),
        ArgumentBufferMember(name="inner", id=3, offset=8, kind="buffer", address_space="constant"),
        ArgumentBufferMember(name="count", id=1, offset=16, kind="constant", address_space=""),
    )
    assert kernel.arguments == (
        argument(
            name="arguments",
            index=2,
            address_space="constant",
            type_name="Arguments",
            is_reference=True,
            size=24,
            alignment=8,
            access="read",
            members=members,
        ),
        argument(
            name="points", index=1, type_name="packed_float3", size=12, alignment=4, access="read"
        ),
        argument(name="counter", index=0, type_name="atomic_uint", size=4, alignment=4),
        argument(
            name="sizes",
            index=3,
            address_space="constant",
            type_name="uint",
            size=4,
            alignment=4,
            access="read",
        ),
        argument(
            name="shared",
            kind="threadgroup",
            index=1,
            address_space="threadgroup",
            type_name="float4",
            size=16,
            alignment=16,
        ),
        argument(
            name="more",
            kind="threadgroup",
            index=0,
            address_space="threadgroup",
            type_name="half",
            size=2,
            alignment=2,
        ),
        argument(name="anything", index=9, type_name="void", size=0, alignment=1),
    )
    assert kernel.position_attributes == ("thread_position_in_grid", "thread_index_in_simdgroup")
    assert kernel.position_types == ("uint2", "ushort")
    assert (kernel.file, kernel.line) == ("program_source.metal", 9)


def test_static_threadgroup_memory_is_known_to_the_program() -> None:
    kernel = compile_library(
        "#include <metal_stdlib>\nusing namespace metal;\nkernel void k(device float* o, uint i "
        "[[thread_index_in_threadgroup]])"
        "{ threadgroup float a[100]; a[i] = i; threadgroup_barrier(mem_flags::mem_threadgroup); "
        "o[i] = a[31 - i]; }"
    ).function("k")
    assert kernel.program().static_threadgroup_memory == 400


def test_indices_may_be_constants_of_the_program() -> None:
    kernel = compile_library(
        "enum Index { first = 3, second = first + 2 };\n"
        "struct Table { device float* x [[id(second)]]; };\n"
        "kernel void k(device float* a [[buffer(second)]], constant Table& b [[buffer(first)]],"
        " device int* c) {}"
    ).function("k")
    assert [(a.name, a.index) for a in kernel.arguments] == [("a", 5), ("b", 3), ("c", 0)]
    assert kernel.arguments[1].members[0].id == 5


ALIASES = """
typedef float real;
struct Pair { float a, b; };
template <typename T, typename V, typename P>
[[kernel]] void k(device T* x, constant T& by, device V* v, const device P* p, device real* r,
                  device uint32_t* n, constant Pair& pair, device void* raw,
                  uint i [[thread_position_in_grid]]) { x[i] = by; }
template [[host_name("k_half")]] [[kernel]] decltype(k<half, uint3, packed_float3>)
k<half, uint3, packed_float3>;
template [[host_name("k_byte")]] [[kernel]] decltype(k<int8_t, bool, Pair>) k<int8_t, bool, Pair>;
"""


def test_parameters_of_templates_and_aliases_are_called_by_what_they_stand_for() -> None:
    library = compile_library(PRELUDE + ALIASES)
    names = {
        name: [argument.type_name for argument in library.function(name).arguments]
        for name in library.function_names
    }
    # What is no number of the language keeps the name that the source has for it.
    assert " ".join(names["k_half"]) == "half half uint3 packed_float3 float uint32_t Pair void"
    assert names["k_byte"][:4] == ["int8_t", "int8_t", "bool", "Pair"]


def test_what_is_given_to_a_template_may_have_brackets_and_commas_of_its_own() -> None:
    source = """
template <typename T, int N> struct Box { T v[N]; };
template <int N = 2, typename B = Box<int, 2>, class = void, typename T = float>
[[kernel]] void k(constant B& b, device T* x, uint i [[thread_position_in_grid]]) { x[i] = N; }
template [[host_name("one")]] [[kernel]] decltype(k<(1, 3), Box<float, (2 > 1)>, void, half>)
k<(1, 3), Box<float, (2 > 1)>, void, half>;
template [[host_name("two")]] [[kernel]] decltype(k<4>) k<4>;
"""
    library = compile_library(PRELUDE + source)
    names = {
        name: [argument.type_name for argument in library.function(name).arguments]
        for name in library.function_names
    }
    assert names == {"one": ["Box<float,(2>1)>", "half"], "two": ["B", "float"]}


def test_argument_buffers_may_be_structs_of_templates() -> None:
    source = """
constexpr constant uint second = 2;
template <class T> struct Lists {
  metal::array<device T*, 2> x [[id(0)]];
  metal::array<device T*, 2> y [[id(second)]];
};
template <class T> kernel void of(device Lists<T>& lists, uint i [[thread_position_in_grid]]) {
  lists.y[1][i] = lists.x[0][i];
}
template [[host_name("k")]] kernel void of<half>(device Lists<half>&, uint);
"""
    (argument,) = compile_library(PRELUDE + source).function("k").arguments
    assert [(each.name, each.id, each.offset, each.kind) for each in argument.members] == [
        ("x", 0, 0, "buffer"),
        ("y", 2, 16, "buffer"),
    ]


def test_members_without_ids_count_from_zero_as_the_host_encodes_them() -> None:
    source = """
struct Node { device Node* next; };
struct Scene {
  static constexpr constant int depth = 3;
  constant float4* corners;
  metal::texture2d<float, metal::access::read> image;
  device Node& first;
  float scale;
};
struct Plain { float scale; int count; };
struct Both { device float* x; Plain plain; };
struct Several { device float *x, *y; };
kernel void k(constant Scene& scene, constant Plain& plain, device Node* nodes,
              constant Both& both, constant Several& several, device float* y) {
  y[0] = scene.corners[0].x * scene.scale + plain.scale + both.x[0] + several.y[0];
  nodes[0].next = nodes[1].next;
}
"""
    arguments = compile_library(PRELUDE + source).function("k").arguments
    members = {
        each.name: [(m.name, m.id, m.offset, m.kind) for m in each.members] for each in arguments
    }
    assert members["scene"] == [
        ("corners", 0, 0, "buffer"),
        ("image", 1, 8, "texture"),
        ("first", 2, 16, "buffer"),
        ("scale", 3, 24, "constant"),
    ]
    assert members["nodes"] == [("next", 0, 0, "buffer")]
    assert members["plain"] == members["both"] == members["several"] == members["y"] == []
