"""Kernels of libraries compute what AIR's functions are for."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from assay.compiler.air import AirLibrary
from assay.compiler.air.lowering import lower_kernel
from assay.compiler.msl import CompileError, MissingConstants
from assay.launches.constants import compiled_kernel
from assay.sim.simt import KernelFault, Memory, dispatch
from tests.support.metallib import Buffer, constant_field, kernel, library

FLOATS = (Buffer(name="x", element="float", access="read"), Buffer(name="y", element="float"))
INTS = (Buffer(name="x", element="i32", access="read"), Buffer(name="y", element="i32"))


def run(
    data: bytes,
    name: str,
    arrays: Sequence[np.ndarray],
    *,
    threads: int = 32,
    constants: Mapping[int | str, bool | int | float] | None = None,
    fuel: int | None = None,
) -> list[np.ndarray]:
    """What the kernel leaves in its buffers, in one threadgroup."""
    program = AirLibrary(data, "k.metallib").function(name, constants).program()
    results = [array.copy() for array in arrays]
    memory = Memory()
    addresses = [
        memory.register(each.reshape(-1).view(np.uint8), name=f"b{number}")
        for number, each in enumerate(results)
    ]
    size = (threads, 1, 1)
    dispatch(program.specialise(size), memory, addresses, threads=size, fuel=fuel)
    return results


def each(kinds: str, call: str, declared: str) -> str:
    """A module that stores `call` of `%v`, an element of x, in y; both have elements of `kinds`."""
    given, wanted = kinds.split()
    return kernel(
        "k",
        f"""  %i = zext i32 %p0 to i64
  %from = getelementptr {given}, ptr addrspace(1) %b0, i64 %i
  %v = load {given}, ptr addrspace(1) %from
  {call}
  %to = getelementptr {wanted}, ptr addrspace(1) %b1, i64 %i
  store {wanted} %r, ptr addrspace(1) %to""",
        (Buffer(name="x", element="float"), Buffer(name="y", element="float")),
        declared=declared,
    )


X = np.linspace(-4, 6, 32, dtype=np.float32)


def test_members_of_64_bits_lie_at_multiples_of_8_bytes() -> None:
    text = kernel(
        "k",
        """  %from = getelementptr %s, ptr addrspace(1) %b0, i64 0, i32 1
  %v = load i64, ptr addrspace(1) %from
  %r = trunc i64 %v to i32
  store i32 %r, ptr addrspace(1) %b1""",
        INTS,
        declared="%s = type { [17 x i32], i64 }",
    )
    x = np.arange(20, dtype=np.int32)
    assert run(library({"k": text}), "k", [x, np.zeros(1, np.int32)], threads=1)[1][0] == 18


N = np.arange(-16, 16, dtype=np.int32)
ROWS = [
    (
        "float float",
        "%r = call float @air.exp.f32(float %v)",
        "float @air.exp.f32(float)",
        X,
        np.exp(X),
    ),
    (
        "float float",
        "%r = call float @air.fast_cos.f32(float %v)",
        "float @air.fast_cos.f32(float)",
        X,
        np.cos(X),
    ),
    (
        "float float",
        "%r = call float @air.floor.f32(float %v)",
        "float @air.floor.f32(float)",
        X,
        np.floor(X),
    ),
    (
        "float float",
        "%r = call float @air.fmax.f32(float %v, float 1.0)",
        "float @air.fmax.f32(float, float)",
        X,
        np.maximum(X, 1),
    ),
    (
        "float float",
        "%r = call float @air.simd_sum.f32(float %v)",
        "float @air.simd_sum.f32(float)",
        X,
        np.full(32, X.sum()),
    ),
    (
        "float float",
        "%r = call float @air.simd_shuffle_down.f32(float %v, i16 1)",
        "float @air.simd_shuffle_down.f32(float, i16)",
        X,
        np.append(X[1:], X[31]),
    ),
    (
        "float float",
        "%r = call float @air.simd_prefix_inclusive_sum.f32(float %v)",
        "float @air.simd_prefix_inclusive_sum.f32(float)",
        X,
        np.cumsum(X),
    ),
    (
        "i32 i32",
        "%r = call i32 @air.max.s.i32(i32 %v, i32 3)",
        "i32 @air.max.s.i32(i32, i32)",
        N,
        np.maximum(N, 3),
    ),
    (
        "i32 i32",
        "%r = call i32 @air.max.u.i32(i32 %v, i32 3)",
        "i32 @air.max.u.i32(i32, i32)",
        N,
        np.maximum(N.view(np.uint32), 3).view(np.int32),
    ),
    (
        "i32 i32",
        "%r = call i32 @air.popcount.i32(i32 %v)",
        "i32 @air.popcount.i32(i32)",
        N,
        np.bitwise_count(N.view(np.uint32)).astype(np.int32),
    ),
    (
        "i32 i32",
        "%r = call i32 @air.clz.i32(i32 %v, i1 false)",
        "i32 @air.clz.i32(i32, i1)",
        N,
        np.array([32 - int(n).bit_length() for n in N.view(np.uint32)], np.int32),
    ),
    (
        "i32 i32",
        "%r = call i32 @air.abs_diff.s.i32(i32 %v, i32 2)",
        "i32 @air.abs_diff.s.i32(i32, i32)",
        N,
        np.abs(N - 2),
    ),
    (
        "i32 float",
        "%r = call float @air.convert.f.f32.s.i32(i32 %v)",
        "float @air.convert.f.f32.s.i32(i32)",
        N,
        N.astype(np.float32),
    ),
    (
        "i32 float",
        "%r = call float @air.convert.f.f32.u.i32(i32 %v)",
        "float @air.convert.f.f32.u.i32(i32)",
        N,
        N.view(np.uint32).astype(np.float32),
    ),
    (
        "float i32",
        "%r = call i32 @air.convert.u.i32.f.f32(float %v)",
        "i32 @air.convert.u.i32.f.f32(float)",
        X,
        np.clip(np.trunc(X), 0, None).astype(np.int32),
    ),
    (
        "float i32",
        "%b = call i1 @air.convert.u.i1.f.f32(float %v)\n  %r = zext i1 %b to i32",
        "i1 @air.convert.u.i1.f.f32(float)",
        np.append(X[1:], np.float32(0)),
        np.append(np.ones(31, np.int32), np.int32(0)),
    ),
    (
        "float i32",
        "%p = fcmp ogt float %v, 0.0\n  %b = call i1 @air.simd_any(i1 %p)\n"
        "  %r = zext i1 %b to i32",
        "i1 @air.simd_any(i1)",
        X,
        np.ones(32, np.int32),
    ),
]


@pytest.mark.parametrize(
    ("kinds", "call", "declared", "given", "expected"),
    ROWS,
    ids=[row[2].split("@")[1].split("(")[0] for row in ROWS],
)
def test_functions_give_what_their_names_say(
    kinds: str, call: str, declared: str, given: np.ndarray, expected: np.ndarray
) -> None:
    data = library({"k": each(kinds, call, f"declare {declared}")})
    _, found = run(data, "k", [given, np.zeros_like(expected)])
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)


def test_functions_on_vectors_do_it_to_each_element() -> None:
    body = """  %i = zext i32 %p0 to i64
  %from = getelementptr <4 x float>, ptr addrspace(1) %b0, i64 %i
  %v = load <4 x float>, ptr addrspace(1) %from
  %h = call <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float> %v)
  %w = call <4 x float> @air.convert.f.v4f32.f.v4f16(<4 x half> %h)
  %e = call <4 x float> @air.exp.v4f32(<4 x float> %w)
  %d = call float @air.dot.v4f32(<4 x float> %e, <4 x float> %w)
  %to = getelementptr float, ptr addrspace(1) %b1, i64 %i
  store float %d, ptr addrspace(1) %to"""
    declared = """declare <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float>)
