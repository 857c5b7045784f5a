"""Attention of many queries: `steel_attention`."""

from __future__ import annotations

import re

from assay.launches.inputs import Setup

from .values import longs, random, struct, tiles, zeros

_NAMES = re.compile(
    r"steel_attention_(?P<of>[a-z]+\d+)_bq(?P<bq>\d+)_bk(?P<bk>\d+)_bd(?P<bd>\d+)"
    r"(?:_bv(?P<bv>\d+))?_wm(?P<wm>\d+)_wn(?P<wn>\d+)_mask(?P<mask>\w+)"
)
_ALIGN_Q, _ALIGN_K, _HAS_MASK, _IS_CAUSAL, _HAS_SINKS, _SAVES_SUMS = 200, 201, 300, 301, 302, 303
_HEADS, _SHARED = 2, 2  # heads of queries, and how many of them share keys
_REST = 5


def attention(kernel: str) -> Setup | None:
    """The launch of an attention with a mask and cut blocks; None for another kernel."""
    found = _NAMES.fullmatch(kernel)
    if found is None:
        return None
    bq, bk, depth = (int(found[each]) for each in ("bq", "bk", "bd"))
    width = int(found["bv"] or depth)
    queries, keys = bq + _REST, bk + _REST
    of, heads = found["of"], _HEADS // _SHARED
    return Setup(
        threadgroups=(tiles(queries, bq), _HEADS, 1),
        threadgroup=(32, int(found["wm"]), int(found["wn"])),
        arguments={
            "Q": random(f"{kernel}.Q", of, _HEADS * queries * depth),
            "K": random(f"{kernel}.K", of, heads * keys * depth),
            "V": random(f"{kernel}.V", of, heads * keys * width),
            "O": zeros(of, _HEADS * queries * width),
            "params": struct(
                *(("i", each) for each in (1, _HEADS, depth, queries, keys, _SHARED)),
                ("f", depth**-0.5),
                *(("i", each) for each in (tiles(queries, bq), tiles(keys, bk))),
                *(("i", each) for each in (1, 1, _REST, _REST, keys - queries)),
                ("l", (_HEADS * queries * depth, queries * depth, depth)),
                ("l", (heads * keys * depth, keys * depth, depth)),
                ("l", (heads * keys * width, keys * width, width)),
                ("l", (_HEADS * queries * width, queries * width, width)),
            ),
            "mask_params": longs(0, queries * keys, keys),
            "mask": random(f"{kernel}.mask", found["mask"], _HEADS * queries * keys),
        },
        constants={
            _ALIGN_Q: False,
            _ALIGN_K: False,
            _HAS_MASK: True,
            _IS_CAUSAL: False,
            _HAS_SINKS: False,
            _SAVES_SUMS: False,
        },
    )
