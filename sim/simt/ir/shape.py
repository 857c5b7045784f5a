"""What a kernel is specialised for: threadgroup size, lanes, and the lane layout of matrices."""

from __future__ import annotations

from dataclasses import dataclass

from ...lanes import LANES as LANES


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A threadgroup as one specialisation runs it.

    Attributes:
        size: threads in (x, y, z) that this threadgroup has.
        nominal: threads in (x, y, z) of the threadgroups inside the grid; an edge threadgroup of
            a grid that is not a multiple has less.
    """

    size: tuple[int, int, int]
    nominal: tuple[int, int, int]

    @property
    def threads(self) -> int:
        """Threads of the threadgroup."""
        return self.size[0] * self.size[1] * self.size[2]

    @property
    def simdgroups(self) -> int:
        """Simdgroups of the threadgroup."""
        return -(-self.threads // LANES)

    @property
    def nominal_simdgroups(self) -> int:
        """Simdgroups of a threadgroup inside the grid."""
        return -(-self.nominal[0] * self.nominal[1] * self.nominal[2] // LANES)

    @property
    def last_lanes(self) -> int:
        """Live lanes of the last simdgroup."""
        return self.threads - (self.simdgroups - 1) * LANES


def matrix_row(lane: int) -> int:
    """Row of an 8x8 simdgroup matrix that a lane holds two elements of.

    Source: the layout that published kernels rely on through `thread_elements()`; for example
    philipturner/metal-flash-attention, `simdgroup_matrix_storage`, `morton_order`.
    """
    quad = lane // 4
    return (quad & 4) + (lane // 2) % 4


def matrix_column(lane: int) -> int:
    """Column of the first of a lane's two elements; the second is right of it."""
    quad = lane // 4
    return (quad & 2) * 2 + (lane % 2) * 2
