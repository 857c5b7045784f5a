"""Sizes beside those that were tried: what kernels would take there, by how even cores have work.

A kernel whose threadgroups come out even on the cores of a chip may leave most of them without work
at the end of a product that is only a little larger. So the best kernel of a size is not always a
good one for the sizes around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Final

from assay.hw.apple.facts.chips import chip

from .point import Recipe, Size
from .rows import Row

Seconds = Mapping[Size, Mapping[Recipe, float]]
_APART: Final = (-0.2, -0.1, 0.1, 0.2)
"""How many times as many rows they have, as powers of two."""
_MULTIPLE: Final = 64  # of rows


def beside(rows: Mapping[Size, Mapping[Recipe, Row]], on: str) -> Seconds:
    """Estimates for sizes that `rows` do not have, from rows of the nearest that they have.

    Args:
        rows: by size and kernel, of those that ran.
        on: the chip.
    """
    cores = chip(on).cores
    nearest: dict[Size, float] = {}
    found: dict[Size, dict[Recipe, float]] = {}
    for (m, n, k), of in rows.items():
        for apart in sorted(_APART, key=abs):
            size = m, max(1, round(n * 2**apart / _MULTIPLE)) * _MULTIPLE, k
            if size in rows or abs(apart) > nearest.get(size, abs(apart)):
                continue
            if abs(apart) < nearest.get(size, 1):
                nearest[size], found[size] = abs(apart), {}
            for recipe, row in of.items():
                found[size][recipe] = row["seconds"] * _times(row, size[1] / n, cores)
    return found


def _times(row: Row, larger: float, cores: int) -> float:
    """How many times as long the kernel of a row takes with so many times as many rows."""
    groups = row["threadgroups"]
    dram = row["causes"]["dram"]
    return _turns(ceil(groups * larger), cores, dram) / _turns(groups, cores, dram)


def _turns(groups: int, cores: int, dram: float) -> float:
    """Threadgroups that the busiest core has; while it waits for DRAM, the others' share is its."""
    share = groups / min(cores, groups)
    return ceil(share) - dram * (ceil(share) - share)
