"""Findings that say the contrary of a proof."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from .kinds import KINDS_OF, OF_THREADGROUPS, memory_of

if TYPE_CHECKING:
    from assay.sim.check import Finding

    from .proof import KernelProof


def contradicted(
    proof: KernelProof, findings: Iterable[Finding], buffers: Collection[str] = ()
) -> dict[str, Finding]:
    """What is proved of a kernel though something of that sort was found in it, and the finding.

    It may be of another launch of the kernel, or of a thread's own memory: nobody should have to
    tell that. `buffers` names arguments that are certainly no threadgroup memory.
    """
    found: dict[str, Finding] = {}
    for finding in findings:
        if finding.kernel != proof.name:
            continue
        for answer in proof.answers:
            is_meant = finding.kind in KINDS_OF[answer.about]
            is_other = answer.about in OF_THREADGROUPS and memory_of(finding) in buffers
            if answer.verdict == "proved" and is_meant and not is_other:
                found.setdefault(answer.about, finding)
    return found
