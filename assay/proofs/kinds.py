"""Which findings are about a property, and of which memory: others of the same checks say nothing
of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.sim.check.finding import DECLARED

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction
    from assay.compiler.verify.answers import Counterexample
    from assay.sim.check import Finding

_RACES = frozenset(
    {
        "race-read-write",
        "race-write-write",
        "weak-memory-flags",
        "copy-not-waited",
        "lane-race",
    }
)

# Other kinds of the same checks are about what is not proved: textures, hosts, ends of loops.
KINDS_OF: Mapping[str, frozenset[str]] = {
    "barriers": frozenset({"barrier-divergence"}),
    "threadgroup races": _RACES,
    "initialised": frozenset({"uninitialised-read"}),
    "buffer races": _RACES,
    "bounds": frozenset({"out-of-bounds-read", "out-of-bounds-write"}),
}
"""The kinds of findings that violate a property."""

OF_THREADGROUPS = frozenset({"threadgroup races", "initialised"})
"""Properties of threadgroup memory alone."""

_ARGUMENT = re.compile(r"(?:.* \()?argument '(.*)'\)?")


def memory_of(finding: Finding) -> str:
    """The memory of a finding as the kernel calls it: checks quote names, faults do not."""
    argument = _ARGUMENT.fullmatch(finding.memory)
    return argument[1] if argument is not None else finding.memory.strip("'")


@dataclass(frozen=True, slots=True)
class Memories:
    """What a kernel calls its memory.

    Attributes:
        threadgroup: names of threadgroup memory.
        others: names of all other memory, of a thread's own too; some may be names of both.
        unsure: names of threadgroup memory of which it is not known which array they mean.
    """

    threadgroup: frozenset[str] = frozenset()
    others: frozenset[str] = frozenset()
    unsure: frozenset[str] = frozenset()

    def is_about(self, finding: Finding, about: str) -> bool:
        """Whether a finding violates a property, as far as its kind and its memory tell."""
        if finding.kind not in KINDS_OF[about]:
            return False
        if any(party.what == DECLARED for party in finding.parties):
            return False  # an array of a thread's own, whatever the source calls it
        memory = memory_of(finding)
        if about in OF_THREADGROUPS:
            return memory in self.threadgroup - self.others
        return about != "buffer races" or memory not in self.threadgroup

    def may_be_one(self, finding: Finding, example: Counterexample) -> bool:
        """Whether a finding may be of the memory that a counterexample is about."""
        found, meant = memory_of(finding), example.memory
        if not meant or found == meant:
            return True
        if self.unsure & {found, meant}:
            return {found, meant} <= self.threadgroup
        # A run calls what is behind a pointer otherwise than the kernel does.
        return self.threadgroup.union(self.others).isdisjoint({found, meant})


def memories_of(kernel: KernelFunction) -> Memories:
    """What a kernel calls its memory, as its runs and as its proofs see it."""
    from assay.compiler.verify.kernel import LOOPS
    from assay.sim.simt.ir.nodes import THREADGROUP_ROOTS, AddressRoot, ThreadgroupArenaRoot

    program = kernel.program()
    functions = (program.function, program.marked_function(LOOPS))
    roots = {
        each.root
        for function in functions
        for each in function.instructions()
        if each.root is not None and not isinstance(each.root, AddressRoot)
    }
    shared = {each for each in roots if isinstance(each, THREADGROUP_ROOTS)}
    arguments = {
        each.name for each in kernel.arguments if each.address_space != "threadgroup"
    }  # also those that are not accessed
    return Memories(
        threadgroup=frozenset(each.name for each in shared),
        others=frozenset({*arguments, *(each.name for each in roots - shared)}),
        unsure=frozenset(each.name for each in shared if isinstance(each, ThreadgroupArenaRoot)),
    )
