"""Queues and command buffers that run what was encoded when it is committed, step by step."""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from .allocations import ResidencySet
from .encoders import Encoder, Pass, Step
from .proxy import Proxy, real_of
from .running import Run

_ENCODERS = ("computeCommandEncoder", "blitCommandEncoder")
# Answered by the real command buffer at once.
_AT_ONCE = ("label", "setLabel_", "retainedReferences", "errorOptions", "logs")


class CommandBuffer(Proxy):
    """Stands for a command buffer; its commands run on a thread of its queue once committed."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        assert isinstance(self.maker, Queue)
        self._queue = self.maker
        self._steps: list[Step] = []
        self._scheduled: list[Callable[[Any], object]] = []
        self._completed: list[Callable[[Any], object]] = []
        self._future: Future[None] | None = None
        self._is_scheduled = threading.Event()
        self._run: Run | None = None  # once its commands have run
        self._is_wrong = False  # whether they could not be encoded

    def commandQueue(self) -> Queue:
        """The queue that made it."""
        return self._queue

    def add(self, step: Step) -> None:
        """Do this when the commands before it were done."""
        self._steps.append(step)

    def useResidencySet_(self, chosen: ResidencySet) -> None:
        """Let the commands reach what a residency set has."""
        self.add(lambda run: run.make_resident(chosen))

    def useResidencySets_count_(self, chosen: Sequence[ResidencySet], count: int) -> None:
        """Let the commands reach what several residency sets have."""
        for place in range(int(count)):
            self.useResidencySet_(chosen[place])

    @property
    def is_committed(self) -> bool:
        """Whether its commands were handed over."""
        return self._future is not None

    def another(self) -> Any:
        """A real command buffer for more of its commands, on the queue that is the recorder's."""
        return getattr(self._queue.own, self.call)(*map(real_of, self.given))

    def enqueue(self) -> None:
        """Take a place in the queue; commands run only after commit."""
        self._queue.enqueue(self)

    def addScheduledHandler_(self, handler: Callable[[Any], object]) -> None:
        """Call handler(command_buffer) when the commands are about to run."""
        self._scheduled.append(handler)

    def addCompletedHandler_(self, handler: Callable[[Any], object]) -> None:
        """Call handler(command_buffer) when the commands have run or failed."""
        self._completed.append(handler)

    def commit(self) -> None:
        """Hand the commands over."""
        self._future = self._future or Future()
        self._queue.commit(self)

    def waitUntilScheduled(self) -> None:
        """Return when the commands are about to run, which may then wait for events."""
        if self._future is None:
            self.real.waitUntilScheduled()  # Metal says that this would never end
        else:
            self._is_scheduled.wait()

    def waitUntilCompleted(self) -> None:
        """Return when the commands have run or failed, and the handlers too.

        Raises what encoding them raised.
        """
        if self._future is None:
            self.real.waitUntilCompleted()  # Metal says that this would never end
        elif self._run is None or not self._queue.handles():
            self._future.result()

    def status(self) -> int:
        """The MTLCommandBufferStatus."""
        if self._future is None:
            return int(self.real.status())
        if self._run is None:
            return int(self.session.api.MTLCommandBufferStatusCommitted)
        if self._is_wrong:
            return int(self.session.api.MTLCommandBufferStatusError)
        return int(self._run.last.status())

    def error(self) -> Any:
        """What stopped the commands, or None."""
        return None if self._run is None else self._run.error

    def GPUStartTime(self) -> float:
        """When the first command began, in seconds; 0 before."""
        return 0.0 if self._run is None else self._run.begin

    def GPUEndTime(self) -> float:
        """When the last command had ended, in seconds; 0 before."""
        return 0.0 if self._run is None else self._run.end

    kernelStartTime = GPUStartTime
    kernelEndTime = GPUEndTime

    def __getattr__(self, name: str) -> Any:
        if name in _AT_ONCE:
            return super().__getattr__(name)
        if name.startswith(_ENCODERS):
            return lambda *given: Encoder(self, Pass(name, tuple(map(real_of, given))))
        if not callable(getattr(self.real, name)):
            raise AttributeError(name)

        def later(*given: Any) -> None:
            passed = tuple(map(real_of, given))
            self.add(lambda run: run.command(name, passed))

        return later

    def run(self) -> None:
        """Run the commands, on the thread of the queue."""
        assert self._future is not None
        with _autorelease_pool():
            self._call(self._scheduled)
            self._is_scheduled.set()
            run = Run(self.session, self, self._queue)
            wrong: Exception | None = None
            try:
                run.steps(self._steps)
            except Exception as error:
                wrong = error
                self._is_wrong = True
                self.session.writer.leave_out(f"a command buffer that cannot be encoded: {error}")
                if self._completed:  # who waits so is raised nothing
                    traceback.print_exc()
            self._steps.clear()
            self._run = run  # before those are called who ask how it went
        if self._completed:
            self._queue.handlers.submit(self._end, wrong)
        else:
            self._end(wrong)

    def _end(self, wrong: Exception | None) -> None:
        """Call the handlers, on a thread of their own: they may wait for other commands."""
        assert self._future is not None
        with _autorelease_pool() if self._completed else nullcontext():
            self._call(self._completed)
        if wrong is None:
            self._future.set_result(None)
        else:
            self._future.set_exception(wrong)

    def _call(self, handlers: list[Callable[[Any], object]]) -> None:
        for handler in handlers:
            try:
                handler(self)
            except Exception:
                traceback.print_exc()  # there is nobody to raise it to


