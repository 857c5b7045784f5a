"""Programs made of kernels, as executables: through driver, command line and decoder."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import assay
from assay.cli.torq.run import run_torq
from assay.compiler.torq.blocks import Program
from assay.compiler.torq.program import ProgramBuilder
from assay.hal.observe import checking
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.follow import follow
from assay.hal.torq.format import BufferType, Executable, HostCopy
from assay.hal.torq.pack import pack
from assay.hal.torq.places import misplaced
from assay.hal.torq.write import write_executable
from assay.hw.torq.check.kinds import NPU_CHECKS
from assay.npu import load_npu
from assay.sim.check import Checker, Finding
from tests.compiler.torq import by_hand

from .machine import Array, numbers


def clamp_then_add() -> tuple[Program, list[Array], Array]:
    """A program with its inputs, in the order of its bindings, and its result."""
    builder = ProgramBuilder.new()
    lram = builder.lram
    a, b, c, d = (lram.tensor(name, "int32", (3000,)) for name in "abcd")
    left, right = (numbers(seed, (3000,), "int32", bound=9999) for seed in (0, 1))
    builder.load("a", a)
    builder.load("b", b)
    builder.run(by_hand.add(a, b, c))
    builder.run(by_hand.clamp(c, d, -5000, 6000))
    builder.store("d", d)
    return builder.build(), [left, right], np.clip(np.add(left, right, dtype=np.int32), -5000, 6000)


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    path = tmp_path / "add.torq"
    path.write_bytes(write_executable(pack(clamp_then_add()[0], "add")))
    return path


def test_the_driver_gives_what_the_kernels_compute() -> None:
    program, inputs, expected = clamp_then_add()
    loaded = LoadedExecutable(pack(program, "add"))
    sizes = loaded.buffer_sizes()
    buffers = [np.zeros(size, np.uint8) for size in sizes.values()]
    for number, value in zip(loaded.inputs(), inputs, strict=True):
        buffers[number][:] = value.view(np.uint8)
    loaded.dispatch(buffers)
    (result,) = loaded.outputs()
    assert np.array_equal(buffers[result].view(np.int32), expected)


def test_the_command_line_gives_typed_results_and_finds_no_hazard(packed: Path) -> None:
    _, inputs, expected = clamp_then_add()
    done = run_torq(load_npu(packed).find(None), list(inputs))
    (result,) = done.results
    assert isinstance(result, np.ndarray)
    assert result.dtype == np.int32
    assert np.array_equal(result, expected)
    report = assay.check(packed, None, *inputs)
    assert [kernel.name for kernel in report.kernels] == ["add"] and not report.findings


def test_every_block_and_slice_program_is_followed_to_its_end() -> None:
    found = follow(pack(clamp_then_add()[0], "add"))
    assert all(not program.problem for program in found.programs)
    slices = [job for job in found.jobs if job.unit.startswith("SLC")]
    assert len(slices) == 2
    assert all(job.words and "not followed" not in job.what for job in slices)


def findings(executable: Executable) -> tuple[Finding, ...]:
    """What a check of an executable finds, which gets its inputs."""
    loaded = LoadedExecutable(executable)
    buffers = [np.zeros(size, np.uint8) for size in loaded.buffer_sizes().values()]
    for number, value in zip(loaded.inputs(), clamp_then_add()[1], strict=True):
        buffers[number][:] = value.view(np.uint8)
    with checking(Checker(NPU_CHECKS)) as checker:
        loaded.dispatch(buffers)
    return checker.findings


def test_a_host_that_does_not_wait_for_the_npu_is_reported() -> None:
    executable = pack(clamp_then_add()[0], "add")
    copy, start, wait = executable.actions
    (finding,) = findings(replace(executable, actions=(copy, start)))
    assert (finding.kind, finding.at.unit) == ("npu-not-waited", "NSS")
    result = executable.bindings[-1]
    moved = HostCopy(
        source=BufferType.XRAM,
        target=BufferType.XRAM,
        source_address=result.address,
        target_address=executable.bindings[0].address,
        source_strides=(1,),
        target_strides=(1,),
        shape=(result.size,),
        element_bytes=1,
    )
    assert findings(replace(executable, actions=(copy, start, wait, moved))) == ()
    found = findings(replace(executable, actions=(copy, start, moved, wait)))
    assert [(f.kind, f.at.unit, f.tensor) for f in found] == [
        ("npu-race", "HOST", "d"),  # reads what XW writes
        ("npu-race", "HOST", "a"),  # writes what XR reads
    ]


@pytest.mark.parametrize("step", [1, 64, 4096])
def test_bindings_and_segments_that_lie_elsewhere_are_reported(step: int) -> None:
    executable = pack(clamp_then_add()[0], "add")
    *before, result = executable.bindings
    elsewhere = replace(result, address=result.address + step)
    found = findings(replace(executable, bindings=(*before, elsewhere)))
    assert ("npu-operand", "HOST", "d") in {(f.kind, f.at.unit, f.tensor) for f in found}
    shorter = replace(result, size=result.size - min(step, 64))
    found = findings(replace(executable, bindings=(*before, shorter)))
    assert {(f.kind, f.at.unit, f.tensor) for f in found} == {("npu-operand", "HOST", "d")}
    first, *others = executable.segments
    elsewhere_too = replace(first, address=first.address + step)
    found = list(misplaced(replace(executable, segments=(elsewhere_too, *others))))
    assert [f.offset - first.address for f in found] == [step, 0]
