"""Products of matrices: `steel_gemm_*`, with tiles of which the last are cut."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from assay.launches.inputs import ConstantValue, Exact, Given, Setup

from .values import ints, longs, random, struct, tiles, zeros

_TILED = re.compile(
    r"(?P<a>[nt])(?P<b>[nt])_(?P<of>[a-z]+\d+)_(?P<to>[a-z]+\d+)"
    r"_bm(?P<bm>\d+)_bn(?P<bn>\d+)_bk(?P<bk>\d+)_wm(?P<wm>\d+)_wn(?P<wn>\d+)"
    r"(?:_MN_(?P<mn>[tn])aligned)?(?:_K_(?P<k>[tn])aligned)?"
)
_KINDS = re.compile(
    r"steel_(?P<kind>gemm_fused|gemm_splitk|gemm_block|gather_mm_rhs|gather_mm|segmented_mm)"
    r"(?P<of_tensors>_nax)?_"
)
_MASKED = re.compile(r"outmask_(?P<out>[a-z]+\d*_?)_opmask_(?P<operand>[a-z]+\d*_?)_")
_BATCH = 3
_REST = 5
HAS_BATCH, HAS_SOURCE, SCALES = 10, 100, 110
CONTIGUOUS, ALIGN_M, ALIGN_N, ALIGN_K = 199, 200, 201, 202


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """What the name of a kernel says: element types, transposed operands, tiles and simdgroups."""

    kind: str
    of: str
    to: str
    transposed: tuple[bool, bool]
    tile: tuple[int, int, int]
    simdgroups: tuple[int, int]
    masks: tuple[str, str]
    of_tensors: bool
    sizes: tuple[int, int, int]

    @property
    def leading(self) -> tuple[int, int]:
        """Elements from one row to the next of the operands as they lie."""
        m, n, k = self.sizes
        return (m if self.transposed[0] else k), (k if self.transposed[1] else n)


def parsed(kernel: str) -> Product | None:
    """What a kernel computes; None for one that is no product."""
    kind, tiled = _KINDS.match(kernel), _TILED.search(kernel)
    if kind is None or tiled is None:
        return None
    bm, bn, bk = (int(tiled[each]) for each in ("bm", "bn", "bk"))
    of_rest = 0 if tiled["mn"] == "t" else _REST
    k_rest = 0 if tiled["k"] == "t" else _REST
    masked = _MASKED.search(kernel)
    return Product(
        kind=kind["kind"],
        of=tiled["of"],
        to=tiled["to"],
        transposed=(tiled["a"] == "t", tiled["b"] == "t"),
        tile=(bm, bn, bk),
        simdgroups=(int(tiled["wm"]), int(tiled["wn"])),
        masks=(masked["out"], masked["operand"]) if masked else ("nomask", "nomask"),
        of_tensors=bool(kind["of_tensors"]),
        # Products of tensors take long here, and have long blocks of k.
        sizes=(
            bm + (of_rest or bm),
            bn + (of_rest or bn),
            (1 if kind["of_tensors"] else 2) * bk + k_rest,
        ),
    )


def product(kernel: str) -> Setup | None:
    """The launch of a product of matrices; None for another kernel."""
    of = parsed(kernel)
    return _LAUNCHES[of.kind](kernel, of) if of else None


def _params(of: Product, strides: tuple[int, int, int], batch_ndim: int = 1) -> Exact:
    """`GEMMParams`."""
    m, n, k = of.sizes
    bm, bn, bk = of.tile
    return struct(
        *(("i", each) for each in (m, n, k, *of.leading, n, tiles(n, bn), tiles(m, bm))),
        *(("l", each) for each in strides),
        *(("i", each) for each in (0, k // bk, batch_ndim)),
    )


def _setup(
    of: Product,
    arguments: dict[str, Given],
    constants: dict[int | str, ConstantValue],
    *,
    rows: int | None = None,
    layers: int = 1,
) -> Setup:
    m, n, _ = of.sizes
    wm, wn = of.simdgroups
    return Setup(
        threadgroups=(tiles(n, of.tile[1]), rows or tiles(m, of.tile[0]), layers),
        threadgroup=(32, wn, wm),
        arguments=arguments,
        constants=constants,
    )


def _operands(kernel: str, of: Product, left: int = 1, right: int = 1) -> dict[str, Given]:
    m, n, k = of.sizes
    return {
        "A": random(f"{kernel}.A", of.of, left, m * k),
        "B": random(f"{kernel}.B", of.of, right, k * n),
    }


_UNALIGNED: dict[int | str, ConstantValue] = {ALIGN_M: False, ALIGN_N: False, ALIGN_K: False}


def _fused(kernel: str, of: Product) -> Setup:
    m, n, k = of.sizes
    return _setup(
        of,
        {
            **_operands(kernel, of, 2, 2),
            # Rows of tiles are read whole, also beyond the last row.
            "C": random(f"{kernel}.C", of.of, (2 * m + of.tile[0]) * n),
            "D": zeros(of.to, 2, m * n),
            "params": _params(of, (m * k, k * n, m * n)),
            "addmm_params": Exact(
                array=np.array(
                    [(n, 1, m * n, 0.5, 2.0)],
                    np.dtype("i4,i4,i8,f4,f4", align=True),
                )
            ),
        },
        {**_UNALIGNED, HAS_BATCH: False, HAS_SOURCE: True, SCALES: True},
        layers=2,
    )


def _split(kernel: str, of: Product) -> Setup:
    """Each of two partitions has one block of k, and the last the rest."""
    m, n, k = of.sizes
    bm, bn, bk = of.tile
    params = struct(
        *(("i", each) for each in (m, n, k, *of.leading, n, tiles(n, bn), tiles(m, bm))),
        *(("i", each) for each in (2, m * n, bk, 0, 1)),
    )
    arguments = {**_operands(kernel, of), "C": zeros(of.to, 2, m * n), "params": params}
    if not of.of_tensors:
        return _setup(of, arguments, {}, layers=2)
    # The tiles of one partition follow those of the other in a grid of one dimension.
    in_a_row = (2 * tiles(m, bm) * tiles(n, bn), 1, 1)
    return replace(_setup(of, arguments, dict(_UNALIGNED)), threadgroups=in_a_row)


def _masked(kernel: str, of: Product) -> Setup:
    m, n, k = of.sizes
    block = of.tile[0]
    rows, columns, depth = tiles(m, block), tiles(n, block), tiles(k, block)
    out, operand = of.masks
    arguments: dict[str, Given] = {
        **_operands(kernel, of, 2, 2),
        "D": random(f"{kernel}.D", of.to, 2, m * n),
        "params": _params(of, (m * k, k * n, m * n)),
        "batch_shape": ints(2),
    }
    strides, batches = [], [m * k, k * n]
    if out != "nomask":
        arguments["out_mask"] = random(f"{kernel}.out", out, 2, rows * columns)
        strides += [1, columns]
        batches.append(rows * columns)
    if operand != "nomask":
        arguments["lhs_mask"] = random(f"{kernel}.lhs", operand, 2, rows * depth)
        arguments["rhs_mask"] = random(f"{kernel}.rhs", operand, 2, depth * columns)
        strides += [1, depth, 1, columns]
        batches += [rows * depth, depth * columns]
    arguments |= {"mask_strides": ints(*strides), "batch_strides": longs(*batches)}
    return _setup(of, arguments, {}, layers=2)


def _gathered(kernel: str, of: Product) -> Setup:
    m, n, k = of.sizes
    chosen = np.array([1, 0, 2], np.uint32)
    one_batch = {
        f"batch_{what}_{which}": value
        for which, size in (("a", m * k), ("b", k * n))
        for what, value in (("ndim", ints(1)), ("shape", ints(_BATCH)), ("strides", longs(size)))
    }
    return _setup(
        of,
        {
            **_operands(kernel, of, _BATCH, _BATCH),
            **one_batch,
            "lhs_indices": Exact(array=chosen),
            "rhs_indices": Exact(array=chosen[::-1].copy()),
            "C": zeros(of.to, _BATCH, m * n),
            "params": _params(of, (1, 1, m * n)),
            "indices_shape": ints(_BATCH),
            "lhs_strides": longs(1),
            "rhs_strides": longs(1),
        },
        {**_UNALIGNED, HAS_BATCH: False},
        layers=_BATCH,
    )


def _grouped(kernel: str, of: Product) -> Setup:
    """Rows in three groups, of which the second has none, each with a right operand of its own."""
    m, n, k = of.sizes
    return _setup(
        of,
        {
            **_operands(kernel, of, 1, _BATCH),
            "offsets": ints(0, _REST, _REST),
            "num_groups": ints(_BATCH),
            "C": zeros(of.to, m * n),
            "params": _params(of, (0, k * n, 0)),
        },
        dict(_UNALIGNED),
        rows=tiles(m, of.tile[0]) + _BATCH,
    )


def _segmented(kernel: str, of: Product) -> Setup:
    m, n, k = of.sizes
    ends = np.array([0, of.tile[2], of.tile[2], k, 1, 1], np.uint32)
    return _setup(
        of,
        {
            **_operands(kernel, of),
            "segments": Exact(array=ends),
            "C": random(f"{kernel}.C", of.to, _BATCH, m * n),
            "params": _params(of, (0, 0, m * n)),
        },
        {CONTIGUOUS: True, ALIGN_M: False, ALIGN_N: False},
        layers=_BATCH,
    )


_LAUNCHES = {
    "gemm_fused": _fused,
    "gemm_splitk": _split,
    "gemm_block": _masked,
    "gather_mm": _gathered,
    "gather_mm_rhs": _grouped,
    "segmented_mm": _segmented,
}
