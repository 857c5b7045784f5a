"""What a watcher tells a checker: findings at the place where units are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from assay.sim.check import Checker, Finding, Party, UnitPlace

from ..faults import TorqFault
from ..notes import Symbol, TaskNote
from .declared import Declared
from .names import name_of
from .npu_finding import npu_finding, of_fault
from .order import Order
from .ranges import Ranges
from .touch import Touch


class Reports:
    """Tells of units at work, as far as the order of a program and its notes know them.

    Attributes:
        task: the command stream's task.
    """

    def __init__(
        self,
        checker: Checker,
        order: Order,
        declared: Declared,
        symbols: Iterable[Symbol],
        program: str,
    ) -> None:
        """`program` is what findings call the program."""
        self.task = -1
        self._checker, self._order, self._declared = checker, order, declared
        self._program = program
        self._symbols: dict[str, list[Symbol]] = {}
        for symbol in symbols:
            self._symbols.setdefault(symbol.memory, []).append(symbol)

    def operation(self, unit: str) -> str:
        """What a unit works on, as its compiler calls it; nothing without notes."""
        note = self._declared.of(unit)
        return str(note) if note is not None else ""

    def task_of(self, unit: str) -> int:
        """The command stream's task that started a unit."""
        return self._order.task_of(unit, self.task)

    def name_of(self, memory: str, start: int, stop: int) -> str:
        """The tensor that bytes are of."""
        return name_of(self._symbols, memory, start, stop)

    def deviation(self, unit: str, message: str, address: int | None) -> None:
        """A unit does what its compiler did not mean, if there is something to say."""
        if message:
            self.report(kind="npu-operand", message=message, unit=unit, descriptor=address)

    def bytes_(
        self,
        kind: str,
        message: str,
        touch: Touch,
        ranges: Ranges,
        *,
        others: Sequence[Party] = (),
    ) -> None:
        """A touch did something to bytes, at fault with `others`."""
        start, stop = ranges[0]
        self.report(
            kind=kind,
            message=message,
            unit=touch.unit,
            agent=touch.agent,
            descriptor=touch.descriptor,
            what=action(touch),
            others=others,
            memory=touch.memory,
            start=start,
            stop=stop,
            task=touch.task,
            tensor=self.name_of(touch.memory, start, stop),
            operation=touch.operation,
        )

    def report(
        self,
        *,
        kind: str,
        message: str,
        unit: str,
        agent: str = "",
        descriptor: int | None = None,
        task: int | None = None,
        operation: str | None = None,
        **facts: Any,
    ) -> None:
        """A unit does something; without `task` and `operation`, in what it is at work on."""
        place = UnitPlace(
            unit=unit,
            agent=agent,
            task=self.task_of(unit) if task is None else task,
            address=descriptor,
            operation=self.operation(unit) if operation is None else operation,
        )
        self.tell(npu_finding(kind, message, place, program=self._program, **facts))

    def fault(self, error: TorqFault) -> None:
        """A run ended with a fault."""
        note = self._declared.of(error.unit) or TaskNote()
        tensor = next((o.tensor for o in note.operands if o.agent == error.agent), "")
        task, operation = self.task_of(error.unit), self.operation(error.unit)
        self.tell(of_fault(error, task, operation, tensor, program=self._program))

    def tell(self, finding: Finding) -> None:
        """Reports a finding, if its check is made."""
        if finding.check in self._checker.checks:
            self._checker.report(finding)


def action(touch: Touch) -> str:
    """What a touch does, to which memory."""
    return f"{'writes' if touch.writes else 'reads'} {touch.memory}"
