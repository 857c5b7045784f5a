"""Random kernels in Metal source that read much of which little is used.

What a proof is about is what the source does; what is read for it went through clang and LLVM,
which drop, merge and put off. So these kernels are drawn as source, and followed as source
(`metal_launches`): nothing that the prover reads is what they are judged by.

Numbers are `uint`. What comes from memory that is written is never looked at by the kernel itself,
so that what other threads do decides no address and no branch.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

THREADS = 64
TILE = 96  # numbers of the threadgroup's array
OWN = 4  # numbers of a thread's array
LENGTHS = {"x": "16*n", "y": "16*m"}
HEAD = """#include <metal_stdlib>
using namespace metal;
struct Pair { uint first; uint second; };
template <typename P> static uint at(P p, uint k) { uint v = p[k]; return v; }
template <typename P> static uint below(P p, uint k, uint n) {
  uint v = p[k];
  return k < n ? v : 0;
}
static void put(thread uint* p, uint k, uint v) { p[k] = v; }
static uint last_of(thread const uint4& v) { return v.w; }
"""
_SIGNATURE = """kernel void k{number}(const device uint* x [[buffer(0)]],
    device uint* y [[buffer(1)]], constant uint& n [[buffer(2)]], constant uint& m [[buffer(3)]],
    uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]]) {{
  threadgroup uint tile[{tile}];
  uint a[{own}] = {{t, n, 1, 2}};
{body}
}}
"""

Expression = tuple[Any, ...]
"""An operator and what it is of; `("name", "t")` and `("number", 3)` are the least ones.

`at`, `below`, `call` and `part` read: of memory, at an index. `choose` reads of one of two
memories, `cast` a variable as something of another size.
"""
_ONE: Expression = ("number", 1)
_THREAD: Expression = ("name", "t")
_GRID: Expression = ("+", ("*", ("name", "g"), ("number", THREADS)), _THREAD)


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of a kernel: let, set, whole, put, wide, copy, own, if, for, leave, drop or barrier.

    Attributes:
        kind: which.
        line: its number in the kernel.
        what: its expressions and names.
        body, other: of conditions and loops.
    """

    kind: str
    line: int
    what: tuple[Any, ...] = ()
    body: tuple[Statement, ...] = ()
    other: tuple[Statement, ...] = ()


@dataclass(slots=True)
class _Scope:
    """Names that are known: numbers that may be looked at, those that may not, and wholes."""

    plain: list[str] = field(default_factory=lambda: ["t", "g", "n", "m"])
    hidden: list[str] = field(default_factory=list)
    wholes: list[tuple[str, int, bool]] = field(default_factory=list)  # numbers each, if hidden
    ends: tuple[str, ...] = ()  # what the thread's place in the grid is known to be below

    def inner(self, *ends: str) -> _Scope:
        return _Scope([*self.plain], [*self.hidden], [*self.wholes], (*self.ends, *ends))


