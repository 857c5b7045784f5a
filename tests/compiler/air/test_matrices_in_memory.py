"""Matrices of simdgroups that Apple's compiler left in a thread's memory."""

from __future__ import annotations

import numpy as np

from assay.compiler.air import AirLibrary
from assay.sim.simt import Memory, dispatch
from tests.support.metallib import Buffer, kernel, library

FILLED = "<64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32"
STORE = "void @air.simdgroup_matrix_8x8_store.v64f32.p1f32"
PLACE = "i64 8, <2 x i64> zeroinitializer, i1 false"
ARRAY = "[4 x <64 x float>]"
BODY = f"""  %all = alloca {ARRAY}, align 256
  br label %fill

fill:
  %i = phi i32 [ 0, %0 ], [ %i1, %fill ]
  %value = uitofp i32 %i to float
  %made = call {FILLED}(float %value)
  %to = getelementptr inbounds {ARRAY}, ptr %all, i32 0, i32 %i
  store <64 x float> %made, ptr %to, align 256
  %i1 = add nuw nsw i32 %i, 1
  %filled = icmp eq i32 %i1, 4
  br i1 %filled, label %write, label %fill, !llvm.loop !90

write:
  %n = phi i32 [ 0, %fill ], [ %n1, %write ]
  tail call void @air.wg.barrier(i32 2, i32 1)
  %from = getelementptr inbounds {ARRAY}, ptr %all, i32 0, i32 %n
  %m = load <64 x float>, ptr %from, align 256
  %first = shl nuw nsw i32 %n, 6
  %out = getelementptr float, ptr addrspace(1) %b0, i32 %first
  call {STORE}(<64 x float> %m, ptr addrspace(1) %out, {PLACE})
  %n1 = add nuw nsw i32 %n, 1
  %written = icmp eq i32 %n1, 4
  br i1 %written, label %end, label %write, !llvm.loop !92

end:"""
DECLARED = f"""declare {FILLED}(float)
declare {STORE}(<64 x float>, ptr addrspace(1), i64, <2 x i64>, i1)
declare void @air.wg.barrier(i32, i32)"""
# As Apple's compiler left the loops: nothing unrolls them unless it has to.
LOOPS = """!90 = distinct !{!90, !91}
!91 = !{!"llvm.loop.unroll.disable"}
!92 = distinct !{!92, !91}"""


def test_loops_over_matrices_are_unrolled_so_that_they_lie_in_registers() -> None:
    text = kernel(
        "k", BODY, (Buffer(name="out", element="float"),), declared=DECLARED, constants=LOOPS
    )
    found = AirLibrary(library({"k": text}), "k.metallib").function("k")
    out, memory = np.zeros((4, 64), np.float32), Memory()
    place = memory.register(out.reshape(-1).view(np.uint8), name="out")
    dispatch(found.program().specialise((32, 1, 1)), memory, [place], (32, 1, 1), None)
    np.testing.assert_array_equal(out, np.repeat(np.arange(4), 64).reshape(4, 64))
