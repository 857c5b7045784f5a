"""Findings that say the contrary of a proof."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from .replay import CHECK_OF, LANES

if TYPE_CHECKING:
    from assay.sim.check import Finding

    from .proof import KernelProof

# Other kinds of the same checks are about what is not proved: textures, hosts, ends of loops.
_KINDS = frozenset(
    {
        "race-read-write",
        "race-write-write",
        "weak-memory-flags",
        "copy-not-waited",
        "lane-race",
        "uninitialised-read",
        "out-of-bounds-read",
        "out-of-bounds-write",
        "barrier-divergence",
    }
)


_OF_THREADGROUPS = frozenset({"threadgroup races", "initialised"})


def contradicted(
    proof: KernelProof, findings: Iterable[Finding], buffers: Collection[str] = ()
) -> dict[str, Finding]:
    """What is proved of a kernel though something of that sort was found in it, and the finding.

    It may be of another launch of the kernel, or of a thread's own memory: nobody should have to
    tell that. `buffers` names arguments that are certainly no threadgroup memory.
    """
    found: dict[str, Finding] = {}
    for finding in findings:
        if finding.kernel != proof.name or finding.kind not in _KINDS:
            continue
        check = "race" if finding.check == LANES else finding.check
        for answer in proof.answers:
            is_other = answer.about in _OF_THREADGROUPS and finding.memory.strip("'") in buffers
            if answer.verdict == "proved" and CHECK_OF[answer.about] == check and not is_other:
                found.setdefault(answer.about, finding)
    return found