declare <4 x float> @air.convert.f.v4f32.f.v4f16(<4 x half>)
declare <4 x float> @air.exp.v4f32(<4 x float>)
declare float @air.dot.v4f32(<4 x float>, <4 x float>)"""
    x = np.random.default_rng(1).standard_normal((32, 4)).astype(np.float32)
    data = library({"k": kernel("k", body, FLOATS, declared=declared)})
    _, found = run(data, "k", [x, np.zeros(32, np.float32)])
    small = x.astype(np.float16).astype(np.float64)
    np.testing.assert_allclose(found, (np.exp(small) * small).sum(1), rtol=1e-5, atol=1e-6)


OLD = "ptr addrspace(1), i64, <2 x i64>, i1", "i64 8, <2 x i64> zeroinitializer, i1 {}"
NEW = (
    "ptr addrspace(1), <2 x i64>, <2 x i64>, <2 x i64>",
    "<2 x i64> <i64 8, i64 8>, <2 x i64> {}, <2 x i64> zeroinitializer",
)


@pytest.mark.parametrize(
    ("form", "plain", "turned"),
    [(OLD, "false", "true"), (NEW, "<i64 1, i64 8>", "<i64 8, i64 1>")],
    ids=["up to 2.7", "2.8"],
)
def test_matrices_are_multiplied_in_either_form_of_loads(
    form: tuple[str, str], plain: str, turned: str
) -> None:
    load = "air.simdgroup_matrix_8x8_load.v64f32.p1f32"
    store = "air.simdgroup_matrix_8x8_store.v64f32.p1f32"
    product = "air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32"
    filled = "air.simdgroup_matrix_8x8_init_filled.v64f32.f32"
    m = "<64 x float>"
    body = f"""  %a = call {m} @{load}(ptr addrspace(1) %b0, {form[1].format(plain)})
  %t = call {m} @{load}(ptr addrspace(1) %b0, {form[1].format(turned)})
  %c = call {m} @{filled}(float 2.0)
  %d = call {m} @{product}({m} %a, {m} %t, {m} %c)
  call void @{store}({m} %d, ptr addrspace(1) %b1, {form[1].format(plain)})"""
    declared = f"""declare {m} @{load}({form[0]})
