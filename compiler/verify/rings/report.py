"""All that is told of a kernel's rings and barriers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Final

from assay.sim.simt.run.program import Program

from .. import barriers, races
from ..answers import Answer, Obstacle
from ..assumed.launch import Launch, assumed_of
from ..barriers import share_loops
from ..initial import ABOUT as INITIALISED
from ..kernel import prepared
from ..prove import taken_not_to_wrap
from ..ranges import Lemmas
from ..solver import own_terms
from ..study import Study
from .redundant import Need, needs_of
from .rotation import Ring, Rotation, rings_in
from .tiles import Tiles, tiles_of
from .whole import left_out

RESTS_ON: Final = (barriers.ABOUT, races.THREADGROUP, INITIALISED)
"""Properties that all of it rests on: which iteration a thread is in while another one reads, and
what it finds there, is not known where threads part at barriers, race, or read what nobody wrote.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rings:
    """A kernel's rings, and whether it needs its barriers: empty if not all is proved of it."""

    rotations: tuple[Rotation, ...] = ()
    needs: tuple[Need, ...] = ()


def rings_of(program: Program, launch: Launch, answers: Iterable[Answer]) -> Rings:
    """How rings of buffers go round in a kernel, and which of its barriers are redundant.

    Args:
        program: the kernel.
        launch: what is assumed of its launches.
        answers: what `prove` found of the same, without which no ring is told as proved: of what
            `RESTS_ON` names.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
    """
    rotations = tuple(rotations_of(program, launch, answers))
    if launch.ragged:  # of which it is not followed which threads write
        return Rings(rotations=rotations)
    needs = needs_of(
        program,
        launch.size,
        lambda other: assumed_of(other, launch),
        lanes=launch.lanes,
        pointers=launch.pointers,
        contents=launch.names.contents(launch.holds, launch.lengths),
    )
    return Rings(rotations=rotations, needs=tuple(needs))


@own_terms()
def rotations_of(program: Program, launch: Launch, answers: Iterable[Answer]) -> list[Rotation]:
    """How rings of buffers go round in a kernel, and what is known of their tiles.

    Args:
        program: the kernel.
        launch: what is assumed of its launches.
        answers: as for `rings_of`.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
    """
    kernel = prepared(program, launch.size, pointers=launch.pointers, needed=True)
    kernel.is_ragged = launch.ragged
    share_loops(kernel)
    assumed, lemmas = assumed_of(kernel, launch), Lemmas()
    rings = rings_in(Study(kernel, assumed, lemmas=lemmas))
    if open := _open(answers):
        return [_undecided(ring.rotation, open) for ring in rings]
    whole = prepared(program, launch.size, pointers=launch.pointers) if rings else kernel

    def tiles(ring: Ring, *, lenient: bool) -> Tiles:
        study = Study(kernel, assumed, many=True, lenient=lenient, lemmas=lemmas)
        found = tiles_of(study, ring)
        return replace(found, rests_on=taken_not_to_wrap(study))

    def known(ring: Ring) -> Rotation:
        rotation = ring.rotation
        if lacks := tuple(dict.fromkeys(left_out(ring, kernel, whole))):
            return _unproved(rotation, *lacks)
        full = not launch.ragged
        return replace(
            rotation, tiles=_exact_if_possible(ring, tiles) if full else _of_not_full(rotation)
        )

    return [known(ring) for ring in rings]


def _open(answers: Iterable[Answer]) -> list[str]:
    """What rings rest on and is not proved."""
    proved = {each.about for each in answers if each.verdict == "proved" and not each.in_order}
    return [about for about in RESTS_ON if about not in proved]


def _undecided(rotation: Rotation, open: list[str]) -> Rotation:
    """A rotation of which nothing counts as proved before what it rests on is."""
    why = f"nothing is proved of it before this is: {', '.join(open)}"
    return _unproved(rotation, Obstacle(why=why, site=rotation.site))


def _unproved(rotation: Rotation, *why: Obstacle) -> Rotation:
    """A rotation of which nothing counts as proved."""
    tiles = Tiles(are_in_order=False, are_read=False, obstacles=why)
    return replace(rotation, is_proved=False, tiles=tiles)


def _of_not_full(rotation: Rotation) -> Tiles:
    """What is known of tiles where threadgroups may lack threads that load, or that read."""
    why = "which threads of threadgroups that are not full load and read is not followed"
    obstacle = Obstacle(why=why, site=rotation.site)
    return Tiles(are_in_order=False, are_read=False, obstacles=(obstacle,))


def _exact_if_possible(ring: Ring, ask: Callable[..., Tiles]) -> Tiles:
    """What is known of a ring's tiles; what holds only if nothing wraps, where that is more."""
    exact = ask(ring, lenient=False)
    if exact.proved == 2 or not ring.rotation.is_proved:
        return exact
    lenient = ask(ring, lenient=True)
    return lenient if lenient.proved > exact.proved else exact
