"""Of lanes that end before a barrier it is told that they left, and where."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import Checker
from assay.sim.simt import Memory, dispatch

_KERNEL = """#include <metal_stdlib>
using namespace metal;
kernel void k(device uint *x [[buffer(0)]], uint i [[thread_position_in_threadgroup]]) {{
{body}
}}
"""
_BODIES = {
    "a loop with a barrier": """for (uint k = 0; k < 3; k++) {
if (x[i] == 5u + k) return;
threadgroup_barrier(mem_flags::mem_device);
x[i] += 1u; }""",
    "two ways out": """if (x[i] == 5u) return;
if (x[i] == 6u) { x[i] = 1u; return; }
threadgroup_barrier(mem_flags::mem_device);
x[i] += 1u;""",
}


@pytest.mark.parametrize("name", _BODIES)
def test_lanes_that_end_before_a_threadgroup_barrier_are_said_to_have_left(name: str) -> None:
    source = _KERNEL.format(body=_BODIES[name])
    executable = compile_library(source).function("k").program().specialise((64, 1, 1))
    memory, x = Memory(), np.arange(64, dtype=np.uint32)
    checker = Checker({"barrier"})
    arguments = [memory.register(x.view(np.uint8), name="x")]
    dispatch(executable, memory, arguments, threads=(64, 1, 1), workers=1, checker=checker)
    assert "1 of 32 lanes left before a barrier" in str(checker.findings[0])
