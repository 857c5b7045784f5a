"""Random kernels whose simdgroups copy asynchronously, and what goes wrong in launches of them.

Kernels are Metal source, since events go through variables, arrays and loops as compilers leave
them. Addresses do not depend on data, so that each simdgroup is followed alone, statement by
statement: a copy lasts from where it begins to where its simdgroup waits for it, and what is done
meanwhile has no order with it. Everybody comes to all barriers.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import inf
from typing import Any

from assay.compiler.msl import KernelFunction, KernelLibrary, compile_library
from assay.compiler.verify import Effort, Launch, prove
from assay.proofs.names import names_of

from .meetings import Fault

ABOUT = ("threadgroup races", "initialised")
TURNS = (0, 1, 2, 3, 5)
"""Values of `n` that launches are followed with."""
EVENTS = 3
WORDS = 512  # of the array
_LANES = 32
_BATCH = 25  # kernels that one source holds
_HEAD = """#include <metal_stdlib>
using namespace metal;
struct _simdgroup_event_t;
thread _simdgroup_event_t* copy_line(ulong, ulong, threadgroup void*, const device void*, ulong)
    __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
void wait(int, thread _simdgroup_event_t**) __asm("air.wait_simdgroup_events");
"""
_SIGNATURE = """kernel void k{number}(const device uint* x [[buffer(0)]],
    device uint* y [[buffer(1)]], constant uint& n [[buffer(2)]],
    uint t [[thread_index_in_threadgroup]], uint sg [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]]) {{
  threadgroup uint tile[{words}];
  thread _simdgroup_event_t* done[{events}];
  uint v = 0;
{body}
  y[t] = v;
}}
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of a kernel.

    Attributes:
        kind: copy, wait, put, get, barrier, for or only.
        line: its number in the kernel.
        what: expressions in C and Python alike: of a copy target and source, of a put index and
            value, of a get its index, of a loop its bound, of `only` who comes to what is in it.
        event: of a copy, and the first one that is waited for.
        count: words that are copied, events that are waited for.
        body: of a loop, and what some simdgroups alone come to.
    """

    kind: str
    line: int
    what: tuple[str, ...] = ()
    event: int = 0
    count: int = 0
    body: tuple[Statement, ...] = ()


@dataclass(frozen=True, slots=True)
class CopyKernel:
    """A kernel and how many threads a threadgroup of it has."""

    threads: int
    body: tuple[Statement, ...]


class _Draw:
    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._simdgroups = self._pick(1, 2, 2, 3)
        self._line = 0
        self._known: set[int] = set()  # events of copies that came before
        self._loop = False

    def kernel(self) -> CopyKernel:
        kinds = (self._stages, self._stages, self._prefetch, self._anything)
        body = self._pick(*kinds)()
        for _ in range(self._pick(0, 0, 1)):
            body = _without(body, self._chance.randrange(len(body)))
        return CopyKernel(_LANES * self._simdgroups, body)

    def _pick(self, *of: Any) -> Any:
        return self._chance.choice(of)

    def _new(self, kind: str, *what: str, **more: Any) -> Statement:
        self._line += 1
        return Statement(kind, self._line, what, **more)

    # -- kinds ------------------------------------------------------------------------------------

    def _stages(self) -> tuple[Statement, ...]:
        """A tile is copied, waited for and read, round after round."""
        at = str(self._pick("0", "64 * sg", "(i % 2) * 128", "(i % 2) * 192 + 64 * sg"))
        self._loop = True
        read = self._pick("t", "63 - lane", "(i % 2) * 128 + lane", "64 * sg + lane", "t + 32")
        parts = [
            self._copied(at, 0),
            self._pick(self._wait(0, 1), self._wait(0, 1), self._new("barrier")),
            self._new("barrier"),
            self._new("get", read),
            *self._pick((self._new("barrier"),), (self._new("barrier"),), ()),
        ]
        return (self._new("for", "n", body=tuple(parts)),)

    def _prefetch(self) -> tuple[Statement, ...]:
        """The next tile comes while one is read."""
        count = self._pick(2, 2, 3)
        size = 64 * self._simdgroups
        first = self._copied(f"{size // self._simdgroups} * sg", 0)
        self._loop = True
        ahead = self._copied(f"((i + 1) % {count}) * {size} + 64 * sg", 1)
        mine = self._pick("64 * sg + lane", "t", f"{size} - 1 - t", "lane")
        early = self._wait(0, 1)
        parts = [
            *self._pick((self._new("barrier"),), (self._new("barrier"),), ()),
            ahead,
            self._new("get", f"(i % {count}) * {size} + {mine}"),
            self._pick(self._wait(1, 1), self._wait(1, 1), self._wait(0, 1)),
            *self._pick((self._new("barrier"),), ()),
        ]
        return (first, early, self._new("barrier"), self._new("for", "n", body=tuple(parts)))

    def _anything(self) -> tuple[Statement, ...]:
        body = [self._statement(0) for _ in range(self._pick(4, 6, 8))]
        return tuple(body)

    def _statement(self, depth: int) -> Statement:
        chance = self._chance.random()
        if chance < 0.25 or not self._known:
            copied = self._copied(self._place(), self._chance.randrange(EVENTS))
            return copied
        if chance < 0.5:
            event = self._pick(*sorted(self._known))
            return self._wait(event, 2 if event + 1 in self._known and self._pick(0, 1) else 1)
        if chance < 0.62:
            return self._new("barrier")
        if chance < 0.74:
            return self._new("put", self._index(), self._pick("t", "7", "lane"))
        if chance < 0.9 or depth:
            return self._new("get", self._index())
        known, self._loop = set(self._known), True
        body = tuple(self._statement(1) for _ in range(self._pick(2, 3, 4)))
        self._known, self._loop = known, False  # with no turn, nothing in it was done
        return self._new("for", self._pick("n", "2", "n + 1"), body=body)

    # -- parts ------------------------------------------------------------------------------------

    def _copied(self, to: str, event: int) -> Statement:
        source = self._pick("0", "64 * sg", *(("32 * i",) if self._loop else ()))
        words = self._pick(32, 64, 64, 16)
        copy = self._new("copy", to, source, event=event, count=words)
        if self._chance.random() < 0.2:
            who = self._pick("sg == 0", "sg < 2", "sg == 1")
            if who == "sg < 2" or self._simdgroups == 1:
                self._known.add(event)
            # Who does not copy waits for nothing of it.
            return self._new("only", who, body=(copy, self._new("wait", event=event, count=1)))
        self._known.add(event)
        return copy

    def _wait(self, event: int, count: int) -> Statement:
        return self._new("wait", event=event, count=count)

    def _place(self) -> str:
        places = ["0", "64", "128 + 64 * sg", "64 * sg", "32 * sg"]
        if self._loop:
            places += ["(i % 2) * 128 + 64 * sg", "64 * i", "((i + 1) % 3) * 64"]
        return str(self._pick(*places))

    def _index(self) -> str:
        indices = ["t", "lane", "64 * sg + lane", "128 + t", "63 - lane", "t + 32", "lane // 2"]
        if self._loop:
            indices += ["(i % 2) * 128 + t", "64 * i + lane"]
        return str(self._pick(*indices))


def _without(body: tuple[Statement, ...], at: int) -> tuple[Statement, ...]:
    """One statement less, but for copies, whose events others wait for."""
    gone = body[at]
    if gone.kind in ("wait", "barrier"):
        return body[:at] + body[at + 1 :]
    if gone.kind == "for":
        inner = [n for n, each in enumerate(gone.body) if each.kind in ("wait", "barrier")]
        if inner:
            short = gone.body[: inner[0]] + gone.body[inner[0] + 1 :]
            made = Statement("for", gone.line, gone.what, body=short)
            return (*body[:at], made, *body[at + 1 :])
    return body


def drawn(seed: int) -> CopyKernel:
    """The kernel of a seed."""
    return _Draw(seed).kernel()


# -- as Metal source ------------------------------------------------------------------------------


def _lines(statements: tuple[Statement, ...]) -> Iterator[str]:
    for each in statements:
        what = [text.replace("//", "/") for text in each.what]
        match each.kind:
            case "copy":
                to, source = what
                yield (
                    f"done[{each.event}] = copy_line(4, 4, tile + ({to}), x + ({source}), "
                    f"{each.count});"
                )
            case "wait":
                yield f"wait({each.count}, done + {each.event});"
            case "put":
                yield f"tile[{what[0]}] = {what[1]};"
            case "get":
                yield f"v += tile[{what[0]}];"
            case "barrier":
                yield "threadgroup_barrier(mem_flags::mem_threadgroup);"
            case _:
                head = "for (uint i = 0; i < {}; i++) {{" if each.kind == "for" else "if ({}) {{"
                yield head.format(*what)
                yield from _lines(each.body)
                yield "}"


def text(kernel: CopyKernel, number: int) -> str:
    """The function of a kernel."""
    body = "\n".join("  " + line for line in _lines(kernel.body))
    return _SIGNATURE.format(number=number, words=WORDS, events=EVENTS, body=body)


def source(functions: Iterable[str]) -> str:
    """A file of functions."""
    return "\n".join([_HEAD, *functions])


@lru_cache(maxsize=2)
def _library(start: int) -> KernelLibrary:
    seeds = range(start, start + _BATCH)
    return compile_library(source(text(drawn(seed), seed) for seed in seeds))


# -- what launches do -----------------------------------------------------------------------------


@dataclass(slots=True)
class _Access:
    """What a simdgroup does at one statement: words, each with what is written there.

    Attributes:
        begin, end: of the simdgroup's statements, between which it has no order.
        first, last: how many barriers came before.
    """

    simdgroup: int
    statement: int
    words: Mapping[int, object]
    is_write: bool
    begin: float
    end: float
    first: float
    last: float

    def is_before(self, other: _Access) -> bool:
        """Whether it surely happens first."""
        if self.simdgroup == other.simdgroup and self.end <= other.begin:
            return True
        return self.last < other.first


class _Simdgroup:
    """One simdgroup's accesses, in its order."""

    def __init__(self, kernel: CopyKernel, number: int, n: int) -> None:
        self.found: list[_Access] = []
        self.differ: list[int] = []  # statements at which its lanes write apart to one word
        self._number, self._n = number, n
        self._events: dict[int, _Access] = {}
        self._now, self._barriers = 0, 0
        self._run(kernel.body, {"sg": number, "n": n})

    def _run(self, statements: tuple[Statement, ...], names: Mapping[str, int]) -> None:
        for each in statements:
            self._now += 1
            match each.kind:
                case "for":
                    for turn in range(_value(each.what[0], names)):
                        self._run(each.body, {**names, "i": turn})
                case "only":
                    if _value(each.what[0], names):
                        self._run(each.body, names)
                case "barrier":
                    self._barriers += 1
                case "wait":
                    for event in range(each.event, each.event + each.count):
                        if event in self._events:  # a loop of no turns leaves none
                            copy = self._events[event]
                            copy.end = min(copy.end, self._now)
                            copy.last = min(copy.last, self._barriers)
                case "copy":
                    to, source = (_value(text, names) for text in each.what)
                    words = {to + k: ("x", source + k) for k in range(each.count)}
                    self._events[each.event] = self._note(each, words, is_write=True, lasts=True)
                case _:
                    self._plain(each, names)

    def _plain(self, each: Statement, names: Mapping[str, int]) -> None:
        words: dict[int, object] = {}
        for lane in range(_LANES):
            mine = {**names, "lane": lane, "t": _LANES * self._number + lane}
            at = _value(each.what[0], mine)
            value = _value(each.what[1], mine) if each.kind == "put" else None
            if words.setdefault(at, value) != value:
                self.differ.append(each.line)
        self._note(each, words, is_write=each.kind == "put")

    def _note(
        self, each: Statement, words: Mapping[int, object], *, is_write: bool, lasts: bool = False
    ) -> _Access:
        end, last = (inf, inf) if lasts else (self._now, self._barriers)
        made = _Access(
            self._number, each.line, words, is_write, self._now, end, self._barriers, last
        )
        self.found.append(made)
        return made


