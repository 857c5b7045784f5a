"""Turns LLVM IR text into machine code of this host, and code into callable functions."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext

import llvmlite.binding as llvm

from .c_unit import Code
from .llvm_host import LLVM_LOCK, host_machine, start_llvm
from .llvm_modules import module_of, run_once
from .object_file import undefined_symbols


class MissingFunction(LookupError):
    """Code calls a function that nobody has; `str()` is its name."""


def compile_object(
    text: str, *, registers: bool = True, quick: bool = False, scheduled: bool = True
) -> bytes:
    """Optimise and compile IR text to an object file's bytes.

    Args:
        text: LLVM IR.
        registers: whether stack slots become registers. In code of a great many blocks that takes
            minutes, and hardly pays.
        quick: whether nothing is optimised, for code so large that it takes longer than its run.
        scheduled: whether LLVM may bring instructions into another order. It keeps results apart
            that are long in coming, and so has more of them than registers where all are added up.
    """
    start_llvm()
    with LLVM_LOCK, module_of(text) as module:
        machine = host_machine(0 if quick else 2)
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        if not quick:
            builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
            run_once(module, _passes(registers), builder)
        with nullcontext() if scheduled else _unscheduled():
            return bytes(machine.emit_object(module))


@contextmanager
def _unscheduled() -> Iterator[None]:
    """Instructions stay in the order in which they are written; under LLVM's lock."""
    llvm.set_option("", "-enable-misched=0")
    try:
        yield
    finally:
        llvm.set_option("", "-enable-misched=1")


def _passes(registers: bool) -> llvm.ModulePassManager:
    """The few passes that generated code needs: its scalar source was optimised before.

    LLVM's standard pipeline makes code that is not faster and takes three times as long.
    """
    passes = llvm.create_new_module_pass_manager()
    if registers:
        passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.add_loop_simplify_pass()
    passes.add_instruction_combine_pass()
    passes.add_dead_code_elimination_pass()
    return passes


class LoadedCode:
    """An object file in memory; keeps the engine that owns the code."""

    def __init__(self, data: bytes) -> None:
        with LLVM_LOCK:
            start_llvm()
            context = llvm.create_context()
            empty = llvm.parse_assembly("", context)
            self._engine = llvm.create_mcjit_compiler(empty, host_machine())
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
            self._engine.finalize_object()
            # The finaliser owns both: garbage collection could free the context first.
            weakref.finalize(self, _close, self._engine, context).atexit = False

    def address(self, symbol: str) -> int:
        """Address of a function; 0 if there is none."""
        with LLVM_LOCK:
            return int(self._engine.get_function_address(symbol))


def _close(engine: llvm.ExecutionEngine, context: llvm.ContextRef) -> None:
    """Free an engine; its context goes after it, when the finaliser lets go of it."""
    with LLVM_LOCK:
        engine.close()


def make_known(functions: Sequence[str], code: Code) -> None:
    """Let code that is loaded later call functions of `code` by name."""
    with LLVM_LOCK:
        for name in functions:
            llvm.add_symbol(name, code.address(name))


def load_linked(data: bytes, known: Collection[str]) -> LoadedCode:
    """Load an object file that calls functions of others: `known` ones, and the C library's.

    Raises:
        MissingFunction: if it calls another; a call to nowhere would crash.
    """
    library = ctypes.CDLL(None)
    for name in undefined_symbols(data):
        if name in known or name == "_GLOBAL_OFFSET_TABLE_":
            continue
        function = getattr(library, name, None)
        if function is None:
            raise MissingFunction(name)
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return LoadedCode(data)
