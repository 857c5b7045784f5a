"""Annotations beside accesses: where these go, which the optimiser leaves there."""

from __future__ import annotations

import re

PREFIX = "__assay_beyond."  # then: load or store, bytes, the size of the thing, and its name
SEVERAL = "several"  # instead of a name: one of several variables, of which the smallest is given
MAY_END = "__assay_may_end"
# The bytes at which an access may begin, its symbol, where it begins, and whether that is inside.
_ANNOTATION = re.compile(
    r"^  (?P<name>%\S+) = (?:tail )?call [^@\n]*@llvm\.annotation\.i64\.p0\(i64 (?P<room>\S+), "
    rf"ptr (?:nonnull )?(?P<symbol>@{re.escape(PREFIX)}\w+\.(?P<bytes>\d+)\.(?P<size>\d+)\."
    r"(?P<thing>[^,]*)), ptr (?:nonnull )?(?P<at>.*), i32 (?P<inside>\S+)\)(?P<tail>.*)$",
    re.MULTILINE,
)
_NUMBER = re.compile(r"(?:inttoptr \(i64 |getelementptr \(i8, ptr null, i64 )(-?\d+)")


def compared(text: str) -> str:
    """The optimised module, with comparisons of what the annotations name and no number is."""
    return _ANNOTATION.sub(_compared, text)


def _compared(match: re.Match[str]) -> str:
    if _is_number(match):
        return match[0]
    name, tail, room = match["name"], match["tail"], match["room"]
    start, fits = f"{name}.assay.start", f"{name}.assay.fits"  # LLVM has suffixes of its own
    annotated = f"i64 {room}, ptr {match['symbol']}, ptr {match['at']}, i32 {fits}.n"
    return "\n".join(
        (
            f"  {start} = ptrtoint ptr {match['at']} to i64{tail}",
            f"  {fits} = icmp ult i64 {start}, {room}{tail}",
            f"  {fits}.n = zext i1 {fits} to i32{tail}",
            f"  {name} = call i64 @llvm.annotation.i64.p0({annotated}){tail}",
        )
    )


def _is_number(match: re.Match[str]) -> bool:
    return match["at"][0] != "%" and match["room"][0] != "%"


def are_inside(text: str) -> bool:
    """Whether the annotations in an optimised module say that all accesses stay inside."""
    return all(match["inside"] == "1" or _is_in_room(match) for match in _ANNOTATION.finditer(text))


def _is_in_room(match: re.Match[str]) -> bool:
    """Whether an annotation names numbers, and the access is inside."""
    found = _NUMBER.match(match["at"])
    at = 0 if match["at"] == "null" else int(found[1]) if found else -1
    return match["room"][0] != "%" and 0 <= at < int(match["room"])


def without_open(text: str) -> str:
    """The optimised module without the annotations of accesses that are there and will be checked.

    But LLVM takes it that what reaches a variable of one element reaches that element; and of
    which one of several variables an access leaves, only its annotation knows.
    """
    return _ANNOTATION.sub(lambda match: match[0] if _is_kept(match) else "", text)


def _is_kept(match: re.Match[str]) -> bool:
    several = match["thing"] == SEVERAL
    return _is_number(match) or several or match["bytes"] == match["size"]
