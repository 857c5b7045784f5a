"""What is assumed of the launches that proofs are about, and whether there are any."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..kernel import Kernel, Size
from ..memory.pointers import Pointers
from ..study import Assumed, Study
from ..terms import Expression
from ..values import Values
from .assumptions import AssumptionError, Names, unused_axes
from .contents import Contents, may_be_written


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What is assumed of launches.

    Attributes:
        size: threads of a threadgroup.
        names: what assumptions may speak of.
        holds: conditions on arguments and sizes of grids, such as `grid.x <= n`.
        lengths: bytes of arguments that stand for memory, such as `4 * n`, by name.
        pointers: where pointers in arguments lead to; None to assume that the memory behind each
            overlaps no other.
        ragged: whether the last threadgroups of a grid may not be full.
        lanes: whether nothing but barriers orders lanes of a simdgroup, rather than lock step.
        wide: dimensions in which grids are known to have several threadgroups, though the kernel
            may not ask about them.
    """

    size: Size
    names: Names = field(default_factory=lambda: Names({}))
    holds: tuple[str, ...] = ()
    lengths: Mapping[str, str] = field(default_factory=dict)
    pointers: Pointers | None = None
    ragged: bool = False
    lanes: bool = False
    wide: tuple[int, ...] = ()


def assumed_of(kernel: Kernel, launch: Launch) -> Assumed:
    """What holds of the launches that are meant, for a thread's values."""
    unused = [axis for axis in unused_axes(kernel) if axis not in launch.wide]

    def found(values: Values) -> list[Expression]:
        groups = [values.thread.groups[axis].value == 1 for axis in unused]
        return [*groups, *(launch.names.condition(text, values) for text in launch.holds)]

    return found


def contents_of(kernel: Kernel, launch: Launch) -> Contents:
    """What is assumed of numbers in buffers. Raises AssumptionError."""
    contents = launch.names.contents(launch.holds, launch.lengths)
    for each in contents.buffers:
        if may_be_written(kernel, each):
            raise AssumptionError(
                f"of the numbers in '{each.name}' nothing can be assumed: the kernel may write them"
            )
    return contents


def refuse_contradictions(kernel: Kernel, launch: Launch, study: Study) -> None:
    """Raises AssumptionError where all would be proved, since nothing is as it is assumed to be."""
    contents = kernel.contents
    lengths = [launch.names.number(text, study.a) > 0 for text in launch.lengths.values()]
    stated = [*lengths, *contents.singles(study.a)]
    together = "no launch fulfils all that is assumed together" + (
        ", with a byte in each buffer of stated length" if lengths else ""
    )
    if (launch.holds or lengths) and study.possible(*stated) == "no":
        raise AssumptionError(together)
    for name, conditions in contents.numbers(study.a):
        if study.possible(*conditions) == "no":
            raise AssumptionError(f"no number is as those in '{name}' are assumed to be")
        stated += conditions
    for names, conditions in contents.room(study.a):
        if study.possible(*conditions) == "no":
            raise AssumptionError(
                f"there are fewer numbers as those in {names} are assumed to be than elements, so "
                "that no two can be unlike"
            )
        stated += conditions
    if contents.buffers and study.possible(*stated) == "no":
        raise AssumptionError(together)


def can_be(kernel: Kernel, launch: Launch) -> bool:
    """Whether some launch fulfils all that is assumed."""
    further = replace(kernel, contents=contents_of(kernel, launch))
    study = Study(further, assumed_of(further, launch))
    with contextlib.suppress(AssumptionError):
        refuse_contradictions(further, launch, study)
        return study.possible() == "yes"
    return False
