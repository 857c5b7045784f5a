"""Variables and tables that the optimiser is not to see through, for a while."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ...ir.llvm_types import Type
from ..llvm_text import types_of
from ..uninitialised import UNSET

_KEEP = "__assay_keep"
_ONE = "__assay_one"  # how many there are of a variable that is held
# What says that a variable is kept, and that nobody knows how large it is.
_KEPT = re.compile(
    rf"^  (?:tail )?call void @{_KEEP}\(.*\n|"
    r"^  %assay\.one = (?:tail )?call .*\n|, i64 %assay\.one\b",
    re.MULTILINE,
)
_TABLE = re.compile(
    r"^(@\S+ = (?!external)(?![^\n]* externally_initialized )(?:[^\n]*? )?)constant ", re.MULTILINE
)
_OPEN_TABLE = "externally_initialized constant "  # whose values the optimiser does not know
ALLOCA = re.compile(r"^  (%\S+) = alloca (.*)$")
_PLAIN_USE = re.compile(
    r"^  (?:%\S+ = load (?P<loaded>[^,]+(?:, [^,]*[}\]>])?), ptr (?P<from>%[-\w.$]+)(?:,|$)"
    r"|store (?P<stored>.*), ptr (?P<to>%[-\w.$]+)(?:,|$)"
    rf"|call void @(?:llvm\.lifetime\.\w+\.p0|{UNSET})\()"
)
NAME = re.compile(r'%(?:"[^"]*"|[-$._A-Za-z0-9]+)')


def hide_variables(text: str) -> str:
    """The module `text`, in which the optimiser sees only variables that no pointer reaches.

    Then functions can be inlined and such variables put into registers without looking at others.
    """
    types = types_of(text)
    functions = re.split(r"(?m)^(?=define )", text)
    functions[0] = _TABLE.sub(rf"\1{_OPEN_TABLE}", functions[0])
    return declare_keep(functions[0] + "".join(_hide(body, types) for body in functions[1:]))


def _hide(body: str, types: Mapping[str, Type]) -> str:
    lines = body.split("\n")
    variables: dict[str, str] = {}
    reached: set[str] = set()
    for line in lines:
        if match := ALLOCA.match(line):
            variables[match[1]] = match[2]
            continue
        used = [name for name in NAME.findall(line) if name in variables]
        if used and not _is_plain(line, used, variables):
            reached.update(used)
    return "\n".join(with_keeps(lines, reached))


def _is_plain(line: str, used: list[str], variables: dict[str, str]) -> bool:
    """Whether a line reads or writes the whole of its only variable."""
    match = _PLAIN_USE.match(line)
    if match is None or len(used) > 1:
        return False
    if match["from"]:
        return variables[used[0]].startswith(match["loaded"] + ",")
    if match["to"]:
        kind = variables[used[0]].rpartition(", align")[0]
        return used[0] == match["to"] and match["stored"].startswith(kind + " ")
    return True


def with_keeps(lines: list[str], names: set[str]) -> Iterator[str]:
    """A function's lines, of whose variables those of such names are kept in memory."""
    for line in lines:
        yield line
        if (match := ALLOCA.match(line)) and match[1] in names:
            yield f"  call void @{_KEEP}(ptr {match[1]})"


def of_any_size(lines: list[str], names: set[str]) -> Iterator[str]:
    """A function's lines, of whose variables of such names there are as many as a call says."""
    is_counted = False
    for line in lines:
        match = ALLOCA.match(line)
        if match is None or match[1] not in names:
            yield line
            continue
        if not is_counted:
            yield f"  %assay.one = call i64 @{_ONE}()"
            is_counted = True
        kind, _, rest = match[2].rpartition(", align")
        yield f"  {match[1]} = alloca {kind}, i64 %assay.one, align{rest}"


def declare_keep(text: str) -> str:
    """The module `text`, where `with_keeps` may keep variables."""
    return _declare(text, f"void @{_KEEP}(ptr)")


def declare_one(text: str) -> str:
    """The module `text`, where `of_any_size` may ask how many there are of a variable."""
    return _declare(text, f"i64 @{_ONE}()")


def _declare(text: str, function: str) -> str:
    declared = f"declare {function}"
    return text if declared in text else f"{text}\n{declared}\n"


def shown(text: str) -> str:
    """The module `text` without what `hide_variables` and `Entry.held` added."""
    return released(text).replace(_OPEN_TABLE, "constant ")


def released(text: str) -> str:
    """The module `text`, whose variables are none that are kept; its tables stay open."""
    return _KEPT.sub("", text)
