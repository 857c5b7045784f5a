"""Compiles C text with the clang of the `ziglang` wheel into code of this host, kept on disk."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import llvmlite.binding as llvm

from .c_unit import Code
from .disk_cache import DiskCache, digest
from .jit import LoadedCode, make_known
from .llvm_host import LLVM_LOCK, host_machine, host_target, start_llvm
from .llvm_modules import module_of, run_once
from .sanitized import chosen_sanitizers, load_sanitized

# What C leaves to compilers is decided here: products are not fused with sums.
LANGUAGE = ("-std=c11", "-ffreestanding", "-fno-builtin", "-ffp-contract=off")
# Loops over records take the host's widest vectors, which LLVM would not by itself.
_WIDTH = '"prefer-vector-width"="512"'
_WITHOUT_A_LIBRARY = ("-nostdinc", "-fno-stack-protector", "-fPIC")


def load_c(text: str, kind: str, functions: Sequence[str] = ()) -> Code:
    """Compile C text, or take it from the cache.

    Args:
        text: freestanding C11 that calls nothing but itself.
        kind: the cache's name for such code.
        functions: those that code loaded later may call by name.
    """
    with LLVM_LOCK:
        start_llvm()
        sanitizers = chosen_sanitizers()
        code = load_sanitized(text, kind, sanitizers, LANGUAGE) if sanitizers else _load(text, kind)
        make_known(functions, code)
        return code


def is_cached(text: str, kind: str) -> bool:
    """Whether `load_c` has nothing to compile."""
    return not chosen_sanitizers() and DiskCache(kind).get(_key(text)) is not None


def _key(text: str) -> str:
    return digest(text, *LANGUAGE, _WIDTH, *host_target())


def _load(text: str, kind: str) -> LoadedCode:
    cache, key = DiskCache(kind), _key(text)
    data = cache.get(key)
    if data is None:
        data = _compile(text, kind)
        cache.put(key, data)
    return LoadedCode(data)


def _compile(text: str, kind: str) -> bytes:
    # The functions are for this host, not for the processor that clang assumes.
    text = re.sub(r'"target-cpu"="[^"]*"', _WIDTH, _llvm_text(text, kind))
    with module_of(re.sub(r'"(target-features|tune-cpu)"="[^"]*"', "", text)) as module:
        machine = host_machine()
        module.triple = machine.triple
        module.data_layout = str(machine.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        builder = llvm.create_pass_builder(machine, options)
        run_once(module, builder.getModulePassManager(), builder)
        return bytes(machine.emit_object(module))


def _llvm_text(text: str, kind: str) -> str:
    wheel = importlib.util.find_spec("ziglang")
    if wheel is None or wheel.origin is None:
        raise RuntimeError("the package 'ziglang' is not installed: `pip install ziglang`")
    command = [
        str(Path(wheel.origin).parent / "zig"),
        "clang",
        "-x",
        "c",
        "-target",
        llvm.get_process_triple(),
        "-O3",
        "-Xclang",
        "-disable-llvm-passes",
        *LANGUAGE,
        *_WITHOUT_A_LIBRARY,
        "-Wno-unused-command-line-argument",
        "-S",
        "-emit-llvm",
        "-o",
        "-",
        "-",
    ]
    done = subprocess.run(command, input=text.encode(), capture_output=True)
    if done.returncode:
        raise RuntimeError(f"the C code of '{kind}' does not compile:\n{done.stderr.decode()}")
    return done.stdout.decode()
