"""Memory that is written as one type and read as another holds what was written."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt.read.defined import defined
from tests.support.kernels import ENGINES, Runner, compile_cpp

_ONE = 0x3F800000  # the bits of 1.0f


@pytest.fixture(params=sorted(ENGINES))
def run(request: pytest.FixtureRequest) -> Runner:
    return ENGINES[request.param]


@pytest.mark.parametrize(
    ("space", "parameters", "given"),
    [
        ("DEVICE", "DEVICE uint* out, DEVICE uint* j, DEVICE float* memory", np.zeros(32, "f4")),
        ("THREADGROUP", "DEVICE uint* out, DEVICE uint* j, THREADGROUP float* memory", 128),
    ],
)
def test_what_was_read_before_a_store_of_another_type_is_read_again(
    run: Runner, space: str, parameters: str, given: object
) -> None:
    kernel = compile_cpp(
        f"""KERNEL({parameters}) {{
            {space} uint* words = ({space} uint*)memory;
            words[thread_x()] = 5;
            uint before = words[thread_x()];
            memory[thread_x() + j[0]] = 1.0f;
            uint after = words[thread_x()];
            out[thread_x()] = before == after ? 7 : after;
        }}""",
        "out j memory" + (":threadgroup" if space == "THREADGROUP" else ""),
    )
    arguments = [np.zeros(32, np.uint32), np.zeros(1, np.uint32), given]
    out = run(kernel, arguments, threadgroup_size=(32, 1, 1), threads=(32, 1, 1))[0]
    assert (out == _ONE).all()


def test_so_does_an_array_of_a_thread_s_own(run: Runner) -> None:
    kernel = compile_cpp(
        """KERNEL(DEVICE uint* out, DEVICE uint* j) {
            float own[4] = {2.0f, 2.0f, 2.0f, 2.0f};
            uint* words = (uint*)own;
            uint before = words[thread_x() % 4];
            own[(thread_x() + j[0]) % 4] = 1.0f;
            out[thread_x()] = before == words[thread_x() % 4] ? 7 : words[thread_x() % 4];
        }""",
        "out j",
    )
    arguments = [np.zeros(32, np.uint32), np.zeros(1, np.uint32)]
    out = run(kernel, arguments, threadgroup_size=(32, 1, 1), threads=(32, 1, 1))[0]
    assert (out == _ONE).all()


def test_what_is_restrict_is_read_again_after_a_store_by_another_pointer(run: Runner) -> None:
    kernel = compile_cpp(
        """static void put(DEVICE float* __restrict to, const DEVICE float* __restrict from) {
            float before = from[thread_x()];
            to[thread_x()] = 5.0f;
            to[32 + thread_x()] = before == from[thread_x()] ? 1.0f : 2.0f;
        }
        KERNEL(DEVICE float* memory, DEVICE uint* j) { put(memory, memory + j[0]); }""",
        "memory j",
    )
    arguments = [np.zeros(64, np.float32), np.zeros(1, np.uint32)]
    memory = run(kernel, arguments, threadgroup_size=(32, 1, 1), threads=(32, 1, 1))[0]
    assert (memory[32:] == 2).all()


_TEXT = """define void @f(ptr addrspace(1) %0, ptr addrspace(6) %1) {
  %3 = load i32, ptr addrspace(6) %1, align 4, !dbg !7, !tbaa !2
  %4 = alloca float, align 4
  store float 1.000000e+00, ptr %4, align 4, !tbaa !5
  store float 1.000000e+00, ptr addrspace(1) %0, align 4, !tbaa !5
  call void @g(ptr noalias sret(%struct.S) align 4 %4, ptr noalias %4)
  ret void
}
!2 = !{!3, !3, i64 0}
!3 = !{!"int", !9, i64 0}
!5 = !{!6, !6, i64 0}
!6 = !{!"float", !9, i64 0}
!9 = !{!"root"}
"""


def test_only_constants_and_results_are_told_apart_from_what_is_written() -> None:
    lines = defined(_TEXT).splitlines()
    assert lines[1].endswith("align 4, !dbg !7, !tbaa !14")
    assert lines[3].endswith("ptr %4, align 4")
    assert lines[4].endswith("align 4, !tbaa !12")
    assert lines[5].endswith("(ptr noalias sret(%struct.S) align 4 %4, ptr %4)")
    assert '!11 = !{!"written", !10, i64 0}' in lines
    assert '!13 = !{!"constant", !10, i64 0}' in lines


def test_models_of_machines_keep_types_and_restrict() -> None:
    assert defined(_TEXT, has_types=True) == _TEXT
