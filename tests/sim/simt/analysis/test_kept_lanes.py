"""Lanes are left out exactly where a lower lane does all that they do."""

from __future__ import annotations

import numpy as np
import pytest

from assay.sim.simt import KernelFault
from assay.sim.simt.emit.values import Values
from assay.sim.simt.ir.shape import LANES, Shape
from tests.support.kernels import Kernel, Size, compile_cpp, on_engine, on_reference

_ALL = list(range(LANES))


def _compiled(body: str) -> Kernel:
    return compile_cpp(
        f"""KERNEL(DEVICE uint* in, DEVICE uint* out) {{
            uint x = __assay_thread_position_in_threadgroup(0);
            uint y = __assay_thread_position_in_threadgroup(1);
            uint g = __assay_threadgroup_position_in_grid(0), sum = 0;
            {body}
        }}""",
        "in out",
    )


def _kept(body: str, size: Size, observers: frozenset[str] = frozenset()) -> list[int]:
    function = _compiled(body).function()
    return list(Values(function, Shape(size=size, nominal=size), observers).kept)


_BOTH_ROWS = [0, 1, 2, 3, 16, 17, 18, 19]
_OWN = (
    "uint own[4] = {}; uint k = in[0] & 3, again = in[1] + k - 2;"  # `again` is `k` where it runs
)
_TILE = "static THREADGROUP uint tile[16];"
_LEFT_OUT: dict[str, tuple[str, Size, list[int]]] = {
    "a guard of the second dimension leaves four lanes of the first simdgroup": (
        "if ((int)(y * 4) < 8) for (uint i = x; i < 64; i += 2) out[y * 64 + i] = in[i] + y;",
        (2, 64, 1),
        [0, 1, 2, 3],
    ),
    "a dimension that nothing depends on makes copies": (
        "for (uint i = 0; i < 9; i++) sum += in[i * 8 + x]; out[x] = sum;",
        (8, 16, 1),
        list(range(8)),
    ),
    "a guard inside of a loop": (
        "for (uint i = y * 4; i < 32; i += 16) { uint w = in[i];"
        " if (x < 4) for (uint k = 0; k < 9; k++) out[i * 8 + x] = in[k] * w; }",
        (8, 4, 1),
        [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27],
    ),
    "two positions in one number": (
        "ulong both = (ulong)y << 32 | x; uint up = (uint)(both >> 30) & ~3u;"
        " if (x < 2) out[up * 2 + x] = in[up];",
        (8, 4, 1),
        [0, 1, 8, 9, 16, 17, 24, 25],
    ),
    "nothing depends on positions": ("out[g] = in[g] + 1;", (64, 1, 1), [0, 1]),
    "threads that are not there": ("out[x] = in[x];", (8, 1, 1), list(range(8))),
    "lanes that stay in a loop for longer": (
        "for (uint i = x; i < 9; i += 2) sum += in[i]; if (x < 4) out[x] = sum;",
        (32, 1, 1),
        list(range(16)),
    ),
    "what only a value from memory tells keeps all that may go there": (
        "if (x < 3 && in[x]) out[x] = 1;",
        (32, 1, 1),
        [0, 1, 2, 3],
    ),
    "a value is of the way that a lane came": (
        "uint v = 1; if (y < 1) v = in[9]; if (x < 4) out[x] = v;",
        (16, 2, 1),
        _BOTH_ROWS,
    ),
    "a place is of the way that a lane came": (
        "uint v = 1; if (y < 1) v = in[9]; if (x < 1) out[v] = 5;",
        (16, 2, 1),
        [0, 16],
    ),
    "a value is of how often a lane went round a loop": (
        "for (uint i = 0; i < (y ^ 1); i++) sum += in[i]; if (x < 4) out[x] = sum;",
        (16, 2, 1),
        _BOTH_ROWS,
    ),
    "lanes that leave a loop one after the other": (
        "for (uint i = 0; i < 3 - y; i++) sum += in[i]; if (x < 4) out[x] = sum;",
        (16, 2, 1),
        _BOTH_ROWS,
    ),
    "arrays of threads that are alike": (
        f"{_OWN} own[k] = in[x]; if (x < 4) out[x] = own[again];",
        (16, 2, 1),
        list(range(16)),
    ),
    "arrays into which only a lower lane wrote": (
        f"{_OWN} if (x < 1) {{ if (y < 1) own[k] = 7; out[own[again]] = 5; }}",
        (16, 2, 1),
        [0, 16],
    ),
    "arrays into which only a higher lane wrote": (
        f"{_OWN} if (x < 1) {{ if (y > 0) own[k] = 7; out[own[again]] = 5; }}",
        (16, 2, 1),
        [0, 16],
    ),
    "threads that wait for each other": (
        f"{_TILE} if (x < 4) tile[x + y * 4] = in[x * 2 + y]; barrier();"
        " if (x < 4) out[y * 4 + x] = tile[(x ^ 3) + (1 - y) * 4];",
        (16, 2, 1),
        _BOTH_ROWS,
    ),
    "threads of several simdgroups that wait in a loop": (
        f"{_TILE} for (uint i = 0; i < 3; i++) {{ if (x < 1) tile[(y + i) & 15] += in[y];"
        " barrier(); if (x < 1) sum += tile[(y + 1) & 15]; barrier(); } if (x < 1) out[y] = sum;",
        (2, 64, 1),
        list(range(0, LANES, 2)),
    ),
    "positions in the grid": (
        "uint u = __assay_thread_position_in_grid(0), w = __assay_thread_position_in_grid(1);"
        " if (x < 2 && y < 1) out[w * 64 + u] = in[u];",
        (16, 2, 1),
        [0, 1],
    ),
    "a row of the grid does the same": (
        "uint w = __assay_thread_position_in_grid(1); out[w] = in[w];",
        (8, 4, 1),
        [0, 8, 16, 24],
    ),
    "lanes of one simdgroup of several": (
        "if (__assay_simdgroup_index_in_threadgroup() == 1 && y % 16 < 4) out[y] = in[x];",
        (2, 64, 1),
        list(range(8)),
    ),
}
# Where more than half of them stay, all do.
_KEPT: dict[str, tuple[str, Size]] = {
    "every lane has a place of its own": ("out[x] = in[x];", (32, 1, 1)),
    "a sum over the simdgroup counts copies": (
        "out[x & 3] = __assay_simd_sum_u32(in[0], 32);",
        (32, 1, 1),
    ),
    "an atomic sum counts copies": ("__assay_atomic_add_u32(out, 1);", (32, 1, 1)),
    "the last lane's value stays, and that lane is a copy": (
        "out[5] = x & 1;",
        (32, 1, 1),
    ),
    "both sides of a branch have work": (
        "if (x < 4) out[x] = in[0]; else out[x + 7] = in[1];",
        (32, 1, 1),
    ),
    "what lanes do behind a branch depends on it": (
        "uint v = 1; if (x < 4) v = in[9]; out[x & 7] = v;",
        (32, 1, 1),
    ),
    "reads count, as they may be out of bounds": (
        "sum = in[x]; if (x < 4 && sum) out[x] = sum;",
        (32, 1, 1),
    ),
    "private arrays into which only the first row wrote": (
        f"{_OWN} if (y < 1) own[k] = in[9]; out[x & 3] = own[again];",
        (16, 2, 1),
    ),
    "a guard by the place in the grid, which is not the same in all threadgroups": (
        "uint u = __assay_thread_position_in_grid(0); if (u < 20 && x < 4) out[u] = in[u];",
        (32, 1, 1),
    ),
}


