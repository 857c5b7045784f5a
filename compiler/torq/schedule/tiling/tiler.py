"""How an operator's result is cut into tiles that fit into LRAM."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...kernels.kernel import Kernel
from ...kernels.planes.convolution import ConvolutionKernel
from ...kernels.variants import refusal, variants
from ...operators.operator import Operator
from ...operators.tensors import Region
from ...slice.counts import MOST_STEPS
from ...slice.errors import IllegalSliceProgram
from ...slice.tensor import Tensor
from ..options import Options
from .search import TileSearch
from .shares import FREE, Split, Splits
from .sums import SumSearch, SumTiling
from .tiling import Tiling


class Tiler:
    """Chooses tiles, and remembers what it chose for operators like those before.

    With double buffers, a tile is loaded and another stored while one is computed.
    """

    def __init__(self, options: Options) -> None:
        self._doubled, self._split = options.double_buffer, options.both_slices
        self._group, self.reuse = options.group, options.reuse
        self._all_tiles = options.all_tiles
        self._tilings: dict[tuple[Operator, int, frozenset[str]], Tiling | None] = {}
        self._splits = Splits()
        self._kernels: dict[Operator, Kernel[Any]] = {}
        self._costs: dict[Operator, int] = {}
        self._tasks: dict[tuple[object, ...], list[int]] = {}

    def tiling(self, op: Operator, free: int, resident: frozenset[str]) -> Tiling | None:
        """The kernel and the tiles that take the least time and no more than `free` bytes.

        What is `resident` is in LRAM as a whole and does not count. Where not even the smallest
        tiles fit twice, they are there once. Raises IllegalSliceProgram when no kernel accepts the
        operator; gives None when no tile is small enough.
        """
        key = op, free // 4096, resident
        if key not in self._tilings and self.is_too_long(op):
            self._tilings[key] = None
        if key not in self._tilings:
            kernel = self.kernel(op)
            search = TileSearch(
                op=op,
                kernel=kernel,
                free=free // 4096 * 4096,
                resident=resident,
                doubled=self._doubled,
                reuse=self.reuse,
                work=self.cost(op),
                cost=partial(self._part_costs, op, kernel),
                slices=self.slices,
                all_tiles=self._all_tiles,
            )
            found = search.best()
            if found is None and self._doubled:
                found = replace(search, doubled=False).best()
            self._tilings[key] = found or self._smaller(search)
        return self._tilings[key]

    def _smaller(self, search: TileSearch) -> Tiling | None:
        """Tiles of a slower kernel, which may be smaller: of fewer rows or channels at a time."""
        for kernel in variants(search.op):
            cost = partial(self._part_costs, search.op, kernel)
            work = max(cost(Region.whole(search.op.y.shape)))
            other = replace(
                search, kernel=kernel, doubled=False, cost=cost, work=work, _looked_up={}
            )
            if kernel is not search.kernel and (found := other.best()) is not None:
                return found
        return None

    def is_too_long(self, op: Operator) -> bool:
        """Whether sums have more terms than the ALU can count at once."""
        return math.prod(self.kernel(op).terms(op)) > MOST_STEPS

    def sum_tiling(self, op: Operator, free: int, resident: frozenset[str]) -> SumTiling | None:
        """Tiles whose terms are summed part by part, in no more than `free` bytes, or None."""
        search = SumSearch(
            op=op,
            kernels=variants(op),
            free=free,
            resident=resident,
            doubled=self._doubled,
            slices=self.slices,
        )
        return search.best()

    def kernel(self, op: Operator) -> Kernel[Any]:
        """The fastest kernel, of those with the right group if there are any.

        Raises IllegalSliceProgram if no kernel accepts the operator.
        """
        if op not in self._kernels:
            kernels = variants(op)
            if not kernels:
                raise IllegalSliceProgram("operator", refusal(op))
            group = self._group
            same = (k for k in kernels if isinstance(k, ConvolutionKernel) and k.group == group)
            self._kernels[op] = next(same, kernels[0])
        return self._kernels[op]

    def cost(self, op: Operator) -> int:
        """Cycles of a whole operator on all slices that are used."""
        if op not in self._costs:
            cost = self.kernel(op).cost(op, Region.whole(op.y.shape))
            self._costs[op] = cost // (2 if self._split else 1)
        return self._costs[op]

    @property
    def slices(self) -> int:
        """How many slices share a tile."""
        return 2 if self._split else 1

    def split(self, op: Operator, kernel: Kernel[Any], out: Region, channels: int = FREE) -> Split:
        """How the slices share a tile: as `Splits.split` says. Raises IllegalSliceProgram."""
        if not self._split:
            return Split(costs=(kernel.cost(op, out),))
        return self._splits.split(op, kernel, out, channels)

    def task_cycles(
        self, op: Operator, kernel: Kernel[Any], out: Region, tensors: Mapping[str, Tensor]
    ) -> list[int]:
        """The cycles of each task of a region whose tensors lie so in their buffers.

        A network is planned again and again from some operator on, with the same tiles. Raises
        IllegalSliceProgram.
        """
        lie = ((name, t.address, t.dtype, t.shape, t.strides) for name, t in tensors.items())
        key = op, kernel.name, out, tuple(lie)
        if key not in self._tasks:
            self._tasks[key] = [nest.cycles for nest in kernel.nests(op, out, tensors)]
        return self._tasks[key]

    def _part_costs(self, op: Operator, kernel: Kernel[Any], out: Region) -> Sequence[int]:
        return self.split(op, kernel, out).costs
