"""LLVM modules that are freed at once.

The garbage collector may free the context of a module that is part of a cycle, such as the frames
of an exception, before the module, which ends the process. Closed modules are safe.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

import llvmlite.binding as llvm
from llvmlite.binding import ffi


@contextlib.contextmanager
def module_of(source: bytes | str) -> Iterator[llvm.ModuleRef]:
    """A module from bitcode or text, in a context of its own.

    Raises:
        RuntimeError: if it does not load, in LLVM's words.
    """
    context = llvm.create_context()
    parse = llvm.parse_bitcode if isinstance(source, bytes) else llvm.parse_assembly
    with contextlib.closing(parse(source, context)) as module:
        yield module


def linked(text: str, parts: Iterable[bytes]) -> bytes:
    """Bitcode of a module with the definitions of others in it.

    Raises:
        RuntimeError: if one does not load, or they do not fit.
    """
    context = llvm.create_context()
    with contextlib.closing(llvm.parse_assembly(text, context)) as module:
        for part in parts:
            module.link_in(llvm.parse_bitcode(part, context))
        return bytes(module.as_bitcode())


def run_on(module: llvm.ModuleRef, passes: llvm.ModulePassManager) -> None:
    """Run passes that are no matter of the machine, once: they are freed."""
    machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(opt=2)
    run_once(
        module, passes, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
    )


def run_once(
    module: llvm.ModuleRef, passes: llvm.ModulePassManager, builder: llvm.PassBuilder
) -> None:
    """Run passes and free them, which llvmlite 0.50 never does.

    The class of passes inherits its `_dispose` from a class in which that does nothing.
    """
    try:
        passes.run(module, builder)
    finally:
        ffi.lib.LLVMPY_DisposeNewModulePassManger(passes)
        passes.detach()
