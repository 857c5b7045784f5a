"""Results that differ between runs in different orders."""

from __future__ import annotations

import numpy as np

from assay.sim.check import Finding, Party
from assay.sim.site import Site

from ..launches.contents import Bytes
from ..reports.kinds import KINDS

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
