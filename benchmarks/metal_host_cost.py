"""Host cost of the emulated Metal API alone: kernels do nothing.

Run from the repository: python -m benchmarks.metal_host_cost [--profile]
"""

import argparse
import cProfile
import pstats
import statistics
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from assay.hal.metal.emulated import MTLDevice
from assay.hal.metal.emulated.engine import Engine

REPEATS = 2000


class Memory:
    def __init__(self) -> None:
        self.next = 0

    def register(self, buffer: object, *, name: str) -> int:
        self.next += 1
        return self.next << 48

    def release(self, address: int) -> None:
        pass

    def rename(self, address: int, name: str) -> None:
        pass


def no_engine() -> Engine:
    """An engine whose kernels take two buffers and some bytes, and do nothing."""
    arguments = [
        SimpleNamespace(
            kind="buffer",
            name=f"a{i}",
            index=i,
            address_space="device",
            size=4,
            alignment=4,
            access="read",
        )
        for i in range(3)
    ]
    needs = SimpleNamespace(untouched=(), follows_pointers=False)
    program = SimpleNamespace(
        static_threadgroup_memory=0, needs=needs, specialise=lambda size: size
    )
    kernel = SimpleNamespace(
        name="nothing",
        arguments=arguments,
        max_total_threads_per_threadgroup=None,
        logs=False,
        program=lambda: program,
    )
    library = SimpleNamespace(
        function_names=("nothing",), visible_names=(), function=lambda *given: kernel
    )
    functions: dict[str, Any] = {
        "compile_source": lambda source, **options: library,
        "make_memory": Memory,
        "dispatch": lambda *arguments, **options: None,
        "explains": lambda error: False,
    }
    return Engine(**functions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true", help="show where the time goes")
    options = parser.parse_args()
    device = MTLDevice(engine=no_engine())
    library, _ = device.newLibraryWithSource_options_error_("", None, None)
    assert library is not None
    state, _ = device.newComputePipelineStateWithFunction_error_(
        library.newFunctionWithName_("nothing"), None
    )
    a, b = (device.newBufferWithLength_options_(64, 0) for _ in range(2))
    queue = device.newCommandQueue()

    def encode(encoder: Any) -> None:
        encoder.setComputePipelineState_(state)
        encoder.setBuffer_offset_atIndex_(a, 0, 0)
        encoder.setBuffer_offset_atIndex_(b, 0, 1)
        encoder.setBytes_length_atIndex_(b"1234", 4, 2)
        encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (64, 1, 1))

    def run(dispatches: int, handler: Callable[..., None] | None = None) -> None:
        command_buffer = queue.commandBuffer()
        encoder = command_buffer.computeCommandEncoder()
        for _ in range(dispatches):
            encode(encoder)
        encoder.endEncoding()
        if handler is not None:
            command_buffer.addCompletedHandler_(handler)
        command_buffer.commit()
        command_buffer.waitUntilCompleted()

    report("one dispatch, committed and waited for", lambda: run(1), 1)
    report("the same with a completion handler", lambda: run(1, lambda done: None), 1)
    report("each of 20 dispatches in one command buffer", lambda: run(20), 20)
    report("new buffer of 64 B", lambda: device.newBufferWithLength_options_(64, 0), 1)
    if options.profile:
        profiler = cProfile.Profile()
        profiler.runcall(lambda: [run(20) for _ in range(500)])
        pstats.Stats(profiler).sort_stats("tottime").print_stats(20)


def report(name: str, action: Callable[[], object], share: int) -> None:
    """Print the median time of `action`, divided by `share`."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        action()
        times.append((time.perf_counter() - begin) / share)
    print(f"{name:45} {statistics.median(times) * 1e6:8.1f} us")


if __name__ == "__main__":
    main()
