"""MTLEvent, MTLSharedEvent with its listeners, and MTLFence."""

import threading
import weakref
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Self

from ....observe import current_timer, current_watch
from ..errors import MetalError, MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..order.hooks import history_of
from ..structs import as_integer
from ..worker import SerialThread, closing, run_handler, wait_for
from .timing import Timer

if TYPE_CHECKING:
    from assay.sim.check import Checker

    from ..device import MTLDevice
    from ..order.history import History
    from .queue import MTLCommandQueue

Notification = Callable[["MTLSharedEvent", int], None]


class BrokenWait(MetalError):
    """What an event was waited for will not happen: the command buffer that would signal failed."""


class MTLEvent(MetalObject):
    """A counter that command buffers of one device wait for and signal."""

    def __init__(self, device: "MTLDevice"):
        self._device = device
        self.value = 0
        self._changed = threading.Condition(threading.Lock())
        self._broken_at = 0
        self.seen_by: weakref.WeakKeyDictionary[History, Checker] = weakref.WeakKeyDictionary()
        self._broken_why = ""

    def device(self) -> "MTLDevice":
        """The device that the event belongs to."""
        return self._device

    def set_value(self, value: int) -> None:
        """Let those go on who wait for up to `value`."""
        with self._changed:
            self.value = value
            self._changed.notify_all()

    def break_waits(self, value: int, why: str) -> None:
        """Tell those who wait for up to `value` that it will not be signalled."""
        with self._changed:
            if value > self._broken_at:
                self._broken_at, self._broken_why = value, why
            self._changed.notify_all()

    def _is_broken(self, value: int) -> bool:
        return self.value < value <= self._broken_at

    def _settled(self, value: int) -> bool:
        return self.value >= value or value <= self._broken_at or closing.is_set()

    def wait_until_at(self, value: int) -> None:
        """Block the calling queue until the event is at `value`. Raises BrokenWait."""
        if self.value >= value:
            return
        with self._changed:
            wait_for(self._changed, partial(self._settled, value), float("inf"))
            if self._is_broken(value):
                raise BrokenWait(
                    f"{self!r} will not reach {value}, which this command buffer waits for: "
                    f"{self._broken_why}"
                )


class MTLSharedEvent(MTLEvent):
    """An event that the host can read, signal, wait for and be notified of.

    Deviation: when a command buffer fails before it signals, waits for that value end at once:
    command buffers with an error, waitUntilSignaledValue_timeoutMS_ with False.
    """

    def __init__(self, device: "MTLDevice"):
        super().__init__(device)
        self._notifications: list[tuple[int, MTLSharedEventListener, Notification]] = []

    def signaledValue(self) -> int:
        """The value now."""
        value = self.value
        self._host_sees(value)
        return value

    def _host_sees(self, value: int) -> None:
        for history, checker in list(self.seen_by.items()):
            history.host_sees(self, value, checker)

    def setSignaledValue_(self, value: int) -> None:
        """Signal from the host."""
        where = call_of(self)
        value = as_integer(where, "the value", value)
        if not 0 <= value < 1 << 64:
            raise MetalValidationError(f"{where}: {value} is not in 0..2**64-1")
        timer = current_timer(Timer)  # type: ignore[type-abstract]
        if timer is not None:
            timer.signalled(self, value)
        watch = current_watch()
        history = history_of(watch)
        if watch is not None and history is not None:
            history.host_signals(self, value, watch.checker)
        self.set_value(value)

    def waitUntilSignaledValue_timeoutMS_(self, value: int, milliseconds: int) -> bool:
        """Wait until the event is at `value` or later; False when time ran out first."""
        where = call_of(self)
        value = as_integer(where, "the value", value)
        milliseconds = as_integer(where, "the time", milliseconds)
        with self._changed:
            wait_for(self._changed, partial(self._settled, value), milliseconds / 1000)
            is_reached = self.value >= value
        if is_reached:
            self._host_sees(value)
        return is_reached

    def notifyListener_atValue_block_(
        self, listener: "MTLSharedEventListener", value: int, block: Notification
    ) -> None:
        """Call block(event, value) on the listener's thread once the event is at `value`."""
        where = call_of(self)
        expect(where, "the listener", listener, MTLSharedEventListener)
        if not callable(block):
            raise MetalValidationError(f"{where}: the block must be callable, and is {block!r}")
        value = as_integer(where, "the value", value)
        with self._changed:
            if self.value < value:
                self._notifications.append((value, listener, block))
                return
            reached = self.value
        self._host_sees(reached)
        listener._notify(block, self, reached)

    def set_value(self, value: int) -> None:
        """Let those go on who wait for up to `value`."""
        with self._changed:
            self.value = value
            self._changed.notify_all()
            due = [entry for entry in self._notifications if entry[0] <= value]
            if due:
                self._notifications = [e for e in self._notifications if e[0] > value]
        for _, listener, block in due:
            self._host_sees(value)
            listener._notify(block, self, value)


class MTLSharedEventListener(UserMade):
    """The thread on which notifications of shared events run.

    Deviation: there are no dispatch queues; each listener has a thread of its own.
    """

    def __init__(self) -> None:
        self._thread = SerialThread("metal-event-listener")

    def initWithDispatchQueue_(self, _queue: object) -> Self:
        """The listener itself; the queue is accepted and not used."""
        return self

    def _notify(self, block: Notification, event: MTLSharedEvent, value: int) -> None:
        self._thread.submit(partial(run_handler, block, event, value))


class MTLFence(MetalObject):
    """Orders encoders of one queue. Deviation: encoders run one after another in any case."""

    def __init__(self, device: "MTLDevice"):
        self._device = device
        self._queue: weakref.ref[MTLCommandQueue] | None = None

    def device(self) -> "MTLDevice":
        """The device that the fence belongs to."""
        return self._device

    def updated_on(self, queue: "MTLCommandQueue") -> None:
        """Note that an encoder of `queue` updates the fence."""
        self._queue = weakref.ref(queue)

    def check_waiter(self, where: str, queue: "MTLCommandQueue") -> None:
        """Raises MetalValidationError for a wait that no update on the same queue can end."""
        updater = self._queue() if self._queue is not None else None
        if updater is not None and updater is not queue:
            raise MetalValidationError(
                f"{where}: {self!r} was updated on {updater!r}, and a fence orders the encoders of "
                f"one queue; let {queue!r} wait for an event"
            )
