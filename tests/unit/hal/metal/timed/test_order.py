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
from assay.hal.metal.timed.backlog import Backlog, Recorded
from assay.hal.metal.timed.order import Event, ProgramOrder, Step
from assay.hal.metal.timed.predict import ChipPredictor
from assay.hal.metal.timed.schedule import schedule_of
from assay.hal.metal.timed.timer import ProgramTimer
from assay.hw.apple.facts.chips import chip
from assay.prediction.result import TimeResult, result_of
from assay.sim.simt.emit.tape import Recording
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


def order_of(calls: list[tuple[str, Any]]) -> list[str]:
    """What has its turn when, if an order is told `calls`."""
    taken: list[str] = []
    order = ProgramOrder()
    for name, arguments in calls:
        if name == "step":
            buffer, text, event = arguments
            order.arrived(buffer, Step(take=lambda text=text: taken.append(text), event=event))  # type: ignore[misc]
        else:
            getattr(order, name)(*arguments)
    order.finish()
    return taken


WAIT = Event(number=0, value=1, is_wait=True)
SIGNAL = Event(number=0, value=1, is_wait=False)
COMMITS = [("seen", (0, 0)), ("committed", (0, 0)), ("committed", (1, 1))]


def test_a_queue_that_waits_lets_others_go_first_until_its_event_comes() -> None:
    one = [("step", (0, "wait", WAIT)), ("step", (0, "after", None)), ("ended", (0,))]
    other = [("step", (1, "before", None)), ("step", (1, "signal", SIGNAL))]
    last = [("step", (1, "last", None)), ("ended", (1,))]
    expected = ["before", "signal", "wait", "after", "last"]
    assert order_of([*COMMITS, *one, *other, *last]) == expected
    assert order_of([*COMMITS, *other, *one, *last]) == expected
    assert order_of([*COMMITS, *other, *last, *one]) == expected


def test_signals_of_the_program_count_after_what_was_committed_before() -> None:
    one = [("step", (0, "wait", WAIT)), ("step", (0, "after", None)), ("ended", (0,))]
    other = [("step", (1, "other", None)), ("ended", (1,))]
    signal = [("signalled", (0, 1))]
    expected = ["other", "wait", "after"]
    assert order_of([*COMMITS, *signal, *one, *other]) == expected
    assert order_of([*COMMITS, *other, *one[:1], *signal, *one[1:]]) == expected


def test_what_waits_for_a_signal_that_nobody_saw_has_its_turn_at_the_end() -> None:
    one = [("step", (0, "wait", WAIT)), ("step", (0, "after", None)), ("ended", (0,))]
    other = [("step", (1, "other", None))]
    assert order_of([*COMMITS, *one, *other]) == ["other", "wait", "after"]


def test_recordings_that_wait_are_kept_once_and_on_disk_if_there_are_many() -> None:
    def recorded(value: int) -> Recorded:
        recording = Recording.__new__(Recording)
        words = np.full(100, value, np.uint64)
        for name in Recording.__slots__:
            object.__setattr__(recording, name, words if name == "words" else None)
        return Recorded(recording=recording, digest=bytes([value]))

    backlog = Backlog(most=1000)
    first = backlog.kept("key", recorded(1))
    assert backlog.kept("key", recorded(1)) is first
    second = backlog.kept("key", recorded(2))
    assert not isinstance(first.recording.words, np.memmap)
    assert isinstance(second.recording.words, np.memmap)
    assert (second.recording.words == 2).all()
    del first
    assert not isinstance(backlog.kept("key", recorded(3)).recording.words, np.memmap)
