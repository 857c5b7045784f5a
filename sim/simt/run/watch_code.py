"""The C functions that watched kernels call."""

from __future__ import annotations

import functools
import re
from importlib.resources import files

from ...check import layout
from ...native.c_header import c_header, named
from ...native.c_unit import Code, CUnit
from ..emit import tape
from ..ir import context


def _functions() -> tuple[str, ...]:
    """Those that watched kernels call, as the C files define them."""
    folder = files(__package__) / "watch"
    texts = [each.read_text() for each in folder.iterdir() if each.name.endswith(".c")]
    return tuple(sorted(re.findall(r"^\w+ (assay_watch_\w+)\(", "\n".join(texts), re.M)))


def _header() -> str:
    return c_header(
        constants={
            **named(context, "SCRATCH_VALUES HANDLE_SHIFT OFFSET_MASK TABLE_ENTRIES"),
            **named(context, "THREADGROUP_HANDLE FIRST_BUFFER_HANDLE"),
            **named(tape, "BANKS BANK_BYTES"),
            **layout.c_constants(),
        },
        structures=(context.TableEntry, context.Context, *layout.STRUCTURES),
    )


FUNCTIONS = _functions()
UNIT = CUnit(
    kind="watch",
    package=__package__,
    main="watch/watch.c",
    header="watch.h",
    declared=_header,
    functions=FUNCTIONS,
)


@functools.cache
def load_watch() -> Code:
    """Compile the functions, or take them from the cache, and make their symbols known."""
    return UNIT.load()
