"""Turns what the emulated NPU runs into into the HAL's one error class."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from assay.hw.torq.faults import Deadlock, NotModelled, TorqFault

from ..status import StatusError


@contextmanager
def faults(where: str) -> Iterator[None]:
    """Inside, a fault of the NPU becomes a StatusError that says where it happened."""
    try:
        yield
    except TorqFault as fault:
        chain = (
            f"; {' -> '.join(fault.chain)}" if isinstance(fault, Deadlock) and fault.chain else ""
        )
        code = "UNIMPLEMENTED" if isinstance(fault, NotModelled) else "ABORTED"
        raise StatusError(code, f"{where}: {fault}{chain}") from fault
