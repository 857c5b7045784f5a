"""Weights that are numbers as they are: F32, F16, BF16 and U32."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from ..numbers import bfloat_bits, bfloat_values
from .packed import Named, Packed, Weights, matrix_of, numbers_of

_DTYPES: Final = {"f32": "<f4", "f16": "<f2", "u32": "<u4"}


@dataclass(frozen=True, slots=True)
class Plain(Named):
    """Rows of numbers, one behind the other; any number of columns."""

    name: Literal["f32", "f16", "bf16", "u32"]
    element: str
    """The type in MSL."""
    multiple: int = 1

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns], rounded to nearest even; U32 has none below 0."""
        return numbers_of(self._stored(matrix_of(weights, self, finite=self.name == "u32")))

    def _stored(self, weights: Weights) -> np.ndarray[Any, Any]:
        if self.name == "bf16":
            return bfloat_bits(weights)
        if self.name == "u32":
            whole = np.rint(weights.astype(np.float64))
            return np.clip(whole, 0, np.iinfo(np.uint32).max).astype("<u4")
        return weights.astype(_DTYPES[self.name])

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]."""
        if self.name == "bf16":
            found = bfloat_values(packed.matrix.view("<u2"))
        else:
            found = packed.matrix.view(_DTYPES[self.name]).astype(np.float32)
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
U32: Final = Plain("u32", "uint")
