"""Programs with several queues give one result, whichever queue's thread runs first."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from assay.hal.metal import emulated as metal
from assay.hal.metal.timed import ChipPredictor, ProgramTimer, schedule_of
from assay.hw.apple.facts.chips import chip
from assay.prediction.result import TimeResult, result_of
from assay.traces.formats.perfetto.write import write_perfetto
from tests.support.predictions import MadeUp
from tests.support.timed_program import COUNT, Program, floats

LARGE = 1 << 16


class Forced(ProgramTimer):
    """Lets threads of queues run what has labels in a given order."""

    def __init__(self, predictor: Any, labels: tuple[str, ...]) -> None:
        super().__init__(predictor)
        done = {label: threading.Event() for label in labels}
        self._before = dict(itertools.pairwise(reversed(labels)))
        self._done = done

    def begins(self, commands: Any) -> None:
        before = self._before.get(commands.label())
        assert before is None or self._done[before].wait(20)
        super().begins(commands)

    def ends(self, commands: Any) -> None:
        super().ends(commands)
        self._done[commands.label()].set()


def encoded(queue: Any, label: str, encode: Callable[[Any], None]) -> Any:
    commands = queue.commandBuffer()
    commands.setLabel_(label)
    encoder = commands.computeCommandEncoder()
    encode(encoder)
    encoder.endEncoding()
    return commands


def scaled(program: Program, buffer: Any, count: int, encoder: Any) -> None:
    program.scale(encoder, buffer, 2.0, count)


def timed(timer: ProgramTimer) -> TimeResult:
    timer.finish()
    return result_of(
        schedule_of(timer.buffers, timer.calls, chip("m1")), program="test", chip=chip("m1")
    )


def trace_bytes(result: TimeResult) -> bytes:
    stream = BytesIO()
    write_perfetto(result.trace(), stream)
    return stream.getvalue()


def three_queues(labels: tuple[str, ...]) -> TimeResult:
    """All three read one buffer; which is first finds it cold."""
    program = Program()
    buffer = program.buffer(np.ones(LARGE, np.float32))
    timer = Forced(ChipPredictor(chip("m1"), keep=True), labels)
    with metal.timing(timer):
        waiting = []
        for number, label in enumerate("abc"):

            def encode(encoder: Any, number: int = number) -> None:
                for _ in range(2):
                    program.scale(encoder, buffer, 2.0, LARGE >> number)

            queue = program.device.newCommandQueue()
            waiting.append(encoded(queue, label, encode))
            waiting[-1].commit()
        for commands in waiting:
            commands.waitUntilCompleted()
            assert commands.error() is None
    return timed(timer)


def test_neither_times_nor_timelines_depend_on_which_queue_runs_first() -> None:
    expected = three_queues(("a", "b", "c"))
    assert expected.dispatches[0].cycles > expected.dispatches[1].cycles
    for labels in (("c", "b", "a"), ("b", "a", "c")):
        found = three_queues(labels)
        assert [each.cycles for each in found.dispatches] == [
            each.cycles for each in expected.dispatches
        ]
        assert trace_bytes(found) == trace_bytes(expected)


class _Refusing(MadeUp):
    """Cannot predict grids of 64 threads."""

    def __call__(self, device: Any, command: Any) -> Any:
        if command.threads == (64, 1, 1):
            raise ValueError("no")
        return super().__call__(device, command)


@pytest.mark.parametrize("labels", [("a", "b"), ("b", "a")])
def test_failures_are_told_in_the_order_of_the_program(labels: tuple[str, ...]) -> None:
    program = Program()
    buffer = program.buffer(np.ones(COUNT, np.float32))
    timer = Forced(_Refusing(), labels)
    with metal.timing(timer):
        both = [
            encoded(
                program.device.newCommandQueue(),
                label,
                partial(scaled, program, buffer, count),
            )
            for label, count in (("a", 128), ("b", 64))
        ]
        for commands in both:
            commands.commit()
        for commands in both:
            commands.waitUntilCompleted()
    timer.finish()
    assert timer.failures == ["dispatch 2 of 'scale': no"]


class _Watching(MadeUp):
    """While it looks at a dispatch, gives other queues time, and notes whether they wrote."""

    def __init__(self, buffer: Any) -> None:
        super().__init__()
        self.changed = False
        self._buffer = buffer

    def __call__(self, device: Any, command: Any) -> Any:
        before = floats(self._buffer).copy()
        time.sleep(0.2)
        self.changed |= bool((floats(self._buffer) != before).any())
        return super().__call__(device, command)


class _Slow(ProgramTimer):
    """Dispatches take a while to run."""

    def __init__(self, predictor: Any) -> None:
        super().__init__(predictor)
        self.runs = threading.Event()

    def dispatch(self, place: Any, device: Any, command: Any, run: Callable[[], None]) -> None:
        def slowly() -> None:
            self.runs.set()
            time.sleep(0.1)
            run()

        super().dispatch(place, device, command, slowly)


def test_nothing_of_another_queue_runs_while_a_dispatch_is_looked_at() -> None:
    program = Program()
    buffer = program.buffer(np.ones(COUNT, np.float32))
    watching = _Watching(buffer)
    timer = _Slow(watching)
    with metal.timing(timer):
        both = [
            encoded(program.device.newCommandQueue(), "", partial(scaled, program, buffer, count))
            for count in (128, 64)
        ]
        both[0].commit()
        assert timer.runs.wait(20)
        both[1].commit()
        for commands in both:
            commands.waitUntilCompleted()
    assert not watching.changed
    assert (floats(buffer)[:128] == np.repeat([7, 3], 64)).all()
