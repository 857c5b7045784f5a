"""Calling conventions as IREE writes them: `0rIiCiD_r` and the like.

One letter per value: `i` i32, `I` i64, `f` f32, `F` f64, `r` ref, `v` nothing;
`C...D` is a span: any number of the values (or tuples of values) between the letters.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..status import StatusError

VALUE_LETTERS = "iIfFr"


@dataclass(frozen=True, kw_only=True, slots=True)
class Convention:
    """Arguments and results: one string per top-level argument, spans without their C and D."""

    text: str
    arguments: tuple[str, ...]
    spans: tuple[bool, ...]
    results: str

    @property
    def variadic(self) -> bool:
        """Whether any argument is a span."""
        return any(self.spans)


def parse_convention(text: str, where: str) -> Convention:
    """Read a calling convention; an empty one means no arguments and no results."""
    if not text:
        return Convention(text="0v_v", arguments=(), spans=(), results="")
    arguments, separator, results = text[1:].partition("_")
    if text[0] != "0" or not separator:
        raise _unknown(text, where)
    items: list[str] = []
    spans: list[bool] = []
    rest = "" if arguments == "v" else arguments
    while rest:
        if rest[0] == "C":
            inner, closing, rest = rest[1:].partition("D")
            if not closing or not inner or inner.strip(VALUE_LETTERS):
                raise _unknown(text, where)
            items.append(inner)
            spans.append(True)
            continue
        if rest[0] not in VALUE_LETTERS:
            raise _unknown(text, where)
        items.append(rest[0])
        spans.append(False)
        rest = rest[1:]
    results = "" if results == "v" else results
    if results.strip(VALUE_LETTERS):
        raise _unknown(text, where)
    return Convention(text=text, arguments=tuple(items), spans=tuple(spans), results=results)


def _unknown(text: str, where: str) -> StatusError:
    return StatusError("INVALID_ARGUMENT", f"{where}: unknown calling convention {text[:80]!r}")
