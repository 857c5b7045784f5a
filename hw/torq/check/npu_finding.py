"""Findings in programs for the NPU: their parties are units at work on tasks."""

from __future__ import annotations

from collections.abc import Sequence

from assay.sim.check import Finding, Party, UnitPlace

from ..faults import AccessFault, Busy, CountMismatch, Deadlock, Misaligned, NotModelled, TorqFault
from .kinds import NPU_KINDS

_FAULTS = (
    (Deadlock, "npu-deadlock"),
    (CountMismatch, "npu-count-mismatch"),
    (Misaligned, "npu-misaligned"),
    (AccessFault, "npu-out-of-range"),
    (NotModelled, "npu-not-modelled"),
    (Busy, "npu-busy"),
    (TorqFault, "npu-malformed"),
)


def npu_finding(
    kind: str,
    message: str,
    place: UnitPlace,
    *,
    program: str = "",
    what: str = "",
    others: Sequence[Party] = (),
    memory: str = "",
    start: int = -1,
    stop: int = -1,
    tensor: str = "",
) -> Finding:
    """A finding of one of `NPU_KINDS`.

    `what` is what is done at `place`, `others` who else takes part. The bytes concerned, if any,
    are `start` to `stop` of `memory`, and are called `tensor`.
    """
    known = NPU_KINDS[kind]
    return Finding(
        check=known.check,
        kind=kind,
        kernel=program,
        message=message,
        parties=(Party(what=what, unit=place), *others),
        memory=memory,
        offset=start,
        length=stop - start if memory else -1,
        tensor=tensor,
        hint=known.hint,
    )


def of_fault(
    fault: TorqFault, task: int, operation: str = "", tensor: str = "", *, program: str = ""
) -> Finding:
    """A fault that ended a run, as a finding; `operation` is what was to be done with `tensor`."""
    kind = next(name for error, name in _FAULTS if isinstance(fault, error))
    place = UnitPlace(
        unit=fault.unit, agent=fault.agent, task=task, address=fault.address, operation=operation
    )
    return npu_finding(kind, fault.reason, place, program=program, tensor=tensor)
