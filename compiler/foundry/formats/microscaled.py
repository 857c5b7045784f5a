"""MXFP4 and NVFP4: E2M1 weights with a small floating-point scale for each group.

ggml keeps scales beside their weights, in blocks (`ggml-common.h`, `ggml-quants.c`); MLX keeps
planes (`mlx/backend/metal/kernels/fp_quantized.h`), with neighbours in the halves of a byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ..numbers import (
    E2M1,
    e2m1_codes,
    e2m1_values,
    e4m3_bits,
    e4m3_values,
    e8m0_values,
    ue4m3_bits,
    ue4m3_values,
)
from .blocks import BlockFormat, Field, Fields
from .gguf import in_nibbles, nibbles
from .packed import Bytes, Named, Packed, Weights, as_bytes, matrix_of

_LARGEST: Final = np.float32(E2M1[-1])


def _nearest(values: NDArray[np.float32]) -> Bytes:
    return e2m1_codes(values, ties="first")


def _scaled(groups: Weights, scales: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.divide(groups, scales, out=np.zeros_like(groups), where=scales != 0)


def _exponents(groups: Weights) -> Bytes:
    """ggml's choice: floor(log2 of the largest) - 2, biased by 127."""
    largest = np.abs(groups).max(axis=-1)
    _, power = np.frexp(largest)
    return np.where(largest > 0, power - 1 - 2 + 127, 0).clip(0, 254).astype(np.uint8)


def _mxfp4(blocks: Weights) -> Fields:
    e = _exponents(blocks)[:, None]
    return {"e": e, "qs": in_nibbles(_nearest(_scaled(blocks, e8m0_values(e))))}


def _from_mxfp4(fields: Fields) -> Weights:
    return e8m0_values(fields["e"]) * e2m1_values(nibbles(fields["qs"]))


def _nvfp4(blocks: Weights) -> Fields:
    groups = blocks.reshape(-1, 4, 16)
    e = ue4m3_bits(np.abs(groups).max(axis=2) / _LARGEST)
    codes = _nearest(_scaled(groups, ue4m3_values(e)[:, :, None]))
    return {"e": e, "qs": in_nibbles(codes.reshape(-1, 16)).reshape(-1, 32)}


def _from_nvfp4(fields: Fields) -> Weights:
    codes = nibbles(np.ascontiguousarray(fields["qs"]).reshape(-1, 8)).reshape(-1, 4, 16)
    return (ue4m3_values(fields["e"])[:, :, None] * e2m1_values(codes)).reshape(-1, 64)


MXFP4: Final = BlockFormat(
    name="mxfp4",
    multiple=32,
    fields=(Field("e", 1, "scales"), Field("qs", 16, "matrix")),
    encode=_mxfp4,
    decode=_from_mxfp4,
    body="""\
        const float scale = e8m0(e(matrix, scales, block)[0]);
        const device uchar* codes = qs(matrix, scales, block) + first % 16;
        for (uint i = 0; i < 8; ++i) {
            w[i] = scale * E2M1[nibble(codes[i], first >= 16)];
        }
""",
)

NVFP4: Final = BlockFormat(
    name="nvfp4",
    multiple=64,
    fields=(Field("e", 4, "scales"), Field("qs", 32, "matrix")),
    encode=_nvfp4,
    decode=_from_nvfp4,
    body="""\
        const uint group = first / 16;
        const float scale = ue4m3(e(matrix, scales, block)[group]);
        const device uchar* codes = qs(matrix, scales, block) + group * 8;
        for (uint i = 0; i < 8; ++i) {
            w[i] = scale * E2M1[nibble(codes[i], first % 16 != 0)];
        }
""",
)


@dataclass(frozen=True, slots=True)
class MlxFloat(Named):
    """MLX's planes: a byte of weights for each two columns; scales [rows, columns / group].

    With `has_tensor_scale`, the scales begin with one float that all of them are multiplied by.
    """

    name: str
    multiple: int
    scale: str
    """How MSL reads a scale: `e8m0` or `e4m3`."""
    has_tensor_scale: bool = False

    def pack(self, weights: Weights) -> Packed:
        """float32 [rows, columns], with scales as MLX's kernels for Metal choose them."""
        found = matrix_of(weights, self)
        groups = found.reshape(len(found), -1, self.multiple)
        whole = self._tensor_scale(found)
        bits = self._scale_bits(np.abs(groups).max(axis=2) / _LARGEST / whole)
        codes = e2m1_codes(_scaled(groups, self._scales(bits)[:, :, None] * whole))
        flat = codes.reshape(found.shape)
        head = as_bytes(np.array([whole], np.float32)) if self.has_tensor_scale else bits[:0, 0]
        scales = np.concatenate([head, as_bytes(bits)])
        return Packed(as_bytes(flat[:, 0::2] | flat[:, 1::2] << 4), scales, *found.shape)

    def unpack(self, packed: Packed) -> Weights:
        """float32 [rows, columns]: weight times scale, then times the tensor's scale."""
        head = 4 if self.has_tensor_scale else 0
        whole = packed.scales[:head].view("<f4")
        scales = self._scales(packed.scales[head:].reshape(packed.rows, -1))
        field = packed.matrix.reshape(packed.rows, -1)
        codes = np.stack([field & 15, field >> 4], axis=2).reshape(packed.rows, -1)
        values = e2m1_values(codes) * np.repeat(scales, self.multiple, axis=1)
        return values * whole[0] if self.has_tensor_scale else values

    @property
    def text(self) -> str:
        """The struct in MSL."""
        whole = "*reinterpret_cast<const device float*>(scales)" if self.has_tensor_scale else ""
        head = " + 4" if self.has_tensor_scale else ""
        again = " * whole" if whole else ""
        line = f"        const float whole = {whole};\n" if whole else ""
        return f"""\
// Two weights to a byte; a scale for each {self.multiple}, in buffer 1.
struct {self.policy} {{
    static void load8(const device uchar* matrix, const device uchar* scales, uint rows,
                      uint columns, uint row, uint k, thread float* w) {{
        const ulong at = ulong(row) * columns + k;
{line}\
        const float scale = {self.scale}(scales[at / {self.multiple}{head}]);
        for (uint i = 0; i < 8; ++i) {{
            w[i] = E2M1[nibble(matrix[at / 2 + i / 2], i % 2 != 0)] * scale{again};
        }}
    }}
}};
"""

    def _tensor_scale(self, weights: Weights) -> np.float32:
        if not self.has_tensor_scale:
            return np.float32(1)
        # The largest weight is then the largest code at the largest scale: 6 * 448.
        return np.float32(np.abs(weights).max() / np.float32(2688)) or np.float32(1)

    def _scale_bits(self, wanted: NDArray[np.float32]) -> Bytes:
        if self.scale == "e4m3":
            return e4m3_bits(wanted)
        power = np.rint(np.log2(wanted, out=np.full_like(wanted, -127), where=wanted > 0))
        return (power + 127).clip(0, 254).astype(np.uint8)

    def _scales(self, bits: Bytes) -> NDArray[np.float32]:
        return e4m3_values(bits) if self.scale == "e4m3" else e8m0_values(bits)


MLX_MXFP4: Final = MlxFloat("mlx_mxfp4", 32, "e8m0")
MLX_NVFP4: Final = MlxFloat("mlx_nvfp4", 16, "e4m3")
MLX_NVFP4_SCALED: Final = MlxFloat("mlx_nvfp4_scaled", 16, "e4m3", has_tensor_scale=True)
