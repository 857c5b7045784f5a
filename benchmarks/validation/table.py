"""The case of every published row."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from . import (
    attention_rows,
    core_rows,
    gemm_rows,
    instruction_rows,
    llm_rows,
    memory_rows,
    reduction_rows,
)
from .cases import Case, Status, chip_key
from .published import Row, published

_KINDS: tuple[Callable[[Row, str], Case | None], ...] = (
    instruction_rows.case,
    gemm_rows.case,
    memory_rows.case,
    reduction_rows.case,
    llm_rows.case,
    attention_rows.case,
    core_rows.case,
)


@cache
def cases() -> tuple[Case, ...]:
    """One for each row, in the order of the rows. Raises ValueError for a row nobody knows."""
    return tuple(_case(row) for row in published())


def _case(row: Row) -> Case:
    chip = chip_key(row.chip)
    if chip is None:
        return Case(
            row=row,
            chip="",
            group="other",
            status=Status.OUT,
            why=f"{row.chip} is no chip that is modelled",
        )
    for case_of in _KINDS:
        found = case_of(row, chip)
        if found is not None:
            return found
    raise ValueError(f"row {row.ident} ({row.workload!r}) is of no known kind")