class _Draw:
    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._line = self._names = self._loops = 0
        self._is_last = False  # whether no barrier comes any more
        self._risk = self._pick(0.03, 0.1, 0.3)  # how many indices may be outside

    def kernel(self) -> tuple[Statement, ...]:
        scope = _Scope()
        body: list[Statement] = []
        for _ in range(self._pick(1, 1, 2, 3)):
            body += self._several(scope, self._pick(1, 2, 3), 0)
            body.append(self._new("barrier"))
        self._is_last = True
        return (*body, *self._several(scope, self._pick(2, 3, 4), 0))

    def _pick(self, *of: Any) -> Any:
        return self._chance.choice(of)

    def _new(self, kind: str, *what: Any, **more: Any) -> Statement:
        self._line += 1
        return Statement(kind, self._line, what, **more)

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    # -- statements -------------------------------------------------------------------------------

    def _several(self, scope: _Scope, count: int, depth: int) -> list[Statement]:
        return [self._statement(scope, depth) for _ in range(count)]

    def _statement(self, scope: _Scope, depth: int) -> Statement:
        kinds = ["let"] * 4 + ["put"] * 4 + ["whole"] * 2 + ["own", "wide", "copy", "drop", "set"]
        if depth < 2:
            kinds += ["if"] * 4 + ["for"]
        if self._is_last and not depth:
            kinds += ["leave"]
        return getattr(self, f"_{self._pick(*kinds)}")(scope, depth)  # type: ignore[no-any-return]

    def _let(self, scope: _Scope, depth: int) -> Statement:
        value, is_hidden = self._read(scope)
        made = self._new("let", self._name(), value)
        (scope.hidden if is_hidden else scope.plain).append(made.what[0])
        return made

    def _set(self, scope: _Scope, depth: int) -> Statement:
        """What was read is chosen against, or forgotten."""
        if not scope.hidden:
            return self._let(scope, depth)
        name = self._pick(*scope.hidden)
        value = ("?", self._condition(scope), ("name", name), self._number(scope))
        return self._new("set", name, self._pick(value, value, self._number(scope)))

    def _whole(self, scope: _Scope, depth: int) -> Statement:
        memory, size = self._pick("x", "x", "y", "tile"), self._pick(2, 2, 4)
        made = self._new("whole", self._name(), memory, size, self._index(scope, memory, size))
        scope.wholes.append((made.what[0], size, memory != "x"))
        return made

    def _put(self, scope: _Scope, depth: int) -> Statement:
        memory = self._pick("y", "y", "tile")
        return self._new("put", memory, self._index(scope, memory), self._value(scope))

    def _own(self, scope: _Scope, depth: int) -> Statement:
        index = ("%", self._number(scope), ("number", OWN))
        if self._chance.random() < self._risk:
            index = self._number(scope)
        return self._new("own", index, self._value(scope), self._pick(True, False))

    def _wide(self, scope: _Scope, depth: int) -> Statement:
        memory = self._pick("y", "tile")
        return self._new("wide", memory, self._index(scope, memory, 2), self._value(scope))

    def _copy(self, scope: _Scope, depth: int) -> Statement:
        """A struct from one place of a memory to another, or the same."""
        memory = self._pick("y", "tile")
        to = self._index(scope, memory, 2)
        return self._new("copy", memory, to, self._pick(to, self._index(scope, memory, 2)))

    def _drop(self, scope: _Scope, depth: int) -> Statement:
        return self._new("drop", self._read(scope)[0])

    def _if(self, scope: _Scope, depth: int) -> Statement:
        end = self._pick("n", "m", None)
        condition = self._condition(scope) if end is None else ("<", _GRID, ("name", end))
        inner = scope.inner(*((end,) if end else ()))
        body = self._several(inner, self._pick(1, 1, 2), depth + 1)
        other = self._several(scope.inner(), self._pick(0, 0, 0, 1), depth + 1)
        return self._new("if", condition, body=tuple(body), other=tuple(other))

    def _for(self, scope: _Scope, depth: int) -> Statement:
        self._loops += 1
        inner, name = scope.inner(), f"i{self._loops}"
        inner.plain.append(name)
        turns = self._pick(("number", 3), ("name", "m"), ("%", ("name", "n"), ("number", 4)))
        known = inner.inner()
        body = self._several(inner, self._pick(1, 2), depth + 1)
        if self._pick(0, 0, 1):
            place = self._pick(0, len(body))
            leaves = self._condition(inner if place else known)
            body.insert(place, self._new("leave", leaves))
        return self._new("for", name, turns, body=tuple(body))

    def _leave(self, scope: _Scope, depth: int) -> Statement:
        return self._new("leave", self._condition(scope))

    # -- expressions ------------------------------------------------------------------------------

    def _read(self, scope: _Scope) -> tuple[Expression, bool]:
        """Something that reads, and whether that may not be looked at."""
        memory = self._pick("x", "x", "x", "y", "tile")
        index, is_hidden = self._index(scope, memory), memory != "x"
        kind = self._pick(*["at"] * 5, *["below"] * 2, *["call"] * 2, "?", "choose", "own", "cast")
        match kind:
            case "below":
                return ("below", memory, index, self._number(scope)), is_hidden
            case "call":
                return ("call", memory, index), is_hidden
            case "?":
                end = "n" if memory == "x" else "m"
                read = ("at", memory, self._index(scope.inner(end), memory))
                near = ("<", _GRID, ("name", end))
                return ("?", near, read, ("number", 0)), is_hidden
            case "choose":
                index = ("min", index, ("-", ("min", ("name", "n"), ("name", "m")), _ONE))
                return ("choose", self._condition(scope), index), True
            case "own":
                index = ("%", self._number(scope), ("number", OWN))
                if self._chance.random() < self._risk:
                    index = self._number(scope)
                return ("mine", index, self._pick(True, False)), True
            case "cast" if scope.wholes:
                name, size, _ = self._pick(*scope.wholes)
                wanted = 4 if self._chance.random() < self._risk else 2
                return ("cast", name, size, wanted), True
        return ("at", memory, index), is_hidden

    def _value(self, scope: _Scope) -> Expression:
        """What is written; most of what was read is not."""
        kind = self._pick("number", "number", "hidden", "part", "own", "?")
        if kind == "hidden" and scope.hidden:
            return ("name", self._pick(*scope.hidden))
        if kind == "part" and scope.wholes:
            name, size, _ = self._pick(*scope.wholes)
            return ("part", name, size, self._chance.randrange(size))
        if kind == "own":
            return ("mine", ("%", self._number(scope), ("number", OWN)), True)
        if kind == "?":
            return ("?", self._condition(scope), self._read(scope)[0], self._number(scope))
        return self._number(scope)

    def _number(self, scope: _Scope) -> Expression:
        name = ("name", self._pick(*scope.plain, "t", "t"))
        return self._pick(
            name,
            name,
            ("number", self._pick(0, 1, 2, 3, 5, 31, 32, 63, 64)),
            ("+", name, ("number", self._pick(1, 2, 32))),
            ("%", name, ("number", self._pick(2, 4, 32))),
        )

    def _index(self, scope: _Scope, memory: str, size: int = 1) -> Expression:
        """An index of elements of so many numbers."""
        if self._chance.random() < self._risk:
            risky = self._pick(self._number(scope), _GRID, ("+", _GRID, self._number(scope)))
            return self._pick(risky, risky, ("/", risky, ("number", size)))
        if memory == "tile":
            own = self._pick(_THREAD, ("-", ("number", THREADS - 1), _THREAD))
            within = ("%", self._pick(_GRID, self._number(scope)), ("number", TILE // size))
            return self._pick(own, within) if size == 1 else within
        end = "n" if memory == "x" else "m"
        known = [_GRID] * 3 if end in scope.ends else []
        clamped = ("min", self._pick(_GRID, self._number(scope)), ("-", ("name", end), _ONE))
        return self._pick(clamped, *known)

    def _condition(self, scope: _Scope) -> Expression:
        near = ("<", _GRID, ("name", self._pick("n", "m")))
        one = self._pick(
            near,
            near,
            ("<", _THREAD, ("number", self._pick(1, 32, 40, 64))),
            ("<", self._number(scope), self._number(scope)),
            ("==", self._number(scope), self._number(scope)),
        )
        kind = self._pick("one", "one", "one", "and", "or", "read")
        if kind == "one":
            return one
        operator = "&&" if kind == "and" else self._pick("&&", "||")
        if kind == "read":
            return (operator, one, ("<", ("at", "x", self._index(scope, "x")), ("number", 5)))
        return (operator, one, near)


def drawn(seed: int) -> tuple[Statement, ...]:
    """The body of a seed's kernel."""
    return _Draw(seed).kernel()


# -- as Metal source ------------------------------------------------------------------------------

_SPACES = {"x": "const device", "y": "device", "tile": "threadgroup"}
_WHOLE = {2: "Pair", 4: "uint4"}
_PARTS = {2: ("first", "second"), 4: ("x", "y", "z", "w")}


def text(body: tuple[Statement, ...], number: int) -> str:
    """The function of a kernel."""
    lines = "\n".join("  " + line for line in _lines(body))
    return _SIGNATURE.format(number=number, tile=TILE, own=OWN, body=lines)


def _lines(body: tuple[Statement, ...], leaves: str = "return") -> Iterator[str]:
    for each in body:
        match each.kind, *each.what:
            case "let", name, value:
                yield f"uint {name} = {_text(value)};"
            case "set", name, value:
                yield f"{name} = {_text(value)};"
            case "whole", name, memory, size, index:
                yield f"{_WHOLE[size]} {name} = {_element(memory, size, index)};"
            case "put", memory, index, value:
                yield f"{memory}[{_text(index)}] = {_text(value)};"
            case "own", index, value, is_called:
                at, what = _text(index), _text(value)
                yield f"put(a, {at}, {what});" if is_called else f"a[{at}] = {what};"
            case "wide", memory, index, value:
                of = f"(({_SPACES[memory]} uint2*){memory})"
                yield f"{of}[{_text(index)}] = uint2({_text(value)});"
            case "copy", memory, to, source:
                yield f"{_element(memory, 2, to)} = {_element(memory, 2, source)};"
            case "drop", value:
                yield f"(void)({_text(value)} + 0u);"
            case "leave", condition:
                yield f"if ({_text(condition)}) {leaves};"
            case ("barrier",):
                yield "threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);"
            case "for", name, turns:
                yield f"for (uint {name} = 0; {name} < {_text(turns)}; {name}++) {{"
                yield from _lines(each.body, "break")
                yield "}"
            case "if", condition:
                yield f"if ({_text(condition)}) {{"
                yield from _lines(each.body, leaves)
                if each.other:
                    yield "} else {"
                    yield from _lines(each.other, leaves)
                yield "}"


def _element(memory: str, size: int, index: Expression) -> str:
    return f"(({_SPACES[memory]} {_WHOLE[size]}*){memory})[{_text(index)}]"


def _text(of: Expression) -> str:
    match of:
        case "name", name:
            return str(name)
        case "number", number:
            return f"{number}u"
        case "at", memory, index:
            return f"{memory}[{_text(index)}]"
        case "below", memory, index, end:
            return f"below({memory}, {_text(index)}, {_text(end)})"
        case "call", memory, index:
            return f"at({memory}, {_text(index)})"
        case "choose", condition, index:
            return f"({_text(condition)} ? x : y)[{_text(index)}]"
        case "mine", index, is_called:
            return f"at(a, {_text(index)})" if is_called else f"a[{_text(index)}]"
        case "part", name, size, part:
            return f"{name}.{_PARTS[size][part]}"
        case "cast", name, _, size:
            if size == 4:
                return f"last_of(*(thread uint4*)&{name})"
            return f"(*(thread uint2*)&{name}).y"
        case "min", one, other:
            return f"min({_text(one)}, {_text(other)})"
        case "?", condition, one, other:
            return f"({_text(condition)} ? {_text(one)} : {_text(other)})"
    operator, one, other = of
    return f"({_text(one)} {operator} {_text(other)})"
