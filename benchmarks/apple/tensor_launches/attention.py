"""Attention of many queries, `prefill_attention_mpp`: two heads that share keys and values.

Those called `a9` are for GPUs before M5, in whose registers tensors lie otherwise.
"""

from __future__ import annotations

import re

import numpy as np

from assay.launches.inputs import Exact, Setup

from .run import TYPES, Array, TensorRun, ceil_div, drawn

_NAME = re.compile(
    r"prefill_attention_mpp_a(?:9|10)_(?P<of>b?float16)_bq(?P<bq>\d+)_bk(?P<bk>\d+)_bd(?P<bd>\d+)"
    r"_wm(?P<wm>\d+)_wn(?P<wn>\d+)_hm(?P<masked>[01])_dc(?P<causal>[01])_mask(?P<mask>\w+)"
)
_OF = {"float16": "half", "bfloat16": "bfloat"}
_HEADS = 2
_REST = 5
_SEEN = 0.7  # of the keys, where a mask says which


def run_of(kernel: str) -> TensorRun | None:
    """Queries and keys of which the last tiles are cut."""
    found = _NAME.fullmatch(kernel)
    if found is None:
        return None
    of, bq, bk, depth = _OF[found["of"]], *(int(found[each]) for each in ("bq", "bk", "bd"))
    queries, keys = bq + _REST, 2 * bk + _REST
    q = drawn(f"{kernel}.Q", of, _HEADS, queries, depth)
    k, v = (drawn(f"{kernel}.{name}", of, keys, depth) for name in "KV")
    mask = _mask(kernel, found["mask"], queries, keys)
    scores = q.astype(np.float64) @ k.astype(np.float64).T / np.sqrt(depth)
    if found["masked"] == "1":
        scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask
    if found["causal"] == "1":
        scores = np.where(np.tri(queries, keys, dtype=np.bool_), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    setup = Setup(
        threadgroups=(ceil_div(queries, bq), _HEADS, 1),
        threadgroup=(32 * int(found["wm"]) * int(found["wn"]), 1, 1),
        arguments={
            "Q": Exact(array=q),
            "K": Exact(array=k),
            "V": Exact(array=v),
            "O": Exact(array=np.zeros(q.shape, TYPES[of])),
            "params": Exact(array=_params(queries, keys, depth)),
            "mask_params": Exact(array=np.array([0, 0, keys, 1], np.int64)),
            "mask": Exact(array=mask),
        },
    )
    return TensorRun(
        setup=setup,
        result="O",
        expected=weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64),
        sizes=f"{_HEADS} heads, {queries} queries, {keys} keys of {depth}",
    )


def _mask(kernel: str, kind: str, queries: int, keys: int) -> Array:
    if kind != "bool_":
        return drawn(f"{kernel}.mask", _OF[kind], queries, keys)
    mask = drawn(f"{kernel}.mask", "float", queries, keys) < _SEEN
    mask[:, 0] = True  # each sees one at least, also under a causal mask
    return mask


def _params(queries: int, keys: int, depth: int) -> Array:
    """`PrefillAttnParams`: strides are of a batch, a head and a row."""
    types = ",".join(["i4"] * 6 + ["f4"] * 2 + ["i8"] * 12)
    strides = [
        each
        for heads, rows in ((_HEADS, queries), (1, keys), (1, keys), (_HEADS, queries))
        for each in (heads * rows * depth, rows * depth, depth)
    ]
    scale = 1 / np.sqrt(depth)
    values = (1, _HEADS, depth, queries, keys, _HEADS, scale, 1.0, *strides)
    return np.array([values], np.dtype(types, align=True))
