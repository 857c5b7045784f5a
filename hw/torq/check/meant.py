"""What units do beside what a program's compiler says that they are meant to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..datapath.plan import SlicePlan
from ..notes import TaskNote
from .declared import Declared, Deviation, Reach, deviations, misconfigured, mistagged
from .ranges import Ranges, size
from .reports import Reports
from .touch import Touch


class Meant:
    """Compares tasks with their notes."""

    def __init__(self, declared: Declared, reports: Reports) -> None:
        self._declared, self._reports = declared, reports

    def configuration(self, unit: str, plan: SlicePlan, words: Mapping[int, int]) -> None:
        """Tells which registers and tags of loops are others than the compiler meant."""
        note = self._declared.of(unit) or TaskNote()
        tags = {
            agent: tuple(loop.tag for nest in nests for loop in nest.loops)
            for agent, nests in plan.descriptors.items()
        }
        wrong = [
            (name, f"{name} is {value}, and its compiler meant {meant}")
            for name, value, meant in misconfigured(note, words)
        ]
        wrong += [
            (agent, f"its loops have the tags {found}, and its compiler meant {meant}")
            for agent, found, meant in mistagged(note, tags)
        ]
        for agent, message in wrong:
            self._reports.report(kind="npu-configuration", message=message, unit=unit, agent=agent)

    def touches(self, unit: str, touches: Sequence[Touch]) -> None:
        """Tells where a task touches what its compiler did not mean, or not what it meant."""
        if self._declared.is_beyond(unit):
            what = "starts a task more than its compiler made"
            self._reports.deviation(unit, what, touches[0].descriptor if touches else None)
        note = self._declared.of(unit) or TaskNote()
        reaches = [
            Reach(agent=t.agent, memory=t.memory, ranges=t.ranges, unmoved=t.unmoved)
            for t in touches
        ]
        for found in deviations(note, reaches):
            touch = next((t for t in touches if t.agent == found.agent), None)
            start, stop = (found.extra or found.missing)[0]
            self._reports.report(
                kind="npu-operand",
                message=_deviation(found),
                unit=unit,
                agent=found.agent,
                descriptor=touch.descriptor if touch is not None else None,
                memory=found.memory,
                start=start,
                stop=stop,
                tensor=self._reports.name_of(found.memory, start, stop),
            )


def _deviation(found: Deviation) -> str:
    parts = []
    if found.extra:
        parts.append(f"touches {_bytes(found.extra)} that it is not meant to")
    if found.missing:
        parts.append(f"leaves out {_bytes(found.missing)} of {found.tensor}")
    return " and ".join(parts)


def _bytes(ranges: Ranges) -> str:
    count = size(ranges)
    return "1 byte" if count == 1 else f"{count} bytes"
