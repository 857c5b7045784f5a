"""Functions that a machine has instructions for, marked where the headers compute them.

Operands: what the headers computed, which is the result, then what from. A name in a program says
`math_`, `precise_` if fast mathematics is off, the function, and the types, behind points.
"""

from __future__ import annotations

import re

from .operation import OfOperands, Operation, Origin

PREFIX = "math_"
PRECISE = "precise_"


def _row(name: str) -> Operation:
    return Operation(
        name=PREFIX + name,
        origin=Origin.MARK,
        types="T *... -> T",
        meaning=OfOperands(lambda types, o: o[0]),
        is_listed=True,
    )


EXP, EXP2, EXP10 = (_row(name) for name in ("exp", "exp2", "exp10"))
LOG, LOG2, LOG10 = (_row(name) for name in ("log", "log2", "log10"))
POW, POWR, SQUARE_ROOT, RSQRT = (_row(name) for name in ("pow", "powr", "sqrt", "rsqrt"))
SIN, COS, TAN = (_row(name) for name in ("sin", "cos", "tan"))
SINPI, COSPI, TANPI = (_row(name) for name in ("sinpi", "cospi", "tanpi"))
ASIN, ACOS, ATAN, ATAN2 = (_row(name) for name in ("asin", "acos", "atan", "atan2"))
SINH, COSH, TANH = (_row(name) for name in ("sinh", "cosh", "tanh"))
ASINH, ACOSH, ATANH = (_row(name) for name in ("asinh", "acosh", "atanh"))
FMOD, DIVIDE, FRACT, ROUND = (_row(name) for name in ("fmod", "divide", "fract", "round"))
MULHI, MADHI = (_row(name) for name in ("mulhi", "madhi"))
HADD, RHADD, ABSDIFF = (_row(name) for name in ("hadd", "rhadd", "absdiff"))
ROTATE, MEDIAN3, FMEDIAN3 = (_row(name) for name in ("rotate", "median3", "fmedian3"))
EXTRACT_BITS, INSERT_BITS = (_row(name) for name in ("extract_bits", "insert_bits"))
MUL24, MAD24 = (_row(name) for name in ("mul24", "mad24"))

# Of asynchronous copies: where one begins and what waits for it, words that it reads and writes,
# and the event that it gives.
COPY, COPIED_FROM, COPIED_TO = (_row(name) for name in ("copy", "copied_from", "copied_to"))
COPY_EVENT = _row("copy_event")
COPIES = (COPY, COPIED_FROM, COPIED_TO, COPY_EVENT)

FUNCTIONS = tuple(row for row in vars().values() if isinstance(row, Operation))
"""All of them."""

_BY_NAME = {row.name: row for row in FUNCTIONS}
_IN_HEADERS = re.compile(r"_ZN5metal8__scalar(\d+)(\w+)")


def function_of(symbol: str) -> Operation | None:
    """The row for what the headers call such as `_ZN5metal8__scalar3sinEf`; None if none is."""
    match = _IN_HEADERS.search(symbol)
    return _BY_NAME.get(PREFIX + match[2][: int(match[1])]) if match is not None else None
