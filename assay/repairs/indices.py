"""Changes of accesses: indices guarded, statements guarded, arrays widened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..edits import Edit, Node
from .bodies import guarded
from .candidate import Candidate
from .effects import (
    accesses,
    blanked,
    is_one_atomic,
    is_one_store,
    is_read,
    is_stored_to,
    may_be_repeated,
)
from .names import has_fours, is_kept, is_kept_by_macros, is_shared

_DECLARED = r"\b(?!(?:return|else|case|do|goto)\b)[\w:]+\s+{name}\s*((?:\[[^\[\]]+\])+)"
_POSITION = r"\bu(?:int|short)([23]?)\s+(\w+)\s*\[\[{attribute}\]\]"
_POSITIONS = {
    "grid": re.compile(_POSITION.format(attribute="thread_position_in_grid")),
    "groups": re.compile(_POSITION.format(attribute="threadgroup_position_in_grid")),
}
_INDEX = re.compile(
    r"\bu(?:int|short)\s+(\w+)\s*\[\[(thread_index_in_threadgroup|thread_index_in_simdgroup)\]\]"
)
_AT_MOST = re.compile(
    r"(?:(?P<by>\d+) \* )?(?P<of>grid|groups)\.(?P<axis>[xyz]) <= "
    r"(?P<limit>\w[\w.\[\]]*(?: \* \w[\w.\[\]]*)*)"
)
_FACTORS = re.compile(r"4\s*\*\s*[\w.]+(?:\s*\*\s*[\w.]+)*(?:\s*//\s*[\w.]+)?")
_EXTRA = ("+ 1", "+ 2", "* 2")


def guarded_indices(
    places: Iterable[Node], source: str, extents: Mapping[str, str]
) -> Iterator[Candidate]:
    """Indices of memory that is left: what stores is skipped, what loads takes the last element.

    Args:
        places: statements with accesses that leave memory.
        source: the text.
        extents: elements of arrays and buffers by name, as MSL.
    """
    plain = blanked(source)
    for node in places:
        text = plain[node.start : node.end]
        line = source.count("\n", 0, node.start) + 1
        for name, extent in extents.items():
            for start, bracket, end in accesses(text, name):
                index = text[bracket + 1 : end - 1].strip()
                if node.kind == "simple" and _is_skippable(text, start, end, plain):
                    if may_be_repeated(index, plain):
                        edits = guarded(node, f"uint({index}) < uint({extent})")
                        yield Candidate(f"guard the store to {name} in line {line}", edits)
                elif is_read(text, start, end, plain):
                    clamped = f"min(uint({index}), uint({extent}) - 1u)"
                    edit = Edit(node.start + bracket + 1, node.start + end - 1, clamped)
                    yield Candidate(f"clamp the index of {name} in line {line}", (edit,))


def _is_skippable(text: str, start: int, end: int, source: str) -> bool:
    """Whether a statement does nothing but store to what stands between two offsets."""
    if is_one_atomic(text, start, source):
        return True
    return is_stored_to(text, start, end) and is_one_store(text, source)


def guarded_statements(
    places: Iterable[Node],
    function: Node,
    source: str,
    holds_if: str,
    macros: Mapping[str, str],
) -> Iterator[Candidate]:
    """Stores that only some threads do: those of an assumption that helps, or one thread.

    A thread that skips anything else goes on without what it needs.
    """
    plain = blanked(source)
    if not is_kept_by_macros(plain[function.start : function.end], source, macros):
        return
    conditions = list(_conditions(plain, function, holds_if))
    for node in places:
        text = plain[node.start : node.end]
        if node.kind != "simple" or not is_one_store(text, plain):
            continue
        if not is_shared(text, plain, function):
            continue
        line = source.count("\n", 0, node.start) + 1
        for condition in conditions:
            edits = guarded(node, condition)
            yield Candidate(f"guard line {line} by {condition}", edits)


def widened(source: str, function: Node, names: Iterable[str]) -> Iterator[Candidate]:
    """Arrays of a function with more elements."""
    for name in names:
        found = _declared(source, function, name)
        if found is None:
            continue
        first = source.index("]", found.start(1))
        line = source.count("\n", 0, found.start(1)) + 1
        for extra in _EXTRA:
            old = source[found.start(1) + 1 : first]
            wide = f"({old}) {extra}" if re.search(r"\W", old.strip()) else f"{old} {extra}"
            edit = Edit(found.start(1) + 1, first, wide)
            yield Candidate(f"widen {name} in line {line}", (edit,))


def extents_in(
    source: str, function: Node, names: Iterable[str], buffers: Mapping[str, str]
) -> dict[str, str]:
    """Elements by name: of a function's arrays as declared; of buffers of four bytes an element, if
    their length is stated in fours. Of what the function changes nothing is known.
    """
    plain = blanked(source)
    found = {}
    for name in names:
        declared = _declared(plain, function, name)
        if declared is not None:
            size, *_ = re.findall(r"\[([^\[\]]+)\]", declared[1])
            behind = plain[declared.end() : function.end]
            are_kept = all(is_kept(each, behind, plain) for each in _words(size))
            if are_kept and is_kept(name, behind, plain, pointer=True):
                found[name] = size
        elif (extent := _stated(plain, function, name, buffers.get(name, ""))) is not None:
            found[name] = extent
    return found


def _stated(source: str, function: Node, name: str, length: str) -> str | None:
    """Elements of a buffer, of a length in bytes; None if that is not told."""
    body = function.children[0].start
    if not has_fours(name, source[function.start : body]) or not _is_product(length):
        return None
    text = source[body : function.end]
    are_kept = all(is_kept(each, text, source) for each in _words(length))
    if not are_kept or not is_kept(name, text, source, pointer=True):
        return None
    return length.split("*", 1)[1].strip().replace("//", "/")


def _is_product(length: str) -> bool:
    """Whether a length is four times the rest of its text."""
    inside = re.compile(r"\([^()]*\)")
    while inside.search(length):
        length = inside.sub("x", length)
    return _FACTORS.fullmatch(length.strip()) is not None


def _words(expression: str) -> list[str]:
    return re.findall(r"\b[A-Za-z_]\w*", expression)


def _declared(source: str, function: Node, name: str) -> re.Match[str] | None:
    """Where a function declares an array; None if it does not, or several of that name."""
    pattern = re.compile(_DECLARED.format(name=re.escape(name)))
    found = list(pattern.finditer(source, function.start, function.end))
    return found[0] if len(found) == 1 else None


def _conditions(source: str, function: Node, holds_if: str) -> Iterator[str]:
    """What tells threads apart, of arguments that still are what they were."""
    body = function.children[0].start
    header, text = source[function.start : body], source[body : function.end]
    terms = [_AT_MOST.fullmatch(each.strip()) for each in holds_if.split(" and ")]
    parts = [_below(header, text, source, each) for each in terms if each is not None]
    known = [each for each in parts if each]
    if known and len(known) == len(parts):
        yield " && ".join(known)
    for found in _INDEX.finditer(header):
        if is_kept(found[1], text, source):
            yield f"{found[1]} == 0"


def _below(header: str, text: str, source: str, limit: re.Match[str]) -> str:
    """That a thread is below the limit of a grid; empty if it has no name for its position, or what
    it names may have changed.
    """
    position = _POSITIONS[limit["of"]].search(header)
    if position is None or (not position[1] and limit["axis"] != "x"):
        return ""
    at = f"{position[2]}.{limit['axis']}" if position[1] else position[2]
    names = [position[2], *_words(limit["limit"])]
    if not all(is_kept(each, text, source) for each in names):
        return ""
    by = limit["by"]
    most = _as_members(limit["limit"], header)
    return f"{at} < {most} / {by}" if by else f"{at} < {most}"


def _as_members(limit: str, header: str) -> str:
    """A limit as MSL has it: members of what a pointer is to are named otherwise."""
    for name in dict.fromkeys(re.findall(r"\b([A-Za-z_]\w*)\.", limit)):
        if re.search(rf"\*\s*(?:(?:const|restrict|__restrict)\b\s*)*{name}\b", header):
            limit = re.sub(rf"\b{name}\.", f"{name}->", limit)
    return limit
