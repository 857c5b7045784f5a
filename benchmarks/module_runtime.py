"""What running an Assay module costs the host: per call, per switch of shapes, in memory.

A chain of small products. On the CPU its kernels take a microsecond or two, which are included; on
the emulated GPU they are another thread's.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import assay
from assay.assay_module import AssayModule, ModuleContext, load_assay
from assay.examples.onnx_graph import OnnxGraph
from assay.hal.module.records import Call, Forward

from .measure import Row

_LAYERS = 64
_ROWS = (1, 2, 4, 8, 16, 32, 64, 128)


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measured in processor time of the calling thread."""
    del threads
    with tempfile.TemporaryDirectory(prefix="assay-benchmark-") as name:
        module = _module(Path(name), "cpu")
        on_gpu = _later(_module(Path(name), "metal"), repetitions)
    context = module.new_context()
    first = _seconds(lambda: module.new_context().run(), repetitions) / _calls(context)
    later = _later(module, repetitions)
    switch = _seconds(lambda: _switch_all(context), repetitions) / len(_ROWS)
    return [
        Row(
            what="a call, from a context's second run on",
            who="CPU, kernels included",
            seconds=later,
            rate=f"{1e6 * later:.1f} us",
            bar="< 20 us",
            passed=later < 20e-6,
        ),
        Row(
            what="a call, from a context's second run on",
            who="emulated Metal, the calling thread",
            seconds=on_gpu,
            rate=f"{1e6 * on_gpu:.1f} us",
            bar="< 20 us",
            passed=on_gpu < 20e-6,
        ),
        Row(
            what="a call in a context's first run",
            who="with what the context takes to make",
            seconds=first,
            rate=f"{1e6 * first:.1f} us",
        ),
        Row(
            what=f"a switch among {len(_ROWS)} shape sets",
            who="",
            seconds=switch,
            rate=f"{1e6 * switch:.1f} us",
            bar="< 1 ms",
            passed=switch < 1e-3,
        ),
        _memory(module, context),
        _forwards(context),
    ]


def _later(module: AssayModule, repetitions: int) -> float:
    """Seconds of a call once a context has run."""
    context = module.new_context()
    for _ in range(3):
        context.run()
    return _seconds(context.run, 10 * repetitions) / _calls(context)


def _calls(context: ModuleContext) -> int:
    return sum(isinstance(item, Call) for item in context.context.model.regions[0].instructions)


def _module(folder: Path, device: str) -> AssayModule:
    """y = x W1 W2 ..., for some numbers of rows; the last result is flat."""
    random = np.random.default_rng(0)
    graph = OnnxGraph("chain")
    x = graph.input("x", ("rows", 32))
    for _ in range(_LAYERS):
        weights = random.standard_normal((32, 32)).astype(np.float32) / 6
        x = graph.node("Relu", graph.node("MatMul", x, graph.weight(weights)))
    graph.output(graph.node("Reshape", x, graph.weight(np.array([-1], np.int64))), ("all",))
    path = folder / "chain.onnx"
    path.write_bytes(graph.to_bytes())
    shapes = "; ".join(f"x={count}x32" for count in _ROWS)
    return load_assay(assay.build(path, shapes=shapes, devices=[device]), device)


def _switch_all(context: ModuleContext) -> None:
    for count in reversed(_ROWS):
        context.reshape(x=(count, 32))


def _memory(module: AssayModule, context: ModuleContext) -> Row:
    """After all sets have run: the largest one's memory, and the weights once."""
    for count in _ROWS:
        for _ in range(2):
            context(np.ones((count, 32), np.float32))
    held = context.memory
    total = held.arenas + held.inputs + held.dynamic + held.workspaces + held.weights
    models = module.opened.module.models
    largest = max(sum(arena.size for arena in model.arenas) for model in models)
    weights = _LAYERS * 32 * 32 * 4
    least = largest + max(_ROWS) * 32 * 4 + weights
    return Row(
        what=f"memory of {len(_ROWS)} shape sets",
        who="arenas, inputs, workspaces, weights",
        rate=f"{total} bytes",
        ratio=f"{total / least:.3f} x the largest set's and the weights",
        bar="1 x",
        passed=total == least,
    )


def _forwards(context: ModuleContext) -> Row:
    """Whether what a forward gives is the memory of what it is of."""
    model = context.context.model
    pairs = [
        (context.context.view(item.source).buffer, context.context.view(item.target).buffer)
        for item in model.regions[0].instructions
        if isinstance(item, Forward)
    ]
    moved = sum(
        other.length
        for one, other in pairs
        if (one.storage, one.offset) != (other.storage, other.offset)
    )
    return Row(
        what="bytes that forwards move",
        who=f"{len(pairs)} MemForward",
        rate=f"{moved} bytes",
        bar="0",
        passed=bool(pairs) and moved == 0,
    )


def _seconds(run: Callable[[], object], repetitions: int) -> float:
    """The least processor time of some calls, in seconds: others on the machine only add to it."""
    taken = []
    for _ in range(max(3, repetitions)):
        start = time.thread_time()
        run()
        taken.append(time.thread_time() - start)
    return min(taken)
