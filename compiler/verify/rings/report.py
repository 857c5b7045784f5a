"""All that is told of a kernel's rings and barriers."""

from __future__ import annotations

from dataclasses import dataclass

from assay.sim.simt.run.program import Program

from ..barriers import share_loops
from ..kernel import prepared
from ..prove import Launch, assumed_of
from ..study import Study
from .redundant import Need, needs_of
from .rotation import Rotation, rotations


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
    kernel = prepared(program, launch.size)
    share_loops(kernel)
    study = Study(kernel, assumed_of(kernel, launch))
    needs = needs_of(
        program, launch.size, lambda other: assumed_of(other, launch), lanes=launch.lanes
    )
    return Rings(rotations=tuple(rotations(study)), needs=tuple(needs))