declare void @{store}({m}, {form[0]})
declare {m} @{filled}(float)
declare {m} @{product}({m}, {m}, {m})"""
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    data = library({"k": kernel("k", body, FLOATS, declared=declared)})
    _, found = run(data, "k", [x, np.zeros((8, 8), np.float32)])
    np.testing.assert_array_equal(found, x @ x.T + 2)


@pytest.mark.parametrize("order", ["exchanged", "kept"])
def test_atomic_exchanges_give_what_was_there(order: str) -> None:
    name = "air.atomic.global.cmpxchg.weak.i32"
    wanted = 7 if order == "exchanged" else 6
    body = f"""  %e = alloca i32
  store i32 {wanted}, ptr %e
  %was = call i32 @{name}(ptr addrspace(1) %b0, ptr %e, i32 9, i32 0, i32 0, i32 2, i1 true)
  %told = load i32, ptr %e
  %sum = add i32 %was, %told
  store i32 %sum, ptr addrspace(1) %b1"""
    places = "ptr addrspace(1) captures(none), ptr captures(none)"
    declared = f"declare i32 @{name}({places}, i32, i32, i32, i32, i1)"
    data = library({"k": kernel("k", body, INTS, declared=declared)})
    x, y = run(data, "k", [np.int32([7]), np.int32([0])], threads=1)
    assert (x[0], y[0]) == ((9, 14) if order == "exchanged" else (7, 14))


def test_positions_of_all_types_and_sizes_are_passed() -> None:
    body = """  %x = extractelement <3 x i16> %p0, i64 0
  %lane = zext i16 %p1 to i32
  %wide = zext i16 %x to i32
  %one = mul i32 %wide, 1000
  %two = add i32 %one, %lane
  %three = add i32 %two, %p2
  %i = zext i32 %wide to i64
  %to = getelementptr i32, ptr addrspace(1) %b1, i64 %i
  store i32 %three, ptr addrspace(1) %to"""
    positions = {
        "thread_position_in_grid": "<3 x i16>",
        "thread_index_in_quadgroup": "i16",
        "threads_per_simdgroup": "i32",
    }
    data = library({"k": kernel("k", body, INTS, positions)})
    _, found = run(data, "k", [np.int32([0]), np.zeros(40, np.int32)], threads=40)
    at = np.arange(40)
    np.testing.assert_array_equal(found, at * 1000 + at % 4 + 32)


CONSTANT = "_Z4wide.MTL_FC_INIT_7_b"
SET = "internal addrspace(2) externally_initialized constant i8 undef"
MADE = "{ i32, ptr, ptr } { i32 65535, ptr @_GLOBAL__sub_I_k, ptr null }"
WITH_CONSTANT = f"""@{CONSTANT} = {SET}, section "air.fc_initializer"
@_ZL4wide = internal addrspace(2) global i8 undef
@__metal_implicit_fc_pred_0 = internal addrspace(2) global i8 0
@llvm.global_ctors = appending global [1 x {{ i32, ptr, ptr }}] [{MADE}]
declare i8 @air.normalize_function_constant_predicate.i8(i8)
define internal void @_GLOBAL__sub_I_k() section "air.static_init" {{
  %v = load i8, ptr addrspace(2) @{CONSTANT}
  store i8 %v, ptr addrspace(2) @_ZL4wide
  %n = tail call i8 @air.normalize_function_constant_predicate.i8(i8 %v)
  store i8 %n, ptr addrspace(2) @__metal_implicit_fc_pred_0
  ret void
}}"""
CONSTANT_NODES = f"""!air.function_constants = !{{!50}}
!50 = !{{ptr addrspace(2) @{CONSTANT}, !"bool", !"wide", i32 7, i1 true}}
!51 = !{{ptr addrspace(2) @__metal_implicit_fc_pred_0, !"bool", !"wide"}}"""


def conditional_module() -> str:
    body = """  %c = load i8, ptr addrspace(2) @_ZL4wide
  %is = icmp ne i8 %c, 0
  br i1 %is, label %more, label %less
