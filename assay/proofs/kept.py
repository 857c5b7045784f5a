"""Answers of the prover, kept on disk by what decides them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Collection
from typing import TYPE_CHECKING

from assay.sim.native.disk_cache import DiskCache, digest

if TYPE_CHECKING:
    from assay.compiler.verify import Answer, Launch
    from assay.sim.simt import Program

_CACHE = DiskCache("proofs")


def kept_answers(
    program: Program,
    launch: Launch,
    about: Collection[str],
    *,
    seconds: float,
    cache: bool,
    offers: bool = True,
    optimised: bool = False,
) -> list[Answer]:
    """What the prover says of some properties; what it said before of the same kernel and launch
    is not asked again. What was left undecided for want of time is.

    Args:
        program: the kernel.
        launch: what is assumed of its launches.
        about: the properties.
        seconds: for each of them.
        cache: whether answers are kept.
        offers: whether an assumption that would help is looked for; else no more than proofs are
            kept.
        optimised: whether the kernel is read with its short loops unrolled.

    Raises:
        UnsupportedKernel: for what proofs cannot be about.
        AssumptionError: for an assumption that is not understood.
    """
    from assay.compiler.verify import prove

    if not cache:
        return prove(program, launch, about, seconds=seconds, offers=offers, optimised=optimised)
    keys = {name: _key(program, launch, name, optimised) for name in about}
    found = {name: answer for name in about if (answer := _stored(keys[name])) is not None}
    if missing := [name for name in about if name not in found]:
        answers = prove(
            program, launch, missing, seconds=seconds, offers=offers, optimised=optimised
        )
        for answer in answers:
            found[answer.about] = answer
            if answer.verdict == "proved" or (offers and not answer.is_late):
                _CACHE.put(keys[answer.about], pickle.dumps(answer))
    return [found[name] for name in about]


def are_kept(program: Program, launch: Launch, about: Collection[str]) -> bool:
    """Whether all answers are known."""
    return all(_CACHE.get(_key(program, launch, name)) is not None for name in about)


def _stored(key: str) -> Answer | None:
    raw = _CACHE.get(key)
    if raw is None:
        return None
    answer: Answer = pickle.loads(raw)
    return answer


def _key(program: Program, launch: Launch, about: str, optimised: bool = False) -> str:
    from assay.compiler.verify import own_version

    names = launch.names
    told = (names.scalars, names.arrays, names.buffers)
    scalars = [[repr(each) for each in kind.values()] for kind in told]
    lengths = sorted(launch.lengths.items())
    pointers = None if launch.pointers is None else sorted(map(repr, launch.pointers.items()))
    about_launch = [
        launch.size,
        scalars,
        launch.holds,
        lengths,
        pointers,
        launch.ragged,
        launch.wide,
    ]
    stated = json.dumps([*about_launch, launch.lanes, about, optimised])
    return digest(own_version(), program.key, stated)
