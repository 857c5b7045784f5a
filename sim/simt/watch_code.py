"""Compiles the C functions that watched kernels call, and makes them known to the linker."""

from __future__ import annotations

import functools
import importlib.util
import re
import subprocess
from importlib.resources import files
from pathlib import Path

import llvmlite.binding as llvm

from ..check import layout
from . import context as c
from .disk_cache import DiskCache, digest
from .importer import LLVM_LOCK, start_llvm
from .jit import LoadedCode, host_machine, host_target
from .llvm_modules import module_of

# Files of one translation unit, each building on those before it.
PARTS = ("records", "ranges", "lanes", "barriers", "events")
FUNCTIONS = (
    *("assay_watch_range", "assay_watch_lanes", "assay_watch_permuted", "assay_watch_group"),
    *("assay_watch_begin", "assay_watch_end", "assay_watch_wait", "assay_watch_leave"),
    *("assay_watch_fence", "assay_watch_round", "assay_watch_event", "assay_watch_simdgroup_wait"),
    *("assay_watch_lane_barrier", "assay_watch_place"),
)


def source() -> str:
    """The C text, with the structures and numbers it shares with the host."""
    shared = {
        "CONTEXT_WATCH": c.WATCH,
        "CONTEXT_SIMDGROUP": c.SIMDGROUP,
        "CONTEXT_POSITION": c.POSITION,
        "CONTEXT_THREADGROUPS": c.THREADGROUPS,
        "CONTEXT_ARENA": c.ARENA,
        "CONTEXT_ARENA_SIZE": c.ARENA_SIZE,
        "CONTEXT_TABLE": c.TABLE,
        "CONTEXT_READ_ONLY": c.READ_ONLY,
        "CONTEXT_SCRATCH": c.SCRATCH,
        "SCRATCH_VALUES": c.SCRATCH_VALUES,
        "HANDLE_SHIFT": c.HANDLE_SHIFT,
        "OFFSET_MASK": (1 << c.HANDLE_SHIFT) - 1,
        "THREADGROUP_HANDLE": c.THREADGROUP_HANDLE,
        "FIRST_BUFFER_HANDLE": c.FIRST_BUFFER_HANDLE,
        "TABLE_ENTRIES": c.TABLE_ENTRIES,
        **layout.c_constants(),
    }
    numbers = "\n".join(f"#define {name} {value}ull" for name, value in shared.items())
    folder = files("assay.sim.check").joinpath("watch")
    text = "\n".join(folder.joinpath(f"{name}.c").read_text() for name in PARTS)
    return f"{numbers}\n{text.replace('STRUCTURES', layout.c_structures(), 1)}"


@functools.cache
def load_watch() -> LoadedCode:
    """Compile the functions, or take them from the cache, and make their symbols known."""
    text = source()
    with LLVM_LOCK:
        start_llvm()
        cache = DiskCache("watch")
        key = digest(text, *host_target())
        data = cache.get(key)
        if data is None:
            data = _compile(text)
            cache.put(key, data)
        code = LoadedCode(data)
        for name in FUNCTIONS:
            llvm.add_symbol(name, code.address(name))
        return code


def _compile(text: str) -> bytes:
    # The functions are for this host, not for the processor that clang assumes.
    text = re.sub(r'"(target-cpu|target-features|tune-cpu)"="[^"]*"', "", _llvm_text(text))
    with module_of(text) as module:
        machine = host_machine()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        return bytes(machine.emit_object(module))


def _llvm_text(text: str) -> str:
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
        raise RuntimeError(f"the checks' C code does not compile:\n{done.stderr.decode()}")
    return done.stdout.decode()
