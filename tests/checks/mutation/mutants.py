"""Damages the source of a kernel: barriers, flags, indices, initial values, guards."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
_BARRIER = re.compile(r"threadgroup_barrier\(mem_flags::(\w+)\);")
_INDEX = re.compile(r"\[([^\[\]]+)\]")
_DECLARATION = re.compile(r"^ *threadgroup (\w+) (\w+)(?:\[|;)")
_INITIAL = re.compile(r"^( *\w+ \w+) = (?:0|\w+\(0)[^;]*;$")
_STORE = re.compile(r"^ *(?:\w+\[.*\]|\w+) [-+*]?= [^;]*;$|^ *atomic_store_explicit\(")
_GUARD = re.compile(r"if \((.*)\) \{$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A damaged source. `what` says how, with line numbers of the original."""

    what: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """Replaces lines, by index from 0."""

    what: str
    lines: dict[int, str]


def single_mutants(source: str) -> list[Mutant]:
    """Every mutant with one damage."""
    lines = source.split("\n")
    return [_apply(lines, [edit]) for edit in _edits(lines)]


def double_mutants(source: str, seed: int, count: int) -> list[Mutant]:
    """`count` mutants with two damages each, chosen by the seed."""
    lines = source.split("\n")
    edits = _edits(lines)
    chance = random.Random(seed)
    mutants: list[Mutant] = []
    while len(mutants) < count:
        first, second = chance.sample(edits, 2)
        if not first.lines.keys() & second.lines.keys():
            mutants.append(_apply(lines, [first, second]))
    return mutants


def _apply(lines: list[str], edits: list[Edit]) -> Mutant:
    changed = dict(pair for edit in edits for pair in edit.lines.items())
    source = "\n".join(changed.get(at, line) for at, line in enumerate(lines))
    return Mutant(what="; ".join(edit.what for edit in edits), source=source)


def _edits(lines: list[str]) -> list[Edit]:
    start = next(at for at, line in enumerate(lines) if line.startswith("kernel void"))
    body = [at for at in range(start + 1, len(lines)) if lines[at].startswith("  ")]
    body = [at for at in body if "[[" not in lines[at]]
    return [edit for kind in _KINDS for at in body for edit in kind(lines, at, body)]


def _edit(at: int, lines: list[str], new: str, what: str) -> Edit:
    text = f"line {at + 1}: {what}: {lines[at].strip()} -> {new.strip()}"
    return Edit(what=text, lines={at: new})


def _barrier_removed(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    if _BARRIER.search(lines[at]):
        yield _edit(at, lines, "", "barrier removed")


def _barrier_moved(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    if not _BARRIER.search(lines[at]):
        return
    for other in (at - 1, at + 1):
        if other in body and not _DECLARATION.match(lines[other]):
            swapped = {at: lines[other], other: lines[at]}
            yield Edit(what=f"line {at + 1}: barrier moved to line {other + 1}", lines=swapped)


def _barrier_added(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    if not _BARRIER.search(lines[at]) and lines[at].rstrip().endswith((";", "{", "}")):
        if at + 1 in body and lines[at + 1].lstrip().startswith("else"):
            return
        yield _edit(at, lines, f"{lines[at]} {BARRIER}", "barrier added")


def _flags_changed(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    found = _BARRIER.search(lines[at])
    if found is None:
        return
    other = "mem_device" if found[1] == "mem_threadgroup" else "mem_threadgroup"
    for flags in ("mem_none", other):
        yield _edit(at, lines, lines[at].replace(found[1], flags), "other flags")
    weaker = lines[at].replace("threadgroup_barrier", "simdgroup_barrier")
    yield _edit(at, lines, weaker, "barrier of the simdgroup")


def _array_swapped(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    arrays = [found.groups() for n in body if (found := _DECLARATION.match(lines[n]))]
    if _DECLARATION.match(lines[at]):
        return
    for kind, name in arrays:
        for other_kind, other in arrays:
            if other != name and other_kind == kind:
                for found in re.finditer(rf"\b{name}\b", lines[at]):
                    new = lines[at][: found.start()] + other + lines[at][found.end() :]
                    yield _edit(at, lines, new, "array swapped")


def _index_shifted(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    if _DECLARATION.match(lines[at]):
        return
    for found in _INDEX.finditer(lines[at]):
        for step in ("+ 1", "- 1"):
            new = f"{lines[at][: found.start()]}[{found[1]} {step}]{lines[at][found.end() :]}"
            yield _edit(at, lines, new, "index shifted")


def _store_removed(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    if _STORE.match(lines[at]):
        yield _edit(at, lines, "", "statement removed")


def _initial_value_removed(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    found = _INITIAL.match(lines[at])
    if found:
        yield _edit(at, lines, f"{found[1]};", "initial value removed")


def _guard_changed(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    found = _GUARD.search(lines[at])
    if found is None:
        return
    yield _edit(at, lines, lines[at].replace(f"if ({found[1]})", "if (true)"), "guard removed")
    for old, new in ((" < ", " <= "), (" < ", " + 1 < "), (" >= ", " > "), (" == ", " != ")):
        if old in found[1]:
            yield _edit(at, lines, lines[at].replace(old, new, 1), "guard changed")


def _loop_changed(lines: list[str], at: int, body: list[int]) -> Iterator[Edit]:
    found = re.search(r"for \(uint \w+ = (\w+);(.*)", lines[at])
    if found is None:
        return
    start = found.start(1)
    later = f"{lines[at][:start]}{found[1]} + 1{lines[at][found.end(1) :]}"
    yield _edit(at, lines, later, "loop begins later")
    if " < " in found[2]:
        yield _edit(at, lines, lines[at].replace(" < ", " <= ", 1), "loop ends later")


_KINDS: tuple[Callable[[list[str], int, list[int]], Iterator[Edit]], ...] = (
    _barrier_removed,
    _barrier_moved,
    _barrier_added,
    _flags_changed,
    _array_swapped,
    _index_shifted,
    _store_removed,
    _initial_value_removed,
    _guard_changed,
    _loop_changed,
)
