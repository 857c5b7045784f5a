"""Changes of accesses: indices guarded, statements guarded, arrays widened."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from ..edits import Edit, Node
from .bodies import guarded
from .candidate import Candidate

_DECLARED = r"\b(?!(?:return|else|case|do|goto)\b)[\w:]+\s+{name}\s*((?:\[[^\[\]]+\])+)"
_POSITION = re.compile(r"\bu(?:int|short)([23]?)\s+(\w+)\s*\[\[thread_position_in_grid\]\]")
_INDEX = re.compile(
    r"\bu(?:int|short)\s+(\w+)\s*\[\[(thread_index_in_threadgroup|thread_index_in_simdgroup)\]\]"
)
_ASSIGNED = re.compile(r"[^=!<>]=[^=]|\+\+|--")
_CHANGE = re.compile(r"\+\+|--|<<=|>>=|(?<![=!<>])=(?!=)")
_CALL = re.compile(r"\b(\w+)\s*(?:<[^<>]*>)?\s*\(")
_CONVERSIONS = frozenset(["uint", "int", "ushort", "short", "ulong", "long", "size_t"])
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
    for node in places:
        for name, extent in extents.items():
            text = source[node.start : node.end]
            for found in _accesses(text, name):
                index = text[found[1] + 1 : found[2] - 1].strip()
                line = source.count("\n", 0, node.start) + 1
                if _is_store(text, found) and node.kind == "simple":
                    if not _may_be_guarded(text, index):
                        continue
                    edits = guarded(node, f"uint({index}) < uint({extent})")
                    yield Candidate(f"guard the store to {name} in line {line}", edits)
                else:
                    begin = node.start + found[1] + 1
                    clamped = f"min(uint({index}), uint({extent}) - 1u)"
                    edit = Edit(begin, node.start + found[2] - 1, clamped)
                    yield Candidate(f"clamp the index of {name} in line {line}", (edit,))


def guarded_statements(
    places: Iterable[Node], function: Node, source: str, holds_if: str
) -> Iterator[Candidate]:
    """Statements that only some threads run: those of an assumption that helps, or one thread."""
    header = source[function.start : function.children[0].start]
    conditions = list(_conditions(header, holds_if))
    for node in places:
        text = source[node.start : node.end]
        if node.kind != "simple" or _declares(text):
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
    """Elements by name: of a function's arrays as declared; of buffers, if their length is stated
    in fours.
    """
    found = {}
    for name in names:
        declared = _declared(source, function, name)
        if declared is not None:
            sizes = re.findall(r"\[([^\[\]]+)\]", declared[1])
            found[name] = sizes[0]
        elif (stated := re.fullmatch(r"4\s*\*\s*(.+)", buffers.get(name, ""))) is not None:
            found[name] = stated[1].replace("//", "/")
    return found


def _declared(source: str, function: Node, name: str) -> re.Match[str] | None:
    """Where a function declares an array; None if it does not, or several of that name."""
    pattern = re.compile(_DECLARED.format(name=re.escape(name)))
    found = list(pattern.finditer(source, function.start, function.end))
    return found[0] if len(found) == 1 else None


def _accesses(text: str, name: str) -> list[tuple[int, int, int]]:
    """Where a name is indexed: the name, the bracket, behind the bracket's end."""
    found = []
    for each in re.finditer(rf"\b{re.escape(name)}\s*\[", text):
        depth, at = 1, each.end()
        while at < len(text) and depth:
            depth += {"[": 1, "]": -1}.get(text[at], 0)
            at += 1
        found.append((each.start(), each.end() - 1, at))
    return found


def _is_store(text: str, access: tuple[int, int, int]) -> bool:
    """Whether an access is what a statement assigns to."""
    assigned = _ASSIGNED.search(text)
    return assigned is not None and access[0] < assigned.start() and access[0] <= text.find("[")


def _may_be_guarded(text: str, index: str) -> bool:
    """Whether a store does the same if its index is computed once more before it, and nothing else
    is lost if it is skipped.
    """
    calls = {each[1] for each in _CALL.finditer(index)} - _CONVERSIONS
    return not calls and not _CHANGE.search(index) and len(_CHANGE.findall(text)) == 1


def _declares(text: str) -> bool:
    return re.match(r"(?:const\s+|threadgroup\s+)*[\w:<>]+\s+\w+\s*(?:\[|=|;)", text) is not None


def _conditions(header: str, holds_if: str) -> Iterator[str]:
    position = _POSITION.search(header)
    if position is not None and holds_if:
        terms = re.findall(r"grid\.([xyz]) <= (\w+)", holds_if)
        parts = [
            f"{position[2]}{f'.{axis}' if position[1] else ''} < {name}" for axis, name in terms
        ]
        if parts and "groups" not in holds_if:
            yield " && ".join(parts)
    for found in _INDEX.finditer(header):
        yield f"{found[1]} == 0"
