"""Programs that kernels are functions of: none of them holds up the host."""

import numpy as np
import pytest

from assay.hal import element_type as elements
from assay.hal.buffer import BufferView
from assay.hal.device import Device
from assay.hal.module.memory import allocate
from assay.hal.module.programs import ReturningProgram
from assay.hal.module.queues import outside_fence
from assay.hal.status import StatusError
from assay.hal.torq.driver import TorqDriver
from assay.hal.vm.build.torq import torq_module
from tests.support.torq_executables import multiply

OPERANDS = np.concatenate(
    [np.arange(64), np.full(64, 2), np.array([10, 1 << 16], np.int32).view(np.int8)]
).astype(np.int8)


def view(device: Device, size: int) -> BufferView:
    code = elements.code_of(np.dtype(np.int8))
    return BufferView(
        allocate(device, size).subspan(0, size), (size,), code, elements.DENSE_ROW_MAJOR
    )


def test_a_function_that_takes_no_fence_waits_beside_the_host() -> None:
    device = TorqDriver().open()
    program = ReturningProgram(device, memoryview(torq_module(multiply())))
    assert not program._module.functions["main"].asynchronous
    given, made, gate = view(device, 136), view(device, 64), outside_fence(device)
    given.buffer.write(0, OPERANDS.tobytes())
    done = program.call("main", [given], (), [made], gate)
    assert done is not None and not done.reached()
    gate.signal()
    assert done.wait(5000)
    expected = np.clip(2 * np.arange(64) + 7, -128, 127).astype(np.int8)
    assert bytes(made.buffer.read(0, 64)) == expected.tobytes()


def test_what_goes_wrong_there_fails_its_fence() -> None:
    device = TorqDriver().open()
    program = ReturningProgram(device, memoryview(torq_module(multiply())))
    done = program.call("main", [view(device, 136)], (), [view(device, 65)], None)
    assert done is not None
    with pytest.raises(StatusError, match=r"main gives \(64,\) where \(65,\) is expected"):
        done.wait(5000)
