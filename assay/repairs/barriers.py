"""Changes of barriers: flags mended, barriers inserted, barriers moved out of branches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..edits import Edit, Node
from .bodies import removed, stands_in_block
from .candidate import Candidate

_CALL = re.compile(r"\b(threadgroup|simdgroup)_barrier\s*\(([^()]*)\)")
_FLAGS = {True: "mem_flags::mem_threadgroup", False: "mem_flags::mem_device"}
_UNTOLD = re.compile(r"atomic|texture|#\s*include\s*\"")
_AROUND = ("if", "loop", "switch")


def barriers_in(function: Node, source: str) -> list[Node]:
    """Statements of a function that are barriers."""
    return [node for node in function.walk() if is_barrier(node, source)]


def is_barrier(node: Node, source: str) -> bool:
    """Whether a statement is a barrier."""
    return node.kind == "simple" and _CALL.match(source, node.start) is not None


def mended(function: Node, source: str, *, threadgroup: bool) -> Iterator[Candidate]:
    """Barriers that get the flag which orders the memory, and hold all threads together."""
    flag = _FLAGS[threadgroup]
    for node in barriers_in(function, source):
        found = _CALL.match(source, node.start)
        assert found is not None
        flags = [each.strip() for each in found[2].split("|")]
        kept = [each for each in flags if not each.endswith("mem_none")]
        if found[1] == "threadgroup" and flag in kept:
            continue
        both = " | ".join(dict.fromkeys([*kept, flag]))
        text = f"threadgroup_barrier({both})"
        line = source.count("\n", 0, node.start) + 1
        yield Candidate(f"mend the barrier in line {line}", (Edit(*found.span(), text),))


def inserted(places: Iterable[Node], source: str, *, threadgroup: bool) -> Iterator[Candidate]:
    """A barrier before or behind statements that race, or what is around them."""
    text = f"threadgroup_barrier({_FLAGS[threadgroup]});"
    for at, is_before, node in _points(places):
        indent = _indent(source, node.start)
        added = f"{text}\n{indent}" if is_before else f"\n{indent}{text}"
        line = source.count("\n", 0, at) + 1
        where = "before" if is_before else "behind"
        yield Candidate(f"insert a barrier {where} line {line}", (Edit(at, at, added),))


def _points(places: Iterable[Node]) -> list[tuple[int, bool, Node]]:
    """Where a barrier may go: offset, whether before a statement, the statement.

    Those in fewer branches come first, then those nearer to what races.
    """
    found: dict[int, tuple[int, int, bool, Node]] = {}
    for place in places:
        for distance, node in enumerate(place.around()):
            if node.kind == "function":
                break
            if node.parent is None or not stands_in_block(node):
                continue
            branches = sum(each.kind == "if" for each in node.parent.around())
            for at, is_before in ((node.start, True), (node.end, False)):
                ranked = (branches, distance, is_before, node)
                if at not in found or ranked[:2] < found[at][:2]:
                    found[at] = ranked
            if node.parent.parent is not None and node.parent.parent.kind == "loop":
                # What stands last in a loop comes before what stands first, and vice versa.
                last, first = node.parent.children[-1], node.parent.children[0]
                found.setdefault(last.end, (branches, distance + 1, False, last))
                found.setdefault(first.start, (branches, distance + 1, True, first))
    ordered = sorted(found.items(), key=lambda each: (each[1][0], each[1][1], each[0]))
    return [(at, is_before, node) for at, (_, _, is_before, node) in ordered]


def moved(function: Node, source: str, macros: Iterable[str] = ()) -> Iterator[Candidate]:
    """Barriers in branches, moved before or behind these; none where atomics or textures may rely
    on the order, as no race tells that they do.
    """
    if any(map(_UNTOLD.search, (source, *macros))):
        return  # anywhere, as a function, a type or a macro that the kernel uses may have them
    for node in barriers_in(function, source):
        text = source[node.start : node.end]
        taken = removed(node, source)
        line = source.count("\n", 0, node.start) + 1
        for around in node.around():
            if around.kind == "function":
                break
            if around.kind not in _AROUND or not stands_in_block(around):
                continue  # beside what is no statement of a block, it would be another's body
            indent = _indent(source, around.start)
            for where, edit in (
                ("behind", Edit(around.end, around.end, f"\n{indent}{text}")),
                ("before", Edit(around.start, around.start, f"{text}\n{indent}")),
            ):
                what = f"move the barrier in line {line} {where} the branch or loop around it"
                yield Candidate(what, (taken, edit))


def _indent(source: str, at: int) -> str:
    line = source[source.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]
