"""The pipelines that products are declared by, and products that take two dispatches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from assay.compiler.foundry import library as declared
from assay.compiler.foundry.pipelines import (
    MARLIN,
    Budget,
    Pipeline,
    Simdgroups,
    Threads,
    Tile,
)

from .kernel import Kernel

if TYPE_CHECKING:
    from ..checks import Report

__all__ = [
    "MARLIN",
    "Budget",
    "Pipeline",
    "Simdgroups",
    "Striped",
    "Threads",
    "Tile",
    "striped",
]


class Striped:
    """A product in two dispatches: slices of k by a number of threadgroups, then their sum.

    `kernels` are both, each a `Kernel`.
    """

    def __init__(self, partials: Kernel, total: Kernel) -> None:
        self.kernels = (partials, total)

    def __call__(self, *, matrix: Any, scales: Any, x: Any, **given: Any) -> NDArray[Any]:
        """The product, with the epilogue's own arguments by name. Raises as `Kernel` does."""
        partials, total = self.kernels
        made: NDArray[Any] = total(partials=partials(matrix=matrix, scales=scales, x=x), **given)
        return made

    def check(self, *, matrix: Any, scales: Any, x: Any, **given: Any) -> tuple[Report, Report]:
        """Runs both under all checks; what they found."""
        partials, total = self.kernels
        weighted = {"matrix": matrix, "scales": scales, "x": x}
        first = partials.check(**weighted)
        return first, total.check(partials=partials(**weighted), **given)


def striped(*args: Any, **kwargs: Any) -> Striped:
    """As `assay.foundry.library.gemm`, with `slices` of k and a number of threadgroups, `groups`.

    Slices are summed by a kernel of their own; the threadgroups take tiles of slices in turn.
    """
    (first, first_grid), (last, last_grid) = declared.striped(*args, **kwargs)
    return Striped(Kernel(first, grid=first_grid), Kernel(last, grid=last_grid))
