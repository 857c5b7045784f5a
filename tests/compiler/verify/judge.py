"""Proofs of random kernels against what their threads do in some launches.

The launches come first: a proof is only asked for of what goes wrong in one of them, since it
could contradict nothing else. Where accesses are known that go wrong, those are asked about first;
if they are not even proved alone, the property is not.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from assay.compiler.verify import Answer, Effort, Launch, Names, Scalar, prove
from assay.sim.simt import Program
from assay.sim.site import Site
from tests.support.kernels import ENTRY, assemble

from .all_threads import launched
from .meetings import Fault, faults
from .random_kernels import ARRAYS, Memory, RandomKernel, Sizes
from .random_text import PARAMETERS, text

_SMALL = (Sizes(0, 0), Sizes(1, 3), Sizes(3, 1), Sizes(5, 64), Sizes(64, 2))
_NUMBERS = (1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 40, 64, 65, 96, 128, 160, 192, 256)
_GROUPS = ((1, 1), (2, 1), (3, 1), (2, 2), (1, 2))
_LAUNCHES, _TRIES = 6, 60
_NAMES = Names(
    {
        name: Scalar(name=name, argument=name, parameter=at, width=32, is_signed=False)
        for at, name in enumerate(("n", "m"))
    }
)
QUICK = Effort(examples=1, seconds=0.3, is_for_proofs=True)
LONG = Effort(examples=1, is_for_proofs=True)


@dataclass(frozen=True, slots=True)
class Found:
    """What goes wrong in a launch, and whether nothing wraps in it."""

    fault: Fault
    sizes: Sizes
    is_plain: bool


def satisfying(kernel: RandomKernel, seed: int) -> list[Sizes]:
    """Launches that fulfil what is assumed of the kernel's."""
    if kernel.words == 65536 and not (kernel.holds or kernel.lengths or kernel.is_ragged):
        return list(_SMALL)
    chance = random.Random(seed)
    found: list[Sizes] = []
    for _ in range(_TRIES):
        sizes = Sizes(chance.choice(_NUMBERS), chance.choice(_NUMBERS), chance.choice(_GROUPS))
        if kernel.is_ragged and sizes.groups[1] == 1 and kernel.size[1] == 1:
            sizes = replace(sizes, lacks=chance.randrange(kernel.threads))
        if all(_value(each, kernel, sizes) for each in kernel.holds) and sizes not in found:
            found.append(sizes)
        if len(found) == _LAUNCHES:
            break
    return found


def _value(expression: str, kernel: RandomKernel, sizes: Sizes) -> int:
    across, down = (a * b for a, b in zip(sizes.groups, kernel.size, strict=True))
    names = {
        "n": sizes.n,
        "m": sizes.m,
        "groups": _Axes(*sizes.groups),
        "grid": _Axes(across - sizes.lacks, down),
    }
    return int(eval(expression, {"__builtins__": {}}, names))


@dataclass(frozen=True, slots=True)
class _Axes:
    x: int
    y: int


def found_in_launches(kernel: RandomKernel, seed: int) -> list[Found]:
    """What goes wrong in some launches, each thing in each way once."""
    found: dict[tuple[str, bool], Found] = {}
    for sizes in satisfying(kernel, seed):
        log = launched(kernel, sizes)
        lengths: dict[Memory, int] = dict.fromkeys(range(ARRAYS), 4 * kernel.words)
        lengths |= {name: _value(each, kernel, sizes) for name, each in kernel.lengths.items()}
        for fault in faults(log, lengths):
            found.setdefault((fault.about, not log.wraps), Found(fault, sizes, not log.wraps))
    return list(found.values())


def program_of(kernel: RandomKernel, name: str) -> Program:
    """A kernel as the engines have it."""
    made = assemble.__wrapped__(text(kernel), PARAMETERS)
    return Program(made.bitcode, ENTRY, name=name, parameters=made.parameters)


def answers(
    program: Program,
    kernel: RandomKernel,
    about: Collection[str],
    effort: Effort,
    *,
    optimised: bool = False,
) -> dict[str, Answer]:
    """What the prover says of properties of a kernel as it is written, or with loops unrolled."""
    width, height = kernel.size
    launch = Launch(
        size=(width, height, 1),
        names=_NAMES,
        holds=kernel.holds,
        lengths=kernel.lengths,
        ragged=kernel.is_ragged,
    )
    found = prove(program, launch, about, effort=effort, optimised=optimised)
    return {each.about: each for each in found}


def contradictions(
    kernel: RandomKernel, name: str, seed: int, effort: Effort = QUICK, *, optimised: bool = False
) -> list[str]:
    """Proofs about a kernel that some launch contradicts.

    Args:
        kernel: the kernel.
        name: what it is called in answers.
        seed: chooses launches.
        effort: of the prover, which finds less with less of it.
        optimised: whether the prover reads the kernel with its loops unrolled.
    """
    found = found_in_launches(kernel, seed)
    if not found:
        return []
    program = program_of(kernel, name)
    return [
        f"{name}: {each.fault.about} is proved; {each.sizes} contradicts it at statements "
        f"{sorted(each.fault.statements)}"
        for each in found
        if is_proved(program, kernel, each, effort, optimised=optimised)
    ]


def is_proved(
    program: Program, kernel: RandomKernel, found: Found, effort: Effort, *, optimised: bool = False
) -> bool:
    """Whether the prover says that what was found does not happen."""
    about = (found.fault.about,)
    sites = _sites(program, found.fault)
    if sites and not optimised:
        narrow = replace(effort, only=sites)
        if not _says_so(answers(program, kernel, about, narrow), found):
            return False
    return _says_so(answers(program, kernel, about, effort, optimised=optimised), found)


def _says_so(given: Mapping[str, Answer], found: Found) -> bool:
    """Whether a property is proved for the launch; some proofs are for launches without wraps."""
    answer = given.get(found.fault.about)
    if answer is None or answer.verdict != "proved":
        return False
    return found.is_plain or not answer.rests_on


def _sites(program: Program, fault: Fault) -> frozenset[frozenset[Site]]:
    """Places of the accesses that go wrong; none if they are not found."""
    if fault.about == "barriers" or not fault.statements:
        return frozenset()
    by_line: dict[int, Site] = {each.line: each for each in _accessed(program)}
    if not all(number in by_line for number in fault.statements):
        return frozenset()
    return frozenset([frozenset(by_line[number] for number in fault.statements)])


def _accessed(program: Program) -> Iterator[Site]:
    function = program.marked_function(frozenset({"loops", "race"}))
    return (each.site for each in function.instructions() if each.operation.accesses_memory)
