"""The NPU that a program is made for: what its costs and the room in its memory come from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from assay.hw.torq.facts.costs import Machine, machine_of, sl2610
from assay.hw.torq.facts.hardware import Hardware

_TARGET: ContextVar[Machine | None] = ContextVar("target", default=None)


def target() -> Machine:
    """The NPU that is compiled for: the SL2610, if nobody said."""
    return _TARGET.get() or sl2610()


@contextmanager
def targeting(npu: Hardware) -> Iterator[None]:
    """Compile for another NPU meanwhile."""
    before = _TARGET.set(machine_of(npu))
    try:
        yield
    finally:
        _TARGET.reset(before)
