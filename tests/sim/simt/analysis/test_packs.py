"""Threadgroups that a few lanes work for run side by side, and nobody can tell."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt import KernelFault
from assay.sim.simt.emit.values import Values
from assay.sim.simt.ir.shape import Shape
from tests.support.kernels import Kernel, Size, compile_cpp, on_engine, on_reference

_SIZE = (16, 2, 1)
# Two lanes of each threadgroup, of which seven make a row of fourteen places.
_ROW = "uint q = g / 7, r = g % 7; if (x < 2) for (uint i = 0; i < n; i++) {{ {} }}"
_PACKED = {
    "a row that its columns fill": (_ROW.format("out[(q * 4 + i) * 14 + r * 2 + x] += 0;"), 1),
    "sums": (
        _ROW.format("sum += in[i * 14 + r * 2 + x]; out[q * 14 + r * 2 + x] = sum + q;"),
        7,
    ),
    "divided again": (
        "uint q = g / 98, s = g % 98 / 7, r = g % 7; for (uint i = 0; i < n; i++)"
        " { sum = sum * 3 + in[i * 14 + s * 7 + r]; out[q * 140 + i * 14 + s * 7 + r] = sum; }",
        7,
    ),
    "what differs between columns decides a branch": (
        _ROW.format("if (r > 2) sum += in[r * 2 + x]; out[q * 14 + r * 2 + x] = sum;"),
        7,
    ),
}
_TILE = """static THREADGROUP uint tile[8]; static THREADGROUP uchar bytes[4];
    uint q = g / 7, r = g % 7;
    for (uint i = 0; i < 8; i++) { tile[i] += n; bytes[i & 3] += r; }
    for (uint k = 0; k < 8; k++) for (uint i = 0; i < n; i++)
        tile[k] += in[i * 14 + r] * (bytes[k & 3] + q);
    for (uint k = 0; k < 8; k++) out[(q * 8 + k) * 7 + r] = tile[k];"""
_APART = {
    "a grid that is not cut into rows": "if (x < 2) out[g * 2 + x] = in[g];",
    "an atomic sum": _ROW.format("__assay_atomic_add_u32(out + r * 2 + x, 1);"),
    "a position in the grid": "uint u = __assay_thread_position_in_grid(0);"
    + _ROW.format("out[q * 14 + r * 2 + x] = u;"),
    "a guard by a position in the grid": "uint u = __assay_thread_position_in_grid(0);"
    + _ROW.format("if (u > 60) out[q * 14 + r * 2 + x] = 5;"),
    "private arrays": "uint own[4] = {};"
    + _ROW.format("own[i & 3] += in[r * 2 + x]; out[q * 14 + r * 2 + x] = own[(i + n) & 3];"),
    "a barrier": "uint q = g / 7, r = g % 7; if (x < 2) out[q * 14 + r * 2 + x] = in[r];"
    " barrier(); if (x < 1) out[q * 14 + r * 2 + x] = n;",
    "places that lie apart": _ROW.format("out[r * 120 + x * 40 + q] = in[r * 77 + i];"),
    "threadgroup memory": "static THREADGROUP uint tile[8];"
    + _ROW.format("tile[x] = in[r]; out[q * 14 + r * 2 + x] = tile[x];"),
    "all lanes at work": "uint q = g / 7, r = g % 7; out[q * 224 + r * 32 + x + y * 16] = 1;",
}


def _compiled(body: str) -> Kernel:
    return compile_cpp(
        f"""KERNEL(DEVICE uint* in, DEVICE uint* out) {{
            uint x = __assay_thread_position_in_threadgroup(0);
            uint y = __assay_thread_position_in_threadgroup(1);
            uint g = __assay_threadgroup_position_in_grid(0), n = in[0], sum = 1;
            {body}
        }}""",
        "in out",
    )


def _packs(body: str, size: Size = _SIZE) -> int:
    function = _compiled(body).function()
    return max(Values(function, Shape(size=size, nominal=size), packed=True).groups) + 1


@pytest.mark.parametrize("name", _PACKED)
def test_threadgroups_of_a_row_run_together(name: str) -> None:
    body, packs = _PACKED[name]
    assert _packs(body) == packs


@pytest.mark.parametrize("name", _APART)
def test_threadgroups_that_gain_nothing_or_share_something_run_apart(name: str) -> None:
    assert _packs(_APART[name]) == 1


@pytest.mark.parametrize("name", _APART)
def test_what_runs_apart_leaves_what_it_should(name: str) -> None:
    kernel = _compiled(_APART[name])
    arguments = [np.arange(5, 517, dtype=np.uint32) % 97, np.zeros(1024, np.uint32)]
    expected, found = (
        run(kernel, arguments, threadgroup_size=_SIZE, threadgroups=(23, 1, 1))[1]
        for run in (on_reference, on_engine)
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", _PACKED)
@pytest.mark.parametrize("groups", [(28, 1, 1), (23, 2, 1), (5, 1, 1)])
def test_what_runs_together_leaves_what_runs_apart_leaves(name: str, groups: Size) -> None:
    body, _ = _PACKED[name]
    kernel = _compiled(body)
    arguments = [np.arange(5, 517, dtype=np.uint32) % 97, np.zeros(1024, np.uint32)]
    expected, found = (
        run(kernel, arguments, threadgroup_size=_SIZE, threadgroups=groups)[1]
        for run in (on_reference, on_engine)
    )
    np.testing.assert_array_equal(found, expected)


def test_threadgroups_of_one_lane_have_memory_of_their_own() -> None:
    kernel, size = _compiled(_TILE), (1, 1, 1)
    assert _packs(_TILE, size) == 7
    arguments = [np.arange(5, 517, dtype=np.uint32) % 97, np.zeros(1024, np.uint32)]
    expected, found = (
        run(kernel, arguments, threadgroup_size=size, threadgroups=(24, 2, 1))[1]
        for run in (on_reference, on_engine)
    )
    np.testing.assert_array_equal(found, expected)


def _fault(
    body: str, groups: Size = (28, 1, 1), fuel: int = 200_000_000, first: int = 9
) -> KernelFault:
    arguments = [np.full(64, first, np.uint32), np.zeros(64, np.uint32)]
    with pytest.raises(KernelFault) as caught:
        on_engine(
            _compiled(body), arguments, threadgroup_size=_SIZE, threadgroups=groups, fuel=fuel
        )
    return caught.value


def test_the_first_fault_in_the_grids_order_is_reported() -> None:
    # The third column fails first in time, the second one is first in the grid.
    body = _ROW.format(
        "sum += in[r == 2 && i == 0 ? 99 : 0];"
        " out[q * 14 + r * 2 + x + (r == 1 && i == 8) * 99] = 7;"
    )
    body = body.replace("if (x < 2)", "if (x < 2 && y == 1)")
    fault = _fault(body)
    assert fault.place.threadgroup_position_in_grid[0] in (1, 2)
    apart = _fault(body, groups=(2, 1, 1))  # too few to run together
    assert apart.place.threadgroup_position_in_grid == (1, 0, 0)
    assert str(fault) == str(apart)


def test_an_endless_loop_of_one_threadgroup_is_told_as_its_own() -> None:
    body = _ROW.format("if (r == 3) i = 0; out[q * 14 + r * 2 + x] = i;")
    assert _packs(body) == 7
    fault = _fault(body, fuel=20_000)
    assert fault.kind == "runaway"
    assert fault.place.threadgroup_position_in_grid == (3, 0, 0)


def test_threadgroups_that_together_take_more_fuel_than_one_has_end_well() -> None:
    # Seven columns take turns: the loop of all of them is seven times as long as that of each.
    body = (
        "uint q = g / 7, r = g % 7; for (uint i = r * 100; i < 100 * r + 100; i++) sum += i;"
        " for (uint j = 0; j < 3; j++) out[q * 7 + r] = sum + j * n;"
    )
    kernel = _compiled(body)
    arguments = [np.full(64, 9, np.uint32), np.zeros(64, np.uint32)]
    expected, found = (
        run(kernel, arguments, threadgroup_size=_SIZE, threadgroups=(14, 1, 1))[1]
        for run in (on_reference, on_engine)
    )
    np.testing.assert_array_equal(found, expected)
