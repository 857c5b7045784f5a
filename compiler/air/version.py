"""What decides how libraries are lowered, for the keys of what is kept on disk."""

from __future__ import annotations

import functools
from pathlib import Path

from assay.sim.native.disk_cache import digest
from assay.sim.native.source_digest import source_digest

from ..msl.front import clang, precompiled


@functools.cache
def own_version() -> str:
    """A digest of this package, of the headers that it compiles, and of the compiler."""
    own = source_digest(Path(__file__).parent)
    return digest(precompiled.header_digest(), clang.compiler_version(), *clang.LANGUAGE, own)
