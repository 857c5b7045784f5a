"""Device pointers reach buffers only, also when they come out of memory."""

import numpy as np
import pytest

from assay.compiler.msl import compile_library
from assay.sim.check import fault_finding
from assay.sim.simt import DispatchError, KernelFault, Memory, dispatch

SOURCE = """
#include <metal_stdlib>
kernel void stray(device ulong *places [[buffer(0)]], device float *y [[buffer(1)]],
                  uint t [[thread_index_in_threadgroup]]) {
    threadgroup float tile[32];
    tile[t] = t;
    if (t == 0) places[0] = (ulong)&tile[0];
    threadgroup_barrier(metal::mem_flags::mem_device);
    device float *p = (device float *)places[0];
    y[t] = p[t];
}
"""


def test_threadgroup_memory_is_not_reached_through_a_device_pointer() -> None:
    executable = compile_library(SOURCE).function("stray").program().specialise((32, 1, 1))
    memory = Memory()
    arrays = [np.zeros(8, np.uint8), np.zeros(128, np.uint8)]
    arguments = [memory.register(a, name=n) for a, n in zip(arrays, "xy", strict=True)]
    with pytest.raises(KernelFault, match="through a device pointer that holds") as caught:
        dispatch(executable, memory, arguments, threadgroups=(1, 1, 1))
    assert caught.value.kind == "wrong-address-space read"
    assert caught.value.site.line == 10


def test_a_stray_pointer_is_a_finding_of_its_own_kind() -> None:
    executable = compile_library(SOURCE).function("stray").program().specialise((32, 1, 1))
    memory = Memory()
    arrays = [np.zeros(8, np.uint8), np.zeros(128, np.uint8)]
    arguments = [memory.register(a, name=n) for a, n in zip(arrays, "xy", strict=True)]
    with pytest.raises(KernelFault) as caught:
        dispatch(executable, memory, arguments, threadgroups=(1, 1, 1))
    assert fault_finding(caught.value).kind == "wrong-address-space"


@pytest.mark.parametrize("variable", ["ASSAY_FUEL", "ASSAY_WORKERS"])
def test_a_setting_that_is_no_number_is_named(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "abc")
    executable = compile_library(SOURCE).function("stray").program().specialise((32, 1, 1))
    with pytest.raises(DispatchError, match=f"{variable} is 'abc'"):
        dispatch(executable, Memory(), [0, 0], threadgroups=(1, 1, 1))
