"""Random kernels of which few lanes are needed, so that these run in vectors of their own.

All work stands under a guard by position, as in tiles of IREE, or is of few positions, so that the
other lanes do the same. What else positions decide hides from whoever only looks at places and
values: branches, trip counts, what private arrays and threadgroup memory hold. `same[n]` is `n`,
which no compiler knows. Kernels may have races: all is done in lock step, the last lane's value
stays. Threadgroups have places of their own.
"""

from __future__ import annotations

import functools
import itertools
import random
from dataclasses import dataclass

PARAMETERS = "in same out more limits"
PLACES = 64  # words of `out` and `more` for each threadgroup
OUTPUTS = 1024
INPUTS = 256
Size = tuple[int, int, int]
SIZES: tuple[Size, ...] = (
    (2, 64, 1),
    (32, 1, 1),
    (8, 4, 2),
    (16, 2, 1),
    (64, 1, 1),
    (4, 8, 1),
    (2, 2, 16),
    (3, 5, 2),
    (16, 3, 1),
)
# Of C++ and of Python, but for `&&` and `||`.
_GUARDS = (
    "x < 1",
    "x < 2",
    "x < 4",
    "x * 4 < 12",
    "x >= 2",
    "(x & 3) == 1",
    "y < 1",
    "y < 2",
    "y * 4 < 8",
    "y % 3 == 1",
    "(y & 1) == 0",
    "z < 1",
    "z > 0",
    "z == 1",
    "t < 5",
    "t < 16",
    "(t & 7) < 3",
    "(l & 7) == 2",
    "l < 4",
    "s == 0",
    "x < 4 && y < 2",
    "x < 3 && y > 0",
    "(x < 2 || y > 6) && z < 1",
    "x == y",
    "s == 1 && x < 4",
    "t * 4 < 48 && (x & 1) == 1",
)
_LOOPS = (
    "for (uint i{0} = 0; i{0} < n; i{0}++)",
    "for (uint i{0} = {1}; i{0} < 6; i{0} += 2)",
    "for (uint i{0} = {1} * 2; i{0} < 9; i{0} += 4)",
    "for (uint i{0} = 0; i{0} < ({1} & 3); i{0}++)",
    "for (uint i{0} = same[1]; i{0} < {1} % 3; i{0}++)",
)
_FEW = ((), ("x",), ("y",), ("z",), ("x", "z"), ("(x & 1)",), ("(y & 1)",), ("(t >> 3 & 1)", "y"))
_MOST = 15  # lanes that have work: more would not be worth a width of their own


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactKernel:
    """A kernel, and the grid that it is run with: whole threadgroups or `threads`."""

    source: str
    size: Size
    threadgroups: Size | None = None
    threads: Size | None = None


