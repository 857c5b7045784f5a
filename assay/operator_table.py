"""Tables of a model's operators on the NPU, and what its compiler expects of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.notes import OperatorNote
from assay.hw.torq.timing.operators import DMA_IN, DMA_OUT

WIDEST = 44
"""Letters of an operator's name that are shown."""


def expected_lines(notes: Sequence[OperatorNote]) -> list[str]:
    """The table of what a compiler expects, a line each; cycles are of the unit alone."""
    if not notes:
        return []
    titles = ["operator", "way", "MACs", "slices", "DMA in", "DMA out", "in B", "out B", "LRAM B"]
    rows = [_expected(note) for note in (*notes, _all(notes))]
    return aligned([[*titles, "bound by"], *rows])


def way_counts(notes: Iterable[OperatorNote]) -> dict[str, int]:
    """How many operators of the model came to the NPU by which way; those without one are left."""
    counted = Counter(note.way for note in notes if note.way)
    return dict(sorted(counted.items()))


def _all(notes: Sequence[OperatorNote]) -> OperatorNote:
    """The sums of all operators; of LRAM the most."""
    sums = {key: sum(getattr(note, key) for note in notes) for key in _SUMMED}
    ways = ", ".join(f"{count} {way}" for way, count in way_counts(notes).items())
    most = max(note.lram for note in notes)
    return replace(OperatorNote(name="all operators", way=ways, lram=most), **sums)


_SUMMED = ("macs", "slices", "loads", "stores", "loaded", "stored")


def _expected(note: OperatorNote) -> list[str]:
    numbers = (note.macs, note.slices, note.loads, note.stores, note.loaded, note.stored, note.lram)
    cells = (f"{number:,}" for number in numbers)
    return [note.name[-WIDEST:], note.way, *cells, _expected_bound(note)]


def _expected_bound(note: OperatorNote) -> str:
    both = sl2610().slices
    units = {"slices": note.slices // both, DMA_IN: note.loads, DMA_OUT: note.stores}
    return max(units, key=lambda name: units[name])


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines: names and last cells to the left, numbers to the right."""
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(
            cell.ljust(width) if k in (0, len(row) - 1) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