def _value(expression: str, names: Mapping[str, int]) -> int:
    return int(eval(expression, {"__builtins__": {}}, dict(names)))


def faults(kernel: CopyKernel, n: int) -> list[Fault]:
    """What goes wrong in a launch of one threadgroup; what is read unwritten if nothing races."""
    groups = [_Simdgroup(kernel, each, n) for each in range(kernel.threads // _LANES)]
    accesses = [each for group in groups for each in group.found]
    found = [
        Fault("threadgroup races", frozenset((one.statement, other.statement)), n)
        for one, other in combinations(accesses, 2)
        if _race(one, other)
    ]
    found += [
        Fault("threadgroup races", frozenset((line,)), n) for each in groups for line in each.differ
    ]
    return found or [
        Fault("initialised", frozenset((each.statement,)), n)
        for each in accesses
        if not each.is_write and not _is_written(each, accesses)
    ]


def _race(one: _Access, other: _Access) -> bool:
    if not (one.is_write or other.is_write) or one.is_before(other) or other.is_before(one):
        return False
    shared = one.words.keys() & other.words.keys()
    if one.is_write and other.is_write:
        return any(one.words[at] != other.words[at] for at in shared)
    return bool(shared)


def _is_written(read: _Access, accesses: list[_Access]) -> bool:
    written = {
        at for each in accesses if each.is_write and each.is_before(read) for at in each.words
    }
    return read.words.keys() <= written


# -- proofs ---------------------------------------------------------------------------------------


def contradictions(seed: int, effort: Effort) -> list[str]:
    """Proofs about the kernel of a seed that some launch contradicts."""
    kernel = drawn(seed)
    wrong = {each.about: each for n in reversed(TURNS) for each in faults(kernel, n)}
    if not wrong:
        return []
    function = _library(seed // _BATCH * _BATCH).function(f"k{seed}")
    given = verdicts(function, kernel.threads, effort)
    return [
        f"copies {seed}: {about} is proved; n = {fault.launch} contradicts it at statements "
        f"{sorted(fault.statements)}"
        for about, fault in wrong.items()
        if given.get(about) == "proved"
    ]


def verdicts(function: KernelFunction, threads: int, effort: Effort) -> dict[str, str]:
    """What the prover says of a kernel, by property; nothing of what rests on what is open."""
    launch = Launch(size=(threads, 1, 1), names=names_of(function))
    answers = prove(function.program(), launch, ABOUT, offers=False, effort=effort)
    return {each.about: each.verdict for each in answers}
