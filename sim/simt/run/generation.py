"""A kernel's IR and its machine code, made: for what no cache has."""

from __future__ import annotations

import functools
import json
from dataclasses import asdict

from ...native.jit import compile_object
from ..analysis.merge_accesses import merge_accesses
from ..emit.apart import with_apart
from ..emit.driver import ENDING
from ..emit.gathers import with_gathers_called
from ..emit.vectorise import Vectoriser
from ..ir.nodes import Function, clone
from ..ir.shape import Shape
from ..read.importer import import_kernel
from ..read.roots import Parameter
from ..watch.sites import declarations
from .access_sites import described, described_watched, loop_site

# Blocks of a kernel whose values travel in registers: with more, such as those of a switch of some
# hundred cases, a choice of registers takes minutes.
_MOST_BLOCKS_IN_REGISTERS = 256
# Characters of a watched kernel's code from which on it is not optimised: unrolled kernels of some
# thousand accesses are checked in a fraction of the time that it takes to make their code good.
_MOST_WATCHED_TEXT = 3 << 18
# Kernels in the engines' IR that are kept, tens of megabytes of a large one: each is asked for a
# few times in a row, for what it needs and for its shapes.
_FUNCTIONS_KEPT = 16


@functools.lru_cache(maxsize=_FUNCTIONS_KEPT)
def imported(
    bitcode: bytes,
    entry: str,
    parameters: tuple[Parameter, ...],
    name: str,
    marks: frozenset[str],
) -> Function:
    """A kernel in the engines' IR, kept for who asks next; see `import_kernel`."""
    return import_kernel(bitcode, entry, parameters, name, marks=marks)


def generated(
    function: Function, shape: Shape, observers: frozenset[str], *, quick: bool, packed: bool
) -> bytes:
    """An object file for a shape, behind a head that says what it needs; see `specialise_shape`."""
    if "banks" in observers:  # a GPU has neighbouring words of a thread in one access
        function = clone(function)
        merge_accesses(function)
    code = Vectoriser(function, shape, observers, brief=quick, packed=packed).run()
    text = with_gathers_called(with_apart(code.text, function) + ENDING)
    declared = declarations(function)
    registers = len(function.blocks) <= _MOST_BLOCKS_IN_REGISTERS
    quick |= bool(observers) and len(text) > _MOST_WATCHED_TEXT
    machine_code = compile_object(
        text, registers=registers, quick=quick, scheduled=not code.keeps_sums
    )
    head = json.dumps(
        {
            "state_size": code.state_size,
            "has_barriers": code.has_barriers,
            "lanes": code.lanes,
            "packs": code.packs,
            "streams": code.streams,
            "sites": [asdict(described(site)) for site in code.sites],
            "watch_sites": [asdict(described_watched(each, declared)) for each in code.watch_sites],
            "watch": asdict(code.watch_needs),
            "private_memory": max(code.private_memory, function.private_memory),
            "threadgroup_memory": function.threadgroup_memory,
            "constants": function.constants.hex(),
            "loops": [[asdict(loop_site(header)), after] for header, after in code.loops],
            "touching": list(code.touching.items()),
            "blocks": code.blocks,
            "known": [[*place, about] for place, about in code.known.items()],
        }
    ).encode()
    return len(head).to_bytes(8, "little") + head + machine_code


def text_of(function: Function, shape: Shape) -> str:
    """The generated LLVM IR before optimisation."""
    return Vectoriser(function, shape).run().text
