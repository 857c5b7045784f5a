"""Results that differ between runs in different orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.sim.check import Finding, Party
from assay.sim.check.kinds import KINDS
from assay.sim.site import Site

from ..launches.contents import Bytes

if TYPE_CHECKING:
    from ..elements import Value
    from ..reports.report import Report

_KIND = "order-dependent-result"
_NOWHERE = Site()


def order_finding(
    memory: str, first: Bytes, other: Bytes, runs: str, *, kernel: str = "", site: Site = _NOWHERE
) -> Finding:
    """That `memory` ends with different bits when threads run in another order.

    Args:
        memory: the buffer or result concerned.
        first: its bytes after one run.
        other: its bytes after the other; not all equal.
        runs: which two runs those are, in words.
        kernel: the kernel, if one alone ran.
        site: where that begins.
    """
    different = first != other
    return Finding(
        check=KINDS[_KIND].check,
        kind=_KIND,
        kernel=kernel,
        message=f"'{memory}' ends with different bits when threads run in another order",
        parties=(Party(what=f"differs between {runs}", site=site),),
        memory=memory,
        offset=int(np.flatnonzero(different)[0]),
        hint="let no result depend on which thread comes first; atomic sums of floats do",
        count=int(np.count_nonzero(different)),
    )


def compare_orders(runs: Sequence[tuple[int | None, Sequence[Value]]], report: Report) -> None:
    """Results must have the same bits in every order; `runs` are (seed, results) of each."""
    _, first = runs[0]
    for seed, results in runs[1:]:
        words = f"the natural order and seed {seed}"
        for position, (one, other) in enumerate(zip(first, results, strict=True)):
            before, after = (
                np.ascontiguousarray(x).reshape(-1).view(np.uint8) for x in (one, other)
            )
            if (before != after).any():
                report.add(order_finding(f"result {position}", before, after, words))
