"""Running translated functions: frames, fuel, suspension and resumption.

An `Invocation` runs until it finishes, yields or has to wait; `resume` goes on from there.
Module functions calling each other use frames of the invocation, not Python's stack.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from ..status import StatusError
from .operations import Registers
from .pending import Pending
from .state import Limits
from .translate import Code, Segment

Store = Callable[[Registers, Any], None]

# What wrongly typed registers of damaged bytecode raise inside a step.
_TYPE_CONFUSION = (TypeError, ValueError, AttributeError, IndexError, OverflowError, struct.error)


class _Frame:
    """One active function: its registers, and where its caller goes on with which results."""

    __slots__ = ("code", "registers", "resume", "store")

    def __init__(
        self, code: Code, registers: Registers, resume: Segment | None, store: Store | None
    ) -> None:
        self.code = code
        self.registers = registers
        self.resume = resume
        self.store = store


class Invocation:
    """One call of an exported function, resumable after a yield or a wait."""

    def __init__(self, code: Code, arguments: Sequence[Any], limits: Limits) -> None:
        registers = code.new_registers()
        for register, value in zip(code.argument_registers, arguments, strict=True):
            registers[register] = value
        self.limits = limits
        self.fuel = limits.instructions
        self.results: list[Any] | None = None
        self._frames = [_Frame(code, registers, None, None)]
        self._segment: Segment | None = code.entry
        self._pending: Pending | None = None
        self._store_pending: Callable[[Any], None] | None = None

    @property
    def function_name(self) -> str:
        """The function that is running."""
        return self._frames[-1].code.name if self._frames else "the invocation"

    @property
    def done(self) -> bool:
        """Whether `results` are there."""
        return self.results is not None

    @property
    def ready(self) -> bool:
        """Whether `resume` would go on without blocking."""
        return not self.done and (self._pending is None or self._pending.ready())

    def run(self) -> list[Any]:
        """Run to the end, blocking wherever the program waits."""
        while self.results is None:
            self.resume()
        return self.results

    def resume(self) -> None:
        """Run until the function returns, yields or waits; blocks first on a wait in progress."""
        segment, self._segment = self._segment, None
        try:
            if self._pending is not None:
                pending, self._pending = self._pending, None
                value = pending.block()
                if self._store_pending is not None:
                    self._store_pending(value)
            self._run(segment)
        except StatusError as error:
            raise self._located(error) from error.__cause__
        except _TYPE_CONFUSION as error:
            message = f"an instruction met a value of the wrong type ({error})"
            raise self._located(StatusError("INTERNAL", message)) from error
        except MemoryError as error:
            raise self._located(StatusError("RESOURCE_EXHAUSTED", "out of memory")) from error

    def _run(self, segment: Segment | None) -> None:
        while segment is not None:
            registers = self._frames[-1].registers
            self.fuel -= segment.cost
            if self.fuel < 0:
                raise StatusError(
                    "RESOURCE_EXHAUSTED",
                    f"the program ran {self.limits.instructions} instructions without finishing; "
                    "it may loop forever (raise the limit of the session if it does not)",
                )
            for step in segment.steps:
                step(registers)
            segment = segment.leave(self, registers)

    def _located(self, error: StatusError) -> StatusError:
        for frame in reversed(self._frames[-8:]):
            error.at(frame.code.name)
        self._frames.clear()
        return error

    def push(self, code: Code, registers: Registers, resume: Segment, store: Store) -> None:
        """Enter a function; `store` will put its results into the caller's registers."""
        if len(self._frames) >= self.limits.call_depth:
            raise StatusError(
                "RESOURCE_EXHAUSTED", f"calls nest deeper than {self.limits.call_depth}"
            )
        self._frames.append(_Frame(code, registers, resume, store))

    def pop(self, results: list[Any]) -> Segment | None:
        """Leave the running function with its results; None when it was the outermost."""
        frame = self._frames.pop()
        if len(results) != len(frame.code.results):
            raise StatusError(
                "INTERNAL", f"{frame.code.name} returned {len(results)} results, not as declared"
            )
        if frame.store is None:
            self.results = results
            return None
        caller = self._frames[-1].registers
        frame.store(caller, results[0] if len(results) == 1 else results)
        return frame.resume

    def suspend(
        self,
        pending: Pending | None,
        store: Callable[[Any], None] | None,
        resume: Segment | None,
    ) -> None:
        """Stop here; `resume` continues after the pending wait, if there is one."""
        self._pending = pending
        self._store_pending = store
        self._segment = resume
