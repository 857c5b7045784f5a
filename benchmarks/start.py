"""How long commands take as a shell sees them, each in fresh processes.

The time is that of the fastest of some runs: what else runs on the machine can only make one
slower. Beside it stands the processor time, which a busy machine changes less.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.compiler.torq.kernels.lower import kind, lower
from assay.compiler.torq.operators.elementwise import Clamp
from assay.compiler.torq.program import ProgramBuilder
from assay.compiler.torq.slice.tensor import dense
from assay.hal.torq.pack import pack
from assay.hal.torq.write import write_executable

from .measure import Row

_NUMBERS = 200
_KERNEL = """#include <metal_stdlib>
using namespace metal;

kernel void reverse(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]],
                    uint lane [[thread_index_in_threadgroup]],
                    uint size [[threads_per_threadgroup]]) {
    threadgroup float part[1024];
    part[lane] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = part[size - 1 - lane];
}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, and the seconds that it may take; `first`: with nothing compiled yet."""

    line: str
    bar: float
    first: bool = False


_TIME = "time reverse.metal --grid 65536 --threadgroup 256 --chip m4-max"
_RUN = f"run clamp.torq --input {_NUMBERS}xi8=100"
COMMANDS = (
    Command(line="--help", bar=0.3),
    Command(line="check reverse.metal", bar=1.0),
    Command(line=_TIME, bar=1.5),
    Command(line=_RUN, bar=1.0),
    Command(line=_RUN, bar=6.0, first=True),
)


def rows(*, threads: int, repetitions: int) -> list[Row]:
    """Measure all commands; each runs once before, so that only one that is to compile does."""
    del threads
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        return [_row(command, Path(folder), repetitions) for command in COMMANDS]


def write_files(folder: Path) -> None:
    """What the commands are given: a kernel, and a program that clamps numbers."""
    (folder / "reverse.metal").write_text(_KERNEL)
    builder = ProgramBuilder.new()
    x, y = (builder.lram.tensor(name, "int8", (_NUMBERS,)) for name in "xy")
    builder.load("x", x)
    flat = dense("x", x.address, "int8", (_NUMBERS,))
    clamp = Clamp(x=kind(flat), y=kind(y), low=-5, high=5)
    builder.run(lower(builder.lram, clamp, {"x": flat, "y": y}))
    builder.store("y", y)
    (folder / "clamp.torq").write_bytes(write_executable(pack(builder.build(), "clamp")))


def _row(command: Command, folder: Path, repetitions: int) -> Row:
    _seconds(command, folder)  # Python's own compiled files are there from now on
    found = [_seconds(command, folder) for _ in range(1 if command.first else repetitions)]
    wall, processor = (min(times) for times in zip(*found, strict=True))
    return Row(
        what=f"assay {command.line.split(' --input')[0].split(' --grid')[0]}",
        who="the first time on a machine" if command.first else "warm caches",
        seconds=wall,
        rate=f"{processor:.2f} s of processor time",
        bar=f"< {command.bar:g} s",
        passed=wall < command.bar,
    )


def _seconds(command: Command, folder: Path) -> tuple[float, float]:
    cache = {"ASSAY_CACHE_DIR": tempfile.mkdtemp(dir=folder)} if command.first else {}
    return seconds_of(command.line, folder, cache)


def seconds_of(
    line: str, folder: Path, environment: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """(wall clock, processor time) of one run of `assay LINE`, children included.

    Raises RuntimeError if it fails.
    """
    variables = {**os.environ, **(environment or {})}
    # As most users have it: Python keeps what it compiles.
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    arguments = [sys.executable, "-m", "assay", *line.split()]
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(arguments, env=variables, cwd=folder, capture_output=True)
    wall, after = time.perf_counter() - start, os.times()
    if done.returncode:
        raise RuntimeError(f"`assay {line}` failed: {done.stderr.decode()}")
    user = after.children_user - before.children_user
    return wall, user + after.children_system - before.children_system
