"""Proofs about the kernels of a compiled module, as its host launches them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay.sim.names import choices

from ..launches.errors import LaunchInputError
from ..module import load
from ..seeds import UnknownInput, seeded_inputs
from .observed import launch_proofs, launches_kept
from .options import ProofOptions
from .proof import KernelProof

if TYPE_CHECKING:
    from assay.compiler.msl import KernelFunction

_SEED = 0  # the same inputs in every run


def prove_module(
    path: Path, options: ProofOptions, sources: dict[str, str]
) -> Iterator[KernelProof]:
    """What is proved of each kernel that a module's functions launch, for any data.

    The functions run on random inputs, which shows grids, threadgroups and lengths of buffers.
    Functions that cannot be run so are told as undecided, and so are kernels that none launches.

    Args:
        path: the module.
        options: `functions` names kernels.
        sources: gets the texts that kernels were made of, by file name.

    Raises:
        LaunchInputError: if there is no such kernel, or no function can be run.
    """
    if options.assume or options.buffers or options.threadgroup is not None:
        raise LaunchInputError(
            f"{path}: a module says itself how its kernels are launched; --assume, --buffer and "
            "--threadgroup are for MSL source"
        )
    ran = 0
    unknown: list[KernelProof] = []
    with launches_kept() as launches:
        module = load(path)
        for name, function in module.functions.items():
            if name.endswith("$async"):
                continue  # the same once more
            try:
                values = seeded_inputs(function.signature, _SEED)
            except UnknownInput as error:
                if len(module.functions) == 1:
                    raise LaunchInputError(f"{path}: {name}: {error}") from None
                unknown.append(_not_run(path, name, error))
                continue
            function.invoke(values)
            ran += 1
    if not ran:
        raise LaunchInputError(f"{path}: none of its functions can be run on random inputs")
    names = sorted({name for _, name in {**launches.kernels, **launches.made}})
    chosen = _chosen(path, names, options.functions)
    for _, library in launches.kernels.values():
        sources.update(library.sources())
    for launched in [each for each in launches.found if each.kernel[1] not in chosen]:
        del launches.found[launched]
    yield from launch_proofs(
        launches, timeout=options.timeout, cache=options.cache, lanes=options.lanes
    )
    known = {each.kernel for each in launches.found}
    for key, kernel in launches.made.items():
        if key not in known and kernel.name in chosen:
            yield _not_launched(kernel)
    yield from unknown


def _not_run(path: Path, name: str, error: UnknownInput) -> KernelProof:
    """A function of a module that nothing is known of."""
    slot = error.slot
    why = f"it was not run, and what it launches not asked about: no {slot.name} can be made up"
    return KernelProof(
        name=name, file=str(path), line=0, problem=f"{why} ({slot.type})", noun="function"
    )


def _not_launched(kernel: KernelFunction) -> KernelProof:
    """A kernel of a module that nothing is known of."""
    why = "no function that was run launches it with the inputs that were tried"
    return KernelProof(name=kernel.name, file=kernel.file, line=kernel.line, problem=why)


def _chosen(path: Path, names: list[str], patterns: tuple[str, ...]) -> frozenset[str]:
    """The kernels that are meant: all if there are no patterns. Raises LaunchInputError."""
    found = set() if patterns else set(names)
    for pattern in patterns:
        matching = fnmatch.filter(names, pattern)
        if not matching:
            raise LaunchInputError(
                f"{path}: it launches no kernel '{pattern}'; {choices(pattern, names)}"
            )
        found.update(matching)
    return frozenset(found)
