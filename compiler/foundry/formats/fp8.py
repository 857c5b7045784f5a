"""E4M3: a byte for each number, without scales, as caches of keys and values hold them.

OCP 8-bit Floating Point Specification 1.0, E4M3: bias 7, no infinities; what exceeds 448 becomes
448.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..numbers import e4m3_bits, e4m3_values
from .packed import NO_SCALES, Packed, Weights, as_bytes, matrix_of


@dataclass(frozen=True, slots=True)
class Fp8:
    """Rows of bytes, one behind the other; any number of columns."""

    name: str = "fp8_e4m3"
    multiple: int = 1

    @property
    def policy(self) -> str:
        """The struct's name."""
        return f"Policy{self.name.upper()}"

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns], rounded to nearest even."""
        found = matrix_of(weights, 1, self.name)
        return Packed(as_bytes(e4m3_bits(found)), NO_SCALES, *found.shape)

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]."""
        return e4m3_values(packed.matrix).reshape(packed.rows, packed.columns)

    @property
    def text(self) -> str:
        """The struct in MSL."""
        return f"""\
struct {self.policy} {{
    static void load8(const device uchar* matrix, const device uchar* scales, uint rows,
                      uint columns, uint row, uint k, thread float* w) {{
        const device uchar* from = matrix + ulong(row) * columns + k;
        if (columns % 8 == 0) {{
            const device uint* words = reinterpret_cast<const device uint*>(from);
            const uint low = words[0], high = words[1];
            for (uint i = 0; i < 4; ++i) {{
                w[i] = e4m3(uchar(low >> (8 * i)));
                w[i + 4] = e4m3(uchar(high >> (8 * i)));
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
