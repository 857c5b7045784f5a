"""Tiles are found wherever one of them fits."""

from __future__ import annotations

from assay.compiler.torq.operators.products import Convolution
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.operators.tensors import Layout, TensorType
from assay.compiler.torq.schedule.options import USUAL
from assay.compiler.torq.schedule.tiling.tiler import Tiler

_LRAM = 490 << 10


def test_tiles_that_do_not_fit_twice_are_there_once() -> None:
    planes = {"dtype": "int8", "layout": Layout.PLANES}
    op = Convolution(
        x=TensorType(shape=(2, 4096, 4, 7), **planes),
        y=TensorType(shape=(2, 8, 2, 5), **planes),
        weights=TensorType(dtype="int8", shape=(8, 4096, 3, 3)),
        rescale=Rescale(multipliers=(1 << 30,), shifts=(45,)),
    )
    tiling = Tiler(USUAL).tiling(op, _LRAM, frozenset())
    assert tiling is not None and tiling.sizes[0] == 1
    assert Tiler(USUAL).tiling(op, 128 << 10, frozenset()) is None
