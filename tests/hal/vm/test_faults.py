"""Kernels that go wrong: the program ends with an error that names them, the process lives on."""

import numpy as np
import pytest

from assay.hal.device import DeviceInfo
from assay.hal.metal import emulated
from assay.hal.metal.device import MetalDevice
from assay.hal.metal.emulated.device import DeviceOptions, MTLDevice
from assay.hal.vm import Session, VmError
from assay.sim.simt import KernelFault

from .doubles import compiled

DOUBLE = """
func.func @main(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = arith.addf %x, %x : tensor<16xf32>
  return %y : tensor<16xf32>
}
"""
ONES = np.ones(16, np.float32)


def session(**options: int) -> Session:
    handle = MTLDevice(DeviceOptions(**options))  # type: ignore[arg-type]
    return Session(MetalDevice(emulated, handle, DeviceInfo(identifier="test", name="test")))


def patched(old: bytes, new: bytes) -> bytes:
    data = compiled(DOUBLE)
    assert data.count(old) == 1
    return data.replace(old, new.ljust(len(old)))


def test_a_write_outside_its_buffer_ends_the_call_with_kernel_and_place() -> None:
    data = patched(b"_m0[gl_LocalInvocationID.x] = ", b"_m0[99999999] = ")
    test = session()
    module = test.load(data)
    with pytest.raises(VmError) as error:
        module.invoke("main", ONES)
    assert error.value.status == "ABORTED"
    assert "out-of-bounds write" in str(error.value)
    assert "main_dispatch_0_elementwise_16_f32" in str(error.value)
    assert "module.main" in str(error.value)
    assert isinstance(error.value.__cause__, KernelFault)
    # The device still works.
    (result,) = test.load(compiled(DOUBLE)).invoke("main", ONES)
    np.testing.assert_array_equal(result, 2 * ONES)


def test_a_kernel_that_never_ends_is_stopped() -> None:
    data = patched(
        b"if (int(gl_LocalInvocationID.x) < int(16u))", b"while (gl_LocalInvocationID.x != 99u)"
    )
    module = session(fuel=100_000).load(data)
    with pytest.raises(VmError, match="main_dispatch_0_elementwise_16_f32"):
        module.invoke("main", ONES)


def test_msl_that_does_not_compile_is_reported_as_clang_words_it() -> None:
    data = patched(b"    float _m0[1];", b"    flaot _m0[1];")
    with pytest.raises(VmError, match="unknown type name 'flaot'") as error:
        session().load(data)
    assert "the MSL of 'main_dispatch_0_elementwise_16_f32' does not compile" in str(error.value)
