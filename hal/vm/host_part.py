"""Whether what a function's host part does follows from shapes and integers alone.

Such a function, called again with the same shapes and integers, gives devices the same commands.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from .archive import ModuleDefinition
from .decode import IMPORT_BIT, Instruction, decode_function

_NAMES: Final = """
buffer.assert buffer.length buffer.subspan buffer_view.assert buffer_view.buffer
buffer_view.create buffer_view.dim buffer_view.element_type buffer_view.encoding_type
buffer_view.rank buffer_view.trace command_buffer.begin_debug_group
command_buffer.copy_buffer command_buffer.create command_buffer.dispatch
command_buffer.dispatch.indirect command_buffer.end_debug_group
command_buffer.execution_barrier command_buffer.fill_buffer command_buffer.finalize
command_buffer.update_buffer device.allocator device.query.i64 device.queue.alloca
device.queue.barrier device.queue.copy device.queue.dealloca device.queue.execute
device.queue.execute.indirect device.queue.fill device.queue.flush device.queue.update
devices.count devices.get executable.lookup.function fence.create fence.fail fence.join fence.signal
"""
_HARMLESS: Final = frozenset(f"hal.{name}" for name in _NAMES.split())
"""Imports that neither look at what buffers hold nor wait for anybody."""


def follows_shapes_alone(module: ModuleDefinition, name: str) -> bool:
    """Of an exported function and all that it calls. Raises StatusError for unsound bytecode."""
    waiting, known = [module.exports[name]], set[int]()
    while waiting:
        ordinal = waiting.pop()
        if ordinal in known:
            continue
        known.add(ordinal)
        for instruction in _instructions(module, ordinal):
            mnemonic = instruction.operation.mnemonic
            if mnemonic.startswith("global.store"):
                return False
            if not mnemonic.startswith("call"):
                continue
            callee: int = instruction.operands[0]
            if not callee & IMPORT_BIT:
                waiting.append(callee)
            elif module.imports[callee & ~IMPORT_BIT].name not in _HARMLESS:
                return False
    return True


def _instructions(module: ModuleDefinition, ordinal: int) -> Iterator[Instruction]:
    for block in decode_function(module, module.functions[ordinal]).values():
        yield from block
