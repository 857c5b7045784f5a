"""Kernels that are prepared together: fewer processes, and the same kernels."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import pytest

from assay.compiler.msl import CompileError, Library, compile_library
from assay.sim.native.llvm_host import LLVM_LOCK
from tests.support.msl import PRELUDE

SOURCE = (
    PRELUDE
    + """
constant float table[3] = {1, 2, 3};
static float third(float x) { return sin(x) + table[2]; }
template <int N> kernel void scale(device float* x, uint i [[thread_position_in_grid]]) {
    threadgroup float t[N];
    t[i % N] = exp(x[i]) * N;
    x[i] = t[0] + third(x[i]) + table[i % 3];
}
template [[host_name("by_two")]] kernel void scale<2>(device float*, uint);
template [[host_name("by_three")]] kernel void scale<3>(device float*, uint);
kernel void sum(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
    y[i] = x[i] + third(x[i]);
}
kernel void pairs(array<device float*, 2> x [[buffer(0)]]) { x[0][0] = x[1][0]; }
kernel void plain(device float* x) { x[0] = 1; }
"""
)
_NUMBERED = re.compile(r'(%"?(?:struct|class|union)\.[\w: <>,*&()]+)\.\d+\b')
SHIFTED = "kernel void shifted(device int* x) { x[0] = x[1] + (1 << 33); }\n"


@pytest.fixture
def processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by one with every process that is started; the cache is empty."""
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path))
    started: list[object] = []
    real = subprocess.Popen.__init__

    def counting(self: Any, *arguments: Any, **options: Any) -> None:
        started.append(arguments)
        real(self, *arguments, **options)

    monkeypatch.setattr(subprocess.Popen, "__init__", counting)
    return started


def kernels(library: Library) -> Mapping[str, tuple[object, ...]]:
    """All that is known of each kernel, with its code as text.

    The name of the text is left out, and what tells equal structures of several texts apart.
    """
    found = {}
    for name in library.function_names:
        kernel = library.function(name)
        with LLVM_LOCK:
            text = str(llvm.parse_bitcode(kernel.bitcode, llvm.create_context()))
        code = [line for line in text.splitlines() if not line.startswith(("; Mod", "source_"))]
        code = [_NUMBERED.sub(r"\1", line) for line in code]
        found[name] = (code, kernel.arguments, kernel.errors, kernel.logs, kernel.line)
    return found


def test_prepared_kernels_are_the_same_and_start_fewer_processes(
    processes: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    alone = kernels(compile_library(SOURCE))
    count = len(processes)
    processes.clear()
    monkeypatch.setenv("ASSAY_CACHE_DIR", str(tmp_path / "other"))
    library = compile_library(SOURCE)
    library.prepare(library.function_names)
    assert kernels(library) == alone
    # All but the first kernel together, behind one question to the driver; those with arrays of
    # buffers are compiled again.
    assert len(processes) <= count - 2


def test_what_was_prepared_before_starts_nothing(processes: list[object]) -> None:
    names = compile_library(SOURCE).function_names
    kernels(compile_library(SOURCE))
    processes.clear()
    library = compile_library(SOURCE)
    library.prepare(names)
    assert kernels(library) and not processes


def test_what_is_wrong_with_one_is_told_of_that_one(processes: list[object]) -> None:
    broken = 'template <int N> kernel void odd(device int* x) { static_assert(N % 2, "even"); }\n'
    instances = "".join(
        f'template [[host_name("odd_{n}")]] kernel void odd<{n}>(device int*);\n' for n in (1, 2)
    )
    library = compile_library(SOURCE + SHIFTED + broken + instances)
    library.prepare(library.function_names)
    assert [error.kind for error in library.function("shifted").errors] == ["shift-count"]
    assert not library.function("sum").errors
    assert not library.function("odd_1").errors
    with pytest.raises(CompileError, match="even"):
        library.function("odd_2")


def test_kernels_with_function_constants_wait_for_their_values(processes: list[object]) -> None:
    library = compile_library(SOURCE + "constant int n [[function_constant(0)]];\n")
    processes.clear()
    library.prepare(library.function_names)
    assert not processes