more:
  %v = load i32, ptr addrspace(1) %b0
  store i32 %v, ptr addrspace(1) %b1
  ret void
less:
  store i32 -1, ptr addrspace(1) %b1"""
    x, y = INTS
    buffers = (Buffer(name=x.name, element=x.element, condition="51"), y)
    return kernel("k", body, buffers, declared=WITH_CONSTANT, constants=CONSTANT_NODES)


def conditional() -> bytes:
    return library({"k": conditional_module()}, {"k": constant_field(("wide", 0x35, 7, True))})


def test_arguments_are_there_if_their_function_constant_says_so() -> None:
    x, y = run(conditional(), "k", [np.int32([5]), np.int32([0])], threads=1, constants={7: True})
    assert (x[0], y[0]) == (5, 5)
    (y,) = run(conditional(), "k", [np.int32([0])], threads=1, constants={"wide": False})
    assert y[0] == -1


def test_a_required_constant_without_a_value_is_named() -> None:
    with pytest.raises(MissingConstants, match="function constant 'wide' \\(index 7\\)"):
        AirLibrary(conditional(), "k.metallib").function("k")


@pytest.mark.parametrize("given", [{}, {7: True}])
def test_a_kernel_is_told_whether_a_constant_is_defined(given: dict[int | str, bool]) -> None:
    asked = f"@air.is_function_constant_defined(ptr addrspace(2) @{CONSTANT})"
    body = f"""  %is = tail call i1 {asked} #9
  %n = zext i1 %is to i32
  store i32 %n, ptr addrspace(1) %b1"""
    called = "declare i1 @air.is_function_constant_defined(ptr addrspace(2))"
    text = kernel(
        "k",
        body,
        INTS,
        declared=f"{WITH_CONSTANT}\n{called}\nattributes #9 = {{ nounwind }}",
        constants=CONSTANT_NODES,
    )
    data = library({"k": text}, {"k": constant_field(("wide", 0x35, 7, False))})
    arrays = [np.int32([5]), np.int32([9])]
    assert run(data, "k", arrays, threads=1, constants=given)[1][0] == len(given)


def test_a_function_that_is_not_known_is_named() -> None:
    call = "%r = call float @air.guess.f32(float %v)"
    data = library({"k": each("float float", call, "declare float @air.guess.f32(float)")})
    with pytest.raises(CompileError, match=r"k\.metallib: kernel 'k': it calls 'air\.guess\.f32'"):
        AirLibrary(data, "k.metallib").function("k")


def test_a_kernel_that_is_not_there_is_named_with_those_that_are() -> None:
    with pytest.raises(
        CompileError, match=r"no kernel function 'kk' in this library; .*there are k"
    ):
        AirLibrary(conditional(), "k.metallib").function("kk")


def test_places_are_lines_of_a_listing_where_there_is_no_source() -> None:
    body = """  %i = zext i32 %p0 to i64
  %to = getelementptr i32, ptr addrspace(1) %b0, i64 %i
  store i32 1, ptr addrspace(1) %to"""
    data = library({"k": kernel("k", body, INTS)})
    opened = AirLibrary(data, "k.metallib")
    opened.function("k")
    with pytest.raises(KernelFault) as fault:
        run(data, "k", [np.zeros(16, np.int32), np.zeros(1, np.int32)])
    site = fault.value.site
    assert site is not None and site.file == "k.metallib/k.ll"
    line = opened.sources()[site.file].splitlines()[site.line - 1]
    assert line.strip().startswith("store i32 1, ptr addrspace(1)")


WITH_PLACES = """!llvm.dbg.cu = !{!70}
!llvm.module.flags = !{!75}
!70 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !71, emissionKind: FullDebug)
!71 = !DIFile(filename: "k.metal", directory: "/project")
!72 = distinct !DISubprogram(name: "k", file: !71, line: 3, unit: !70, type: !73, \
spFlags: DISPFlagDefinition)
!73 = !DISubroutineType(types: !{})
!74 = !DILocation(line: 4, column: 10, scope: !72)
!75 = !{i32 2, !"Debug Info Version", i32 3}"""
METAL = "\n\nkernel void k(device int* x, uint i [[thread_position_in_grid]]) {\n  x[i] = 1;\n}\n"


def test_places_are_lines_of_the_source_where_the_library_says_them_and_carries_it() -> None:
    body = """  %i = zext i32 %p0 to i64, !dbg !74
  %to = getelementptr i32, ptr addrspace(1) %b0, i64 %i, !dbg !74
  %was = call i32 @air.atomic.global.xchg.i32(ptr addrspace(1) %to, i32 1, i32 0, i32 2, i1 true), \
