"""What a check of an NPU program reports."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..faults import AccessFault, Busy, CountMismatch, Deadlock, Misaligned, NotModelled, TorqFault
from ..notes import Symbol

_KINDS = (
    (Deadlock, "deadlock"),
    (CountMismatch, "count-mismatch"),
    (Misaligned, "misaligned"),
    (AccessFault, "out-of-range"),
    (NotModelled, "not-modelled"),
    (Busy, "busy"),
    (TorqFault, "malformed"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One defect of a program.

    Attributes:
        kind: `race`, `uninitialised`, `operand` (other bytes than the compiler meant),
            `configuration` (other register values), `not-waited`, `escaped`, `unread`,
            `lram-budget`, or one of a fault: `deadlock`, `count-mismatch`, `out-of-range`,
            `misaligned`, `busy`, `malformed`, `not-modelled`.
        message: what is wrong, one sentence without a full stop.
        task: number of the NSS task, counted from 0; -1 before the first.
        unit, agent: who did it. descriptor: LRAM address of the agent's descriptor or command.
        memory, start, stop: the first bytes concerned; memory is empty if there are none.
        tensor: what those bytes are called.
        operation: what the unit was to do, and for which operation of the model, if that is known.
    """

    kind: str
    message: str
    task: int = -1
    unit: str = ""
    agent: str = ""
    descriptor: int | None = None
    memory: str = ""
    start: int = -1
    stop: int = -1
    tensor: str = ""
    operation: str = ""

    def __str__(self) -> str:
        who = " ".join(part for part in (self.unit, self.agent) if part)
        parts = [f"task {self.task}" if self.task >= 0 else "", who]
        if self.descriptor is not None:
            parts.append(f"at {self.descriptor:#x}")
        where = f", {self.memory} {self.start:#x}-{self.stop:#x}" if self.memory else ""
        named = f" ({self.tensor})" if self.tensor else ""
        doing = f", in {self.operation}" if self.operation else ""
        return (
            f"{self.kind}: {' '.join(p for p in parts if p)}: {self.message}{where}{named}{doing}"
        )


def of_fault(fault: TorqFault, task: int, operation: str = "", tensor: str = "") -> Finding:
    """A fault that ended a run, as a finding; `operation` is what was to be done with `tensor`."""
    kind = next(name for error, name in _KINDS if isinstance(fault, error))
    return Finding(
        kind=kind,
        message=fault.reason,
        task=task,
        unit=fault.unit,
        agent=fault.agent,
        descriptor=fault.address,
        tensor=tensor,
        operation=operation,
    )


def name_of(symbols: Mapping[str, list[Symbol]], memory: str, start: int, stop: int) -> str:
    """The name of what lies at an address, or an empty one."""
    for symbol in symbols.get(memory, ()):
        if symbol.start < stop and start < symbol.stop:
            return symbol.name
    return ""
