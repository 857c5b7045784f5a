"""What redundant barriers cost: cycles of a launch with and without each, on a chip."""

from __future__ import annotations

from dataclasses import replace

from assay.compiler.msl import CompileError
from assay.sim.site import Site

from ..edits import Edit, applied, offset_of, statements
from ..launches.errors import LaunchInputError
from ..prediction.errors import TimeInputError
from ..proofs import KernelProof, ProofOptions
from ..proofs.cost import Cost, Gain
from .barriers import is_barrier
from .text import cycles_of

_ELSEWHERE = "it does not stand as a statement of this file"


def with_gains(
    proof: KernelProof, source: str, file_name: str, options: ProofOptions, chip: str
) -> KernelProof:
    """A proof with what leaving out each redundant barrier would gain.

    Args:
        proof: of a kernel, with its rings and barriers.
        source: the text that has the kernel.
        file_name: its name.
        options: as the kernel was proved; the launch that is timed is that of `//!` lines or of
            the options.
        chip: by name.
    """
    if proof.rings is None:
        return proof
    sites = [need.site for need in proof.rings.needs if need.is_redundant]
    if not sites:
        return proof
    try:
        before = cycles_of(source, proof.name, options, chip)
    except (TimeInputError, LaunchInputError, CompileError) as error:
        gains = [Gain(site=each, problem=str(error)) for each in sites]
    else:
        texts = [_without(source, file_name, each) for each in sites]
        gains = [
            _gain(site, text, proof.name, options, chip, before)
            for site, text in zip(sites, texts, strict=True)
        ]
    return replace(proof, gains=tuple(gains))


def _gain(
    site: Site, text: str | None, kernel: str, options: ProofOptions, chip: str, before: float
) -> Gain:
    if text is None:
        return Gain(site=site, problem=_ELSEWHERE)
    try:
        after = cycles_of(text, kernel, options, chip)
    except (TimeInputError, LaunchInputError, CompileError) as error:
        return Gain(site=site, problem=str(error))
    return Gain(site=site, cost=Cost(chip, before, after))


def _without(source: str, file_name: str, site: Site) -> str | None:
    """The text less a barrier; None if that is no statement of it."""
    if site.file != file_name or not site.line:
        return None
    node = statements(source).at(offset_of(source, site.line, site.column))
    if not is_barrier(node, source):
        return None
    return applied(source, [Edit(node.start, node.end, ";")])
