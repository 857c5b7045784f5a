"""Q4_K, Q5_K and Q6_K: blocks of 256 weights of GGUF files, whose scales are quantised too.

Layouts: ggml, `ggml-common.h` and `ggml-quants.c` (its reference dequantisers). What blocks stand
for is exact. How to choose the codes of given weights is open; here each group spans from its least
to its largest value, where ggml searches for a smaller error.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from .blocks import BlockFormat, Field, Fields
from .gguf import half_bytes, halves
from .packed import Bytes, Weights

_SUPER: Final = (Field("d", 2, "scales"), Field("dmin", 2, "scales"), Field("sc", 12, "scales"))


def pack_sixes(scales: Bytes, mins: Bytes) -> Bytes:
    """Eight scales and eight minima of 6 bits each, [blocks, 8], in 12 bytes."""
    packed = np.zeros((len(scales), 12), np.uint8)
    packed[:, :4] = scales[:, :4] & 63 | (scales[:, 4:] >> 4) << 6
    packed[:, 4:8] = mins[:, :4] & 63 | (mins[:, 4:] >> 4) << 6
    packed[:, 8:] = scales[:, 4:] & 15 | (mins[:, 4:] & 15) << 4
    return packed


def unpack_sixes(packed: Bytes) -> tuple[Bytes, Bytes]:
    """The scales and minima in 12 bytes."""
    low, mid, high = packed[:, :4], packed[:, 4:8], packed[:, 8:]
    scales = np.concatenate([low & 63, high & 15 | (low >> 6) << 4], axis=1)
    mins = np.concatenate([mid & 63, high >> 4 | (mid >> 6) << 4], axis=1)
    return scales, mins


def _spans(blocks: Weights, most: int) -> tuple[dict[str, Bytes], Bytes]:
    """Scales and minima of groups of 32, and codes from 0 to `most` [blocks, 8, 32]."""
    groups = blocks.reshape(-1, 8, 32)
    mins = np.maximum(-groups.min(axis=2), 0)
    spans = np.maximum(groups.max(axis=2) + mins, 0) / most
    d, dmin = spans.max(axis=1) / 63, mins.max(axis=1) / 63
    super_scales = halves(half_bytes(d)), halves(half_bytes(dmin))
    scales, floors = (
        _rounded(np.divide(v, s, out=np.zeros_like(v), where=s != 0), 63)
        for v, s in zip((spans, mins), super_scales, strict=True)
    )
    step = (super_scales[0] * scales)[:, :, None]
    above = groups + (super_scales[1] * floors)[:, :, None]
    codes = _rounded(np.divide(above, step, out=np.zeros_like(above), where=step != 0), most)
    packed = {"d": half_bytes(d), "dmin": half_bytes(dmin), "sc": pack_sixes(scales, floors)}
    return packed, codes


def _rounded(values: NDArray[np.floating], most: int) -> Bytes:
    found: Bytes = np.rint(values).clip(0, most).astype(np.uint8)
    return found


def _paired(codes: Bytes) -> Bytes:
    """Nibbles [blocks, 8, 32] as bytes: groups 2 j low and 2 j + 1 high in the same 32 bytes."""
    pairs = codes[:, 0::2] & 15 | (codes[:, 1::2] & 15) << 4
    return pairs.astype(np.uint8).reshape(len(codes), 128)


def _unpaired(field: Bytes) -> Bytes:
    pairs = field.reshape(-1, 4, 1, 32)
    return np.concatenate([pairs & 15, pairs >> 4], axis=2).reshape(-1, 8, 32)


def _spread(fields: Fields, codes: Bytes) -> Weights:
    scales, mins = unpack_sixes(fields["sc"])
    d = (halves(fields["d"]) * scales)[:, :, None]
    low = (halves(fields["dmin"]) * mins)[:, :, None]
    return (d * codes.astype(np.float32) - low).reshape(-1, 256)


def _q4_k(blocks: Weights) -> Fields:
    packed, codes = _spans(blocks, 15)
    return packed | {"qs": _paired(codes)}


def _from_q4_k(fields: Fields) -> Weights:
    return _spread(fields, _unpaired(fields["qs"]))


def _q5_k(blocks: Weights) -> Fields:
    packed, codes = _spans(blocks, 31)
    fifth = (codes >> 4) << np.arange(8, dtype=np.uint8)[None, :, None]
    return packed | {"qh": np.bitwise_or.reduce(fifth, axis=1), "qs": _paired(codes)}


def _from_q5_k(fields: Fields) -> Weights:
    fifth = fields["qh"][:, None, :] >> np.arange(8, dtype=np.uint8)[None, :, None] & 1
    return _spread(fields, (_unpaired(fields["qs"]) | fifth << 4).astype(np.uint8))


def _q6_k(blocks: Weights) -> Fields:
    groups = blocks.reshape(-1, 16, 16)
    at = np.abs(groups).argmax(axis=2)[:, :, None]
    steps = np.take_along_axis(groups, at, axis=2)[:, :, 0] / np.float32(-32)
    d = np.abs(steps).max(axis=1) / 127
    whole = halves(half_bytes(d))
    scales = np.rint(np.divide(steps, whole, out=np.zeros_like(steps), where=whole != 0))
    scales = scales.clip(-128, 127).astype(np.int8)
    step = (whole * scales)[:, :, None]
    codes = np.divide(groups, step, out=np.zeros_like(groups), where=step != 0)
    codes = (np.rint(codes).clip(-32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low = codes & 15
    ql = np.concatenate(
        [low[:, :, 0] | low[:, :, 2] << 4, low[:, :, 1] | low[:, :, 3] << 4], axis=2
    )
    shifted = (codes >> 4) << np.array([0, 2, 4, 6], np.uint8)[None, None, :, None]
    return {
        "ql": ql.reshape(-1, 128),
        "qh": np.bitwise_or.reduce(shifted, axis=2).reshape(-1, 64),
        "sc": scales.view(np.uint8),
        "d": half_bytes(d),
    }


def _from_q6_k(fields: Fields) -> Weights:
    ql = fields["ql"].reshape(-1, 2, 2, 32)
    low = np.concatenate([ql & 15, ql >> 4], axis=2)
    high = fields["qh"].reshape(-1, 2, 1, 32) >> np.array([0, 2, 4, 6], np.uint8)[:, None] & 3
    codes = (low | high << 4).astype(np.float32) - 32
    scales = np.ascontiguousarray(fields["sc"]).view(np.int8).astype(np.float32)
    step = (halves(fields["d"]) * scales).reshape(-1, 16, 1)
    weights: Weights = step * codes.reshape(-1, 16, 16)
    return weights.reshape(-1, 256)


_SPREAD: Final = """\
        const uint group = first / 32;
        const device uchar* sixes = sc(matrix, scales, block);
        const float scale = read_half(d(matrix, scales, block)) * float(six(sixes, group, false));
        const float low = read_half(dmin(matrix, scales, block)) * float(six(sixes, group, true));
        const device uchar* codes = qs(matrix, scales, block) + group / 2 * 32 + first % 32;
