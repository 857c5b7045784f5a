"""FP4, NF4 and U4 as Marlin for Metal packs them: eight rows of K to a word, columns side by side.

Layout: metal-marlin, `quantize.py` and `src/marlin_gemm.metal`. uint32 [K / 8, N], nibble i of a
word is row 8 r + i; half scales [K / group, N], and for U4 half zero points of the same shape
behind them. There, K comes first; here a matrix is [rows, columns] with columns summed over, so
that N is its rows and K its columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from assay.hw.small_floats import NF4

from ..errors import FoundryError
from ..numbers import E2M1, e2m1_codes, e2m1_values
from .packed import Bytes, Grouped, Packed, Weights, as_bytes, matrix_of

NF4_VALUES: Final = np.array(NF4, np.float32)
_SHIFTS: Final = np.arange(0, 32, 4, dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class WordColumns(Grouped):
    """Codes of 4 bits: of a table of values, or, `u4`, steps from a zero point."""

    kind: Literal["fp4", "nf4", "u4"]
    group: int = 128

    def __post_init__(self) -> None:
        if self.group < 8 or self.group % 8:
            raise FoundryError(
                "format-parameters",
                f"groups of {self.group}: {self.kind} has groups of whole words, 8 weights each",
            )

    @property
    def name(self) -> str:
        """With its group."""
        return f"{self.kind}_{self.group}"

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns]; the largest of a group becomes the largest of the table.

        Codes of `u4` span a group's numbers and 0.
        """
        found = matrix_of(weights, self)
        groups = found.reshape(len(found), -1, self.group)
        if self.kind == "u4":
            return self._steps(groups)
        most = np.float32(E2M1[-1] if self.kind == "fp4" else 1)
        largest = np.abs(groups).max(axis=2) / most
        scales = np.where(largest > 0, largest, np.float32(1e-7)).astype("<f2")
        # A scale below the smallest half is 0, and so are its weights.
        whole = np.where(scales == 0, 1, scales).astype(np.float32)
        codes = self._codes((groups / whole[:, :, None]).reshape(found.shape))
        return Packed(_words(codes), as_bytes(scales.T), *found.shape)

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]."""
        words = packed.matrix.view("<u4").reshape(-1, packed.rows).T
        codes = (words[:, :, None] >> _SHIFTS & 15).astype(np.uint8)
        planes = packed.scales.view("<f2").reshape(-1, packed.rows).T.astype(np.float32)
        each = np.repeat(planes, self.group, axis=1)
        scales, zeros = each[:, : packed.columns], each[:, packed.columns :]
        values = self._values(codes.reshape(packed.rows, packed.columns))
        return (values - zeros if self.kind == "u4" else values) * scales

    @property
    def text(self) -> str:
        """The struct in MSL; `decode8` is for words that were copied elsewhere."""
        code, zero = "codes >> (4 * i) & 15u", ""
        scales = f"half scales for each {self.group}"
        value = f"{'E2M1' if self.kind == 'fp4' else 'NF4'}[{code}]"
        if self.kind == "u4":
            value, scales = f"(float({code}) - zero)", f"{scales}, then zero points"
            zero = f"""
        const ulong groups = ulong(columns / {self.group}) * rows;
        const float zero = read_half(scales + 2 * (groups + at));"""
        return f"""\
// Words of eight of a row, `rows` apart; {scales}.
struct {self.policy} {{
    static void decode8(uint codes, const device uchar* scales, uint rows, uint columns, uint row,
                        uint k, thread float* w) {{
        const ulong at = ulong(k / {self.group}) * rows + row;
        const float scale = read_half(scales + 2 * at);{zero}
        for (uint i = 0; i < 8; ++i) {{
            w[i] = {value} * scale;
        }}
    }}
    static void load8(const device uchar* matrix, const device uchar* scales, uint rows,
                      uint columns, uint row, uint k, thread float* w) {{
        const device uint* words = reinterpret_cast<const device uint*>(matrix);
        decode8(words[ulong(k / 8) * rows + row], scales, rows, columns, row, k, w);
    }}
}};
"""

    def _steps(self, groups: NDArray[np.float32]) -> Packed:
        """Of numbers [rows, groups, group]: codes from the least number or 0 up."""
        low, high = groups.min(axis=2).clip(max=0), groups.max(axis=2).clip(min=0)
        scales = np.maximum((high - low) / np.float32(15), np.float32(1e-7)).astype("<f2")
        whole = np.where(scales == 0, 1, scales).astype(np.float32)
        zeros = np.rint(-low / whole).clip(0, 15).astype("<f2")
        codes = np.rint(groups / whole[:, :, None] + zeros[:, :, None]).clip(0, 15).astype(np.uint8)
        planes = np.concatenate([as_bytes(scales.T), as_bytes(zeros.T)])
        rows, count, group = groups.shape
        return Packed(_words(codes.reshape(rows, -1)), planes, rows, count * group)

    def _codes(self, values: NDArray[np.float32]) -> Bytes:
        if self.kind == "fp4":
            return e2m1_codes(values, ties="first")
        bounds = (NF4_VALUES[1:] + NF4_VALUES[:-1]) / 2
        return np.searchsorted(bounds, values, side="left").astype(np.uint8)

    def _values(self, codes: Bytes) -> Weights:
        if self.kind == "u4":
            return codes.astype(np.float32)
        return e2m1_values(codes) if self.kind == "fp4" else NF4_VALUES[codes]


def _words(codes: Bytes) -> Bytes:
    """Codes [rows, columns] as words [columns / 8, rows]."""
    words = codes.reshape(len(codes), -1, 8).astype(np.uint32) << _SHIFTS
    return as_bytes(np.bitwise_or.reduce(words, axis=2).T.astype("<u4"))
