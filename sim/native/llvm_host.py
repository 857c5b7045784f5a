"""LLVM's description of this host, and the lock under which LLVM is used."""

from __future__ import annotations

import functools
import threading

import llvmlite.binding as llvm

# LLVM's global tables are set up once, and its contexts are not made for concurrent use.
LLVM_LOCK = threading.RLock()
# Left out so that all hosts round alike: these units flush or fuse differently.
_AVOIDED_FEATURES = ("avx512fp16", "avx512bf16")

# Whether one shuffle with places in a register is better than two others. LLVM says so of Intel's
# processors alone; AMD's of 512 bits do two in a cycle, too.
_LANES_ACROSS = "fast-variable-crosslane-shuffle"

# All it does is warn, on the process's stderr, of loops that cannot be unrolled as a program asks.
# Such a request changes no result, so users need not know.
_SILENCED_PASS = "transform-warning"
# How long the register allocator looks for the best place to split a value's life. With LLVM's own
# 10,000 that takes half of the time in which large functions are compiled; what they run in
# differs by less than can be measured.
_SPLIT_BUDGET = 300


@functools.cache
def start_llvm() -> None:
    """Set up LLVM's code generator for this host. Cheap when done already."""
    with LLVM_LOCK:
        llvm.set_option("", f"-opt-disable={_SILENCED_PASS}")
        llvm.set_option("", f"-grow-region-complexity-budget={_SPLIT_BUDGET}")
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()


@functools.cache
def host_target() -> tuple[str, str, str]:
    """(triple, CPU name, features) that code is made for."""
    start_llvm()
    features = llvm.get_host_cpu_features()
    for avoided in _AVOIDED_FEATURES:
        features.pop(avoided, None)
    features.pop("prefer-256-bit", None)
    if features.get("avx512f"):
        features[_LANES_ACROSS] = True
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), features.flatten()


@functools.cache
def has_wide_registers() -> bool:
    """Whether this host has 32 vector registers of 512 bits."""
    return "+avx512f" in host_target()[2].split(",")


def host_machine(level: int = 2) -> llvm.TargetMachine:
    """LLVM's description of this host, with the features that generated code may use.

    `level` says how much the code generator does for good code, from 0 to 3.
    """
    triple, cpu, features = host_target()
    avoided = "".join(f",-{feature}" for feature in _AVOIDED_FEATURES)
    tuned = f"{features}{avoided if 'x86' in triple else ''}"
    target = llvm.Target.from_triple(triple)
    return target.create_target_machine(
        cpu=cpu, features=tuned, opt=level, reloc="pic", codemodel="jitdefault", jit=True
    )
