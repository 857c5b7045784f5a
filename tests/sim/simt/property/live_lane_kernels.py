"""Random kernels in which many lanes have no work, or the same work as others, by their positions.

Loops, guards and places are of positions of all kinds. `tame` kernels have no races, so that their
results do not depend on the order of lanes: what threads share is only read, or written by atomic
sums, and each place is written by one thread, or by several with one value. Others write wherever
their positions say: then the last lane's value stays, statement by statement. Threadgroups have
places of their own.
"""

from __future__ import annotations

from hypothesis import strategies as st

PARAMETERS = "in out counts limits"
PLACES = 512  # words of `out` for each threadgroup
INPUTS, COUNTERS, LIMITS = 1024, 8, 8
SIZES = (
    (2, 64, 1),
    (8, 16, 1),
    (16, 2, 1),
    (32, 2, 1),
    (64, 1, 1),
    (4, 8, 1),
    (8, 1, 1),
    (3, 5, 2),
    (16, 3, 1),
    (1, 1, 1),
    (2, 2, 16),
    (37, 1, 1),
)
Size = tuple[int, int, int]
_POSITIONS = ("x", "x", "y", "z", "row", "column")
_COLUMNS = (2, 3, 4, 7, 8, 14, 49)  # threadgroups of a row of the grid, which is one number
_GUARDS = (
    "x * 4 < 8",
    "y * 4 < 8",
    "x < 2",
    "y < 1",
    "x >= 2",
    "(x & 1) == 0",
    "y % 3 == 1",
    "x < 3 && y < 2",
    "x == 0 || z > 2",
    "t < 5",
    "lane() < 4",
    "__assay_simdgroup_index_in_threadgroup() == 0",
    "x + n < 3",
    "in[x] & 1",
    "g & 1",
    "n > 2",
)
_LOOPS = (
    "for (uint i{0} = 0; i{0} < n; i{0}++)",
    "for (uint i{0} = x; i{0} < 9; i{0} += 2)",
    "for (uint i{0} = y * 4; i{0} < 16; i{0} += 8)",
    "for (uint i{0} = y; i{0} < 4; i{0} += 3)",
    "for (uint i{0} = 0; i{0} < (x & 3); i{0}++)",
    "for (uint i{0} = t; i{0} < 40; i{0} += 32)",
)


