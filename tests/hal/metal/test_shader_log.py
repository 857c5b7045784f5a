"""os_log: what kernels say reaches the host, in order, formatted, bounded."""

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalValidationError, MTLDevice, MTLLogStateDescriptor
from assay.hal.metal.emulated.commands.shader_log import formatted
from tests.support.textures import buffer_of, pipeline

LEVELS = """
#include <metal_logging>
constant os_log mine("com.example.kernels", "math");
static void note(uint i, float x) { os_log_default.log_debug("thread %u: %.2f", i, x); }
kernel void k(device const float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  if (i % 40 == 0) note(i, x[i]);
  if (x[i] < 0) mine.log_error("bad %s at %d: %v2f %x", "sign", int(i), float2(x[i], 0.5f), -1);
  if (i == 99) os_log_default.log_with_type(log_type_fault, "100%% at %v3d", int3(1, -2, i));
}
"""
Said = list[tuple[str | None, str | None, int, str]]


@pytest.fixture(scope="module")
def device() -> MTLDevice:
    return MTLDevice()


def say(
    device: MTLDevice, source: str, threads: int, state: Metal.MTLLogState | None
) -> Metal.MTLCommandBuffer:
    x = np.arange(threads, dtype=np.float32)
    x[3 :: threads // 2] *= -1
    descriptor = Metal.MTLCommandBufferDescriptor.new()
    descriptor.setLogState_(state)
    command_buffer = device.newCommandQueue().commandBufferWithDescriptor_(descriptor)
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(pipeline(device, source, "k"))
    encoder.setBuffer_offset_atIndex_(buffer_of(device, x), 0, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((threads, 1, 1), (64, 1, 1))
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()
    return command_buffer


def log_state(device: MTLDevice, said: Said, **facts: int) -> Metal.MTLLogState:
    descriptor = MTLLogStateDescriptor.new()
    for name, value in facts.items():
        getattr(descriptor, f"set{name[0].upper()}{name[1:]}_")(value)
    state, error = device.newLogStateWithDescriptor_error_(descriptor, None)
    assert error is None
    state.addLogHandler_(lambda *message: said.append(message))
    return state


def test_messages_reach_the_handler_by_threadgroup_and_thread(device: MTLDevice) -> None:
    said: Said = []
    assert say(device, LEVELS, 128, log_state(device, said)).error() is None
    debug, error, fault = Metal.MTLLogLevelDebug, Metal.MTLLogLevelError, Metal.MTLLogLevelFault
    mine = ("com.example.kernels", "math", error)
    assert said == [
        (None, None, debug, "thread 0: 0.00"),
        (*mine, "bad sign at 3: -3.000000,0.500000 ffffffff"),
        (None, None, debug, "thread 40: 40.00"),
        (*mine, "bad sign at 67: -67.000000,0.500000 ffffffff"),
        (None, None, debug, "thread 80: 80.00"),
        (None, None, fault, "100% at 1,-2,99"),
        (None, None, debug, "thread 120: 120.00"),
    ]


def test_the_least_level_is_the_log_states(device: MTLDevice) -> None:
    said: Said = []
    say(device, LEVELS, 128, log_state(device, said, level=Metal.MTLLogLevelFault))
    assert [message[3] for message in said] == ["100% at 1,-2,99"]


def test_without_a_handler_messages_go_to_the_standard_error_stream(
    device: MTLDevice, capfd: pytest.CaptureFixture[str]
) -> None:
    say(device, LEVELS, 64, None)
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "kernel 'k': debug: thread 0: 0.00"
    assert lines[1].startswith("kernel 'k': [com.example.kernels:math] error: bad sign at 3: -3.0")


def test_a_full_log_says_how_many_messages_found_no_room(
    device: MTLDevice, capfd: pytest.CaptureFixture[str]
) -> None:
    code = """
    kernel void k(device const float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      os_log_default.log("%u", i);
    }
    """
    said: Said = []
    say(device, code, 1000, log_state(device, said, bufferSize=1024))
    room = (1024 // 4 - 4) // 13  # words of a message with one number
    assert [message[3] for message in said] == [str(i) for i in range(room)]
    assert f"{1000 - room} messages of os_log found no room" in capfd.readouterr().err


def test_messages_before_a_fault_are_kept(device: MTLDevice) -> None:
    code = """
    kernel void k(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
      if (i == 5) { os_log_default.log("about to fail"); x[100000 + i] = 1; }
    }
    """
    said: Said = []
    error = say(device, code, 64, log_state(device, said)).error()
    assert error is not None and "out" in error.localizedDescription()
    assert [message[3] for message in said] == ["about to fail"]


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("%5d|%-5d|%05d", [(42,), (42,), (42,)], "   42|42   |00042"),
        ("%u %o %X %c", [(7,), (8,), (255,), (65,)], "7 10 FF A"),
        ("%e %g %.1f", [(1.5,), (0.25,), (2.25,)], "1.500000e+00 0.25 2.2"),
        ("%lld %hu", [(-(1 << 40),), (9,)], "-1099511627776 9"),
        ("%v4hlf", [(1.0, 2.0, 3.0, 4.0)], "1.000000,2.000000,3.000000,4.000000"),
        ("%x", [(-1 << 40,)], "ffffff0000000000"),
        ("%d %d", [(1,)], "1 <no argument>"),
        ("%d", [(1.5,)], "1.5"),
        ("%s and 5%%", [("text",)], "text and 5%"),
    ],
)
def test_directives_are_those_of_printf(
    text: str, values: list[tuple[int | float | str, ...]], expected: str
) -> None:
    assert formatted(text, values) == expected


def test_sizes_and_levels_are_checked() -> None:
    descriptor = MTLLogStateDescriptor.new()
    with pytest.raises(MetalValidationError, match=r"12 B is not in 1024\.\.1073741824"):
        descriptor.setBufferSize_(12)
    with pytest.raises(MetalValidationError, match="9 is no MTLLogLevel"):
        descriptor.setLevel_(9)