@pytest.mark.parametrize("name", _LEFT_OUT)
def test_lanes_without_work_of_their_own_are_left_out(name: str) -> None:
    body, size, lanes = _LEFT_OUT[name]
    assert _kept(body, size) == lanes


@pytest.mark.parametrize("name", _KEPT)
def test_lanes_that_can_be_told_from_others_stay(name: str) -> None:
    body, size = _KEPT[name]
    assert _kept(body, size) == _ALL


@pytest.mark.parametrize("name", [*_LEFT_OUT, *_KEPT])
def test_what_is_left_out_is_not_missed(name: str) -> None:
    body, size = _KEPT[name] if name in _KEPT else _LEFT_OUT[name][:2]
    arguments = [np.arange(1, 1025, dtype=np.uint32) % 97, np.zeros(1024, np.uint32)]
    expected, found = (
        run(_compiled(body), arguments, threadgroup_size=size, threadgroups=(3, 1, 1))[1]
        for run in (on_reference, on_engine)
    )
    np.testing.assert_array_equal(found, expected)


def test_a_check_sees_all_lanes() -> None:
    body, size, _ = _LEFT_OUT["a dimension that nothing depends on makes copies"]
    assert _kept(body, size, frozenset({"race"})) == _ALL


@pytest.mark.parametrize(
    ("body", "thread"),
    [
        ("if (x < 2) out[y * 2000 + x] = 1;", (0, 1, 0)),
        ("if (x < 2) { sum = in[y * 2000]; if (y < 1 && sum) out[x] = 1; }", (0, 1, 0)),
        ("if (x < 4 && y == 2) for (uint i = 0; i < 2000; i++) out[i * 4 + x] = 3;", (0, 2, 0)),
    ],
)
def test_a_fault_names_the_thread_that_all_lanes_would_name(body: str, thread: Size) -> None:
    kernel, size = _compiled(body), (8, 4, 1)
    assert len(_kept(body, size)) < LANES
    faults = []
    for run in (on_reference, on_engine):
        with pytest.raises(KernelFault) as caught:
            run(kernel, [np.zeros(1024, np.uint32)] * 2, threadgroup_size=size)
        faults.append(caught.value)
    assert str(faults[0]) == str(faults[1])
    assert faults[1].place.thread_position_in_threadgroup == thread


def test_an_endless_loop_of_lanes_that_run_names_the_first_thread_in_it() -> None:
    kernel = _compiled("if (x < 4) while (((volatile DEVICE uint*)in)[y] == 0) out[x] = y;")
    with pytest.raises(KernelFault) as caught:
        on_engine(
            kernel,
            [np.array([1, 1, 0, 1], np.uint32), np.zeros(8, np.uint32)],
            threadgroup_size=(8, 4, 1),
            fuel=10_000,
        )
    assert caught.value.kind == "runaway"
    assert caught.value.place.thread_position_in_threadgroup == (0, 2, 0)
