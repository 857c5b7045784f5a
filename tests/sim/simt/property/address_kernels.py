"""Random ways to compute addresses from positions: strides, offsets, wraps, vectors, narrow types.

Each thread copies elements between device, threadgroup and private memory at indices that are
affine, or nearly so, in its position. Every index is checked before use, so that all are legal: by
comparing it with its bounds, or as textbooks do, by comparing what it is computed from.
"""

from __future__ import annotations

from hypothesis import strategies as st

PARAMETERS = "in out numbers"
ELEMENTS = 256  # of the largest type, in each buffer
BYTES = ELEMENTS * 16
OUTPUTS = 4  # 32-bit words that each thread writes
_TYPES = {"uchar": 1, "short": 2, "int": 4, "ulong": 8, "float2": 8, "uint4": 16}
_INDEX_TYPES = ("uint", "int", "ushort", "long", "uchar", "short")
_TERMS = ("x", "y", "t", "k", "n", "lx", "ly", "lane()", "numbers[0]", "numbers[x & 7]")


@st.composite
def _index(draw: st.DrawFn) -> str:
    type_ = draw(st.sampled_from(_INDEX_TYPES))
    text = str(draw(st.integers(-4, 40)))
    for _ in range(draw(st.integers(1, 3))):
        factor = draw(st.sampled_from((1, 1, 1, 2, 3, 4, 8, 16, 17, -1, 255, 65536)))
        term = f"({type_})({draw(st.sampled_from(_TERMS))}) * {factor}"
        text = f"({type_})({text} + {term})"
    shape = draw(st.sampled_from(("{}", "{}", "{} & 31", "{} / 2", "{} % 13", "{} >> 1", "{} ^ 1")))
    return f"(long)({type_})({shape.format(text)})"


@st.composite
def _simple(draw: st.DrawFn, type_: str) -> str:
    """Few terms, without wraps on the way to 64 bits: the type is that of the guard, too."""
    terms = [f"{draw(st.integers(-40, 40))}"]
    for _ in range(draw(st.integers(1, 2))):
        factor = draw(st.sampled_from((1, 1, 2, 3, 4, -1, -2)))
        terms.append(f"{draw(st.sampled_from(_TERMS))} * {factor}")
    return f"({type_})({' + '.join(terms)})"


# Reads at an index that only the lanes that pass the test could compute, with what they read from:
# `{count}` elements at `{memory}`. `a` and `b` are numbers of type `{type}`.
_GUARDED = (
    "for (uint d = n; d < 99; d += 7) if (t * 3 >= d) sum += {memory}[(t * 3 - d) % {count}];",
    "for (uint d = n; d < 99; d += 7) if (d >= t && d < {count}) sum += {memory}[d - t];",
    "if (a >= b && a - b < {count}) sum += {memory}[a - b];",
    "sum += a < b ? 3 : a - b < {count} ? {memory}[a - b] : 5;",
    "if (a < b || a - b >= {count} || {memory}[a - b] & 1) sum ^= 9; else sum += 7;",
    "for (uint d = n | 1; d < 90; d <<= 1) sum += t >= d ? {memory}[t - d] : d;",
    "for (uint d = {count} / 2 - n; d; d >>= 1) if (t >= d && t < {count}) sum += {memory}[t - d];",
    "for (uint d = n; d < 9; d++) if (t - d < {count}) sum = sum * 3 + {memory}[t - d];",
    "for (uint i = a; i < {count}; i -= 97) sum = sum * 3 + {memory}[i];",
    "for (int i = (int)(a & 31); i >= 0; i -= 5) sum = sum * 3 + {memory}[i];",
    "for (uint i = t + 1; i && i < {count}; i = (i & 1) ? i >> 1 : i * 2 - 2) "
    "{{ sum = sum * 3 + {memory}[i]; if (++guard > 20) break; }}",
    "for (uint i = {count} - 1 - (t & 31); i-- + 35 + 3 * n > {count};) "
    "sum = sum * 3 + {memory}[i];",
    "int i = (int)a - (int)b; i = i < 0 ? -i - 1 : i; "
    "if (i >= 0 && i < {count}) sum += {memory}[i];",
    "int i = ((int)a - 64) {shape}; "
    "if (i >= -({count} / 2) && i < {count} / 2) sum += ({memory} + {count} / 2)[i];",
    "int i = ((int)t - 64) {shape}; "
    "if (i >= -({count} / 2) && i < {count} / 2) sum += ({memory} + {count} / 2)[i];",
    "int i = ((int)lane() - 5) {shape}; "
    "if (i >= -({count} / 2) && i < {count} / 2) sum += ({memory} + {count} / 2)[i];",
    "uint i = (t - 64 * n) {shape}; if (i < {count}) sum += {memory}[i];",
    "uint i = (uint)a * 2654435761u + (uint)b * 0x80000001u; sum += {memory}[i % {count}];",
    "uint i = (uint)a * 2654435761u - (uint)b; sum += {memory}[i >> 5 & 31];",
    "auto p = t & n ? {memory} + (t & 15) : {memory} + 31 - (t & 31); sum += *p;",
    "auto p = n > 1 ? {memory} + (t & 15) : {memory} + 31 - (t & 15); sum += *p;",
    "auto p = {memory} - 8 + (t & 31); p += t & 16 ? -2 : 8; if (t % 32 >= 10) sum += *p;",
)
_SHAPES = (">> 2", ">> 5", "& ~3", "| -16", "^ -1", "/ 4", "% 8", "* 3", "<< 28 >> 28")


