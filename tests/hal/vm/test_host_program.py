"""Host programs that are written here run on IREE's own runtime, and on the emulated NPU."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from assay.hal.status import StatusError
from assay.hal.torq.driver import TorqDriver
from assay.hal.torq.format import BufferInfo, BufferType, ElementType, Executable
from assay.hal.vm import Session
from assay.hal.vm.archive import read_module
from assay.hal.vm.build.host_program import HostProgram, Tensor, host_program
from assay.hal.vm.build.module import write_module
from assay.hal.vm.build.torq import torq_module
from tests.support.torq_executables import multiply

from .doubles import compiled

CPU = ("--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu")
SUM = """\
func.func @main(%a: tensor<4x8xi32>, %b: tensor<4x8xi32>) -> tensor<4x8xi32> {
  %sum = arith.addi %a, %b : tensor<4x8xi32>
  return %sum : tensor<4x8xi32>
}
"""
NUMBERS = Tensor(dtype=np.dtype(np.int32), shape=(4, 8))
OPERANDS = np.frombuffer(
    np.arange(64, dtype=np.int8).tobytes()
    + np.full(64, 2, np.int8).tobytes()
    + np.array([10, 1 << 16], np.int32).tobytes(),
    np.int8,
)
PRODUCTS = np.clip(2 * np.arange(64) + 7, -128, 127)


def typed_multiply() -> Executable:
    """The product with a type for its result, as the compiler leaves it."""
    plain = multiply()
    (output,) = (binding for binding in plain.bindings if not binding.read_only)
    info = BufferInfo(
        number=output.number,
        allocated=-1,
        deallocated=-1,
        last_use=-1,
        buffer_type=BufferType.XRAM,
        address=output.address,
        size=output.size,
        shape=(4, 16),
        element_type=ElementType.I8,
        strides=(),
    )
    return replace(plain, buffers=(info,))


def kernel_for_cpu() -> tuple[str, bytes, str]:
    """(format, executable, name) of a kernel that IREE's compiler made for this machine."""
    data = [bytes(each) for each in read_module(compiled(SUM, *CPU)).rodata]
    machine_format = next(each for each in data if each.startswith(b"embedded-elf"))
    executable = next(each for each in data if each[:4] == b"\x7fELF")
    name = next(each for each in data if b"dispatch" in each and each != executable)
    return machine_format.decode(), executable, name.decode()


def test_irees_runtime_runs_a_kernel_of_its_own_by_a_host_program_of_ours() -> None:
    runtime = pytest.importorskip("iree.runtime")
    machine_format, executable, kernel = kernel_for_cpu()
    definition, number = host_program(
        HostProgram(
            function="sum",
            device="local*",
            format=machine_format,
            executable=executable,
            kernel=kernel,
            arguments=(NUMBERS, NUMBERS),
            results=(NUMBERS,),
            bindings=((False, 0), (False, 1), (True, 0)),
        )
    )
    context = runtime.SystemContext(config=runtime.Config("local-task"))
    data = write_module(definition, {number: "kernel.so"})
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, data))
    function = context.modules.module.sum
    a = np.arange(32, dtype=np.int32).reshape(4, 8)
    for factor in (1, 10):  # the command buffer is used again
        assert np.array_equal(function(a, factor * a).to_host(), (factor + 1) * a)
    with pytest.raises(Exception, match="input1 shape dimension 0 mismatch; expected 4"):
        function(a, a[:2])
    with pytest.raises(Exception, match="input0 element type mismatch; expected i32"):
        function(a.astype(np.float32), a)


class LoadedByIree:
    """A module that IREE's own loader and verifier took."""

    def __init__(self, data: bytes) -> None:
        self._runtime: Any = pytest.importorskip("iree.runtime")
        self._instance = self._runtime.VmInstance()
        self.module = self._runtime.VmModule.copy_buffer(self._instance, data)

    def link(self) -> None:
        """Find all imports in the HAL of a CPU, and run the initialiser."""
        device = self._runtime.get_device("local-task")
        hal = self._runtime.create_hal_module(self._instance, device)
        self._runtime.VmContext(self._instance, [hal, self.module])


