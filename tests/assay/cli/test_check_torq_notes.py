"""check of executables that carry what their compiler meant: findings name tensor and operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.compiler.torq.program import ProgramBuilder
from assay.compiler.torq.slice.tensor import dense
from assay.hal.torq.format import Executable
from assay.hal.torq.pack import pack
from assay.hal.torq.write import write_executable
from tests.compiler.torq import by_hand

Assay = Callable[..., Any]


def clamping(count: int = 200, used: int = 200) -> Executable:
    """Clamps the first `used` of `count` numbers."""
    builder = ProgramBuilder.new()
    x, y = builder.lram.tensor("x", "int8", (count,)), builder.lram.tensor("y", "int8", (used,))
    builder.load("x", x)
    builder.run(
        by_hand.clamp(dense("x", x.address, "int8", (used,)), y, -5, 5), source="model.mlir:7"
    )
    builder.store("y", y)
    return pack(builder.build(), "clamping")


def moved(executable: Executable, agent_base: int, by: int) -> Executable:
    """The descriptor that starts at an LRAM address starts further on."""
    segments = []
    for segment in executable.segments:
        data = bytearray(segment.data or b"")
        for at in range(0, len(data) - 3, 4):
            word = int.from_bytes(data[at : at + 4], "little")
            if word >> 31 and word >> 28 & 7 == 2 and word & 0xFFFFFF == agent_base:
                data[at : at + 4] = (word + by).to_bytes(4, "little")
        segments.append(replace(segment, data=bytes(data)))
    return replace(executable, segments=tuple(segments))


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Executable], Path]:
    def written(executable: Executable) -> Path:
        path = tmp_path / "program.torq"
        path.write_bytes(write_executable(executable))
        return path

    return written


def test_a_correct_program_has_no_findings(
    assay: Assay, write: Callable[[Executable], Path]
) -> None:
    assert "1 executable, no findings" in assay("check", write(clamping())).out


@pytest.mark.parametrize("by", [1, -4, 64])
def test_a_moved_address_is_told_with_tensor_and_operation(
    assay: Assay, write: Callable[[Executable], Path], by: int
) -> None:
    (x,) = (s.start for s in clamping().notes.symbols if (s.name, s.memory) == ("x", "LRAM"))
    done = assay("check", write(moved(clamping(), x, by)))
    assert done.code == 1
    assert "[npu-operand]" in done.out and "SLC0 DEDR" in done.out
    assert "in clamp of y (model.mlir:7)" in done.out
    assert f"leaves out {abs(by)} byte" in done.out and "of x" in done.out


def test_what_is_loaded_for_nothing_is_told_on_request(
    assay: Assay, write: Callable[[Executable], Path]
) -> None:
    path = write(clamping(count=300))
    assert "no findings" in assay("check", path).out
    done = assay("check", path, "--check", "all,unread")
    assert done.code == 1
    assert "[npu-unread]" in done.out and "in load x" in done.out


def test_checks_of_kernels_are_refused_for_executables(
    assay: Assay, write: Callable[[Executable], Path]
) -> None:
    done = assay("check", write(clamping()), "--check", "lanes")
    assert done.code == 2
    assert "'lanes' is no check; there are race, init, bounds, budget, unread, all" in done.err
    out = assay("check", write(clamping()), "--check", "race,init").out
    assert "looked for: race, init)" in out


def test_inspect_says_what_jobs_are_for(assay: Assay, write: Callable[[Executable], Path]) -> None:
    out = assay("inspect", write(clamping())).out
    assert "[load x]" in out and "[clamp of y (model.mlir:7)]" in out and "[store y]" in out
