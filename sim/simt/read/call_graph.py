"""Looks at who calls whom before everything is inlined: recursion, and growth without bound."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass

from ..ir.faults import UnsupportedKernel
from .sites import SiteTable, plain_name

# Lines of IR after inlining: what LLVM would take minutes and gigabytes for.
MOST_LINES = 1_000_000

# Cases of one switch; LLVM's time for them grows with their square.
MOST_CASES = 1_024

_SWITCH = re.compile(r"^ +switch [^\n]*\[\n([^\]]*)\](?:, !dbg (![0-9]+))?", re.MULTILINE)
_DEFINE = re.compile(r"^define [^\n]*?@([-\w.$]+|\"[^\"]+\")\(.*?^}", re.MULTILINE | re.DOTALL)
_CALL = re.compile(
    r"\b(?:call|invoke)\b[^\n]*?@([-\w.$]+|\"[^\"]+\")\([^\n]*?(?:!dbg (![0-9]+))?$", re.MULTILINE
)
_METADATA = re.compile(r"^(![0-9]+) = (.*)$", re.MULTILINE)


class _Graph:
    """Functions with their lines of IR and their calls."""

    def __init__(self, text: str) -> None:
        self.lines: dict[str, int] = {}
        self.calls: dict[str, Counter[str]] = {}
        self.places: dict[tuple[str, str], str] = {}
        for match in _DEFINE.finditer(text):
            name, body = match[1], match[0]
            self.lines[name] = body.count("\n")
            self.calls[name] = Counter()
            for callee, place in _CALL.findall(body):
                self.calls[name][callee] += 1
                self.places.setdefault((name, callee), place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """What a kernel's calls amount to.

    Attributes:
        lines: lines of IR when all functions are put in the places of their calls.
        recursion: what to say of a function that calls itself, if the optimiser finds no end.
        sizes: lines of each function when those that it calls are put in their places.
        sites: how often each function is called, when all others are put in their places.
        called: what each function calls.
    """

    lines: int
    recursion: UnsupportedKernel | None
    sizes: Mapping[str, int]
    sites: Mapping[str, int]
    called: Mapping[str, Set[str]]


def check_calls(text: str, entry: str, kernel: str) -> Calls:
    """Refuse a kernel that grows too large when inlined.

    A function that calls itself may turn out to do so a few times at most.

    Args:
        text: a module's text before inlining.
        entry: symbol of the entry function.
        kernel: the kernel's name for messages.

    Raises:
        UnsupportedKernel: names the function and the line.
    """
    graph = _Graph(text)
    itself: UnsupportedKernel | None = None
    sizes: dict[str, int] = {}
    # Each entry: a function, and its callees that are still to be looked at.
    path: list[tuple[str, list[str]]] = [(entry, list(graph.calls.get(entry, ())))]
    active = {entry}
    while path:
        name, waiting = path[-1]
        if waiting:
            callee = waiting.pop()
            if callee in active:
                itself = itself or _recursion(
                    graph, text, [step for step, _ in path], callee, kernel
                )
                continue
            if callee in graph.calls and callee not in sizes:
                path.append((callee, list(graph.calls[callee])))
                active.add(callee)
            continue
        path.pop()
        active.discard(name)
        calls = graph.calls.get(name, Counter())
        sizes[name] = graph.lines.get(name, 0) + sum(
            sizes.get(callee, 0) * times for callee, times in calls.items()
        )
        if sizes[name] > MOST_LINES:
            raise UnsupportedKernel(
                f"'{plain_name(name)}' grows to {sizes[name]} lines of code when the functions "
                f"that it calls are put in their places; at most {MOST_LINES} are supported",
                kernel=kernel,
            )
    return Calls(
        lines=sizes[entry],
        recursion=itself,
        sizes=sizes,
        sites=_sites(graph, entry, list(sizes)) if itself is None else {},
        called={name: frozenset(callees) for name, callees in graph.calls.items()},
    )


def check_switches(text: str, kernel: str) -> None:
    """Refuse a module with a switch that takes the optimiser minutes.

    Raises:
        UnsupportedKernel: names the line.
    """
    for match in _SWITCH.finditer(text):
        cases = match[1].count("\n")
        if cases > MOST_CASES:
            site = SiteTable(dict(_METADATA.findall(text))).site(match[2] or "")
            raise UnsupportedKernel(
                f"the switch has {cases} cases; at most {MOST_CASES} are supported: look its "
                "results up in a constant array or a buffer",
                site,
                kernel,
            )


def _sites(graph: _Graph, entry: str, order: list[str]) -> dict[str, int]:
    """How often each function's body would be there; `order` has callees before callers."""
    found = dict.fromkeys(order, 0)
    found[entry] = 1
    for caller in reversed(order):
        for callee, times in graph.calls.get(caller, Counter()).items():
            if callee in found:
                found[callee] += found[caller] * times
    return found


def _recursion(
    graph: _Graph, text: str, path: list[str], callee: str, kernel: str
) -> UnsupportedKernel:
    metadata = dict(_METADATA.findall(text))
    site = SiteTable(metadata).site(graph.places[path[-1], callee])
    around = [plain_name(name) for name in path[path.index(callee) + 1 :]]
    through = f" through '{', '.join(around)}'" if around else ""
    return UnsupportedKernel(
        f"'{plain_name(callee)}' calls itself{through}: recursion is not supported", site, kernel
    )
