"""Small dispatches that nothing orders, one after another and as they may run: at the same time.

Seconds are by the clock, in the median; beside them is the processor time of the thread that worked
longest, the least of all runs, which is what the clock shows when nobody else has the cores.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import assay
from assay.compiler.models import compile_model
from assay.examples.onnx_graph import Array, OnnxGraph
from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MTLDevice
from assay.hal.metal.emulated.commands import commandbuffer

from .measure import Row

BAR = 1.3  # times as fast, by the thread that works longest
_ROUNDS = 30  # for each of the repetitions
_TOWERS, _ROWS, _INPUTS, _WIDTH = 8, 64, 2048, 64
# IREE's default keeps memory small and orders more than it must.
_FLAGS = ("--iree-stream-partitioning-favor=max-concurrency",)
_GRIDS = 8
_SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void products(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                 uint i [[thread_index_in_threadgroup]]) {
    float sum = 0;
    for (uint shift = 0; shift < 16; shift++) {
        for (uint k = i; k < 1 << 16; k += 256) {
            sum = fma(x[k], x[k ^ shift], sum);
        }
    }
    y[i] = sum;
}
"""


@dataclass(slots=True)
class _Times:
    clock: list[float] = field(default_factory=list)
    longest: list[float] = field(default_factory=list)

    def row(self, what: str, who: str) -> Row:
        """What it took."""
        rate = f"longest thread {min(self.longest) * 1e3:.2f} ms"
        return Row(what=what, who=who, seconds=statistics.median(self.clock), rate=rate)

    def compared(self, before: _Times, *, is_shared: bool) -> Row:
        """The same, with how many times as fast as `before`; the bar is for several threads."""
        by_clock = statistics.median(before.clock) / statistics.median(self.clock)
        by_thread = min(before.longest) / min(self.longest)
        return replace(
            self.row("", "at the same time"),
            ratio=f"{by_clock:.2f} x as fast, {by_thread:.2f} x by thread",
            bar=f">= {BAR:g} x by thread" if is_shared else "",
            passed=by_thread >= BAR if is_shared else None,
        )


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure a command buffer of kernels and a model, both ways by turns."""
    os.environ["ASSAY_WORKERS"] = str(threads)
    return [
        *_measured(f"{_GRIDS} dispatches of one threadgroup", _kernels(), repetitions),
        *_measured(f"{_TOWERS} towers of three dense layers, IREE", _model(), repetitions),
    ]


def _measured(what: str, run: Callable[[], Array], repetitions: int) -> list[Row]:
    apart, together = _Times(), _Times()
    expected = run()
    for _ in range(repetitions * _ROUNDS):
        with _one_by_one():
            _time(run, apart)
        found = _time(run, together)
    if not np.array_equal(found, expected):
        raise SystemExit(f"together: {what}: results depend on what runs at the same time")
    is_shared = os.environ["ASSAY_WORKERS"] != "1"
    return [
        apart.row(what, "one after another"),
        together.compared(apart, is_shared=is_shared),
    ]


@contextmanager
def _one_by_one() -> Iterator[None]:
    known = commandbuffer.unordered
    commandbuffer.unordered = lambda commands, start: 0
    try:
        yield
    finally:
        commandbuffer.unordered = known


def _time(run: Callable[[], Array], times: _Times) -> Array:
    start, before = time.perf_counter(), _processor()
    found = run()
    times.clock.append(time.perf_counter() - start)
    after = _processor()
    times.longest.append(max(after[each] - before.get(each, 0) for each in after))
    return found


def _processor() -> dict[int, float]:
    """Processor time of each thread, in seconds."""
    running = [each.ident for each in threading.enumerate() if each.ident is not None]
    return {each: time.clock_gettime(time.pthread_getcpuclockid(each)) for each in running}


def _kernels() -> Callable[[], Array]:
    """A command buffer whose dispatches read one buffer and write one each."""
    device = MTLDevice()
    library, error = device.newLibraryWithSource_options_error_(_SOURCE, None, None)
    if library is None:
        raise SystemExit(error)
    function = library.newFunctionWithName_("products")
    assert function is not None
    pipeline, error = device.newComputePipelineStateWithFunction_error_(function, None)
    if pipeline is None:
        raise SystemExit(error)
    data = np.random.default_rng(0).standard_normal(1 << 16).astype(np.float32)
    source = device.newBufferWithBytes_length_options_(data, data.nbytes, 0)
    targets = [device.newBufferWithLength_options_(1024, 0) for _ in range(_GRIDS)]
    queue = device.newCommandQueue()

    def run() -> Array:
        commands = queue.commandBuffer()
        encoder = commands.computeCommandEncoderWithDispatchType_(Metal.MTLDispatchTypeConcurrent)
        encoder.setComputePipelineState_(pipeline)
        encoder.setBuffer_offset_atIndex_(source, 0, 0)
        for target in targets:
            encoder.setBuffer_offset_atIndex_(target, 0, 1)
            encoder.dispatchThreadgroups_threadsPerThreadgroup_((1, 1, 1), (256, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        found = [np.frombuffer(each.contents().as_buffer(1024), np.float32) for each in targets]
        return np.concatenate(found)

    return run


def _model() -> Callable[[], Array]:
    """Some towers of dense layers over one input, as recommenders have them."""
    random, graph = np.random.default_rng(0), OnnxGraph("towers")

    def dense(x: str, inputs: int) -> str:
        weights = random.standard_normal((inputs, _WIDTH)) * inputs**-0.5
        bias = random.standard_normal(_WIDTH)
        linear = graph.linear(x, weights.astype(np.float32), bias.astype(np.float32))
        return graph.node("Relu", linear)

    x = graph.input("x", (_ROWS, _INPUTS))
    towers = []
    for _ in range(_TOWERS):
        y = dense(x, _INPUTS)
        towers.append(dense(dense(y, _WIDTH), _WIDTH))
    graph.output(graph.node("Concat", *towers, axis=1), (_ROWS, _TOWERS * _WIDTH))
    given = random.standard_normal((_ROWS, _INPUTS)).astype(np.float32)
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        source, module = Path(name) / "towers.onnx", Path(name) / "towers.vmfb"
        source.write_bytes(graph.to_bytes())
        compile_model(source, module, target="metal", flags=_FLAGS)
        loaded = assay.load(module)
    function = next(each for each in loaded.functions if "$" not in each and each[:2] != "__")
    return lambda: np.asarray(loaded[function].invoke([given])[0])