@functools.cache
def _threads(size: Size) -> list[dict[str, int]]:
    """Positions of all threads of a threadgroup."""
    inside = itertools.product(*map(range, reversed(size)))
    return [
        {"x": x, "y": y, "z": z, "t": t, "l": t % 32, "s": t // 32}
        for t, (z, y, x) in enumerate(inside)
    ]


@functools.cache
def _passing(guard: str, size: Size) -> frozenset[int]:
    """The threads that a guard lets in, by their indices."""
    python = guard.replace("&&", "and").replace("||", "or").replace("true", "True")
    code = compile(python, "guard", "eval")
    return frozenset(each["t"] for each in _threads(size) if eval(code, each.copy()))


@functools.cache
def _outer_guards(size: Size) -> list[str]:
    """Guards that few lanes pass, in all simdgroups together."""
    return [g for g in _GUARDS if 0 < len({t % 32 for t in _passing(g, size)}) <= _MOST]


@functools.cache
def _inner_guards(outer: str, size: Size) -> list[str]:
    """Guards that some threads behind the outer one pass, and others do not.

    Most are those that the first thread passes: others may seem to do less than it.
    """
    live = _passing(outer, size)
    found = [each for each in _GUARDS if 0 < len(_passing(each, size) & live) < len(live)]
    return found + 3 * [each for each in found if min(live) in _passing(each, size)]


@functools.cache
def _few_positions(outer: str, size: Size) -> list[tuple[str, ...]]:
    """Numbers in which few lanes differ."""
    found = []
    live = _passing(outer, size)
    for used in _FEW:
        seen = {
            tuple(eval(name, each.copy()) for name in used)
            for each in _threads(size)
            if each["t"] in live
        }
        if len(seen) <= _MOST:
            found.append(used)
    return found


@functools.cache
def _differing(outer: str, size: Size) -> list[str]:
    """Positions in which threads behind a guard differ, if they do in any."""
    live = _passing(outer, size)
    rows = [each for each in _threads(size) if each["t"] in live]
    return [name for name in "xyzl" if len({each[name] for each in rows}) > 1] or ["x"]


class _Writer:
    """Writes one kernel; what it draws decides what it writes."""

    def __init__(
        self, chance: random.Random, outer: str, size: Size, shown: tuple[str, ...]
    ) -> None:
        self._chance = chance
        self._guards = _inner_guards(outer, size)
        self._hidden = _differing(outer, size)  # positions that ways through the kernel depend on
        self._shown = shown  # positions that places and values show
        self._loops: list[str] = []
        self._names = 0
        self.parts = chance.sample(("own", "tile", "float", "address"), 2)

    def pick(self, *choices: str) -> str:
        """One of the choices."""
        return self._chance.choice(choices)

    def number(self, low: int, high: int) -> int:
        """A number of a range."""
        return self._chance.randint(low, high)

    def guard(self) -> str:
        """A guard that some lanes pass and others may not."""
        if not self._guards or self.number(0, 3) == 0:
            unknown = self.pick("in[{}] & 1", "b < {}", "a == {}", "u % 5 > {}", "w > {}")
            return unknown.format(self.number(0, 2))
        return self.pick(*self._guards)

    def small(self) -> str:
        """A number that lanes may differ in."""
        return self.pick("a", "a", "n", "g", *self._shown, *self._shown, *self._loops)

    def place(self) -> str:
        """A sum of such numbers."""
        return f"({self.small()} * {self.pick('1', '2', '4', '8')} + {self.small()})"

    def value(self) -> str:
        """What is worth writing."""
        return self.pick("sum", "a", "b", "sum + (uint)(int)f", self.small())

    def block(self, depth: int) -> str:
        """Some statements in braces."""
        return "{ " + " ".join(self.statement(depth) for _ in range(self.number(1, 2))) + " }"

    def statement(self, depth: int) -> str:
        """One statement, which may hold others."""
        kinds = ["read", "set", "store", *self.parts]
        if depth > 0:
            kinds += ["behind", "behind", "guarded", "choice", "loop", "loop"]
        return getattr(self, "_" + self.pick(*kinds))(depth)

    def _read(self, depth: int) -> str:
        return self.pick(
            f"sum = sum * 31 + in[{self.place()} & {INPUTS - 1}];",
            f"sum += ((DEVICE uint4*)in)[{self.place()} & 31].z;",
            f"b ^= table[{self.place()} & 15];",
            f"a = same[{self.place()} & 7];",
        )

    def _set(self, depth: int) -> str:
        return self.pick(
            f"a = {self.small()} & 7;", f"a = a * 2 + {self.small()} & 7;", f"b += {self.small()};"
        )

    def _store(self, depth: int) -> str:
        return self.pick(
            f"out[{self.place()} & {PLACES - 1}] = {self.value()};",
            f"out[{self.small()} & {PLACES - 1}] = {self.value()};",
            f"more[{self.place()} & {PLACES - 1}] = {self.value()};",
            f"more[{self.place()} & {PLACES - 1}] += {self.value()};",
            f"*(DEVICE ushort*)(out + ({self.place()} & {PLACES - 1})) = {self.value()};",
        )

    def _behind(self, depth: int) -> str:
        """What a value is depends on the way."""
        first = f"a = same[{self.number(0, 5)}];"
        other = self.pick("", "", f"else a = in[{self.small()} & 63] & 7;", "else b = sum;")
        return f"if ({self.guard()}) {first} {other}"

    def _guarded(self, depth: int) -> str:
        return f"if ({self.guard()}) {self.block(depth - 1)}"

    def _choice(self, depth: int) -> str:
        return f"if ({self.guard()}) {self.block(depth - 1)} else {self.block(depth - 1)}"

    def _loop(self, depth: int) -> str:
        self._names += 1
        hidden = self.pick("a", "u", *self._hidden)
        head = self.pick(*_LOOPS).format(self._names, hidden)
        if self.number(0, 1):
            return f"a = 0; {head} a += same[1];"
        self._loops.append(f"i{self._names}")
        leave = self.pick("", "", f"if ({self.guard()}) break;", f"if ({self.guard()}) continue;")
        body = self.block(depth - 1)
        self._loops.pop()
        return f"{head} {{ {leave} {body} }}"

    def _own(self, depth: int) -> str:
        """Arrays that stay in memory, as nobody knows the place."""
        place = f"same[{self.pick('n', '1', '2', self.small())} & 3]"
        if self.number(0, 2) == 0:
            return f"if ({self.guard()}) own[{place}] = same[{self.number(1, 7)}];"
        return self.pick(f"own[{place}] += {self.value()};", f"a = own[{place}] & 7;")

    def _tile(self, depth: int) -> str:
        place = f"{self.place()} & 31"
        return self.pick(
            f"tile[{place}] = {self.value()};", f"a = tile[{place}] & 7;", f"sum ^= tile[{place}];"
        )

    def _float(self, depth: int) -> str:
        return self.pick(
            f"f = __builtin_elementwise_fma((float)(in[{self.place()} & 63] & 7), 0.5f, f);",
            f"f += (float){self.small()};",
        )

    def _address(self, depth: int) -> str:
        """Which buffer it is depends on the lane, perhaps."""
        which = self.pick(self.guard(), "n & 1")
        return self.pick(
            f"sum += (({which}) ? in : same)[{self.place()} & 63];",
            f"(({which}) ? out : more)[{self.place()} & {PLACES - 1}] = {self.value()};",
        )

    def rare(self) -> str:
        """What counts lanes, or accesses that may be outside of the buffer."""
        place = self.place()
        return self.pick(
            f"__assay_atomic_add_u32((uint*)(out + ({place} & {PLACES - 1})), {self.small()});",
            "sum += __assay_simd_sum_u32(a, 32);",
            f"sum += in[{place} * 11];",
            f"out[{place} * 40] = sum;",
        )

    def last(self) -> str:
        """What was computed, to places that only what is hidden tells apart, perhaps."""
        guard = self.pick(*self._guards) if self._guards else self.guard()
        number = self.number(1, 5)
        behind = f"if ({guard}) a = same[{number}];"
        turns = (
            f"a = {number}; for (uint k = 0; k <= ({self.pick(*self._hidden)} & 3); k++)"
            " a = same[a + 1];"
        )
        array = f"if ({guard}) own[same[n]] = same[{number}]; a = own[same[n] + same[0]] & 7;"
        hidden = self.pick("", behind, behind, turns, array, array)
        shown = self.pick("n", *self._shown)
        place = self.pick(*[shown] * 5, f"(a * 8 + {shown})")
        value = self.pick("a", "a", "sum + a") if hidden else self.pick("sum", *self._shown)
        other = self.pick(shown, shown, "9", "a")
        return (
            f"{hidden} out[{place} & {PLACES - 1}] = {value};"
            f" more[{other} & {PLACES - 1}] = b + (uint)(int)f * 7 + sum + a;"
        )


_HEAD = """typedef uint uint4 __attribute__((ext_vector_type(4)));
static constexpr CONSTANT uint table[16] = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 3, 5, 7, 11, 13, 17};
static THREADGROUP uint tile[32];
KERNEL(DEVICE uint* in, DEVICE uint* same, DEVICE uint* out, DEVICE uint* more,
       DEVICE uint* limits) {
    uint x = __assay_thread_position_in_threadgroup(0);
    uint y = __assay_thread_position_in_threadgroup(1);
    uint z = __assay_thread_position_in_threadgroup(2);
    uint u = __assay_thread_position_in_grid(0), w = __assay_thread_position_in_grid(1);
    uint t = __assay_thread_index_in_threadgroup(), l = lane();
    uint s = __assay_simdgroup_index_in_threadgroup(), n = limits[0];
    uint g = __assay_threadgroup_position_in_grid(0);
    uint sum = 1, a = 0, b = 5, own[4] = {}; float f = 0.25f;
"""


def compact_kernel(seed: int) -> CompactKernel:
    """A kernel of which few lanes do all the work, for most seeds."""
    chance = random.Random(seed)
    size = chance.choice(SIZES)
    outer = chance.choice(_outer_guards(size)) if chance.randrange(8) else "true"
    shown = chance.choice(_few_positions(outer, size))
    if outer != "true" and chance.randrange(5) == 0:
        shown = ("x", "y", "z", "t", "l", "u", "w")
    writer = _Writer(chance, outer, size, shown)
    most = chance.choice((0, 2))  # in small kernels less else tells lanes apart
    parts = [
        " ".join(writer.statement(2) for _ in range(chance.randint(min(most, 1), most)))
        for _ in range(chance.randint(1, 2))
    ]
    if chance.randrange(10) == 0:
        parts[0] += " " + writer.rare()
    parts[-1] += " " + writer.last()
    barrier = chance.choice(("", "barrier();")) if "tile" in writer.parts else ""
    work = f" {barrier} ".join(f"if ({outer}) {{ {part} }}" for part in parts)
    if barrier and chance.randrange(2):
        work = f"for (uint o = 0; o < 2; o++) {{ {work} {barrier} }}"
    group = "g + __assay_threadgroup_position_in_grid(1) * 3"
    source = (
        f"{_HEAD}    out += ({group}) * {PLACES}; more += ({group}) * {PLACES};\n    {work}\n}}"
    )
    width, height, depth = size
    if chance.randrange(4) == 0:  # the last threadgroups are smaller
        threads = (2 * width - (width > 1), height + height // 2, depth)
        return CompactKernel(source=source, size=size, threads=threads)
    rows = chance.randint(1, 2) if width * height * depth <= 64 else 1
    return CompactKernel(source=source, size=size, threadgroups=(3, rows, 1))


_PACKED_SIZES: tuple[Size, ...] = ((16, 2, 1), (32, 1, 1), (4, 8, 1), (2, 64, 1), (1, 1, 1))
_ROWS = (2, 3, 4, 6, 7, 8, 14)  # threadgroups of a row of the grid, which is one number
_PACKED_LOOPS = (
    "for (uint i = 0; i < n; i++)",
    "for (uint i = 0; i < 3; i++)",
    "for (uint i = 0; i < 4 && i < r; i++)",
    "for (uint i = q; i < 4; i += 2)",
    "for (uint i = 0; i < same[2]; i++)",
)


def packed_kernel(seed: int) -> CompactKernel:
    """A kernel of which several threadgroups run at once, for most seeds.

    It divides the threadgroup's place by the row's length, and writes what no other threadgroup
    does. Loops read and write plain pieces; branches are by column, lane and what was read.
    """
    return _PackedWriter(random.Random(seed)).kernel()


class _PackedWriter:
    """Writes one kernel of a grid whose rows are counted in one number."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._pick = chance.choice
        self._size = self._pick(_PACKED_SIZES)
        self._columns = self._pick(_ROWS)
        axis = self._pick([n for n in (0, 1) if self._size[n] > 1] or [0])
        self._lane = "xy"[axis]
        self._lanes = min(self._pick((1, 2, 2, 3, 4)), self._size[axis])
        self._outer = f"{self._lane} < {self._lanes}"
        if chance.randrange(2):
            self._outer += f" && {'yx'[axis]} < 1"
        self._place = f"r * {self._lanes} + {self._lane}"  # in a row
        self._own = f"((q * 4 + i) * {self._columns} + r) * {self._lanes} + {self._lane}"

    def _guard(self) -> str:
        lane = self._lane
        return self._pick(
            ("r > 0", "r == 1", "q == r", f"{lane} < 1", f"{lane} > r", "in[r] & 1", "n > q")
        )

    def _statement(self, depth: int) -> str:
        kind = self._pick(("in", "in", "all", "set", "store", *(("if", "choice") if depth else ())))
        if kind in ("if", "choice"):
            other = f" else {{ {self._statement(depth - 1)} }}" if kind == "choice" else ""
            return f"if ({self._guard()}) {{ {self._statement(depth - 1)} }}{other}"
        if kind == "in":
            return f"sum = sum * 3 + in[i * {self._pick((7, 14, 28))} + {self._place}];"
        if kind == "all":
            return f"b += in[i + {self._pick(('q', 'n', '3'))}];"
        if kind == "set":
            return f"a = {self._pick(('a * 3 + sum', 'r + b', self._lane, 'a ^ i'))};"
        buffer, value = self._pick(("out", "more")), self._pick(("sum", "a", "b + sum", "r"))
        return f"{buffer}[{self._own}] = {value};"

    def _loop(self, tile: str) -> str:
        body = " ".join(self._statement(1) for _ in range(self._chance.randint(1, 3)))
        return f"{self._pick(_PACKED_LOOPS)} {{ {body}{tile} }}"

    def kernel(self) -> CompactKernel:
        """The kernel, in a grid whose last row is not whole."""
        # Threadgroup memory does not keep threadgroups of one lane apart.
        alone = self._size == (1, 1, 1) and self._chance.randrange(2) == 0
        tile = " tile[i & 7] += sum + i; a ^= tile[(i + n) & 7];" if alone else ""
        loops = " ".join(self._loop(tile) for _ in range(self._chance.randint(1, 2)))
        behind = f"if ({self._guard()}) a = same[{self._pick(('r', 'q', '3'))}];"
        # Two of these keep them apart: where a thread is in the grid, and another divisor.
        value = self._pick(("a + b",) * 8 + ("a + s", "a + u", "b + (g & 1)"))
        source = (
            f"{_HEAD}    uint q = g / {self._columns}, r = g % {self._columns};\n"
            f"    if ({self._outer}) {{ {loops} {behind} uint i = 3;"
            f" out[{self._own}] = sum ^ a; more[{self._own}] = {value}; }}\n}}"
        )
        rows = self._chance.randint(2, 3)
        groups = self._columns * rows + self._chance.randrange(self._columns)
        return CompactKernel(source=source, size=self._size, threadgroups=(groups, 1, 1))
