"""E4M3: a byte for each number, without scales, as caches of keys and values hold them.

OCP 8-bit Floating Point Specification 1.0, E4M3: bias 7, no infinities; what exceeds 448 becomes
448.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..numbers import e4m3_bits, e4m3_values
from .packed import Named, Packed, Weights, matrix_of, numbers_of


@dataclass(frozen=True, slots=True)
class Fp8(Named):
    """Rows of bytes, one behind the other; any number of columns."""

    name: str = "fp8_e4m3"
    multiple: int = 1

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns], rounded to nearest even."""
        return numbers_of(e4m3_bits(matrix_of(weights, self)))

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]."""
        return e4m3_values(packed.matrix).reshape(packed.rows, packed.columns)

    @property
    def text(self) -> str:
        """The struct in MSL."""
        return f"""\
// E4M3 is a half without its last bits and 256 times as large, but for NaN.
struct {self.policy} {{
    // Two at a time, with their signs where halves have them.
    static void read4(uint word, thread float* w) {{
        const uint even = (word & 0x00ff00ffu) << 7, odd = word >> 1 & 0x7f807f80u;
        const float2 first = float2(as_type<half2>(even + (even & 0x40004000u))) * 256.0f;
        const float2 second = float2(as_type<half2>(odd + (odd & 0x40004000u))) * 256.0f;
        w[0] = first.x;
        w[1] = second.x;
        w[2] = first.y;
        w[3] = second.y;
    }}

    // Has a bit of each byte that is NaN.
    static uint nans(uint word) {{
        return (word & 0x7f7f7f7fu) + 0x01010101u & 0x80808080u;
    }}

    static void load8(const device uchar* matrix, const device uchar* scales, uint rows,
                      uint columns, uint row, uint k, thread float* w) {{
        const device uchar* from = matrix + ulong(row) * columns + k;
        if (columns % 8 == 0) {{
            const device uint* words = reinterpret_cast<const device uint*>(from);
            const uint low = words[0], high = words[1];
            read4(low, w);
            read4(high, w + 4);
            if ((nans(low) | nans(high)) != 0) {{
                for (uint i = 0; i < 8; ++i) {{
                    w[i] = e4m3(uchar((i < 4 ? low : high) >> (8 * (i % 4))));
                }}
            }}
            return;
        }}
        const uint count = min(8u, columns - k);
        for (uint i = 0; i < 8; ++i) {{
            w[i] = i < count ? e4m3(from[i]) : 0.0f;
        }}
    }}
}};
"""


FP8_E4M3: Final = Fp8()
