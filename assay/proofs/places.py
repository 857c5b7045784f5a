"""Where findings are: what LLVM makes of several lines, a run finds at one that may be no such."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assay.compiler.verify.answers import Counterexample
from assay.sim.check import Finding, Party
from assay.sim.site import Site

from .kinds import memory_of

if TYPE_CHECKING:
    from assay.sim.simt.run.program import Program

_KINDS = ("read", "write")
_Line = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where a kernel's source accesses memory.

    Attributes:
        named: whether it reads or writes, the memory, and the line.
        others: lines with accesses of which the memory is not known.
    """

    named: Collection[tuple[str, str, _Line]]
    others: Collection[_Line]

    def placed(self, finding: Finding, example: Counterexample) -> Finding:
        """A finding of a counterexample, at lines that do what it says is done there.

        Args:
            finding: what a run of it found.
            example: the counterexample, whose places are those of the source.
        """
        memory = memory_of(finding)
        parties = (self._placed(each, memory, example) for each in finding.parties)
        return replace(finding, parties=tuple(parties))

    def _placed(self, party: Party, memory: str, example: Counterexample) -> Party:
        kind, line = party.what.partition(" ")[0], _line(party.site)
        if kind not in _KINDS or (kind, memory, line) in self.named or line in self.others:
            return party
        known = (each.site for each in example.actors if each.what.startswith(kind))
        return replace(party, site=next(known, party.site))


def places_of(program: Program) -> Places:
    """Where a kernel's source accesses memory."""
    from assay.compiler.verify.kernel import LOOPS
    from assay.sim.simt.ir.nodes import AddressRoot

    named: set[tuple[str, str, _Line]] = set()
    others: set[_Line] = set()
    for each in program.marked_function(LOOPS).instructions():
        does = (each.operation.reads_memory, each.operation.writes_memory)
        if each.root is None or isinstance(each.root, AddressRoot):
            others.update([_line(each.site)] if any(does) else ())
            continue
        kinds = (kind for kind, is_done in zip(_KINDS, does, strict=True) if is_done)
        named.update((kind, each.root.name, _line(each.site)) for kind in kinds)
    return Places(named=named, others=others)


def _line(site: Site) -> _Line:
    return site.file, site.line
