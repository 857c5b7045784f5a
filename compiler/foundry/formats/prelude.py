"""What all policies share in MSL: small reads, and the tables of 4-bit numbers."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from ..numbers import E2M1
from .columns import NF4_VALUES


def _table(name: str, values: np.typing.NDArray[np.float32]) -> str:
    # The shortest decimal of a float reads back as the same float.
    numbers = [f"{np.format_float_positional(v, unique=True, trim='0')}f" for v in values]
    rows = "\n".join(f"    {', '.join(numbers[i : i + 4])}," for i in range(0, 16, 4))
    return f"constant float {name}[16] = {{\n{rows}\n}};\n"


_PARTS: Final = {
    "E2M1": _table("E2M1", np.concatenate([E2M1, -E2M1])),
    "NF4": _table("NF4", NF4_VALUES),
    "read_half": """\
static inline float read_half(const device uchar* at) {
    return float(*reinterpret_cast<const device half*>(at));
}
""",
    "nibble": """\
static inline uint nibble(uchar both, bool is_high) {
    return is_high ? both >> 4 : both & 15u;
}
""",
    "e8m0": """\
// A power of two; 255 is NaN. 2^-127 is subnormal, which arithmetic may flush to 0.
static inline float e8m0(uchar bits) {
    return as_type<float>(bits == 0 ? 0x00400000u : bits == 255 ? 0x7fc00000u : uint(bits) << 23);
}
""",
    "e4m3_size": """\
// The size of a small float with 4 bits of exponent (bias 7) and 3 of mantissa.
static inline float e4m3_size(uchar bits) {
    const uint exponent = bits >> 3 & 15u;
    const uint mantissa = bits & 7u;
    const float normal = as_type<float>((exponent + 120u) << 23 | mantissa << 20);
    return exponent == 0 ? float(mantissa) * 0x1p-9f : normal;
}
""",
    "e4m3": """\
// With a sign; 0x7f is NaN.
static inline float e4m3(uchar bits) {
    const float size = (bits & 0x7fu) == 0x7fu ? as_type<float>(0x7fc00000u) : e4m3_size(bits);
    return bits & 0x80u ? -size : size;
}
""",
    "ue4m3": """\
// As ggml reads it: without a sign; 0x7f is 0.
static inline float ue4m3(uchar bits) {
    return bits == 0x7fu ? 0.0f : e4m3_size(bits);
}
""",
    "six": """\
// One of the eight scales or minima, 6 bits each, in 12 bytes of a K-quant; 4 to 7 are in pieces.
static inline uint six(const device uchar* sixes, uint index, bool is_minimum) {
    const device uchar* own = sixes + (is_minimum ? 4 : 0);
    if (index < 4) {
        return own[index] & 63u;
    }
    const uchar rest = sixes[index + 4];
    return (is_minimum ? rest >> 4 : rest & 15u) | uint(own[index - 4] >> 6) << 4;
}
""",
}
"""Each by the name that it defines."""

PRELUDE: Final = "\n".join(_PARTS.values())
"""All of it. The text of a kernel keeps what is used in it."""


def without_unused(text: str) -> str:
    """A text without those parts of the prelude that nothing else in it names."""
    for name, part in reversed(_PARTS.items()):  # a part uses those in front of it
        rest = text.replace(f"{part}\n", "", 1)
        if not re.search(rf"\b{name}\b", rest):
            text = rest
    return text
