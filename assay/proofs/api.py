"""`assay.prove`: what holds of kernels for all problem sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..launches.arguments import size_of
from ..launches.source import SUFFIXES, read_source
from ..tracebacks import ends_in_caller
from .modules import prove_module
from .options import SECONDS, ProofOptions
from .processes import prove_source
from .proof import KernelProof
from .text import proof_text, proofs_json, summary

_FILE_NAME = "program_source.metal"


class NotProved(AssertionError):
    """Something is refuted or undecided; `str()` shows it."""


@dataclass(frozen=True, slots=True)
class Proofs:
    """What was found of kernels, one by one; `str()` is for people.

    Attributes:
        kernels: what is proved of each.
        sources: texts by file name.
    """

    kernels: tuple[KernelProof, ...]
    sources: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def is_proved(self) -> bool:
        """Whether all properties of all kernels are proved."""
        return all(each.is_proved for each in self.kernels)

    @property
    def is_refuted(self) -> bool:
        """Whether a run showed that something fails."""
        return any(each.is_refuted for each in self.kernels)

    def to_json(self) -> dict[str, Any]:
        """All of it as `--json` of the command line has it."""
        return proofs_json(self.kernels)

    def raise_if_any(self) -> None:
        """Raise NotProved unless all is proved."""
        if not self.is_proved:
            raise NotProved(f"not all is proved\n\n{self}")

    def __str__(self) -> str:
        texts = [proof_text(each, self.sources) for each in self.kernels]
        return "\n\n".join([*texts, summary(self.kernels)])


@ends_in_caller
def prove(
    source: str | Path,
    function: str | None = None,
    *,
    threadgroup: int | Sequence[int] | None = None,
    assume: str | Iterable[str] = (),
    buffers: Mapping[str, str | int] | None = None,
    macros: Mapping[str, str] | None = None,
    include_paths: Iterable[str | Path] = (),
    workers: int | None = None,
    timeout: float = SECONDS,
    cache: bool = True,
    lanes: bool = False,
    rings: bool = False,
) -> Proofs:
    """Prove that kernels do not race, diverge at barriers or leave memory, for all problem sizes.

    Args:
        source: MSL, or the path of a `.metal` or `.metallib` file or of a `.vmfb` module, whose
            kernels are proved as the module launches them.
        function: one kernel, also with `*`; all if left out.
        threadgroup: size of threadgroups in threads; that of `//!` lines, or a usual one.
        assume: what launches see to, such as `"grid.x <= n and k % 32 == 0"`.
        buffers: bytes of buffers by name, such as `{"a": "4*n"}`.
        macros: preprocessor macros.
        include_paths: folders for `#include`.
        workers: processes at work at a time, which change no answer; one for each core.
        timeout: seconds after which a property is left undecided.
        cache: whether answers are kept on disk, and taken from there.
        lanes: whether nothing but barriers orders lanes of a simdgroup, rather than lock step.
        rings: whether it is told how rings of buffers go round, and which barriers are redundant.

    Raises:
        LaunchInputError: if there is no such kernel.
        CompileError: if it does not compile.
        TypeError: if `source` is neither text nor a path.
    """
    if not isinstance(source, str | Path):
        raise TypeError(f"MSL or the path of a file is needed, not {type(source).__name__!r}")
    options = ProofOptions(
        functions=(function,) if function else (),
        threadgroup=size_of("threadgroup", threadgroup),
        macros=macros or {},
        include_paths=tuple(Path(path) for path in include_paths),
        assume=(assume,) if isinstance(assume, str) else tuple(assume),
        buffers={name: str(length) for name, length in (buffers or {}).items()},
        timeout=timeout,
        cache=cache,
        lanes=lanes,
        rings=rings,
    )
    sources: dict[str, str] = {}
    if isinstance(source, Path) or "\n" not in source:
        path = Path(source)
        if path.suffix == ".vmfb":
            return Proofs(tuple(prove_module(path, options, sources)), sources)
        if isinstance(source, Path) or path.suffix in SUFFIXES:
            source, name = read_source(path), str(path)
        else:
            name = _FILE_NAME
    else:
        name = _FILE_NAME
    sources[name] = source
    return Proofs(tuple(prove_source(source, name, options, workers=workers)), sources)
