"""Attention over a cache of keys and values, and what fills the cache.

A cache is bytes [sequences, capacity, kv_heads, bytes of a row], or, if it is paged,
[blocks, capacity, kv_heads, bytes of a row] with a table of blocks [sequences, columns] beside it.
Rows are of `head_size` numbers in a format.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import e, log2, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..errors import FoundryError
from ..formats import Format
from ..kernels import (
    Standalone,
    custom,
    derived,
    output,
    tensor,
    updated,
)
from ..structs import struct
from ..structs.names import uchar, uint
from ..structs.types import Scalar
from .base import FOLDER, Listed, Ready, defines_of, scalar_of, text_of
from .stores import row_bytes, store_text

_SIMDGROUPS: Final = 4
_TILE: Final = 32
"""Tokens of a threadgroup of `prefill`, eight for each simdgroup."""


@struct
class CacheParams:
    """A cache; `capacity` in tokens of a sequence or block, `columns` of the table of blocks."""

    kv_heads: uint
    capacity: uint
    columns: uint


@struct
class WriteParams:
    """Of `cache_write`; `pairs` turn in a head."""

    cache: CacheParams
    heads: uint
    pairs: uint
    is_neox: bool


@struct
class AttentionParams:
    """Of `attention`; `scale` for scores as powers of two."""

    cache: CacheParams
    heads: uint
    splits: uint
    scale: float


@struct
class MergeParams:
    """Of `attention_merge`; rows are heads of tokens."""

    rows: uint
    splits: uint


@struct
class PrefillParams:
    """Of `prefill`; `scale` for scores as powers of two."""

    cache: CacheParams
    tokens: uint
    heads: uint
    splits: uint
    scale: float


def cache_write(
    head_size: int,
    cache: Format,
    element: Any = float,
    *,
    is_neox: bool = True,
    is_paged: bool = False,
) -> Ready:
    """Turns q and k by their positions, and writes k and v into a cache, in its format.

    `q`, `k` and `v` are [tokens, heads, head_size]; `positions` and `sequences` [tokens];
    `cosines` and `sines` [positions, pairs], whose first 2 * pairs numbers of a head turn. Gives
    `keys`, `values` and `turned`, the turned q. Two tokens of one sequence at one position would
    race for its place, as would two in one block of two sequences, and positions are less than the
    capacity of a sequence, or of its blocks.
    """
    scalar = scalar_of(element)

    def params(given: Mapping[str, Any]) -> WriteParams:
        return WriteParams(
            cache=_cache_params(given, cache, head_size, is_paged),
            heads=given["q"].shape[1],
            pairs=given["cosines"].shape[-1],
            is_neox=is_neox,
        )

    arguments = {
        "q": tensor(scalar),
        "k": tensor(scalar),
        "v": tensor(scalar),
        "positions": tensor(int),
        "sequences": tensor(uint),
        "cosines": tensor(float),
        "sines": tensor(float),
        "keys": updated(uchar),
        "values": updated(uchar),
        "turned": output(scalar, "q"),
        "params": derived(WriteParams, params),
        **_table(is_paged),
    }
    text = _text("cache_write", scalar, head_size, is_paged, {})
    made = Standalone(
        store_text(cache, head_size) + text, "cache_write", arguments, include=[FOLDER]
    )
    parts = -(-head_size // 32)
    return made, custom(
        lambda given: (
            parts,
            given["q"].shape[1] + 2 * given["k"].shape[1],
            given["q"].shape[0],
        ),
        (32,),
    )


def attention(
    head_size: int,
    cache: Format,
    element: Any = float,
    *,
    together: int = 1,
    splits: int = 1,
    simdgroups: int = _SIMDGROUPS,
    is_paged: bool = False,
) -> Ready:
    """Attention of few tokens, each over the keys up to its position; a negative one sees none.

    `q` is [tokens, heads, head_size], with a divisor of 8 numbers each; heads share keys in groups,
    of which `together` are computed at a time, with each key read once for them. With `splits` the
    keys are split among threadgroups, and the result is for `attention_merge`.
    """
    scalar = scalar_of(element)
    _check_head(head_size, cache)

    def params(given: Mapping[str, Any]) -> AttentionParams:
        heads, kv_heads = given["q"].shape[1], given["keys"].shape[2]
        if heads % kv_heads or heads // kv_heads % together:
            raise FoundryError(
                "kernel-call",
                f"attention: {heads} heads over {kv_heads} of keys, {together} at a time; they "
                "come in whole groups",
            )
        return AttentionParams(
            cache=_cache_params(given, cache, head_size, is_paged),
            heads=heads,
            splits=splits,
            scale=log2(e) / sqrt(head_size),
        )

    shape = _parts_shape(head_size, splits)
    arguments = {
        "q": tensor(scalar),
        "keys": tensor(uchar),
        "values": tensor(uchar),
        "positions": tensor(int),
        "sequences": tensor(uint),
        "y": output(float if splits > 1 else scalar, shape),
        "params": derived(AttentionParams, params),
        **_table(is_paged),
    }
    lanes = next(each for each in (1, 2, 4, 8, 16, 32) if 8 * each >= head_size)
    defines = {
        "LANES": lanes,
        "QUERIES": together,
        "SIMDGROUPS": simdgroups,
        "IS_SPLIT": int(splits > 1),
        "OUT": "float" if splits > 1 else "T",
    }
    text = _text("attention", scalar, head_size, is_paged, defines)
    made = _one("attention", text, arguments, cache)
    return made, custom(
        lambda given: (given["q"].shape[1] // together, splits, given["q"].shape[0]),
        (32 * simdgroups,),
    )


def _parts_shape(head_size: int, splits: int) -> Callable[[Mapping[str, Any]], tuple[int, ...]]:
    """Of results, or of parts of them with what `attention_merge` weighs them by."""

    def shape(given: Mapping[str, Any]) -> tuple[int, ...]:
        rows = given["q"].shape[:2]
        return (*rows, splits, head_size + 2) if splits > 1 else (*rows, head_size)

    return shape


def attention_merge(head_size: int, element: Any = float) -> Ready:
    """Puts the parts of `attention` or `prefill` together: y [tokens, heads, head_size]."""
    scalar = scalar_of(element)

    def params(given: Mapping[str, Any]) -> MergeParams:
        tokens, heads, splits, _ = given["parts"].shape
        return MergeParams(rows=tokens * heads, splits=splits)

    arguments = {
        "parts": tensor(float),
        "y": output(scalar, lambda given: (*given["parts"].shape[:2], head_size)),
        "params": derived(MergeParams, params),
    }
    text = text_of("attention_merge", scalar, defines=defines_of({"HEAD": head_size}))
    rows = custom(lambda given: (-(-given["y"].size // 256),), (256,))
    return Standalone(text, "attention_merge", arguments), rows


def prefill(
    head_size: int,
    cache: Format,
    element: Any = float,
    *,
    splits: int = 1,
    is_paged: bool = False,
) -> Ready:
    """Causal attention of many tokens of one sequence, by simdgroup matrices with float sums.

    `q` is [tokens, heads, head_size], whose tokens stand at `first`, `first + 1`, ...; `where` is
    [first, sequence]. Each token sees the keys up to its own place. With `splits` the keys are
    split among threadgroups, and the result is for `attention_merge`.
    """
    scalar = scalar_of(element)
    _check_head(head_size, cache)

    def params(given: Mapping[str, Any]) -> PrefillParams:
        tokens, heads, _ = given["q"].shape
        kv_heads = given["keys"].shape[2]
        if heads % kv_heads:
            raise FoundryError(
                "kernel-call", f"prefill: {heads} heads do not share {kv_heads} of keys evenly"
            )
        return PrefillParams(
            cache=_cache_params(given, cache, head_size, is_paged),
            tokens=tokens,
            heads=heads,
            splits=splits,
            scale=log2(e) / sqrt(head_size),
        )

    shape = _parts_shape(head_size, splits)
    arguments = {
        "q": tensor(scalar),
        "keys": tensor(uchar),
        "values": tensor(uchar),
        "where": tensor(uint),
        "y": output(float if splits > 1 else scalar, shape),
        "params": derived(PrefillParams, params),
        **_table(is_paged),
    }
    defines = {
        "TILE": "half" if scalar.name == "half" else "float",
        "KEYS": 32 if head_size <= 128 else 16,
        "IS_SPLIT": int(splits > 1),
        "OUT": "float" if splits > 1 else "T",
    }
    text = _text("prefill", scalar, head_size, is_paged, defines)
    made = _one("prefill", text, arguments, cache)
    tiles = custom(
        lambda given: (-(-given["q"].shape[0] // _TILE), given["q"].shape[1], splits), (4 * _TILE,)
    )
    return made, tiles


def cache_shape(
    cache: Format, blocks: int, capacity: int, kv_heads: int, head_size: int
) -> tuple[int, int, int, int]:
    """The shape of the bytes of keys, and of values, of so many sequences or blocks."""
    return blocks, capacity, kv_heads, row_bytes(cache, head_size)


def rope_tables(
    positions: int,
    head_size: int,
    *,
    base: float = 10000.0,
    pairs: int | None = None,
    factors: NDArray[np.floating] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Cosines and sines [positions, pairs], computed in float64.

    `pairs` of a head turn, all of them unless it is given; `factors` [pairs] divide their
    frequencies, as the tensor `rope_freqs.weight` of GGUF files does.
    """
    count = head_size // 2 if pairs is None else pairs
    frequencies = base ** (-np.arange(count) / count) / (1 if factors is None else factors)
    angles = np.arange(positions)[:, None] * frequencies
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def _cache_params(
    given: Mapping[str, Any], cache: Format, head_size: int, is_paged: bool
) -> CacheParams:
    shape, q, row = given["keys"].shape, given["q"].shape, row_bytes(cache, head_size)
    if len(shape) != 4 or given["values"].shape != shape or shape[3] != row:
        raise FoundryError(
            "kernel-call",
            f"keys are {shape} and values {given['values'].shape}; both are [sequences or blocks, "
            f"capacity, kv_heads, {row} bytes of a row]",
        )
    if len(q) != 3 or q[2] != head_size:
        raise FoundryError("kernel-call", f"q is {q}; it is [tokens, heads, {head_size}]")
    columns = given["blocks"].shape[-1] if is_paged else 0
    return CacheParams(kv_heads=shape[2], capacity=shape[1], columns=columns)


