"""Dispatches of a concurrent encoder run at the same time, and nobody can tell by the results."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import DeviceOptions, MTLBuffer, MTLDevice, checking
from assay.hal.metal.emulated.engine import default_engine
from assay.sim.check import Checker
from tests.support.metal_bench import HEAD, SHARED, message_of

SOURCE = """
kernel void blend(device const uint* a [[buffer(0)]], device const uint* b [[buffer(1)]],
                  device uint* c [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint n [[threads_per_grid]]) {
    uint x = a[i] + 1;
    for (uint k = 0; k < 100; k++) {
        x = x * 1664525u + b[n - 1 - (i + k) % n];
    }
    c[i] = x;
}
kernel void beyond(device const uint* a [[buffer(0)]], device const uint* b [[buffer(1)]],
                   device uint* c [[buffer(2)]], uint g [[threadgroup_position_in_grid]]) {
    for (uint k = 0; k < 20000; k++) {
        c[k & 7] += a[k & 7];
    }
    if (g == 5) {
        c[1 << 20] = 1;
    }
}
kernel void paint(texture2d<uint, access::write> to [[texture(0)]],
                  constant uint& rounds [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    uint x = i;
    for (uint k = 0; k < rounds; k++) {
        x = x * 1664525u + k;
    }
    to.write(uint4(x | 1), uint2(i, 0));
}
kernel void look(texture2d<uint> at [[texture(0)]], device uint* seen [[buffer(0)]],
                 uint i [[thread_position_in_grid]]) {
    seen[i] = at.read(uint2(i, 0)).x;
}
struct Places {
    device volatile uint* here;
    device volatile uint* there;
};
kernel void wait(constant Places& places [[buffer(0)]], device uint* seen [[buffer(1)]]) {
    while (*places.there == 0) {
        *places.here += 1;
    }
    *seen = *places.there;
}
kernel void tell(constant Places& places [[buffer(0)]], device uint* told [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
    *places.here = 7;
    told[i] = 7;
}
"""
CONCURRENT, SERIAL = Metal.MTLDispatchTypeConcurrent, Metal.MTLDispatchTypeSerial
ELEMENTS = 1024
BUFFERS = 5
Step = tuple[str, tuple[int, int, int], int] | None
"""A kernel, its buffers by number, threads of its grid; None for a barrier."""


class Bench:
    """A device of so many workers, its kernels compiled."""

    def __init__(self, workers: int, fuel: int | None = None) -> None:
        self.together: list[int] = []
        engine = default_engine()
        plain = engine.dispatch_together
        assert plain is not None

        def noted(requests: Sequence[object], **options: object) -> None:
            self.together.append(len(requests))
            plain(requests, **options)  # type: ignore[arg-type]

        object.__setattr__(engine, "dispatch_together", noted)
        self.device = MTLDevice(DeviceOptions(workers=workers, fuel=fuel), engine)
        library, error = self.device.newLibraryWithSource_options_error_(HEAD + SOURCE, None, None)
        assert library is not None, error
        self.states = {}
        for name in ("blend", "beyond", "wait", "tell", "paint", "look"):
            function = library.newFunctionWithName_(name)
            state, error = self.device.newComputePipelineStateWithFunction_error_(function, None)
            assert state is not None, error
            state.executable_for((32, 1, 1))
            self.states[name] = state
        described = Metal.MTLComputePipelineDescriptor.new()
        described.setComputeFunction_(library.newFunctionWithName_("blend"))
        described.setSupportIndirectCommandBuffers_(True)
        make = self.device.newComputePipelineStateWithDescriptor_options_reflection_error_
        self.indirect, _, error = make(described, 0, None, None)
        assert self.indirect is not None, error
        self.indirect.executable_for((32, 1, 1))

    def buffers(self) -> list[MTLBuffer]:
        random = np.random.default_rng(2)
        return [
            self.buffer(random.integers(0, 1 << 30, ELEMENTS, np.uint32)) for _ in range(BUFFERS)
        ]

    def buffer(self, data: np.ndarray) -> MTLBuffer:
        return self.device.newBufferWithBytes_length_options_(data, data.nbytes, SHARED)

    def run(
        self, steps: Sequence[Step], buffers: Sequence[MTLBuffer], kind: int
    ) -> Metal.MTLCommandBuffer:
        commands = self.device.newCommandQueue().commandBuffer()
        encoder = commands.computeCommandEncoderWithDispatchType_(kind)
        for step in steps:
            if step is None:
                encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
                continue
            name, bound, threads = step
            encoder.setComputePipelineState_(self.states[name])
            for index, number in enumerate(bound):
                encoder.setBuffer_offset_atIndex_(buffers[number], 0, index)
            encoder.dispatchThreads_threadsPerThreadgroup_((threads, 1, 1), (32, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        return commands


def _bytes(buffers: Sequence[MTLBuffer]) -> bytes:
    return b"".join(bytes(each.contents().as_buffer(each.length())) for each in buffers)


@pytest.fixture(scope="module")
def benches() -> dict[int, Bench]:
    return {workers: Bench(workers) for workers in (1, 2, 4)}


_BOUND = st.permutations(range(BUFFERS)).map(lambda order: (order[0], order[1], order[2]))
_STEPS = st.one_of(
    st.none(),
    st.tuples(st.just("blend"), _BOUND, st.integers(1, ELEMENTS)),
    st.tuples(st.just("blend"), _BOUND, st.integers(1, ELEMENTS)),
)


@given(steps=st.lists(_STEPS, min_size=2, max_size=12))
@settings(max_examples=25, deadline=None)
def test_results_are_those_of_a_serial_encoder(
    benches: dict[int, Bench], steps: list[Step]
) -> None:
    expected = benches[1].buffers()
    benches[1].run(steps, expected, SERIAL)
    for bench in benches.values():
        buffers = bench.buffers()
        assert message_of(bench.run(steps, buffers, CONCURRENT)) == ""
        assert _bytes(buffers) == _bytes(expected)


def _places(bench: Bench, here: MTLBuffer, there: MTLBuffer) -> MTLBuffer:
    return bench.buffer(np.array([here.gpuAddress(), there.gpuAddress()], np.uint64))


def _meeting(bench: Bench, kind: int, *, promised: bool = True) -> str:
    """The error of a dispatch that waits for what the one behind it writes."""
    one, two, seen, told = (bench.buffer(np.zeros(ELEMENTS, np.uint32)) for _ in range(4))
    commands = bench.device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoderWithDispatchType_(kind)
    usage = Metal.MTLResourceUsageRead | Metal.MTLResourceUsageWrite
    if promised:
        encoder.promise_barriers()
    for each in (one, two):
        encoder.useResource_usage_(each, usage)
    for name, here, there, bound, threads in (
        ("wait", one, two, seen, 1),
        ("tell", two, one, told, ELEMENTS),
    ):
        encoder.setComputePipelineState_(bench.states[name])
        encoder.setBuffer_offset_atIndex_(_places(bench, here, there), 0, 0)
        encoder.setBuffer_offset_atIndex_(bound, 0, 1)
        encoder.dispatchThreads_threadsPerThreadgroup_((threads, 1, 1), (32, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    return message_of(commands)


def test_a_dispatch_may_wait_for_one_behind_it() -> None:
    bench = Bench(workers=2, fuel=1 << 40)
    bench.states["wait"].executable_for((32, 1, 1))
    assert _meeting(bench, CONCURRENT) == ""


@pytest.mark.parametrize("kind", [SERIAL, CONCURRENT])
def test_one_worker_and_serial_encoders_run_one_after_another(kind: int) -> None:
    bench = Bench(workers=1 if kind == CONCURRENT else 2, fuel=1 << 20)
    assert "wait" in _meeting(bench, kind)


def test_what_is_reached_through_addresses_is_reached_in_order_if_nobody_vouches() -> None:
    bench = Bench(workers=2, fuel=1 << 20)
    bench.states["wait"].executable_for((32, 1, 1))
    assert "wait" in _meeting(bench, CONCURRENT, promised=False)
    assert not bench.together


FAULTS: list[Step] = [("beyond", (0, 1, 2), 512), ("beyond", (3, 1, 4), 512)]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_the_fault_of_the_first_dispatch_is_told(benches: dict[int, Bench], workers: int) -> None:
    bench = benches[workers]
    for order in (FAULTS, FAULTS[::-1]):
        buffers = bench.buffers()
        for number, each in enumerate(buffers):
            each.setLabel_(f"buffer {number}")
        assert order[0] is not None
        told = message_of(bench.run(order, buffers, CONCURRENT))
        assert f"of buffer {order[0][1][2]} (" in told
        assert "threadgroup (5, 0, 0)" in told


def test_barriers_and_other_commands_end_what_runs_together() -> None:
    bench = Bench(workers=2)
    buffers = bench.buffers()
    step: Step = ("blend", (0, 1, 2), 64)
    bench.run([step, step, None, step, step, step, None, step], buffers, CONCURRENT)
    assert bench.together == [2, 3]


def test_checked_dispatches_run_one_by_one_and_find_the_same() -> None:
    steps: list[Step] = [("blend", (0, 1, 2), 64), ("blend", (0, 1, 2), 64)]
    found = []
    for workers in (1, 2, 4):
        bench = Bench(workers)
        with checking(Checker(["race"])) as checker:
            bench.run(steps, bench.buffers(), CONCURRENT)
        assert not bench.together
        found.append([(each.kind, each.message) for each in checker.findings])
    assert found[0] and found == [found[0]] * 3


def test_code_that_is_still_to_be_made_holds_up_no_dispatch_before() -> None:
    bench = Bench(workers=2)
    buffers = bench.buffers()
    commands = bench.device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
    encoder.setComputePipelineState_(bench.states["blend"])
    for size in (32, 32, 8, 32):
        for index in range(3):
            encoder.setBuffer_offset_atIndex_(buffers[index], 0, index)
        encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (size, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert message_of(commands) == ""
    assert bench.together == [2]


@pytest.mark.parametrize("has_barrier", [True, False])
def test_a_texture_is_written_before_it_is_read_barrier_or_not(has_barrier: bool) -> None:
    bench = Bench(workers=4)
    make = Metal.MTLTextureDescriptor
    described = make.texture2DDescriptorWithPixelFormat_width_height_mipmapped_(
        Metal.MTLPixelFormatR32Uint, ELEMENTS, 1, False
    )
    described.setUsage_(Metal.MTLTextureUsageShaderRead | Metal.MTLTextureUsageShaderWrite)
    texture = bench.device.newTextureWithDescriptor_(described)
    seen = bench.buffer(np.zeros(ELEMENTS, np.uint32))
    commands = bench.device.newCommandQueue().commandBuffer()
    encoder = commands.computeCommandEncoderWithDispatchType_(CONCURRENT)
    encoder.setTexture_atIndex_(texture, 0)
    encoder.setComputePipelineState_(bench.states["paint"])
    encoder.setBytes_length_atIndex_(np.array([500000], np.uint32).tobytes(), 4, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((ELEMENTS, 1, 1), (32, 1, 1))
    if has_barrier:
        encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeTextures)
    encoder.setComputePipelineState_(bench.states["look"])
    encoder.setBuffer_offset_atIndex_(seen, 0, 0)
    encoder.dispatchThreads_threadsPerThreadgroup_((ELEMENTS, 1, 1), (32, 1, 1))
    encoder.endEncoding()
    commands.commit()
    commands.waitUntilCompleted()
    assert message_of(commands) == ""
    assert (np.frombuffer(_bytes([seen]), np.uint32) & 1).all()
    assert not bench.together


def _indirect(bench: Bench, buffers: Sequence[MTLBuffer], barriers: Sequence[int]) -> None:
    """Five blends of an indirect command buffer into one buffer each, some behind barriers."""
    described = Metal.MTLIndirectCommandBufferDescriptor.new()
    described.setCommandTypes_(Metal.MTLIndirectCommandTypeConcurrentDispatchThreads)
    described.setInheritBuffers_(False)
    described.setInheritPipelineState_(True)
    described.setMaxKernelBufferBindCount_(3)
    make = bench.device.newIndirectCommandBufferWithDescriptor_maxCommandCount_options_
    commands = make(described, 5, SHARED)
    for index in range(5):
        command = commands.indirectComputeCommandAtIndex_(index)
        for place, number in enumerate((0, 1, 2 + index % 3)):
            command.setKernelBuffer_offset_atIndex_(buffers[number], 0, place)
        command.concurrentDispatchThreads_threadsPerThreadgroup_((ELEMENTS, 1, 1), (32, 1, 1))
        if index in barriers:
            command.setBarrier()
    buffer = bench.device.newCommandQueue().commandBuffer()
    encoder = buffer.computeCommandEncoderWithDispatchType_(CONCURRENT)
    encoder.useResources_count_usage_(buffers, len(buffers), 3)
    encoder.setComputePipelineState_(bench.indirect)
    encoder.executeCommandsInBuffer_withRange_(commands, (0, 5))
    encoder.endEncoding()
    buffer.commit()
    buffer.waitUntilCompleted()
    assert message_of(buffer) == ""


def test_commands_of_an_indirect_command_buffer_run_together_up_to_a_barrier() -> None:
    bench, alone = Bench(workers=2), Bench(workers=1)
    expected, buffers = alone.buffers(), bench.buffers()
    _indirect(alone, expected, ())
    _indirect(bench, buffers, (3,))
    assert bench.together == [3, 2]
    assert _bytes(buffers) == _bytes(expected)


def test_checked_commands_of_an_indirect_command_buffer_run_one_by_one() -> None:
    bench = Bench(workers=2)
    with checking(Checker(["race"])):
        _indirect(bench, bench.buffers(), ())
    assert not bench.together
