"""Turns LLVM IR text into machine code of this host, and code into callable functions."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Sequence

import llvmlite.binding as llvm

from ..simt.emit.helpers import helper_module, helper_names
from ..simt.ir.faults import UnsupportedKernel
from ..simt.read.importer import LLVM_LOCK, start_llvm
from .disk_cache import DiskCache, digest
from .llvm_modules import module_of
from .object_file import undefined_symbols

RUN_SIGNATURE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
# Left out so that all hosts round alike: these units flush or fuse differently.
_AVOIDED_FEATURES = ("avx512fp16", "avx512bf16")


@functools.cache
def host_target() -> tuple[str, str, str]:
    """(triple, CPU name, features) that code is made for."""
    start_llvm()
    features = llvm.get_host_cpu_features()
    for avoided in _AVOIDED_FEATURES:
        features.pop(avoided, None)
    features.pop("prefer-256-bit", None)
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten()


def host_machine() -> llvm.TargetMachine:
    """LLVM's description of this host, with the features that generated code may use."""
    triple, cpu, features = host_target()
    avoided = "".join(f",-{feature}" for feature in _AVOIDED_FEATURES)
    tuned = f"{features}{avoided if 'x86' in triple else ''}"
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(
        cpu=cpu, features=tuned, opt=2, reloc="pic", codemodel="jitdefault", jit=True
    )


def compile_object(text: str) -> bytes:
    """Optimise and compile IR text to an object file's bytes."""
    start_llvm()
    with LLVM_LOCK, module_of(text) as module:
        machine = host_machine()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options())
        _passes().run(module, builder)
        return bytes(machine.emit_object(module))


def _passes() -> llvm.ModulePassManager:
    """The few passes that generated code needs: its scalar source was optimised before.

    LLVM's standard pipeline makes code that is not faster and takes three times as long.
    """
    passes = llvm.create_new_module_pass_manager()
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


@functools.cache
def load_helpers() -> LoadedCode:
    """Make the helpers' symbols known to code loaded later."""
    with LLVM_LOCK:
        text = helper_module()
        cache = DiskCache("helpers")
        key = digest(text, *host_target())
        data = cache.get(key)
        if data is None:
            data = compile_object(text)
            cache.put(key, data)
        helpers = LoadedCode(data)
        for name in helper_names():
            llvm.add_symbol(name, helpers.address(name))
        return helpers


def load_kernel(data: bytes, known: Sequence[str] = ()) -> tuple[LoadedCode, ctypes._FuncPointer]:
    """Load a kernel's object file; returns its owner and `run(ctx, first, count)`.

    `known` names functions, besides the helpers, that the linker has been told of.
    """
    load_helpers()
    _provide(undefined_symbols(data), known)
    code = LoadedCode(data)
    return code, RUN_SIGNATURE(code.address("run"))


def _provide(names: list[str], known: Sequence[str]) -> None:
    """Make the C library's functions known that code calls; a call to nowhere would crash."""
    ours = {*helper_names(), *known, "_GLOBAL_OFFSET_TABLE_"}
    library = ctypes.CDLL(None)
    for name in names:
        if name in ours:
            continue
        try:
            function = getattr(library, name)
        except AttributeError:
            raise UnsupportedKernel(f"it needs the function '{name}', which is not here") from None
        llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
