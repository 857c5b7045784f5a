"""From the engine's IR to the instructions that an Apple GPU would execute, block by block.

Nobody outside Apple knows what its compiler makes of a kernel. This follows what is known of the
instruction set (dougallj/applegpu, Mesa's driver): what instructions there are, what they do along,
and how they address memory.
"""

from __future__ import annotations

import numpy as np

from assay.sim.simt.ir.nodes import BufferRoot, Function
from assay.sim.site import Site

from .code import SOURCES, MachineCode
from .instructions import Lowered, Op
from .registers import Liveness
from .schedule import schedule
from .select import Selector
from .values import Values

_ADDRESS_REGISTERS = 2


def lower(function: Function) -> MachineCode:
    """The machine code of a kernel.

    Args:
        function: as `Tape.function` has it; stays unchanged. Blocks of the result are its.
    """
    values = Values(function)
    selector = Selector(values)
    code = selector.run()
    schedule(code, Liveness(code, values.blocks, selector.read))
    needed = Liveness(code, values.blocks, selector.read).most()
    buffers = {i.root for i in values.function.instructions() if isinstance(i.root, BufferRoot)}
    return _assemble(
        values,
        selector,
        code,
        registers=-(-needed // 2),
        uniform=values.early_registers + _ADDRESS_REGISTERS * len(buffers),
    )


def _assemble(
    values: Values, selector: Selector, code: Lowered, *, registers: int, uniform: int
) -> MachineCode:
    ops: list[Op] = []
    starts = [0]
    moves: list[tuple[int, int, int]] = []
    move_starts = [0]
    for block in values.blocks:
        ops += [*code.ops[block], *code.ends[block]]
        starts.append(len(ops))
        for phi, register in code.phis[block]:
            for source, value in zip(block.predecessors, phi.operands, strict=True):
                read = selector.read(value)
                moves.append((values.blocks.index(source), register, read[0] if read else -1))
        move_starts.append(len(moves))
    classes = tuple(sorted({op.kind for op in ops}))
    sites: dict[Site, int] = {}
    places = [sites.setdefault(op.site, len(sites)) for op in ops]
    sources = np.full((len(ops), SOURCES), -1, np.int32)
    for row, op in zip(sources, ops, strict=True):
        row[: len(op.sources)] = op.sources
    return MachineCode(
        classes=classes,
        starts=np.array(starts, np.int32),
        kinds=np.array([classes.index(op.kind) for op in ops], np.int16),
        destinations=np.array([op.destination for op in ops], np.int32),
        sources=sources,
        accesses=np.array([op.access for op in ops], np.int32),
        flops=np.array([op.flops for op in ops], np.int32),
        places=np.array(places, np.int32),
        sites=tuple(sites),
        move_starts=np.array(move_starts, np.int32),
        moves=np.array(moves, np.int32).reshape(-1, 3),
        register_count=len(code.sizes),
        registers=registers,
        uniform_registers=uniform,
        names=tuple(block.name for block in values.blocks),
    )
