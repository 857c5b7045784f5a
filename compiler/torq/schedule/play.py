"""How long a plan takes: its steps in order on units with the costs of the emulated device."""

from __future__ import annotations

from collections.abc import Sequence

from assay.hw.torq.facts.machine import limit
from assay.hw.torq.facts.registers import WORD_BYTES

from .steps import Step, Wait, unit_of
from .units import Units, cycles_of, transfer_cycles, words_of

_LINK_WORDS = 20
"""Words of a block of commands that load the next one."""


def played(steps: Sequence[Step]) -> Units:
    """The units when all is done, with what they counted; blocks of commands are loaded, too."""
    units = Units()
    room = limit("nss_block") // WORD_BYTES - _LINK_WORDS
    words = 0
    for number, step in enumerate(steps):
        if isinstance(step, Wait):
            _until_idle(units, unit_of(step.token))
            continue
        unit = unit_of(step)
        words += words_of(step)
        if words > room and unit == "XR":
            words -= room
            units.start(unit, -1, transfer_cycles(limit("nss_block")))
            _until_idle(units, unit)
        _go_to(units, units.now + words_of(step))
        units.start(unit, number, cycles_of(step))
    return units


def _until_idle(units: Units, unit: str) -> None:
    while units.is_busy(unit):
        _go_to(units, units.next_end())


def _go_to(units: Units, time: int) -> None:
    for _ in units.advance(time):
        pass
