"""What kind of kernel a dispatch is, which decides how well its time can be predicted."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..lower.code import MachineCode

_WAITS = {
    "arithmetic": ("issue", "dependency"),
    "memory": ("l1", "l2", "slc", "dram"),
    "shared": ("threadgroup_memory", "barrier", "atomic"),
}
MATRIX = "matrix"
KINDS = (MATRIX, *_WAITS)
"""Kernels with matrix instructions; others by what most of their time goes into."""


def kind_of(code: MachineCode, causes: Mapping[str, float]) -> str:
    """One of `KINDS`, from a kernel's instructions and its cycles by cause."""
    if any(code.classes[kind].startswith("mma_") for kind in np.unique(code.kinds)):
        return MATRIX
    return max(_WAITS, key=lambda kind: sum(causes.get(cause, 0.0) for cause in _WAITS[kind]))
