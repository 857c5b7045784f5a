"""How kernels are imported and rewritten before they are taped."""

from __future__ import annotations

import pytest

from assay.compiler.msl import CompileOptions, compile_library
from assay.sim.simt.analysis.offsets import offset_of
from assay.sim.simt.emit.tape import accesses
from assay.sim.simt.ir.nodes import Constant, Function, Instruction, integer
from assay.sim.simt.ir.operations.conversions import SEXT, ZEXT
from assay.sim.simt.ir.operations.functions import COPY, FUNCTIONS, PRECISE, PREFIX
from assay.sim.simt.ir.operations.memory import STORE
from assay.sim.simt.ir.operations.synchronisation import FENCE, SIMDGROUP_BARRIER
from assay.sim.simt.ir.operations.table import OPERATIONS

HEAD = (
    "#include <metal_stdlib>\nusing namespace metal;\n#define THREAD [[thread_position_in_grid]]\n"
)


def taped(source: str, **options: object) -> Function:
    chosen = CompileOptions(**options)  # type: ignore[arg-type]
    program = compile_library(HEAD + source, options=chosen).function("f").program()
    return program.taped_function


def marks(function: Function) -> list[str]:
    return [
        f"{PRECISE if i.precise else ''}{i.operation.name.removeprefix(PREFIX)}"
        for i in function.instructions()
        if i.operation in FUNCTIONS
    ]


def moved(function: Function) -> list[tuple[str, int]]:
    """Operation and components of all accesses."""
    return [(i.spelling, i.components) for block in function.blocks for i in accesses(block)]


def test_functions_of_mathematics_are_marked_with_their_operands() -> None:
    function = taped("kernel void f(device float* o, uint i THREAD) { o[i] = pow(o[i], 3); }")
    assert marks(function) == ["pow"]
    (mark,) = (i for i in function.instructions() if i.operation in FUNCTIONS)
    assert len(mark.operands) == 3
    assert isinstance(mark.operands[2], Constant)


@pytest.mark.parametrize("name", ["exp", "precise::exp", "fast::exp"])
def test_what_is_asked_to_be_precise_is_marked_so(name: str) -> None:
    source = f"kernel void f(device float* o, uint i THREAD) {{ o[i] = {name}(o[i]) + o[i]; }}"
    expected = f"{PRECISE}exp" if name.startswith("precise") else "exp"
    assert marks(taped(source))[-1] == expected  # around the mark of what it calls


@pytest.mark.parametrize("sum", ["exp(o[i]) + o[i]", "exp(o[i]) * o[1] + o[2]"])
def test_programs_without_fast_mathematics_are_precise_throughout(sum: str) -> None:
    source = f"kernel void f(device float* o, uint i THREAD) {{ o[i] = {sum}; }}"
    assert marks(taped(source, fast_math=False)) == [f"{PRECISE}exp"]


def test_neighbouring_loads_and_stores_are_joined_up_to_16_bytes() -> None:
    source = """kernel void f(device float* o, device const float* a, uint i THREAD) {
        float s[6];
        for (uint n = 0; n < 6; n++) s[n] = a[i * 8 + n];
        for (uint n = 0; n < 6; n++) o[i * 8 + n] = s[5 - n]; }"""
    assert moved(taped(source)) == [("load", 4), ("load", 2), ("store", 4), ("store", 2)]


def test_loads_are_not_joined_over_a_store_that_they_may_see() -> None:
    source = """kernel void f(device float* o, device float* a, uint i THREAD) {
        float x = a[i * 2]; o[i] = x; o[i + 7] = a[i * 2 + 1]; }"""
    kinds = [op for op, _ in moved(taped(source))]
    assert kinds == ["load", "store", "load", "store"]