!dbg !74"""
    declared = "declare i32 @air.atomic.global.xchg.i32(ptr addrspace(1), i32, i32, i32, i1)"
    text = kernel("k", body, INTS, declared=declared, constants=WITH_PLACES)
    text = text.replace('"no-builtins" {', '"no-builtins" !dbg !72 {')
    data = library({"k": text}, sources={"/project/k.metal": METAL})
    opened = AirLibrary(data, "k.metallib")
    assert opened.sources()["k.metal"] == opened.sources()["/project/k.metal"] == METAL
    with pytest.raises(KernelFault) as fault:
        run(data, "k", [np.zeros(16, np.int32), np.zeros(1, np.int32)])
    site = fault.value.site
    assert site is not None and (site.file, site.line, site.column) == ("k.metal", 4, 10)


@pytest.mark.parametrize(
    ("call", "declared"),
    [
        (
            "%s = call %t @air.guess.f32(float %v)\n  %r = extractvalue %t %s, 0",
            "%t = type { float }\ndeclare %t @air.guess.f32(float)",
        ),
        (
            f"%r = call float @air.sin.f32({', '.join(['float %v'] * 9)})",
            f"declare float @air.sin.f32({', '.join(['float'] * 9)})",
        ),
        ("%r = call float @air.convert.f.f32()", "declare float @air.convert.f.f32()"),
        (
            "%s = insertelement <2 x float> zeroinitializer, float %v, i64 0\n"
            "  %r = call float @air.dot.v2f32(<2 x float> %s)",
            "declare float @air.dot.v2f32(<2 x float>)",
        ),
        (
            "%m = call <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32()\n"
            "  %r = extractelement <64 x float> %m, i64 0",
            "declare <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32()",
        ),
    ],
    ids=["a struct", "nine parameters", "nothing to convert", "half a dot", "no filling"],
)
def test_functions_of_unknown_types_are_named(call: str, declared: str) -> None:
    data = library({"k": each("float float", call, declared)})
    with pytest.raises(CompileError, match=r"it calls 'air\.[\w.]+f32', which is not known here"):
        AirLibrary(data, "k.metallib").function("k")


def test_damaged_metadata_is_refused_or_read() -> None:
    random_ = random.Random(7)
    call = "%r = call float @air.exp.f32(float %v)"
    text = each("float float", call, "declare float @air.exp.f32(float)")
    start = text.index("!air.kernel")
    refused = 0
    for number in range(150):
        damaged = bytearray(text.encode())
        for _ in range(random_.randint(1, 3)):
            damaged[random_.randrange(start, len(damaged))] = random_.choice(b'0159!{},"i. air')
        try:
            lower_kernel(damaged.decode(), "k", {}, f"{number}.ll")
        except CompileError:
            refused += 1
    assert refused > 20


def test_kernels_whose_constants_share_an_index_are_assumed_each_its_own() -> None:
    other = kernel("other", "  store i32 1, ptr addrspace(1) %b0", INTS[1:])
    whole = conditional_module()
    data = library(
        {"other": other, "k": whole},
        {
            "other": constant_field(("width", 0x1D, 7, False)),
            "k": constant_field(("wide", 0x35, 7, True)),
        },
    )
    _, said = compiled_kernel(AirLibrary(data, "k.metallib"), "k", {})
    assert said == ("wide = false",)


LOOP = """  %a = alloca [64 x float]
  br label %fill

