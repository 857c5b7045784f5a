"""Both engines stop a bad kernel with the same words."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt.ir.faults import KernelFault
from tests.support.kernels import Runner, compile_cpp, on_engine, on_reference

_CASES = {
    "read past the end": ("out[x] = in[x + 60];", "out-of-bounds read"),
    "read before the start": ("out[x] = in[(long)x - 5];", "out-of-bounds read"),
    "write past the end by one lane": ("if (x == 9) out[1000] = 1;", "out-of-bounds write"),
    "vector across the end": ("out[x] = ((DEVICE int4*)(in + 45))[x].w;", "out-of-bounds read"),
    "far away": ("out[x] = in[x * 0x123456789l];", "out-of-bounds read"),
    "threadgroup array": ("tile[x + in[0] + 1] = x; out[x] = tile[0];", "out-of-bounds write"),
    "threadgroup argument": ("shared[x * 8] = x;", "out-of-bounds write"),
    "private array": (
        "int own[4] = {}; own[x & 3] = 1; own[x / 4] += 1; out[x] = own[in[1] & 3];",
        "out-of-bounds read",
    ),
    "constant table": ("out[x] = table[x];", "out-of-bounds read"),
    "null pointer": ("out[x] = *(DEVICE int*)(ulong)(in[0] - 48 + x * 4);", "null read"),
    "atomic": ("__assay_atomic_add_i32((int*)(in + x * 2), 1);", "out-of-bounds write"),
}


def _fault(run: Runner, body: str) -> KernelFault:
    kernel = compile_cpp(
        f"""static constexpr CONSTANT int table[12] = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
        KERNEL(DEVICE int* in, DEVICE int* out, THREADGROUP int* shared) {{
            static THREADGROUP int tile[24];
            int x = thread_x();
            {body}
        }}""",
        "in out shared:threadgroup",
    )
    with pytest.raises(KernelFault) as caught:
        run(kernel, [np.arange(48, 96, dtype=np.int32), np.zeros(64, np.int32), 512])
    return caught.value


@pytest.mark.parametrize("name", _CASES)
def test_faults_are_the_same(name: str) -> None:
    body, kind = _CASES[name]
    expected, found = _fault(on_reference, body), _fault(on_engine, body)
    assert found.kind == expected.kind == kind
    assert str(found) == str(expected)
