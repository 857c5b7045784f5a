"""What is proved, for which launches, and how much is done for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..checks.inputs import Inputs
from ..launches.inputs import Size

SECONDS = 120.0
"""For a property, where nobody says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofOptions:
    """How source is compiled, what is proved, for which threadgroups, and how.

    `functions` names kernels, also with `*`; without any, all are meant. `threadgroup` is the size
    of threadgroups; without it that of the source's `//!` lines counts, or a usual one. `assume`
    has conditions on arguments and grids, `buffers` bytes of arguments by name, as expressions.
    `timeout` is in seconds for each property. `cache` lets answers be kept on disk. `rings` asks
    how rings of buffers go round, and which barriers are redundant. `offers` has assumptions that
    would help looked for, if nothing is kept. `ragged` is for grids whose last threadgroups may not
    be full, as `dispatchThreads` launches them. `lanes` takes nothing but barriers to
    order lanes of a simdgroup, which else run in lock step.
    """

    functions: tuple[str, ...] = ()
    threadgroup: Size | None = None
    macros: Mapping[str, str] = field(default_factory=dict)
    include_paths: tuple[Path, ...] = ()
    inputs: Inputs = field(default_factory=Inputs)
    assume: tuple[str, ...] = ()
    buffers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = SECONDS
    cache: bool = True
    rings: bool = False
    offers: bool = True
    ragged: bool = False
    lanes: bool = False
