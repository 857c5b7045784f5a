"""What decides what is proved, for the keys of what is kept on disk."""

from __future__ import annotations

import functools
from importlib.metadata import version
from pathlib import Path

from assay.sim.native.disk_cache import digest


@functools.cache
def own_version() -> str:
    """A digest of this package, the solver and LLVM; that of the engine is in a program's key."""
    own = [path.read_bytes() for path in sorted(Path(__file__).parent.rglob("*.py"))]
    return digest(version("z3-solver"), version("llvmlite"), *own)