class _Writer:
    """Writes one kernel; what it draws decides what it writes."""

    def __init__(self, draw: st.DrawFn, size: Size, tame: bool, plain: bool) -> None:
        self._draw = draw
        self._plain = plain  # whether there are only loads and stores of buffers
        self._size = size
        self._tame = tame
        self._loops: list[str] = []
        self._names = 0
        self._stores = 0
        # Positions that all places and values come from: the fewer, the more lanes are alike.
        used = draw(st.sets(st.sampled_from(_POSITIONS), max_size=2))
        self._used = sorted(used | {"column"} if plain else used)

    def _pick(self, *choices: str) -> str:
        return self._draw(st.sampled_from(choices))

    def _position(self) -> str:
        return self._pick(*self._used, *self._loops, "g", "n")

    def _place(self) -> str:
        return f"({self._position()} * {self._pick('1', '2', '4', '36')} + {self._position()})"

    def block(self, depth: int) -> str:
        """Some statements in braces."""
        lines = [self.statement(depth) for _ in range(self._draw(st.integers(1, 3)))]
        return "{ " + " ".join(lines) + " }"

    def statement(self, depth: int) -> str:
        """One statement, which may hold others."""
        kinds = ["read", "read", "store", "store", *([] if self._plain else ["own"])]
        if depth > 0:
            kinds += ["guard", "guard", "loop", "loop", "choice"]
        kind = self._pick(*kinds, *self._rare())
        if kind == "guard":
            return f"if ({self._pick(*_GUARDS)}) {self.block(depth - 1)}"
        if kind == "choice":
            both = self.block(depth - 1), self.block(depth - 1)
            return f"if ({self._pick(*_GUARDS)}) {both[0]} else {both[1]}"
        if kind == "loop":
            self._names += 1
            name = f"i{self._names}"
            head = self._pick(*_LOOPS).format(self._names)
            self._loops.append(name)
            body = self.block(depth - 1)
            self._loops.pop()
            return f"{head} {body}"
        return getattr(self, f"_{kind}")()

    def _rare(self) -> list[str]:
        if self._plain or self._draw(st.integers(0, 9)):
            return []
        return [self._pick("across", "count") if self._tame else "outside"]

    def _read(self) -> str:
        place = f"{self._place()} & {INPUTS - 1}"
        return self._pick(
            f"sum = sum * 31 + in[{place}];",
            f"f = __builtin_elementwise_fma((float)(in[{place}] & 7), 0.5f, f);",
            f"sum += ((DEVICE uint4*)in)[({place}) >> 2].z;",
            f"sum ^= table[({place}) & 15];",
        )

    def _outside(self) -> str:
        """An access that some threads may do outside of the buffer."""
        factor = self._pick("90", "300", "70000")
        return self._pick(
            f"sum += in[{self._place()} * {factor}];",
            f"out[{self._place()} * 70000] = sum;",
            f"for (uint o = 0; o < n; o++) sum += in[({self._place()} + o) * {factor}];",
        )

    def _own(self) -> str:
        return self._pick(
            f"own[{self._position()} & 3] += sum;",
            f"sum += own[{self._position()} & 3] * 3;",
            f"sum += {self._position()};",
        )

    def _across(self) -> str:
        return self._pick(
            "sum += __assay_simd_sum_u32(sum, 32);",
            "sum += (uint)__assay_simd_ballot(sum & 1);",
            "sum += (uint)__assay_simd_active_mask();",
            "sum += (uint)__assay_simd_broadcast_first_i32((int)sum);",
        )

    def _count(self) -> str:
        return f"__assay_atomic_add_u32(counts + ({self._position()} & {COUNTERS - 1}), 3u);"

    def _store(self) -> str:
        if self._stores >= 3:
            return self._read()
        self._stores += 1
        value = self._pick("sum", "sum", "(uint)(int)f", self._position())
        if not self._tame:
            return f"out[{self._place()} & {PLACES - 1}] = {value};"
        # A place of a thread's own.
        return f"out[t + {128 * self._stores}] = {value};"

    def shared_stores(self) -> str:
        """Each place is written by all threads that agree in what the value is computed from."""
        used = [each for each in self._used if each in "xy"]
        x, y = ("x" in used, "y" in used)
        place = " + ".join([*(["x"] if x else []), *([f"y * {self._size[0]}"] if y else []), "0"])
        guard = self._pick("true", *_GUARDS[:8])
        return (
            f"if ({guard}) out[({place}) & 127] = (x * {int(x)} + y * {int(y)}) * 77 + in[{place}];"
        )


@st.composite
def live_lane_kernels(draw: st.DrawFn, *, tame: bool) -> tuple[str, Size]:
    """A kernel's source, and the threadgroup size to run it with."""
    size = draw(st.sampled_from(SIZES))
    plain = draw(st.booleans())
    writer = _Writer(draw, size, tame, plain)
    lines = [writer.statement(3) for _ in range(draw(st.integers(1, 3)))]
    if not plain and draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), "barrier();")
    if draw(st.integers(0, 2)) == 0:
        lines.insert(0, f"if ({draw(st.sampled_from(_GUARDS))}) return;")
    lines.append(writer.shared_stores() if tame else writer._store())
    columns = draw(st.sampled_from(_COLUMNS))
    source = f"""typedef uint uint4 __attribute__((ext_vector_type(4)));
static constexpr CONSTANT uint table[16] = {{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 3, 5, 7, 11, 13, 17}};
KERNEL(DEVICE uint* in, DEVICE uint* out, DEVICE uint* counts, DEVICE uint* limits) {{
    uint x = __assay_thread_position_in_threadgroup(0);
    uint y = __assay_thread_position_in_threadgroup(1);
    uint z = __assay_thread_position_in_threadgroup(2);
    uint t = __assay_thread_index_in_threadgroup(), n = limits[0], sum = 1, own[4] = {{}};
    uint g = __assay_threadgroup_position_in_grid(0);
    uint row = g / {columns}, column = g % {columns};
    float f = 0.25f;
    out += g * {PLACES};
    {" ".join(lines)}
}}"""
    return source, size