"""

Q4_K: Final = BlockFormat(
    name="q4_k",
    multiple=256,
    fields=(*_SUPER, Field("qs", 128, "matrix")),
    encode=_q4_k,
    decode=_from_q4_k,
    body=f"""\
{_SPREAD}\
        for (uint i = 0; i < 8; ++i) {{
            w[i] = scale * float(nibble(codes[i], group % 2 != 0)) - low;
        }}
""",
)

Q5_K: Final = BlockFormat(
    name="q5_k",
    multiple=256,
    fields=(*_SUPER, Field("qh", 32, "matrix"), Field("qs", 128, "matrix")),
    encode=_q5_k,
    decode=_from_q5_k,
    body=f"""\
{_SPREAD}\
        const device uchar* fifth = qh(matrix, scales, block) + first % 32;
        for (uint i = 0; i < 8; ++i) {{
            const uint code = nibble(codes[i], group % 2 != 0) | (fifth[i] >> group & 1u) << 4;
            w[i] = scale * float(code) - low;
        }}
""",
)

Q6_K: Final = BlockFormat(
    name="q6_k",
    multiple=256,
    fields=(
        Field("ql", 128, "matrix"),
        Field("qh", 64, "matrix"),
        Field("sc", 16, "scales"),
        Field("d", 2, "scales"),
    ),
    encode=_q6_k,
    decode=_from_q6_k,
    body="""\
        const uint part = first / 128;
        const uint quarter = first / 32 % 4;
        const uint at = first % 32;
        const device uchar* low = ql(matrix, scales, block) + part * 64 + quarter % 2 * 32 + at;
        const device uchar* high = qh(matrix, scales, block) + part * 32 + at;
        const char whole = as_type<char>(sc(matrix, scales, block)[first / 16]);
        const float scale = read_half(d(matrix, scales, block)) * float(whole);
        for (uint i = 0; i < 8; ++i) {
            const uint upper = high[i] >> (2 * quarter) & 3u;
            const uint code = nibble(low[i], quarter >= 2) | upper << 4;
            w[i] = scale * (float(code) - 32.0f);
        }
""",
)
