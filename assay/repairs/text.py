"""Repairs for people and for programs: what is changed, and what that costs."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.hw.apple.facts.chips import chip

from ..prediction.errors import TimeInputError
from ..prediction.sources import kernel_run, time_kernel_run, timed_library
from ..proofs import ProofOptions
from ..proofs.cost import Cost
from ..proofs.text import MEANING
from .repair import Repair


def cost_of(repair: Repair, source: str, options: ProofOptions, name: str = "m1") -> Cost | None:
    """What a repair costs; None if the kernel cannot be timed."""
    try:
        before, after = (
            cycles_of(text, repair.kernel, options, name) for text in (source, repair.source)
        )
    except TimeInputError:
        return None
    return Cost(name, before, after)


def cycles_of(source: str, kernel: str, options: ProofOptions, name: str) -> float:
    """Predicted cycles of a launch on a chip. Raises TimeInputError."""
    library = timed_library(source, options.macros, options.include_paths)
    run = kernel_run(library, kernel, setups=options.inputs.setups)
    return time_kernel_run(run, chip(name)).cycles


def diff_of(repair: Repair, source: str, file_name: str) -> str:
    """The change as a unified diff, as `patch` takes it."""
    lines = difflib.unified_diff(
        source.splitlines(keepends=True),
        repair.source.splitlines(keepends=True),
        file_name,
        file_name,
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Mended:
    """A refuted kernel with what mends it, if anything was found, and what that costs."""

    kernel: str
    repair: Repair | None
    cost: Cost | None

    def text(self, source: str, file_name: str) -> str:
        """For people, who apply it themselves."""
        if self.repair is None:
            return f"kernel '{self.kernel}': no small change was found after which it is proved"
        paid = f"; {self.cost}" if self.cost is not None else ""
        part = " in part" if self.repair.undecided else ""
        steps = ", then ".join(self.repair.what)
        head = f"kernel '{self.kernel}' would be proved{part} with: {steps}{paid}"
        lines = "\n".join([head, *_parts(self.repair)])
        return f"{lines}\n\n{diff_of(self.repair, source, file_name).rstrip()}"

    def to_json(self, source: str, file_name: str) -> dict[str, Any]:
        """The same as data."""
        if self.repair is None:
            return {"kernel": self.kernel, "diff": None}
        cost = self.cost
        cycles = cost and {"chip": cost.chip, "before": cost.before, "after": cost.after}
        return {
            "kernel": self.kernel,
            "what": list(self.repair.what),
            "diff": diff_of(self.repair, source, file_name),
            "proved": list(self.repair.proved),
            "undecided": list(self.repair.undecided),
            "cycles": cycles,
            "tried": self.repair.tried,
        }


def _parts(repair: Repair) -> Iterator[str]:
    """What would be proved and what would not, if that is not all."""
    if repair.undecided:
        yield from (f"  would be proved: {MEANING[each]}" for each in repair.proved)
        yield from (
            f"  stays undecided: {MEANING.get(each, 'what is asked of rings')}"
            for each in repair.undecided
        )