def _check_head(head_size: int, cache: Format) -> None:
    row_bytes(cache, head_size)
    if head_size % 8 or not 8 <= head_size <= 256:
        raise FoundryError(
            "kernel-parameters",
            f"heads of {head_size}; they have 8 to 256 numbers, a multiple of 8",
        )


def _table(is_paged: bool) -> dict[str, Any]:
    return {"blocks": tensor(uint)} if is_paged else {}


def _text(
    file: str, scalar: Scalar, head_size: int, is_paged: bool, defines: Mapping[str, Any]
) -> str:
    own = {"HEAD": head_size, "IS_PAGED": int(is_paged), **defines}
    return text_of(file, scalar, defines=defines_of(own))


def _one(function: str, text: str, arguments: Mapping[str, Any], cache: Format) -> Standalone:
    """A kernel that reads keys and values by the policy `Keys`."""
    named = f"using Keys = {cache.policy};\n"
    return Standalone(named + text, function, arguments, formats=[cache], include=[FOLDER])


_EXAMPLE: Final = {"head_size": 64}
LISTED: Final = {
    "attention": Listed(attention, reads_weights=True, weights_as="cache", sizes=_EXAMPLE),
    "attention_merge": Listed(attention_merge, sizes=_EXAMPLE),
    "prefill": Listed(prefill, reads_weights=True, weights_as="cache", sizes=_EXAMPLE),
    "cache_write": Listed(cache_write, reads_weights=True, weights_as="cache", sizes=_EXAMPLE),
}
