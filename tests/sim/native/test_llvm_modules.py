"""Modules of LLVM and what is done to them leave little memory behind."""

from __future__ import annotations

import gc
from pathlib import Path

import llvmlite.binding as llvm

from assay.sim.native.llvm_host import start_llvm
from assay.sim.native.llvm_modules import module_of, run_once

_TIMES = 200
_KIB = 90  # that a run of all passes may keep; passes that are not freed take more


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def optimise() -> None:
    with module_of("define i32 @f(i32 %x) {\n  %r = add i32 %x, 1\n  ret i32 %r\n}\n") as module:
        machine = llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine()
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        builder = llvm.create_pass_builder(machine, options)
        run_once(module, builder.getModulePassManager(), builder)


def test_passes_are_freed_after_their_run() -> None:
    start_llvm()
    for _ in range(20):
        optimise()
    gc.collect()
    before = resident()
    for _ in range(_TIMES):
        optimise()
    gc.collect()
    assert (resident() - before) / _TIMES < _KIB * 1024
