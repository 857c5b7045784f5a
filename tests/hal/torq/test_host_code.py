"""Executables that call the board's own processor: results, arguments, findings and time."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from assay.hal.observe import checking
from assay.hal.status import StatusError
from assay.hal.torq.executable import LoadedExecutable
from assay.hal.torq.format import (
    BufferType,
    Executable,
    HostCopy,
    Segment,
    StartHost,
)
from assay.hal.torq.read import read_executable
from assay.hal.torq.write import write_executable
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.timing.unit_time import npu_time
from assay.sim.check import Checker
from tests.support.host_code import SCALED, compiled, multiply_and_scale
from tests.support.torq_executables import OUTPUT

pytest.importorskip("unicorn")
OPERANDS = np.frombuffer(
    bytes(range(64)) + bytes([2] * 64) + np.array([10, 1 << 16], np.int32).tobytes(), np.uint8
)
PRODUCTS = np.clip(2 * np.arange(64) + 7, -128, 127).astype(np.int8)
TRIPLE = 3 * PRODUCTS
"""As the host has it: it wraps around."""


def ran(executable: Executable) -> tuple[np.ndarray, LoadedExecutable]:
    loaded = LoadedExecutable(executable)
    buffers = [OPERANDS.copy(), np.zeros(64, np.uint8)]
    loaded.dispatch(buffers)
    return buffers[1].view(np.int8), loaded


@pytest.mark.parametrize("old", [False, True], ids=["2.0", "1.x"])
def test_executables_with_host_code_run_whole(old: bool) -> None:
    executable = read_executable(write_executable(multiply_and_scale(old=old)))
    assert executable.old_segments is old
    results, loaded = ran(executable)
    assert np.array_equal(results, TRIPLE)
    time = npu_time(loaded.device.events)
    (code,) = (work for work in loaded.device.events if work.what == "code")
    machine = sl2610()
    assert code.end - code.begin == ceil(16 * machine.host_instruction)
    copied = machine.host_window_cycles(640)
    assert time.host_work == copied + code.end - code.begin
    assert time.gap == machine.host_start + machine.host_interrupt
    assert time.npu == time.cycles


def test_a_function_that_is_not_there_is_told_before_anything_runs() -> None:
    call = StartHost(function="softmax", arguments=(OUTPUT,), sizes=(64,))
    executable = replace(multiply_and_scale(), actions=(call,))
    with pytest.raises(StatusError, match="its host code has no function 'softmax'"):
        LoadedExecutable(executable)


def test_a_fault_of_host_code_names_action_function_and_place() -> None:
    call = StartHost(function="wild", arguments=(OUTPUT,), sizes=(64,))
    with pytest.raises(StatusError, match="host function 'wild' writes 4 bytes at 0x10"):
        ran(replace(multiply_and_scale(), actions=(call,)))


def strided(function: str, arguments: tuple[int, ...], strides: tuple[int, ...]) -> StartHost:
    """A call whose arguments are 8 rows of 8 bytes, apart by the strides."""
    return StartHost(
        function=function,
        arguments=arguments,
        sizes=(64,) * len(arguments),
        strides=tuple(each for stride in strides for each in (stride, 1)),
        shapes=(8, 8) * len(arguments),
        ranks=(2,) * len(arguments),
    )


def test_arguments_with_gaps_are_made_dense_and_put_back() -> None:
    data = np.arange(256, dtype=np.uint8)
    target = SCALED + 0x1000
    executable = replace(
        multiply_and_scale(),
        segments=(
            Segment(address=target, size=256, data=data.tobytes()),
            Segment(address=SCALED + 0x3000, size=256, data=bytes(256)),
        ),
        actions=(strided("scale", (target, SCALED), (16, 8)),),
    )
    results, _ = ran(executable)
    rows = data.reshape(16, 16)[:8, :8].astype(np.int8)
    assert np.array_equal(results, (3 * rows).reshape(-1))
    back = replace(executable, actions=(strided("scale", (target, target), (16, 32)),))
    loaded = LoadedExecutable(back)
    loaded.dispatch([OPERANDS.copy(), np.zeros(64, np.uint8)])
    left = np.frombuffer(loaded.device.xram.read(target, 256), np.uint8)
    assert np.array_equal(left.reshape(8, 32)[:, :8].view(np.int8), 3 * rows)
    assert np.array_equal(left.reshape(8, 32)[:, 8:], data.reshape(8, 32)[:, 8:])


@pytest.mark.parametrize(
    ("shape", "strides"), [((1 << 31, 8), (0, 1)), ((1,) * 20, (1,) * 20), ((2,), (1 << 31,))]
)
def test_arguments_that_would_fill_the_memory_are_refused(
    shape: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    call = StartHost(
        function="scale",
        arguments=(OUTPUT, SCALED),
        sizes=(64, 64),
        strides=strides,
        shapes=shape,
        ranks=(len(shape), 0),
    )
    with pytest.raises(StatusError, match=r"action 0: argument 0 of .* is larger than"):
        LoadedExecutable(replace(multiply_and_scale(), actions=(call,)))


Change = Callable[[Executable], Executable]


def unwritten(executable: Executable) -> Executable:
    """The host computes before the NPU has made anything."""
    *actions, call, wait = executable.actions
    return replace(executable, actions=(call, wait, *actions))


def gaps(executable: Executable) -> Executable:
    """The same with an argument of which every other row of 8 bytes was never written."""
    call = strided("scale", (OUTPUT, SCALED), (16, 8))
    return replace(executable, actions=(*executable.actions[:-2], call))


@pytest.mark.parametrize(("change", "found"), [(lambda same: same, 0), (unwritten, 1), (gaps, 4)])
def test_checks_see_what_host_code_reads_and_writes(change: Change, found: int) -> None:
    checker = Checker(checks=frozenset({"init", "race"}))
    with checking(checker):
        ran(change(multiply_and_scale()))
    findings = list(checker.findings)
    assert len(findings) == found, findings
    assert all("reads bytes nobody wrote" in str(each) for each in findings)


def copies(element_bytes: int, shape: tuple[int, ...]) -> HostCopy:
    strides = tuple(
        element_bytes * int(np.prod(shape[at + 1 :], dtype=np.int64)) for at in range(len(shape))
    )
    return HostCopy(
        source=BufferType.XRAM,
        target=BufferType.XRAM,
        source_address=OUTPUT,
        target_address=SCALED,
        source_strides=strides,
        target_strides=strides,
        shape=shape,
        element_bytes=element_bytes,
    )


def test_copies_within_xram_take_as_long_as_the_vendors_loop() -> None:
    def cycles(copy: HostCopy) -> int:
        _, loaded = ran(replace(multiply_and_scale(), actions=(copy,)))
        (work,) = loaded.device.events
        return work.end - work.begin

    machine = sl2610()
    whole, rows, elements = (
        cycles(copies(64, ())),
        cycles(copies(16, (4,))),
        cycles(copies(1, (8, 8))),
    )
    assert whole == machine.host_xram_cycles(1, 0, 64) < rows < elements
    # Ten cycles of a host of 2 GHz for each element, and twenty for each of its dimensions.
    assert elements == 64 * (10 + 2 * 20) * 800 // 2000
    megabyte = machine.host_xram_cycles(1, 0, 1_000_000) / machine.clock_hz
    assert 0.0005 < megabyte < 0.00052


def test_host_code_of_another_processor_is_refused_when_it_is_loaded() -> None:
    executable = replace(
        multiply_and_scale(), host_code=compiled("int f(void) { return 1; }", "x86_64")
    )
    with pytest.raises(StatusError, match="no shared object for aarch64"):
        LoadedExecutable(executable)
