"""Runs the clang of the `ziglang` wheel, with limits on its time and memory."""

from __future__ import annotations

import functools
import importlib.util
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from ..errors import CompileError
from ..source.visible_files import write_overlay

HEADERS = Path(__file__).parents[1] / "include"
_SECONDS = 120.0  # by the clock, which other processes use too
_CPU_SECONDS = 15
_MEMORY_BYTES = 3 << 29
_FILE_BYTES = 64 << 20
_OUT_OF_TIME = 24  # SIGXCPU of Linux, which Windows has no name for

# Only warnings of constant expressions without a value are asked for; see `constant_errors`.
_WARNINGS = (
    "-Wno-everything",
    "-Wshift-count-overflow",
    "-Wshift-count-negative",
    "-Warray-bounds",
    "-Wdivision-by-zero",
    "-Winteger-overflow",
    "-Wglobal-constructors",
)

# C++23 with clang's SYCL device rules: address spaces are types, and the default one contains all
# others. The target only fixes sizes and the ABI of structs; the engine makes the machine code.
_TARGET = "x86_64-unknown-linux-gnu"
# By which LLVM estimates what instructions cost, as where it decides which loops to unroll.
TARGET_CPU = "x86-64-v3"
_DRIVER = (
    "-std=c++23",
    f"--target={_TARGET}",
    f"-march={TARGET_CPU}",
    "-nostdinc",
    "-fno-exceptions",
    "-fno-threadsafe-statics",
    "-fdeclspec",
    *_WARNINGS,
    # C++ lets loops that do nothing but run be left out; here they are to be found.
    "-fno-finite-loops",
    # Numbers that an integer type does not hold become the nearest that it does.
    "-fno-strict-float-cast-overflow",
    "-fno-delete-null-pointer-checks",
    "-fno-crash-diagnostics",
    "-fdebug-compilation-dir=.",
    "-O2",
    "-fno-builtin",
    "-gline-tables-only",
    "-fno-caret-diagnostics",
    "-fno-color-diagnostics",
    "-ferror-limit=20",
    "-ftemplate-depth=512",
    "-fconstexpr-steps=1000000",
    "-fbracket-depth=512",
)
_FRONTEND = (
    "-fsycl-is-device",
    "-aux-triple",
    _TARGET,
    "-ffake-address-space-map",
    "-cl-single-precision-constant",
    "-ffloat16-excess-precision=none",
    "-fbfloat16-excess-precision=none",
    "-disable-llvm-passes",
    # A variable without a value is no licence to assume that the branch to it is not taken.
    "-no-enable-noundef-analysis",
)
_FLAGS = (*_DRIVER, *(part for option in _FRONTEND for part in ("-Xclang", option)))
LANGUAGE = ("-x", "c++", *_FLAGS)
LANGUAGE_HEADER = ("-x", "c++-header", *_FLAGS)
# Prints the layout of each record that is asked for, with types as they are without aliases.
LAYOUTS = tuple(
    part
    for option in ("-fdump-record-layouts", "-fdump-record-layouts-canonical")
    for part in ("-Xclang", option)
)
# For a look at what clang warns of: its own choice, without what is about how MSL is rewritten.
LANGUAGE_WARNED = (
    *(each for each in LANGUAGE if each not in _WARNINGS),
    "-Wno-nonportable-sycl",
    "-Wno-vla-cxx-extension",
    "-Wno-duplicate-decl-specifier",
)
# What is not the program's, whatever warnings it asks for.
LANGUAGE_UNWARNED = ("-Wno-gnu-line-marker",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClangResult:
    """What one run of clang gave: exit status, standard output, diagnostics."""

    status: int
    output: bytes
    diagnostics: str


@functools.cache
def executable() -> Path:
    """Path of the `zig` binary, whose `clang` command is the plain compiler driver.

    Raises CompileError when the ziglang wheel is not installed.
    """
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise CompileError(
            "the package 'ziglang', which brings the compiler, is not installed; "
            "`pip install ziglang` installs it"
        )
    name = "zig.exe" if sys.platform == "win32" else "zig"
    return Path(spec.origin).parent / name


@functools.cache
def compiler_version() -> str:
    """Version of the installed compiler, without starting it."""
    return version("ziglang")


def run_clang(
    arguments: Sequence[str],
    source: str,
    *,
    directory: Path,
    visible: Sequence[Path] | None = None,
) -> ClangResult:
    """Run clang on `source` (its standard input) in `directory`.

    Files outside the folders `visible` do not exist for it; None shows it all files.

    Raises CompileError if it takes too long, too much memory or writes too much.
    """
    return _run(["clang", *arguments], source.encode(), directory, visible)


def run_on_files(
    arguments: Sequence[str], files: Sequence[str], *, directory: Path, visible: Sequence[Path]
) -> ClangResult:
    """Compile each of the `files` in `directory` to bitcode beside it, all in one process.

    `arguments` and limits are those of `run_clang`; the diagnostics of all files are in one text.
    The driver would start a process for each file. Starting one costs as much as a small kernel.
    """
    command = [*_behind_the_driver(*arguments), *files]
    return _run(command, b"", directory, visible)


@functools.cache
def _behind_the_driver(*arguments: str) -> tuple[str, ...]:
    """The command of the compiler proper that clang's driver runs, without files."""
    driver = [str(executable()), "clang", "-###", *arguments, "-c", "-emit-llvm", "-o", "x", "-"]
    told = subprocess.run(driver, capture_output=True, text=True, stdin=subprocess.DEVNULL).stderr
    words = shlex.split(told.strip().splitlines()[-1])
    if words[1:2] != ["-cc1"] or words[-5:] != ["-o", "x", "-x", "c++", "-"]:
        raise CompileError(f"the compiler's driver is not understood: {told}")
    return (*words[1:-5], "-x", "c++")


def _run(
    command: Sequence[str], source: bytes, directory: Path, visible: Sequence[Path] | None
) -> ClangResult:
    environment = {
        "LC_ALL": "C",
        "PATH": os.defpath,
        "HOME": str(directory),
        "TMPDIR": str(directory),
    }
    overlay = [] if visible is None else write_overlay(visible, directory)
    process = subprocess.Popen(
        [str(executable()), *command, *overlay],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=directory,
        env=environment,
    )
    try:
        _limit(process.pid)
        output, errors = process.communicate(source, timeout=_SECONDS)
    except BaseException as error:
        process.kill()
        process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise  # such as KeyboardInterrupt
        raise CompileError(_too_long(_SECONDS)) from None
    diagnostics = errors.decode("utf-8", "replace")
    _require_end(process.returncode, diagnostics)
    return ClangResult(status=process.returncode, output=output, diagnostics=diagnostics)


def _require_end(status: int, diagnostics: str) -> None:
    """CompileError if the compiler did not come to an end by itself."""
    # A driver tells of a signal that ended the compiler proper as shells do.
    ended_by = -status if status < 0 else status - 128 if status > 128 else 0
    if ended_by == _OUT_OF_TIME:
        raise CompileError(_too_long(_CPU_SECONDS))
    if ended_by == signal.SIGSEGV:
        raise CompileError(
            "the compiler broke off, most likely as an expression, a statement or a type is nested "
            "too deeply: split it up"
        )
    if ended_by or "LLVM ERROR: out of memory" in diagnostics:
        raise CompileError(
            f"the compiler broke off (status {status}) under its limits of "
            f"{_MEMORY_BYTES >> 20} MiB of memory and {_FILE_BYTES >> 20} MiB of output; "
            "the program is too much for it (exponential templates?)"
        )


def _too_long(seconds: float) -> str:
    return (
        f"the compiler was stopped after {seconds:g} s; the program is too much for it "
        "(endless or exponential templates?)"
    )


def _limit(pid: int) -> None:
    """Bound the memory, time and files of a process that has just started, where the system can."""
    if sys.platform == "linux":
        import resource

        try:
            resource.prlimit(pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
            seconds = (_CPU_SECONDS, _CPU_SECONDS + 1)
            resource.prlimit(pid, resource.RLIMIT_CPU, seconds)
        except ProcessLookupError:
            return  # It has ended already.