@st.composite
def _guarded_line(draw: st.DrawFn, memory: str, count: int) -> str:
    type_ = draw(st.sampled_from(("uint", "uint", "int", "ushort", "long", "ulong")))
    a, b = draw(_simple(type_)), draw(_simple(type_))
    reads = [
        draw(st.sampled_from(_GUARDED)).format(
            memory=memory, count=count, shape=draw(st.sampled_from(_SHAPES))
        )
        for _ in range(3)
    ]
    return f"{{ {type_} a = {a}, b = {b}; {{ {' } { '.join(reads)} }} }}"


@st.composite
def _checked_line(draw: st.DrawFn, space: str, count: int, number: int) -> str:
    """A read at any index that turns out to be legal; of as many elements of threadgroup memory."""
    index, other = draw(_index()), draw(_index())
    if space == "threadgroup":
        return (
            f"{{ long i = {index}; if (i >= 0 && i < {count}) sum ^= shared[i] * {number + 3}; }}"
        )
    if space == "private":
        return (
            f"{{ long i = {index}, j = {other}; if (i >= 0 && i < 8) own[i] = sum + 1; "
            f"if (j >= 0 && j < 8) sum = sum * 7 + own[j]; }}"
        )
    type_ = draw(st.sampled_from(sorted(_TYPES)))
    value = {"float2": "{}.y", "uint4": "({0}.x ^ {0}.w)"}.get(type_, "{}")
    return (
        f"{{ long i = {index}; if (i >= 0 && i < {BYTES // _TYPES[type_]}) "
        f"sum = sum * 31 + (uint){value.format(f'((DEVICE {type_}*)in)[i]')}; }}"
    )


@st.composite
def address_kernels(draw: st.DrawFn) -> tuple[str, tuple[int, int, int]]:
    """A kernel's source, and the threadgroup size to run it with."""
    size = draw(st.sampled_from(((32, 1, 1), (64, 1, 1), (8, 8, 1), (16, 3, 1), (5, 7, 1))))
    threads = size[0] * size[1]
    lines = []
    for number in range(draw(st.integers(1, 3))):
        space = draw(st.sampled_from(("device", "device", "threadgroup", "private")))
        if space == "private" or draw(st.booleans()):
            line = draw(_checked_line(space, threads, number))
        elif space == "threadgroup":
            line = draw(_guarded_line("shared", threads))
        else:
            line = draw(_guarded_line("((DEVICE uint*)in)", BYTES // 4))
        if space == "threadgroup":  # one writer for each place: the thread's own
            line = f"barrier(); shared[t] = sum + k; barrier(); {line}"
        lines.append(line)
    slot = draw(st.sampled_from(("at * 4 + {}", "{} * total + at", "at + {} * total")))
    stores = " ".join(
        f"out[{slot.format(n)}] = {value};" for n, value in enumerate(("sum", "own[3]", "t", "x"))
    )
    source = f"""typedef uint uint4 __attribute__((ext_vector_type(4)));
KERNEL(DEVICE uchar* in, DEVICE uint* out, DEVICE uint* numbers) {{
    static THREADGROUP uint shared[64];
    uint x = __assay_thread_position_in_grid(0), y = __assay_thread_position_in_grid(1);
    uint lx = __assay_thread_position_in_threadgroup(0);
    uint ly = __assay_thread_position_in_threadgroup(1);
    uint t = __assay_thread_index_in_threadgroup(), n = numbers[1], sum = 1, guard = 0;
    uint total = __assay_threads_per_grid(0) * __assay_threads_per_grid(1);
    uint at = y * __assay_threads_per_grid(0) + x;
    uint own[8] = {{}};
    for (uint k = 0; k < n; k++) {{
        {" ".join(lines)}
    }}
    {stores}
}}"""
    return source, size
