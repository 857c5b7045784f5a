"""Weights that are numbers as they are: F32, F16 and BF16."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from ..numbers import bfloat_bits, bfloat_values
from .packed import NO_SCALES, Packed, Weights, as_bytes, matrix_of


@dataclass(frozen=True, slots=True)
class Plain:
    """Rows of numbers, one behind the other; any number of columns."""

    name: Literal["f32", "f16", "bf16"]
    element: str
    """The type in MSL."""
    multiple: int = 1

    @property
    def policy(self) -> str:
        """The struct's name."""
        return f"Policy{self.name.upper()}"

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns], rounded to nearest even."""
        found = matrix_of(weights, 1, self.name)
        if self.name == "bf16":
            return Packed(as_bytes(bfloat_bits(found)), NO_SCALES, *found.shape)
        stored = found.astype("<f2" if self.name == "f16" else "<f4")
        return Packed(as_bytes(stored), NO_SCALES, *found.shape)

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]."""
        if self.name == "bf16":
            found = bfloat_values(packed.matrix.view("<u2"))
        else:
            found = packed.matrix.view("<f2" if self.name == "f16" else "<f4").astype(np.float32)
        return found.reshape(packed.rows, packed.columns)

    @property
    def text(self) -> str:
        """The struct in MSL."""
        return f"""\
struct {self.policy} {{
    static void load8(const device uchar* matrix, const device uchar* scales, uint rows,
                      uint columns, uint row, uint k, thread float* w) {{
        const device uchar* from = matrix + (ulong(row) * columns + k) * sizeof({self.element});
        const device {self.element}* numbers = reinterpret_cast<const device {self.element}*>(from);
        if (columns % 8 == 0) {{
            using Four = {self.element}4;
            const device Four* fours = reinterpret_cast<const device Four*>(from);
            const float4 low = float4(fours[0]), high = float4(fours[1]);
            for (uint i = 0; i < 4; ++i) {{
                w[i] = low[i];
                w[i + 4] = high[i];
            }}
            return;
        }}
        const uint count = min(8u, columns - k);
        for (uint i = 0; i < 8; ++i) {{
            w[i] = i < count ? float(numbers[i]) : 0.0f;
        }}
    }}
}};
"""


F32: Final = Plain("f32", "float")
F16: Final = Plain("f16", "half")
BF16: Final = Plain("bf16", "bfloat")
