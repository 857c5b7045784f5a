"""Whether bindings and segments of an executable lie where its compiler meant them to."""

from __future__ import annotations

from collections.abc import Iterator

from assay.hw.torq.check.names import name_of
from assay.hw.torq.check.npu_finding import npu_finding
from assay.sim.check import Finding, UnitPlace

from .format import Executable


def misplaced(executable: Executable, program: str = "") -> Iterator[Finding]:
    """What lies elsewhere, or is of another size; nothing if the notes name no places."""
    places = [place for place in executable.notes.places if place.memory == "XRAM"]
    if not places:
        return
    there = {
        (binding.address, binding.address + binding.size): f"binding {number}"
        for number, binding in enumerate(executable.bindings)
    }
    for number, segment in enumerate(executable.segments):
        if segment.data is not None:
            there[segment.address, segment.address + segment.size] = f"segment {number}"
    meant = {(place.start, place.stop) for place in places}
    for (start, stop), what in there.items():
        if (start, stop) not in meant:
            message = f"{what} lies where its compiler put nothing of that size"
            named = name_of({"XRAM": places}, "XRAM", start, stop)
            yield _finding(message, start, stop, named, program)
    for place in places:
        if (place.start, place.stop) not in there:
            message = "no binding or segment is what its compiler put there"
            yield _finding(message, place.start, place.stop, place.name, program)


def _finding(message: str, start: int, stop: int, name: str, program: str) -> Finding:
    return npu_finding(
        "npu-operand",
        message,
        UnitPlace(unit="HOST"),
        program=program,
        memory="XRAM",
        start=start,
        stop=stop,
        tensor=name,
    )
