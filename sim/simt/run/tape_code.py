"""The C functions that taped kernels call."""

from __future__ import annotations

import functools

from ...native.c_header import c_header, named
from ...native.c_unit import Code, CUnit
from ..emit import tape, tape_memory
from ..ir import context, shape

FUNCTIONS = (
    "assay_tape_full",
    "assay_tape_group",
    "assay_tape_resume",
    "assay_tape_lanes",
    "assay_tape_private",
)


def _header() -> str:
    return c_header(
        constants={
            **named(shape, "LANES"),
            **named(context, "HANDLE_SHIFT OFFSET_MASK THREADGROUP_HANDLE"),
            **named(tape_memory, "PRIVATE_LINES"),
            **named(tape, "LINE_BYTES BANKS BANK_BYTES LANES_SHIFT FIELD_MASK"),
            **named(tape, "LINES_SHIFT WORDS_SHIFT WAYS_SHIFT SHARING_SHIFT BYTES_SHIFT"),
            **named(tape, "FIRST_ROW_SHIFT LAST_ROW_SHIFT CONSECUTIVE CACHED"),
        },
        structures=(
            context.TableEntry,
            context.Context,
            tape_memory.Segment,
            tape_memory.TapeWriter,
        ),
    )


UNIT = CUnit(
    kind="tape",
    package=__package__,
    main="tape.c",
    header="tape.h",
    declared=_header,
    functions=FUNCTIONS,
)


@functools.cache
def load_tape_code() -> Code:
    """Compile the functions, or take them from the cache, and make their symbols known."""
    return UNIT.load()
