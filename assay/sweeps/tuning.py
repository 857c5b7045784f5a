"""`assay.tune`: the best kernel for each size and chip in few runs, and a selector of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, inf, log
from pathlib import Path
from typing import Any, Final

from assay.hw.apple.core.sample import WAVES

from ..tracebacks import ends_in_caller
from .compare import Target, by_target, label_of
from .errors import SweepError
from .halving import SECOND, Field, Group, Runs, fields, halve
from .point import Recipe, model
from .points import Space
from .refining import boxes, refine
from .rows import Row
from .running import as_space
from .selector import Choice, Selector
from .tree import Leaf
from .workers import Progress, workers_of

TOLERANCE: Final = 0.02
"""What one kernel for several sizes may lose, so that there are few conditions."""
_ROUNDS: Final = 6  # of full runs for kernels that were chosen by cheap ones


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What tuning found, and what it took.

    Attributes:
        selector: the kernels.
        points: how many the space has: runs of an exhaustive sweep.
        tried: sizes on chips that were tried, those of the space and others between them.
        cheap, full: runs that were made with the small and with the usual sample.
        threadgroups: how many were executed for them.
        seconds: of the chosen kernel, by format, chip and size.
    """

    selector: Selector
    points: int
    tried: int
    cheap: int
    full: int
    threadgroups: int
    seconds: Mapping[Target, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """What the chosen kernels lose against the best of a sweep's rows.

    Attributes:
        targets: how many were compared.
        mean: the geometric mean of times over the best's, less 1.
        worst: the same where it is worst.
        where: there.
    """

    targets: int
    mean: float
    worst: float
    where: Target


@ends_in_caller
def tune(
    space: Space | Mapping[str, Any] | str | Path,
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    tolerance: float = TOLERANCE,
    between: bool = True,
    progress: Progress | None = None,
) -> Tuned:
    """Find the fastest kernel for each size on each chip of a space by successive halving.

    Args:
        space: as for `assay.sweep`.
        workers: processes, as many as the machine has cores when not given.
        scheduler: address of a Dask scheduler, whose workers are taken instead.
        tolerance: what one kernel for several sizes may lose at the worst of them.
        between: whether sizes between the given ones are tried, too, so that others lose little.
        progress: told how many runs there are, and how many this rung will have made.

    Raises:
        SweepError: for a space or a scheduler that cannot be used, or a size that nothing runs.
    """
    declared = as_space(space)
    groups = fields(declared.points)
    with workers_of(workers, scheduler) as working:
        runs = Runs(working, progress)
        halve(runs, groups)
        if between:
            refine(runs, groups, declared, tolerance)
        found = _chosen(runs, groups, tolerance)
    choices = {
        group: tuple(
            Choice(when=leaf.condition, recipe=leaf.kernel, sizes=leaf.sizes) for leaf in parts
        )
        for group, parts in found.items()
    }
    return Tuned(
        selector=Selector(name=declared.name, model=model(), choices=choices),
        points=len(declared.points),
        tried=sum(map(len, groups.values())),
        cheap=runs.cheap,
        full=runs.full,
        threadgroups=runs.threadgroups,
        seconds={
            (*group, *size): runs.seconds(groups[group][size][leaf.kernel], SECOND)
            for group, parts in found.items()
            for leaf in parts
            for size in leaf.sizes
        },
    )


def loss(selector: Selector, rows: Iterable[Row]) -> Loss:
    """What a selector loses on the rows of an exhaustive sweep. Raises SweepError."""
    times: dict[Target, float] = {}
    for target, group in by_target(rows).items():
        policy, chip, *size = target
        if (policy, chip) not in selector.choices:
            continue
        recipe = selector.recipe((size[0], size[1], size[2]), chip=chip, policy=policy)
        own = next((row["seconds"] for row in group if label_of(row) == recipe.label), None)
        times[target] = inf if own is None else own / group[0]["seconds"]
    if not times:
        raise SweepError(f"{selector.name}: the rows are of other chips or formats")
    where = max(times, key=lambda target: times[target])
    mean = exp(sum(map(log, times.values())) / len(times))
    return Loss(targets=len(times), mean=mean - 1, worst=times[where] - 1, where=where)


def _chosen(
    runs: Runs, groups: Mapping[Group, Field], tolerance: float
) -> dict[Group, list[Leaf[Recipe]]]:
    """Boxes of sizes with their kernels, each of which had a full run for each of its sizes."""
    for _ in range(_ROUNDS):
        found = {group: boxes(runs, group, of, tolerance) for group, of in groups.items()}
        chosen = [
            groups[group][size][leaf.kernel]
            for group, parts in found.items()
            for leaf in parts
            for size in leaf.sizes
        ]
        if all(runs.waves(point) == WAVES for point in chosen):
            break
        runs.make(chosen, WAVES)
    return found
