"""Proofs about the kernels of a compiled module, as its host launches them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from pathlib import Path

from assay.sim.names import choices

from ..launches.errors import LaunchInputError
from ..module import load
from ..seeds import UnknownInput, seeded_inputs
from .observed import launch_proofs, launches_kept
from .options import ProofOptions
from .proof import KernelProof

_SEED = 0  # the same inputs in every run


def prove_module(
    path: Path, options: ProofOptions, sources: dict[str, str]
) -> Iterator[KernelProof]:
    """What is proved of each kernel that a module's functions launch, for any data.

    The functions run on random inputs, which shows grids, threadgroups and lengths of buffers.

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
    module = load(path)
    ran = 0
    with launches_kept() as launches:
        for name, function in module.functions.items():
            if name.endswith("$async"):
                continue  # the same once more
            try:
                values = seeded_inputs(function.signature, _SEED)
            except UnknownInput as error:
                if len(module.functions) == 1:
                    raise LaunchInputError(f"{path}: {name}: {error}") from None
                continue
            function.invoke(values)
            ran += 1
    if not ran:
        raise LaunchInputError(f"{path}: none of its functions can be run on random inputs")
    names = sorted({kernel.name for kernel, _ in launches.kernels.values()})
    chosen = _chosen(path, names, options.functions)
    for _, library in launches.kernels.values():
        sources.update(library.sources())
    for launched in [each for each in launches.found if each.kernel[1] not in chosen]:
        del launches.found[launched]
    yield from launch_proofs(
        launches, timeout=options.timeout, cache=options.cache, lanes=options.lanes
    )


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
