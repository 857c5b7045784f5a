"""All that is told of a kernel's rings and barriers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from assay.sim.simt.run.program import Program

from ..barriers import share_loops
from ..kernel import prepared
from ..prove import Launch, assumed_of, taken_not_to_wrap
from ..ranges import Lemmas
from ..solver import own_terms
from ..study import Study
from .redundant import Need, needs_of
from .rotation import Ring, Rotation, rings_in
from .tiles import Tiles, tiles_of


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
    if launch.ragged:  # of which it is not followed which threads write
        return Rings(rotations=tuple(rotations_of(program, launch)))
    needs = needs_of(
        program,
        launch.size,
        lambda other: assumed_of(other, launch),
        lanes=launch.lanes,
        pointers=launch.pointers,
    )
    return Rings(rotations=tuple(rotations_of(program, launch)), needs=tuple(needs))


@own_terms()
def rotations_of(program: Program, launch: Launch) -> list[Rotation]:
    """How rings of buffers go round in a kernel, and what is known of their tiles.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
    """
    kernel = prepared(program, launch.size, needed=True)
    share_loops(kernel)
    assumed, lemmas = assumed_of(kernel, launch), Lemmas()

    def tiles(ring: Ring, *, lenient: bool) -> Tiles:
        study = Study(
            kernel, assumed, many=True, lanes=launch.lanes, lenient=lenient, lemmas=lemmas
        )
        found = tiles_of(study, ring)
        return replace(found, rests_on=taken_not_to_wrap(study))

    return [
        replace(ring.rotation, tiles=_exact_if_possible(ring, tiles))
        for ring in rings_in(Study(kernel, assumed, lemmas=lemmas))
    ]


def _exact_if_possible(ring: Ring, ask: Callable[..., Tiles]) -> Tiles:
    """What is known of a ring's tiles; what holds only if nothing wraps, where that is more."""
    exact = ask(ring, lenient=False)
    if exact.proved == 2 or not ring.rotation.is_proved:
        return exact
    lenient = ask(ring, lenient=True)
    return lenient if lenient.proved > exact.proved else exact