fill:
  %i = phi i32 [ 0, %0 ], [ %i1, %fill ]
  %from = getelementptr float, ptr addrspace(1) %b0, i32 %i
  %v = load float, ptr addrspace(1) %from
  %at = getelementptr inbounds [64 x float], ptr %a, i32 0, i32 %i
  store float %v, ptr %at
  %i1 = add nuw nsw i32 %i, 1
  %f = icmp eq i32 %i1, 64
  br i1 %f, label %sum, label %fill, !llvm.loop !900

sum:
  %j = phi i32 [ 0, %fill ], [ %j1, %sum ]
  %s = phi float [ 0.0, %fill ], [ %s1, %sum ]
  %to = getelementptr inbounds [64 x float], ptr %a, i32 0, i32 %j
  %w = load float, ptr %to
  %s1 = fadd float %s, %w
  %j1 = add nuw nsw i32 %j, 1
  %g = icmp eq i32 %j1, 64
  br i1 %g, label %end, label %sum, !llvm.loop !902

end:
  store float %s1, ptr addrspace(1) %b1"""
LOOPS = """!900 = distinct !{!900, !901, !903}
!901 = !{!"llvm.loop.mustprogress"}
!902 = distinct !{!902, !901, !903}
!903 = !{!"llvm.loop.unroll.enable"}"""


def test_loops_that_are_to_be_unrolled_leave_their_arrays_in_registers() -> None:
    data = library({"k": kernel("k", LOOP, FLOATS, constants=LOOPS)})
    program = AirLibrary(data, "k.metallib").function("k").program()
    assert program.function.private_memory == 0
    x = np.arange(64, dtype=np.float32)
    assert run(data, "k", [x, np.zeros(1, np.float32)])[1] == x.sum()


HALVES = """  br label %around