def test_loads_of_different_threadgroup_variables_do_not_disturb_each_other() -> None:
    source = """kernel void f(device float* o, uint i [[thread_index_in_threadgroup]]) {
        threadgroup float s[64], t[64];
        s[i] = i; s[i + 32] = 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float x = s[i * 2]; t[i] = x; o[i] = s[i * 2 + 1] + t[i]; }"""
    assert ("load", 2) in moved(taped(source))


def test_packed_values_are_stored_as_what_they_are() -> None:
    source = """kernel void f(device half4* o, device const half4* a, uint i THREAD) {
        o[i] = a[i] + 1.0h; }"""
    function = taped(source)
    assert moved(function) == [("load", 4), ("store", 4)]
    (store,) = (i for i in function.instructions() if i.operation is STORE)
    assert store.element == "half"


def test_loops_over_a_threads_array_are_unrolled_until_it_is_gone() -> None:
    source = """kernel void f(device float* o, device const float* a, constant uint& n,
                              uint i THREAD) {
        float sums[32];
        for (uint j = 0; j < 32; j++) sums[j] = 0;
        for (uint k = 0; k < n; k++)
            for (uint j = 0; j < 32; j++) sums[j] += a[i * 32 + j] * k;
        float all = 0;
        for (uint j = 0; j < 32; j++) all = fmax(all, sums[j]);
        o[i] = all; }"""
    assert taped(source).private_memory == 0


def test_the_taped_function_is_always_the_same_object() -> None:
    source = "kernel void f(device float* o, uint i THREAD) { o[i] = 1; }"
    program = compile_library(HEAD + source).function("f").program()
    assert program.taped_function is program.taped_function


def _op(op: str, type: str, *operands: object, flags: tuple[str, ...] = ()) -> Instruction:
    made = Instruction(OPERATIONS[op], type, list(operands))  # type: ignore[arg-type]
    made.flags = frozenset(flags)
    return made


def test_offsets_are_sums_of_terms_and_a_constant() -> None:
    x, y = _op("load", "i32"), _op("load", "i32")
    wide = _op("mul", "i64", _op("zext", "i64", x), integer("i64", 12))
    both = _op("add", "i64", wide, _op("shl", "i64", _op("sext", "i64", y), integer("i64", 2)))
    found = offset_of(_op("add", "i64", both, integer("i64", -8)))
    assert dict(found.terms) == {(ZEXT, x): 12, (SEXT, y): 4}
    assert found.constant == -8


@pytest.mark.parametrize(("flags", "constant"), [(("nuw",), 40), ((), 0)])
def test_a_constant_leaves_an_extension_only_where_nothing_wraps(
    flags: tuple[str, ...], constant: int
) -> None:
    inner = _op("add", "i32", _op("load", "i32"), integer("i32", 10), flags=flags)
    found = offset_of(_op("mul", "i64", _op("zext", "i64", inner), integer("i64", 4)))
    assert found.constant == constant


def test_barriers_of_simdgroups_stay() -> None:
    source = """kernel void f(device float* o, uint i THREAD) {
        o[i] = 1; simdgroup_barrier(mem_flags::mem_device); o[i + 1] += 2; }"""
    assert any(i.operation is SIMDGROUP_BARRIER for i in taped(source).instructions())


def test_asynchronous_copies_are_marked_from_their_start_to_the_wait() -> None:
    source = """struct _simdgroup_event_t;
        thread _simdgroup_event_t* copy(ulong, ulong, threadgroup void*, const device void*, ulong)
            __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
        void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");
        kernel void f(device float* o, device const float* a, uint i THREAD) {
            threadgroup float t[128];
            thread _simdgroup_event_t* e = copy(4, 4, t, a, 128);
            wait(1, &e);
            o[i] = t[i]; }"""
    function = taped(source)
    assert set(marks(function)) == {"copy", "copied_from", "copied_to"}
    marked = {
        i.operation
        for i in function.instructions()
        for o in i.operands
        if isinstance(o, Instruction) and o.operation is COPY
    }
    assert marked == {FENCE, SIMDGROUP_BARRIER}
