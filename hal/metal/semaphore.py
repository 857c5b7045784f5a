"""Timeline semaphores as Metal shared events, and the submissions that will signal them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..semaphore import Semaphore
from ..status import StatusError
from .errors import command_buffer_error

FAILURE_VALUE = (1 << 63) - 1
"""The event value of a failed semaphore: every waiter wakes."""


class Submission:
    """A committed command buffer, and the semaphores it waited for, until its end is known."""

    __slots__ = ("_command_buffer", "_earlier", "_error", "_waits")

    def __init__(self, command_buffer: Any, waits: Sequence[tuple[Any, int]]) -> None:
        self._command_buffer = command_buffer
        self._waits = waits
        # Those of now: a semaphore that this one signals, too, is its own from then on.
        submissions = [semaphore.submission for semaphore, _ in waits]
        self._earlier = [each for each in submissions if each is not None]
        self._error: StatusError | None = None

    @property
    def waits(self) -> Sequence[tuple[Any, int]]:
        """The (semaphore, value) points it waits for."""
        return self._waits

    @property
    def failed(self) -> bool:
        """Whether it is known to have failed; does not block."""
        command_buffer = self._command_buffer
        return self._error is not None or (
            command_buffer is not None and command_buffer.error() is not None
        )

    def outcome(self) -> StatusError | None:
        """The error of finished work: its own, or that of something it waited for."""
        unsettled: list[Submission] = [self]
        while unsettled:
            current = unsettled[-1]
            earlier = [each for each in current._earlier if each._command_buffer is not None]
            if earlier:
                unsettled += earlier
                continue
            current._settle()
            unsettled.pop()
        return self._error

    def _settle(self) -> None:
        # Two threads may settle at once: both come to the same error.
        command_buffer, waits, earlier = self._command_buffer, self._waits, self._earlier
        if command_buffer is None:
            return
        command_buffer.waitUntilCompleted()
        # What it waited for comes first: work behind a failure fails because of it.
        errors = [*(each._error for each in earlier), *(each.error for each, _ in waits)]
        error = next(filter(None, errors), None)
        if error is None and command_buffer.error() is not None:
            error = command_buffer_error(command_buffer)
        self._error = self._error or error
        self._command_buffer, self._waits, self._earlier = None, (), []


class MetalSemaphore(Semaphore):
    """An MTLSharedEvent with a failure."""

    __slots__ = ("_error", "_private", "event", "submission")

    def __init__(self, event: Any, initial: int, *, private: bool) -> None:
        self.event = event
        self._private = private
        self.submission: Submission | None = None
        self._error: StatusError | None = None
        if initial:
            event.setSignaledValue_(initial)

    @property
    def error(self) -> StatusError | None:
        """The error it is known to have failed with."""
        return self._error

    def failure(self) -> StatusError | None:
        """The error of a failed semaphore; asked only once its work is finished."""
        submission = self.submission
        if self._error is None and submission is not None:
            self._error = submission.outcome()
            self.submission = None
        return self._error

    def query(self) -> int:
        """The value reached."""
        value = int(self.event.signaledValue())
        if self._error is not None:
            raise _again(self._error)
        return value

    def signal(self, value: int) -> None:
        """Reach a value from the host."""
        if value > self.event.signaledValue():
            self.event.setSignaledValue_(value)

    def fail(self, error: StatusError) -> None:
        """Fail for good."""
        if self._error is None:
            self._error = error
        if self.event.signaledValue() < FAILURE_VALUE:
            self.event.setSignaledValue_(FAILURE_VALUE)

    def wait(self, value: int, timeout_ms: int) -> bool:
        """Block until a value is reached; then it is known how the work that reached it ended."""
        # A wait also ends when the work that would have signalled has failed.
        if (
            self.event.signaledValue() < value
            and not self.event.waitUntilSignaledValue_timeoutMS_(value, timeout_ms)
            and not self._broken()
        ):
            return False
        error = self.failure()
        if error is not None:
            raise _again(error)
        return True

    def unreachable(self, value: int) -> bool:
        """Whether the chain of submissions before the value starts at something never signalled."""
        pending: list[tuple[MetalSemaphore, int]] = [(self, value)]
        seen: set[int] = set()
        while pending:
            semaphore, wanted = pending.pop()
            if id(semaphore) in seen or semaphore.event.signaledValue() >= wanted:
                continue
            seen.add(id(semaphore))
            submission = semaphore.submission
            if submission is not None:
                pending += submission.waits
            elif semaphore._private and semaphore._error is None:
                # Signalled meanwhile? Its submission is dropped only after that.
                return bool(semaphore.event.signaledValue() < wanted)
        return False

    def _broken(self) -> bool:
        submission = self.submission
        return self._error is not None or (submission is not None and submission.failed)


def _again(error: StatusError) -> StatusError:
    """A fresh copy to raise: each raise collects its own locations."""
    copy = StatusError(error.status, error.message)
    copy.__cause__ = error.__cause__
    return copy