around:
  %i = phi i64 [ 0, %0 ], [ %i1, %around ]
  %from = getelementptr half, ptr addrspace(1) %b0, i64 %i
  %h = load half, ptr addrspace(1) %from
  %v = fpext half %h to float
  %to = getelementptr float, ptr addrspace(1) %b1, i64 %i
  store float %v, ptr addrspace(1) %to
  %i1 = add nuw nsw i64 %i, 1
  %f = icmp eq i64 %i1, 8
  br i1 %f, label %end, label %around

end:"""


def test_short_loops_over_halves_are_unrolled_as_those_of_our_own_compilation_are() -> None:
    """Where functions name no machine, LLVM takes a conversion of a half for a call."""
    buffers = (Buffer(name="x", element="half", access="read"), FLOATS[1])
    program = AirLibrary(library({"k": kernel("k", HALVES, buffers)}), "k").function("k").program()
    assert len(program.function.blocks) == 1


def test_nothing_is_said_about_machines_that_old_compilers_named(
    capfd: pytest.CaptureFixture[str],
) -> None:
    call = "%r = call float @air.exp.f32(float %v)"
    text = each("float float", call, "declare float @air.exp.f32(float)")
    text = text.replace('"no-builtins" {', '"no-builtins" "target-features"="-fp16" {')
    _, found = run(library({"k": text}), "k", [X, np.zeros_like(X)])
    np.testing.assert_allclose(found, np.exp(X), rtol=2e-6)
    assert "fp16" not in capfd.readouterr().err


def test_a_loop_that_never_ends_is_not_believed_to_end() -> None:
    body = """  br label %around

around:
  %v = load volatile float, ptr addrspace(1) %b0
  %f = fcmp oeq float %v, 2.0
  br i1 %f, label %end, label %around, !llvm.loop !900

end:
  store float 1.0, ptr addrspace(1) %b1"""
    loops = '!900 = distinct !{!900, !901}\n!901 = !{!"llvm.loop.mustprogress"}'
    data = library({"k": kernel("k", body, FLOATS, constants=loops)})
    arrays = [np.ones(1, np.float32), np.zeros(1, np.float32)]
    with pytest.raises(KernelFault, match="out of fuel"):
        run(data, "k", arrays, fuel=1000)


def test_a_struct_of_an_unnamed_namespace_is_known_by_its_name() -> None:
    pair = '%"struct.(anonymous namespace)::Pair"'
    body = f"""  %s = alloca [8 x {pair}], align 4
  %first = getelementptr [8 x {pair}], ptr %s, i32 0, i32 0, i32 1
  store float 2.0, ptr %first
  %n = load i32, ptr addrspace(1) %b0
  %other = getelementptr [8 x {pair}], ptr %s, i32 0, i32 %n, i32 1
  store float 3.0, ptr %other
  %v = load float, ptr %first
  store float %v, ptr addrspace(1) %b1"""
    text = kernel("k", body, INTS, declared=f"{pair} = type {{ float, float }}")
    arrays = [np.ones(1, np.int32), np.zeros(1, np.float32)]
    assert run(library({"k": text}), "k", arrays)[1] == 2


def test_coherent_memory_is_read_and_written() -> None:
    """Fences of MLX between GPU and host, as they are for macOS 26."""
    load, store = (f"@air.{what}.system_coherent.volatile.i32.p1i32" for what in ("load", "store"))
    declared = f"declare i32 {load}(ptr addrspace(1))\ndeclare void {store}(i32, ptr addrspace(1))"
    body = f"""  %v = tail call i32 {load}(ptr addrspace(1) %b0)
  %r = add i32 %v, 1
  tail call void {store}(i32 %r, ptr addrspace(1) %b1)"""
    text = kernel("k", body, INTS, declared=declared)
    arrays = [np.array([41], np.int32), np.zeros(1, np.int32)]
    assert run(library({"k": text}), "k", arrays, threads=1)[1].tolist() == [42]
