"""MLX's affine quantisation: codes of 2 to 8 bits, a scale and a bias for each group of columns.

Layout and rule: MLX, `mlx/backend/metal/kernels/quantized.h` and `mlx/ops.cpp` (`affine_quantize`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import FoundryError
from .packed import Bytes, Grouped, Packed, Weights, as_bytes, matrix_of

_BITS = (2, 3, 4, 5, 6, 8)
_GROUPS = (32, 64, 128)


@dataclass(frozen=True, slots=True)
class MlxAffine(Grouped):
    """Rows of codes packed low bits first; buffer 1 holds half scales, then half biases.

    Both are [rows, columns / group]; a weight is code * scale + bias. Raises FoundryError.
    """

    bits: int = 4
    group: int = 64

    def __post_init__(self) -> None:
        if self.bits not in _BITS or self.group not in _GROUPS:
            raise FoundryError(
                "format-parameters",
                f"MLX has affine codes of {_BITS} bits in groups of {_GROUPS}, not {self.bits} "
                f"bits in groups of {self.group}",
            )

    @property
    def name(self) -> str:
        """With both of its parameters."""
        return f"mlx_affine_{self.bits}_{self.group}"

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns], rounded as MLX's kernels for Metal do: half away from zero."""
        found = matrix_of(weights, self)
        groups = found.reshape(len(found), -1, self.group)
        scales, biases = _edges(groups, 2**self.bits - 1)
        scaled = (groups - biases[:, :, None]) / scales[:, :, None]
        rounded = np.copysign(np.floor(np.abs(scaled) + np.float32(0.5)), scaled)
        codes = rounded.clip(0, 2**self.bits - 1).astype(np.uint8).reshape(found.shape)
        planes = np.stack([scales, biases]).astype("<f2")
        return Packed(self._in_bits(codes), as_bytes(planes), *found.shape)

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]."""
        planes = packed.scales.view("<f2").astype(np.float32).reshape(2, packed.rows, -1)
        scales, biases = np.repeat(planes, self.group, axis=2)
        stream = np.unpackbits(packed.matrix, bitorder="little")
        codes = stream.reshape(packed.rows, packed.columns, self.bits)
        values = np.packbits(codes, axis=2, bitorder="little")[:, :, 0].astype(np.float32)
        found: Weights = values * scales + biases
        return found

    @property
    def text(self) -> str:
        """The struct in MSL; eight codes are as many bytes as a code has bits."""
        return f"""\
// Codes of {self.bits} bits; half scales, then half biases, for each {self.group}, in buffer 1.
struct {self.policy} {{
    static void load8(const device uchar* matrix, const device uchar* scales, uint rows,
                      uint columns, uint row, uint k, thread float* w) {{
        const ulong at = ulong(row) * columns + k;
        const ulong groups = ulong(rows) * (columns / {self.group});
        const float scale = read_half(scales + 2 * (at / {self.group}));
        const float bias = read_half(scales + 2 * (groups + at / {self.group}));
        ulong codes = 0;
        for (uint i = 0; i < {self.bits}; ++i) {{
            codes |= ulong(matrix[at / 8 * {self.bits} + i]) << (8 * i);
        }}
        for (uint i = 0; i < 8; ++i) {{
            w[i] = float(codes >> ({self.bits} * i) & {2**self.bits - 1}ul) * scale + bias;
        }}
    }}
}};
"""

    def _in_bits(self, codes: Bytes) -> Bytes:
        spread = np.unpackbits(codes[:, :, None], axis=2, bitorder="little", count=self.bits)
        return np.packbits(spread.reshape(-1), bitorder="little")


def _edges(groups: Weights, most: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scales and biases, such that the edge of the larger magnitude is exact."""
    low, high = groups.min(axis=2), np.maximum(groups.max(axis=2), 0)
    is_low = np.abs(low) > np.abs(high)
    scales = np.maximum((high - low) / np.float32(most), np.float32(1e-7))
    scales = np.where(is_low, scales, -scales)
    edge = np.where(is_low, low, high)
    codes = np.copysign(np.floor(np.abs(edge / scales) + np.float32(0.5)), edge / scales)
    at_zero = codes == 0
    exact = np.divide(edge, codes, out=scales.copy(), where=~at_zero)
    return exact.astype(np.float32), np.where(at_zero, 0, edge).astype(np.float32)
