"""Repairs for people and for programs: what is changed, and what that costs."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.hw.apple.facts.chips import chip

from ..prediction.errors import TimeInputError
from ..prediction.sources import kernel_run, time_kernel_run, timed_library
from ..proofs import ProofOptions
from ..proofs.cost import Cost
from ..proofs.text import MEANING
from .repair import Repair


def cost_of(repair: Repair, source: str, options: ProofOptions, name: str = "m1") -> Cost | str:
    """What a repair costs, or why that is not known."""
    try:
        before, after = (
            cycles_of(text, repair.kernel, options, name) for text in (source, repair.source)
        )
    except TimeInputError as error:
        return str(error).partition("\n")[0]
    return Cost(name, before, after)


def cycles_of(source: str, kernel: str, options: ProofOptions, name: str) -> float:
    """Predicted cycles of a launch on a chip. Raises TimeInputError."""
    library = timed_library(source, options.macros, options.include_paths)
    run = kernel_run(library, kernel, setups=options.inputs.setups)
    return time_kernel_run(run, chip(name)).cycles


def diff_of(repair: Repair, source: str, file_name: str, line_end: str = "\n") -> str:
    """The change as a unified diff, as `patch` takes it.

    Args:
        repair: what is changed.
        source: the text without it.
        file_name: its name.
        line_end: what ends a line in that file.
    """
    lines = difflib.unified_diff(_lines(source), _lines(repair.source), file_name, file_name)
    head = list(itertools.islice(lines, 2))
    return "".join([*head, *(_ended(line, line_end) for line in lines)])


def _lines(text: str) -> list[str]:
    *whole, last = text.split("\n")
    return [*(f"{each}\n" for each in whole), *([last] if last else [])]


def _ended(line: str, line_end: str) -> str:
    """A line of a diff, as long as it is part of the file with the end that the file has."""
    if not line.endswith("\n"):
        return f"{line}\n\\ No newline at end of file\n"
    return line if line.startswith("@@ ") else line.removesuffix("\n") + line_end


def line_end_of(file: Path) -> str:
    """What ends the lines of a file."""
    raw = file.read_bytes()
    is_carried = 0 < raw.count(b"\n") == raw.count(b"\r\n")
    return "\r\n" if is_carried else "\n"


@dataclass(frozen=True, slots=True)
class Mended:
    """A refuted kernel with what mends it, if anything was found.

    Attributes:
        cost: what that costs, or why it is not known; None if nothing was found.
        line_end: what ends a line in the kernel's file.
    """

    kernel: str
    repair: Repair | None
    cost: Cost | str | None = None
    line_end: str = "\n"

    def text(self, source: str, file_name: str) -> str:
        """For people, who apply it themselves."""
        if self.repair is None:
            return f"kernel '{self.kernel}': no small change was found after which it is proved"
        is_known = isinstance(self.cost, Cost)
        paid = f"; {self.cost}" if is_known else f"; its cost is not known: {self.cost}"
        part = " in part" if self.repair.undecided else ""
        steps = ", then ".join(self.repair.what)
        head = f"kernel '{self.kernel}' would be proved{part} with: {steps}{paid}"
        lines = "\n".join([head, *_parts(self.repair)])
        diff = diff_of(self.repair, source, file_name, self.line_end).removesuffix("\n")
        return f"{lines}\n\n{diff}"

    def to_json(self, source: str, file_name: str) -> dict[str, Any]:
        """The same as data."""
        if self.repair is None:
            return {"kernel": self.kernel, "diff": None}
        cost = self.cost if isinstance(self.cost, Cost) else None
        cycles = cost and {"chip": cost.chip, "before": cost.before, "after": cost.after}
        return {
            "kernel": self.kernel,
            "what": list(self.repair.what),
            "diff": diff_of(self.repair, source, file_name, self.line_end),
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