def test_irees_runtime_takes_a_module_for_the_npu_but_has_no_such_device() -> None:
    loaded = LoadedByIree(torq_module(typed_multiply(), "multiply"))
    assert loaded.module.function_names == ["__init", "multiply"]
    assert loaded.module.lookup_function("multiply").reflection == {
        "iree.abi.declaration": (
            "sync func @multiply(%input0: tensor<136xi8>) -> (%output0: tensor<4x16xi8>)"
        )
    }
    # All imports are found and have the right types; the initialiser then looks for an NPU.
    with pytest.raises(RuntimeError, match=r'INCOMPATIBLE; HAL device .*<"torq", "torq-fb">'):
        loaded.link()


def test_a_module_runs_its_executable_on_the_npu_again_and_again() -> None:
    module = Session(TorqDriver().open()).load(torq_module(typed_multiply(), "multiply"))
    (info,) = module.functions.values()
    assert info.results == ("tensor<4x16xi8>",)
    for _ in range(2):
        (products,) = module.invoke("multiply", OPERANDS)
        assert np.array_equal(products, PRODUCTS.reshape(4, 16))
    with pytest.raises(StatusError, match="input0 shape dimension 0 mismatch; expected 136"):
        module.invoke("multiply", OPERANDS[:64])


def test_a_device_of_another_kind_is_refused_by_the_initialiser() -> None:
    with pytest.raises(StatusError, match="HAL device `__device_0` not found or unavailable"):
        Session("emulated").load(torq_module(multiply()))


def test_what_no_host_program_could_call_is_refused() -> None:
    plain = multiply()
    both = replace(plain.bindings[0], read_only=False, write_only=False)
    with pytest.raises(StatusError, match="is both read and written"):
        torq_module(replace(plain, bindings=(both, *plain.bindings[1:])))


def test_more_buffers_than_a_dispatch_takes_are_put_together() -> None:
    plain = multiply()
    (read,) = (binding for binding in plain.bindings if binding.read_only)
    (written,) = (binding for binding in plain.bindings if binding.write_only)
    parts = tuple(
        replace(read, number=part, address=read.address + 8 * part, size=8) for part in range(17)
    )
    halves = tuple(
        replace(written, number=17 + half, address=written.address + 32 * half, size=32)
        for half in range(2)
    )
    data = torq_module(replace(plain, bindings=(*halves, *parts)), "multiply")
    assert LoadedByIree(data).module.function_names == ["__init", "multiply"]
    with pytest.raises(RuntimeError, match=r"HAL device .* not found"):
        LoadedByIree(data).link()
    module = Session(TorqDriver().open()).load(data)
    for sign in (1, -1):  # the command buffer is used again, with other arguments
        operands = OPERANDS.copy()
        operands[64:128] *= sign
        products = module.invoke("multiply", *np.split(operands, 17))
        assert np.array_equal(
            np.concatenate(products), np.clip(2 * sign * np.arange(64) + 7, -128, 127)
        )


def test_results_lie_apart_in_one_buffer() -> None:
    tensors = tuple(Tensor(dtype=np.dtype(np.int8), shape=(size,)) for size in (3, 64, 1))
    program = HostProgram(
        function="three",
        device="torq",
        format="torq-fb",
        executable=b"none",
        kernel="three",
        arguments=(),
        results=tensors,
        bindings=((True, 2), (True, 0), (True, 1)),
    )
    assert program.declaration == (
        "sync func @three() -> (%output0: tensor<3xi8>, %output1: tensor<64xi8>, "
        "%output2: tensor<1xi8>)"
    )
    definition, _ = host_program(program)
    assert LoadedByIree(write_module(definition)).module.function_names == ["__init", "three"]
