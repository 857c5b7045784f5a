"""What a change of a kernel costs, or gains."""

from __future__ import annotations

from dataclasses import dataclass

from assay.sim.site import Site


@dataclass(frozen=True, slots=True)
class Cost:
    """Predicted cycles of one launch before and after, on a chip."""

    chip: str
    before: float
    after: float

    def __str__(self) -> str:
        more = self.after - self.before
        part = f" ({more / self.before:+.1%})" if self.before else ""
        return f"{more:+.0f} cycles on {self.chip}{part}, predicted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """What it changes to leave a redundant barrier out.

    Attributes:
        site: the barrier.
        cost: cycles with it and without; None if that cannot be predicted.
        problem: why it cannot.
    """

    site: Site
    cost: Cost | None = None
    problem: str = ""

    def __str__(self) -> str:
        if self.cost is None:
            return f"what it gains is not predicted: {self.problem}"
        return f"without it {self.cost}"
