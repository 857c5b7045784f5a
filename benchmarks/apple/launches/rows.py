"""Kernels of rows and columns whose threadgroups are as their lengths say."""

from __future__ import annotations

import re

import numpy as np

from assay.launches.inputs import Exact, Given, Setup

from .values import ints, longs, random, tiles, zeros

_NORMED = re.compile(r"(?P<of_gradient>vjp_)?layer_norm(?P<looped>_looped)?(?P<of>[a-z]+\d+)")
_COLUMNS = re.compile(
    r"col_reduce_(?P<how>2pass|looped|longcolumn|small)_(?:large_)?(?P<axes>\d)(?:_32_32)?"
    r"_reduce_\w+"
)
_TYPE = r"(?:bool_|u?int(?:8|16|32|64)|b?float(?:16|32)|complex64)"
_GENERAL = re.compile(rf"gn(?P<reads>\d)(?:large)?_[A-Z]\w*?{_TYPE}{_TYPE}")
_ROWS = 3
_LENGTH = 8 * 32 - 6
_READS = 8
_SIMDGROUP = 32


def of_rows(kernel: str) -> Setup | None:
    """The launch of such a kernel; None for another."""
    found = _NORMED.fullmatch(kernel)
    if found:
        return _normed(kernel, found)
    found = _COLUMNS.fullmatch(kernel)
    if found:
        return _columns(found)
    found = _GENERAL.fullmatch(kernel)
    return _general(int(found["reads"])) if found else None


def _general(reads: int) -> Setup:
    """A function of one element at a time, of an array that is transposed."""
    planes, rows, columns = 2, 6, 8
    return Setup(
        threads=(tiles(columns, reads), rows, planes),
        threadgroup=(2, 2, 1),
        arguments={
            "in_shape": ints(planes, rows, columns),
            "in_strides": longs(rows * columns, 1, rows),
            "ndim": ints(3),
        },
    )


def _normed(kernel: str, found: re.Match[str]) -> Setup:
    of = found["of"]
    room = _ROWS * _LENGTH
    arguments: dict[str, Given] = {
        "x": random(f"{kernel}.x", of, room),
        "w": random(f"{kernel}.w", of, _LENGTH),
        "eps": Exact(array=np.array([1e-5], np.float32)),
        "axis_size": ints(_LENGTH),
        "w_stride": ints(1),
    }
    if found["of_gradient"]:
        arguments |= {
            "g": random(f"{kernel}.g", of, room),
            "gx": zeros(of, room),
            "gw": zeros(of, room),
        }
    else:
        arguments |= {
            "b": random(f"{kernel}.b", of, _LENGTH),
            "b_stride": ints(1),
            "out": zeros(of, room),
        }
    threads = tiles(tiles(_LENGTH, _READS), _SIMDGROUP) * _SIMDGROUP
    return Setup(
        threadgroups=(_ROWS, 1, 1),
        threadgroup=(threads, 1, 1),
        arguments=arguments,
        constants={20: True} if found["of_gradient"] else {},
    )


def _columns(found: re.Match[str]) -> Setup:
    """Columns of 70 rows, in as many axes as the name says, of two arrays."""
    how, axes, rows, outer = found["how"], int(found["axes"]), 70, 2
    columns = 8 if how == "longcolumn" else 40
    sizes = (*(2,) * (axes - 1), rows)
    steps = [columns]
    for size in reversed(sizes[1:]):
        steps.insert(0, steps[0] * size)
    whole = int(np.prod(sizes)) * columns
    groups, threads = {
        "2pass": ((tiles(columns, 32), outer * 32, 1), (256, 1, 1)),
        "looped": ((tiles(columns, 32), outer, 1), (256, 1, 1)),
        "longcolumn": ((outer, 1, 32), (columns, tiles(whole // columns, 32), 1)),
        "small": ((1, outer, 1), (tiles(columns, 4), 8, 1)),
    }[how]
    arguments: dict[str, Given] = {
        "reduction_size": longs(rows),
        "reduction_stride": longs(columns),
        "shape": ints(outer),
        "strides": longs(whole),
        "ndim": ints(1),
        "reduce_shape": ints(*sizes),
        "reduce_strides": longs(*steps),
        "reduce_ndim": ints(axes),
        "non_col_reductions": longs(whole // columns // rows),
    }
    if how in ("2pass", "looped"):
        arguments["column_offset"] = longs(0)
    if how in ("2pass", "longcolumn"):
        arguments["out_size"] = longs(outer if how == "2pass" else outer * columns)
    return Setup(threadgroups=groups, threadgroup=threads, arguments=arguments)
