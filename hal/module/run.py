"""One run of a device model: its instructions, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import numpy as np

from .. import element_type as elements
from ..buffer import Buffer, BufferView
from ..semaphore import Fence
from ..status import StatusError
from .opened import OpenedModule
from .queues import Bridge, Lane
from .records import (
    NONE,
    Call,
    Check,
    Copy,
    Deduce,
    Forward,
    If,
    Instruction,
    Read,
    Release,
    Reserve,
    Signal,
    Wait,
    While,
)
from .repeated import CallSequence, ReadyCall, Repeated
from .state import ModelState

MOST_INSTRUCTIONS: Final = 10_000_000
"""Of one run: a loop that does not end is ended."""
_MOST_READ: Final = 1 << 16
"""Elements that one `Read` takes."""
_BYTE: Final = elements.code_of(np.dtype(np.uint8))


class Run:
    """Submits work to lanes, of which there is one per device. Only `Read` waits."""

    def __init__(
        self,
        opened: OpenedModule,
        state: ModelState,
        lanes: Mapping[int, Lane],
        bridge: Bridge,
        done: Callable[[Instruction], None] | None = None,
    ) -> None:
        """`done` is called behind each instruction, once its work is submitted."""
        self._opened, self._state = opened, state
        self._lanes, self._bridge = lanes, bridge
        self._points: dict[int, tuple[int, Fence | None]] = {}
        self._left = MOST_INSTRUCTIONS
        self._done = done
        self._is_stepped = done is not None or bridge.order is not None
        """Whether each call is submitted by itself."""

    def go(self) -> None:
        """Everything to its end. Raises StatusError, once nothing is in flight any more."""
        with self.drained():
            self._region(0)

    def submit(self, begin: int, end: int) -> None:
        """Submits a part of the first region; parts follow each other. Raises StatusError."""
        self._region(0, begin, end)

    @contextmanager
    def drained(self) -> Iterator[None]:
        """Waits for all that was submitted, whatever happens meanwhile. Raises StatusError."""
        failures = []
        try:
            yield
        except StatusError as error:
            failures.append(error)
        if self._bridge.order is not None:
            lasts = [lane.last for lane in self._lanes.values()]
            self._bridge.order.ended("the host, which reads the results,", lasts)
        for lane in self._lanes.values():
            try:
                lane.finish()
            except StatusError as error:
                failures.append(error)
        for lane in self._lanes.values():
            lane.ended()
        if failures:
            raise failures[0]

    def _region(self, number: int, begin: int = 0, end: int | None = None) -> None:
        items = self._state.model.regions[number].instructions
        sequences = {} if self._is_stepped else self._state.sequences[number]
        at, end = begin, len(items) if end is None else end
        while at < end:
            instruction, sequence = items[at], sequences.get(at)
            self._count()
            try:
                if sequence is None or sequence.end > end:
                    self._step(instruction)
                else:
                    self._sequence(number, sequence)
            except StatusError as error:
                raise self._located(error, number, at, instruction) from None
            if self._done is not None:
                self._done(instruction)
            at = at + 1 if sequence is None or sequence.end > end else sequence.end

    def _located(self, error: StatusError, region: int, at: int, item: Instruction) -> StatusError:
        return error if error.locations else error.at(self._where(region, at, item))

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise StatusError(
                "RESOURCE_EXHAUSTED", f"a run of more than {MOST_INSTRUCTIONS} instructions"
            )

    def _where(self, region: int, at: int, item: Instruction) -> str:
        text = f"model {self._state.model.name}, region {region}, instruction {at}"
        number = item.outputs[0] if isinstance(item, Call) else getattr(item, "tensor", NONE)
        location = self._state.model.tensors[number].location if number != NONE else NONE
        if location == NONE:
            return text
        known = self._opened.module.locations[location]
        return f"{known.operator} {known.name} of {known.file} ({text})"

    def _step(self, item: Instruction) -> None:
        _STEPS[type(item)](self, item)

    def _call_alone(self, item: Call) -> None:
        views, numbers = self._operands(item)
        self._call(item, views, numbers)

    def _operands(self, item: Call) -> tuple[tuple[BufferView, ...], tuple[int, ...]]:
        """Tensors, inputs first, and integers of a call as they are now."""
        state = self._state
        views = tuple(state.view(number) for number in (*item.inputs, *item.outputs))
        return views, tuple(state.evaluate(number) for number in item.numbers)

    def _call(self, item: Call, views: Sequence[BufferView], numbers: Sequence[int]) -> None:
        inputs, outputs = views[: len(item.inputs)], list(views[len(item.inputs) :])
        if outputs and not any(view.buffer.length for view in outputs):
            return  # nothing to write
        kernel = self._opened.module.kernels[item.kernel]
        lane = self._lanes[kernel.device]
        lane.overwrites(view.buffer for view in outputs)
        if item.workspace != NONE:
            outputs.append(_workspace(lane, self._state.evaluate(item.workspace)))
        program = self._opened.program(item.kernel)

        def start(wait: Fence | None) -> Fence | None:
            done = program.call(kernel.entry, inputs, numbers, outputs, wait)
            if lane.order is not None:
                where = f"{kernel.entry} on {self._opened.module.devices[kernel.device]}"
                reads, writes = ([view.buffer for view in each] for each in (inputs, outputs))
                lane.note(where, reads, writes, wait, done)
            return done

        lane.submit(start)

    def _sequence(self, region: int, sequence: CallSequence) -> None:
        """Calls on one device: by their programs, or by what these had it do the last time."""
        self._left -= sequence.end - sequence.begin - 1
        state = self._state
        for at, item in sequence.between:
            try:
                self._step(item)
            except StatusError as error:
                raise self._located(error, region, at, item) from None
        views: list[object] = list(map(state.views.__getitem__, sequence.tensors))
        numbers = list(map(state.evaluate, sequence.constants))
        views += self._workspaces(region, sequence, numbers)
        written = (state.views[number] for number in sequence.written)
        lane = self._lanes[sequence.device]
        lane.overwrites(view.buffer for view in written if view is not None)
        repeated = state.repeated.setdefault((region, sequence.begin), Repeated())
        repeated.run(lane, views, numbers, partial(self._ready, region, sequence))

    def _workspaces(
        self, region: int, sequence: CallSequence, numbers: list[int]
    ) -> Iterator[Buffer]:
        """Where the calls' workspace is, large enough for each; its sizes go to `numbers`."""
        lane, largest = self._lanes[sequence.device], NONE
        for at, item, _ in sequence.calls:
            if item.workspace != NONE:
                try:
                    numbers.append(_checked(self._state.evaluate(item.workspace)))
                    largest = max(largest, numbers[-1])
                except StatusError as error:
                    raise self._located(error, region, at, item) from None
        if largest != NONE:
            yield lane.scratch.get(largest)

    def _ready(self, region: int, sequence: CallSequence) -> list[ReadyCall]:
        """The calls of a sequence, to be submitted one by one."""
        ready = []
        for at, item, noted in sequence.calls:
            views, numbers = self._operands(item)
            submit = partial(self._located_call, region, at, item, views, numbers)
            ready.append(ReadyCall(noted, submit))
        return ready

    def _located_call(
        self,
        region: int,
        at: int,
        item: Call,
        views: Sequence[BufferView],
        numbers: Sequence[int],
    ) -> None:
        try:
            self._call(item, views, numbers)
        except StatusError as error:
            raise self._located(error, region, at, item) from None

    def _deduce(self, item: Deduce) -> None:
        self._state.deduce(item)

    def _check(self, item: Check) -> None:
        if not self._state.evaluate(item.expression):
            raise StatusError("OUT_OF_RANGE", item.message)

    def _reserve(self, item: Reserve) -> None:
        self._state.reserve(item.tensor)

    def _release(self, item: Release) -> None:
        self._state.release(item.tensor)

    def _forward(self, item: Forward) -> None:
        self._state.forward(item)

    def _copy(self, item: Copy) -> None:
        source, target = self._state.view(item.source), self._state.view(item.target)
        if source.shape != target.shape:
            raise StatusError("OUT_OF_RANGE", f"a copy of shape {source.shape} into {target.shape}")
        length = source.buffer.length
        if not length:
            return
        tensors = self._state.model.tensors
        start, end = (self._lanes[tensors[n].device] for n in (item.source, item.target))
        if start is end:
            start.copy(source.buffer, target.buffer, length)
        else:
            self._bridge.copy(start, source.buffer, end, target.buffer, length)

    def _signal(self, item: Signal) -> None:
        self._points[item.point] = item.device, self._lanes[item.device].last

    def _wait(self, item: Wait) -> None:
        device, fence = self._points[item.point]
        if device != item.device and fence is not None:
            self._bridge.carry(fence, self._lanes[item.device])

    def _read(self, item: Read) -> None:
        view = self._state.view(item.tensor)
        dtype = elements.dtype_of(view.element_type)
        if view.buffer.length > _MOST_READ * dtype.itemsize:
            raise StatusError("OUT_OF_RANGE", f"a read of {view.buffer.length} bytes")
        self._lanes[self._state.model.tensors[item.tensor].device].finish()
        data = view.buffer.read(0, view.buffer.length)
        numbers = np.frombuffer(bytes(data), dtype)
        self._state.values.elements[item.tensor] = tuple(int(number) for number in numbers)

    def _if(self, item: If) -> None:
        taken = item.then if self._state.evaluate(item.condition) else item.otherwise
        if taken != NONE:
            self._region(taken)

    def _while(self, item: While) -> None:
        while self._state.evaluate(item.condition):
            self._count()
            self._region(item.body)


_STEPS: Final[Mapping[type[Instruction], Callable[[Run, Any], None]]] = {
    Call: Run._call_alone,
    Deduce: Run._deduce,
    Check: Run._check,
    Reserve: Run._reserve,
    Release: Run._release,
    Forward: Run._forward,
    Copy: Run._copy,
    Signal: Run._signal,
    Wait: Run._wait,
    Read: Run._read,
    If: Run._if,
    While: Run._while,
}
"""What does an instruction, by its kind."""


def _workspace(lane: Lane, size: int) -> BufferView:
    """Bytes for one call alone, which the next call of the lane uses, too. Raises StatusError."""
    buffer = lane.scratch.get(_checked(size)).subspan(0, size)
    return BufferView(buffer, (size,), _BYTE, elements.DENSE_ROW_MAJOR)


def _checked(size: int) -> int:
    """The bytes of a workspace. Raises StatusError."""
    if not 0 <= size < 1 << 62:
        raise StatusError("OUT_OF_RANGE", f"a workspace of {size} bytes")
    return size
