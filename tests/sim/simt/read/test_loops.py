"""Loops that count through arrays of matrices are unrolled; others keep their turns."""

from __future__ import annotations

from assay.compiler.msl import compile_library
from assay.sim.simt.emit.vectorise import Vectoriser
from assay.sim.simt.ir.operations.lanes import MMA
from assay.sim.simt.ir.shape import Shape
from assay.sim.simt.read.loops import unroll_all, unroll_over_matrices

_TEXT = """define void @f(ptr %p) {
entry:
  %sums = alloca [4 x [4 x %"struct.metal::simdgroup_matrix"]], align 16
  %own = alloca [4 x float], align 16
  br label %outer

outer:
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %row = getelementptr [4 x %"struct.metal::simdgroup_matrix"], ptr %sums, i64 %i
  br label %"in ner"

"in ner":
  %j = phi i64 [ 0, %outer ], [ %j.next, %"in ner" ]
  %twice = shl i64 %j, 1
  %one = getelementptr %"struct.metal::simdgroup_matrix", ptr %row, i64 %twice
  %j.next = add i64 %j, 1
  %more = icmp ult i64 %j.next, 4
  br i1 %more, label %"in ner", label %latch, !llvm.loop !1

latch:
  %i.next = add i64 %i, 1
  %again = icmp ult i64 %i.next, 4
  br i1 %again, label %outer, label %other, !llvm.loop !2

other:
  %k = phi i64 [ 0, %latch ], [ %k.next, %other ]
  %float = getelementptr float, ptr %own, i64 %k
  %k.next = add i64 %k, 1
  %on = icmp ult i64 %k.next, 4
  br i1 %on, label %other, label %end, !llvm.loop !3

end:
  ret void
}
!1 = distinct !{!1, !4}
!2 = distinct !{!2, !4}
!3 = distinct !{!3, !4}
!4 = !{!"llvm.loop.mustprogress"}
"""


def _asked(text: str) -> list[int]:
    return [n for n in (1, 2, 3) if f"!{n} = distinct !{{!{n}, !4, !5}}" in text]


def test_loops_whose_counters_choose_a_matrix_are_asked_for() -> None:
    text = unroll_over_matrices(_TEXT)
    assert _asked(text) == [1, 2]
    assert '!5 = !{!"llvm.loop.unroll.full"}' in text
    assert _asked(unroll_all(_TEXT)) == [1, 2, 3]


_KERNEL = """
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
kernel void product(device const float* a [[buffer(0)]], device float* c [[buffer(1)]],
                    constant uint& n [[buffer(2)]]) {
    simdgroup_float8x8 sums[4][4], left[4], right[4];
    for (uint i = 0; i < 4; ++i)
        for (uint j = 0; j < 4; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (uint k = 0; k < n; ++k) {
        for (uint i = 0; i < 4; ++i) {
            simdgroup_load(left[i], a + (k * 4 + i) * 64, 8);
            simdgroup_load(right[i], a + (k * 4 + 3 - i) * 64, 8);
        }
        for (uint i = 0; i < 4; ++i)
            for (uint j = 0; j < 4; ++j)
                simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
    }
    for (uint i = 0; i < 4; ++i)
        for (uint j = 0; j < 4; ++j) simdgroup_store(sums[i][j], c + (i * 4 + j) * 64, 8);
}
"""


def test_matrices_in_arrays_come_to_lie_where_those_of_unrolled_loops_do() -> None:
    size = (32, 1, 1)
    function = compile_library(_KERNEL).function("product").program().function
    emitted = Vectoriser(function, Shape(size=size, nominal=size))
    assert emitted.run().keeps_sums
    assert function.private_memory == 0


def test_checked_kernels_keep_such_loops() -> None:
    program = compile_library(_KERNEL).function("product").program()
    plain, checked = (
        sum(each.operation is MMA for each in program.marked_function(marks).instructions())
        for marks in (frozenset[str](), frozenset({"init", "reads"}))
    )
    assert checked < plain == 4 * 4 * 2
