"""Random ways to compute addresses from positions: strides, offsets, wraps, vectors, narrow types.

Each thread copies elements between device, threadgroup and private memory at indices that are
affine, or nearly so, in its position. Every index is checked before use, so that all are legal.
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
def address_kernels(draw: st.DrawFn) -> tuple[str, tuple[int, int, int]]:
    """A kernel's source, and the threadgroup size to run it with."""
    size = draw(st.sampled_from(((32, 1, 1), (64, 1, 1), (8, 8, 1), (16, 3, 1), (5, 7, 1))))
    lines = []
    for number in range(draw(st.integers(1, 4))):
        type_ = draw(st.sampled_from(sorted(_TYPES)))
        count = BYTES // _TYPES[type_]
        space = draw(st.sampled_from(("device", "device", "threadgroup", "private")))
        index, other = draw(_index()), draw(_index())
        value = {"float2": "{}.y", "uint4": "({0}.x ^ {0}.w)"}.get(type_, "{}")
        if space == "device":
            lines.append(
                f"{{ long i = {index}; if (i >= 0 && i < {count}) "
                f"sum = sum * 31 + (uint){value.format(f'((DEVICE {type_}*)in)[i]')}; }}"
            )
        elif space == "threadgroup":  # one writer for each place: the thread's own
            lines.append(
                f"barrier(); shared[t] = sum + k; barrier(); {{ long i = {index}; "
                f"if (i >= 0 && i < {size[0] * size[1]}) sum ^= shared[i] * {number + 3}; }}"
            )
        else:
            lines.append(
                f"{{ long i = {index}, j = {other}; if (i >= 0 && i < 8) own[i] = sum + 1; "
                f"if (j >= 0 && j < 8) sum = sum * 7 + own[j]; }}"
            )
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
    uint t = __assay_thread_index_in_threadgroup(), n = numbers[1], sum = 1;
    uint total = __assay_threads_per_grid(0) * __assay_threads_per_grid(1);
    uint at = y * __assay_threads_per_grid(0) + x;
    uint own[8] = {{}};
    for (uint k = 0; k < n; k++) {{
        {" ".join(lines)}
    }}
    {stores}
}}"""
    return source, size