class Queue(Proxy):
    """Stands for a command queue; one thread runs what it is given, in order.

    Attributes:
        own: a real queue like it, which commands run on one by one. Programs may have as many
            unfinished command buffers in theirs as it takes.
        resident: residency sets that all command buffers reach.
    """

    MAKES: ClassVar[dict[str, type[Proxy]]] = {"commandBuffer": CommandBuffer}

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.executor = ThreadPoolExecutor(1, "recorded queue")
        self.handlers = ThreadPoolExecutor(1, "handlers of a recorded queue", self._is_handling)
        self._handles = threading.local()
        self.own = self._another()
        self.resident: list[ResidencySet] = []
        self._order: deque[CommandBuffer] = deque()
        self._lock = threading.Lock()
        self.session.queues.append(self)

    def shutdown(self) -> None:
        """Let run what was committed, and what handlers do then."""
        self.executor.shutdown()
        self.handlers.shutdown()

    def handles(self) -> bool:
        """Whether this is the thread that calls handlers."""
        return getattr(self._handles, "here", False)

    def _is_handling(self) -> None:
        self._handles.here = True

    def enqueue(self, commands: CommandBuffer) -> None:
        """Give a command buffer its place in the order."""
        with self._lock:
            if not any(each is commands for each in self._order):
                self._order.append(commands)

    def commit(self, commands: CommandBuffer) -> None:
        """Run a command buffer once those before it in the order are committed, too."""
        self.enqueue(commands)
        with self._lock:
            while self._order and self._order[0].is_committed:
                self.executor.submit(self._order.popleft().run)

    def _another(self) -> Any:
        assert self.maker is not None
        if "Descriptor" in self.call:  # which may say where kernels log to
            return getattr(self.maker.real, self.call)(*map(real_of, self.given))
        return self.maker.real.newCommandQueue()

    def addResidencySet_(self, chosen: ResidencySet) -> None:
        """Let all command buffers reach what a residency set has."""
        for queue in (self.real, self.own):
            queue.addResidencySet_(chosen.real)
        self.resident.append(chosen)

    def addResidencySets_count_(self, chosen: Sequence[ResidencySet], count: int) -> None:
        """Let all command buffers reach what several residency sets have."""
        for place in range(int(count)):
            self.addResidencySet_(chosen[place])

    def removeResidencySet_(self, chosen: ResidencySet) -> None:
        """Undo addResidencySet_."""
        for queue in (self.real, self.own):
            queue.removeResidencySet_(chosen.real)
        self.resident = [each for each in self.resident if each is not chosen]

    def removeResidencySets_count_(self, chosen: Sequence[ResidencySet], count: int) -> None:
        """Undo addResidencySets_count_."""
        for place in range(int(count)):
            self.removeResidencySet_(chosen[place])


def _autorelease_pool() -> AbstractContextManager[object]:
    """What takes objects that PyObjC hands over on this thread: only main threads have one."""
    make = getattr(sys.modules.get("objc"), "autorelease_pool", None)
    return nullcontext() if make is None else make()
