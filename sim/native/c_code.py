"""Compiles C text with the clang of the `ziglang` wheel into code of this host, kept on disk."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import llvmlite.binding as llvm

from ..simt.read.importer import LLVM_LOCK, start_llvm
from .disk_cache import DiskCache, digest
from .jit import LoadedCode, host_machine, host_target
from .llvm_modules import module_of


def load_c(text: str, kind: str, functions: Sequence[str] = ()) -> LoadedCode:
    """Compile C text, or take it from the cache.

    Args:
        text: freestanding C11 that calls nothing but itself.
        kind: the cache's name for such code.
        functions: those that code loaded later may call by name.
    """
    with LLVM_LOCK:
        start_llvm()
        cache = DiskCache(kind)
        key = digest(text, *host_target())
        data = cache.get(key)
        if data is None:
            data = _compile(text, kind)
            cache.put(key, data)
        code = LoadedCode(data)
        for name in functions:
            llvm.add_symbol(name, code.address(name))
        return code


def _compile(text: str, kind: str) -> bytes:
    # The functions are for this host, not for the processor that clang assumes.
    unfit = r'"(target-cpu|target-features|tune-cpu)"="[^"]*"'
    with module_of(re.sub(unfit, "", _llvm_text(text, kind))) as module:
        machine = host_machine()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        return bytes(machine.emit_object(module))


def _llvm_text(text: str, kind: str) -> str:
    wheel = importlib.util.find_spec("ziglang")
    if wheel is None or wheel.origin is None:
        raise RuntimeError("the package 'ziglang' is not installed: `pip install ziglang`")
    command = [
        *(str(Path(wheel.origin).parent / "zig"), "clang", "-x", "c", "-std=c11"),
        *("-target", llvm.get_process_triple(), "-O3", "-Xclang", "-disable-llvm-passes"),
        *("-ffreestanding", "-nostdinc", "-fno-builtin", "-fno-stack-protector", "-fPIC"),
        *("-Wno-unused-command-line-argument", "-S", "-emit-llvm", "-o", "-", "-"),
    ]
    done = subprocess.run(command, input=text.encode(), capture_output=True)
    if done.returncode:
        raise RuntimeError(f"the C code of '{kind}' does not compile:\n{done.stderr.decode()}")
    return done.stdout.decode()
