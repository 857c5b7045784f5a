"""All that is told of a kernel's rings and barriers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from assay.sim.simt.run.program import Program

from ..barriers import share_loops
from ..kernel import prepared
from ..prove import Launch, assumed_of
from ..ranges import Lemmas
from ..study import Study
from .redundant import Need, needs_of
from .rotation import Rotation, rings_in
from .tiles import tiles_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Rings:
    """A kernel's rings, and whether it needs its barriers: empty if not all is proved of it."""

    rotations: tuple[Rotation, ...] = ()
    needs: tuple[Need, ...] = ()


def rings_of(program: Program, launch: Launch) -> Rings:
    """How rings of buffers go round in a kernel, and which of its barriers are redundant.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
    """
    needs = needs_of(
        program, launch.size, lambda other: assumed_of(other, launch), lanes=launch.lanes
    )
    return Rings(rotations=tuple(rotations_of(program, launch)), needs=tuple(needs))


def rotations_of(program: Program, launch: Launch) -> list[Rotation]:
    """How rings of buffers go round in a kernel, and what is known of their tiles.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
    """
    kernel = prepared(program, launch.size)
    share_loops(kernel)
    assumed, lemmas = assumed_of(kernel, launch), Lemmas()
    found = []
    for ring in rings_in(Study(kernel, assumed, lemmas=lemmas)):
        study = Study(kernel, assumed, many=True, lanes=launch.lanes, lemmas=lemmas)
        found.append(replace(ring.rotation, tiles=tiles_of(study, ring)))
    return found
