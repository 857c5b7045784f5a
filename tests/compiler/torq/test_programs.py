"""Whole programs on the emulated NPU: bits, time, timeline."""

from __future__ import annotations

import numpy as np
import pytest

from assay.compiler.torq.blocks import Program, load
from assay.compiler.torq.operators.products import Padding
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.program import ProgramBuilder
from assay.compiler.torq.slice.errors import IllegalSliceProgram
from assay.hal.torq.check import check
from assay.hal.torq.pack import pack
from assay.hal.torq.read import read_executable
from assay.hal.torq.write import write_executable
from assay.hw.torq.device.device import Device
from assay.hw.torq.device.events import Work
from assay.hw.torq.facts.costs import sl2610
from assay.hw.torq.timing.timeline import npu_time, timeline
from tests.compiler.torq import by_hand

from . import tosa
from .machine import Array, numbers

_CFG, _CTRL, _START, _IEN_HOST = 0x1F0004, 0x1F0008, 0x1F0010, 0x1FC004
_BLOCK = 640


def run(program: Program, inputs: dict[str, Array]) -> tuple[dict[str, Array], Device]:
    """Do what a driver does: segments and inputs to XRAM, the first block to LRAM, start, wait."""
    device = Device(record_accesses=True)
    device.map(0x100000, 1 << 20)
    for address, data in program.segments:
        device.xram.write(address, data)
    for binding in program.bindings:
        if not binding.is_output:
            device.xram.write(binding.address, np.ascontiguousarray(inputs[binding.name]).tobytes())
    device.lram.write(0, device.xram.read(program.first_block, _BLOCK))
    for register, value in ((_CFG, 1 << 24), (_CTRL, 1), (_IEN_HOST, 1), (_START, 1)):
        device.write32(register, value)
    assert device.wait_irq()
    device.run()
    results = {}
    for binding in program.bindings:
        if binding.is_output:
            data = bytes(device.xram.read(binding.address, binding.size))
            results[binding.name] = np.frombuffer(data, binding.tensor.dtype).reshape(
                binding.tensor.shape
            )
    return results, device


def _conv_then_clamp() -> tuple[Program, dict[str, Array], Array]:
    builder = ProgramBuilder.new()
    lram = builder.lram
    x, y, z = (lram.planes(name, "int8", (1, 8, 16, 16)) for name in "xyz")
    values, weights = numbers(0, x.shape, "int8"), numbers(1, (8, 8, 3, 3), "int8")
    bias = numbers(2, (8,), "int32", bound=1000)
    rescale = Rescale(multipliers=(1 << 30,), shifts=(42,))
    builder.load("x", x)
    for number in range(20):  # so that there are commands for several blocks
        builder.load(f"beside {number}", lram.tensor(f"beside {number}", "int8", (64,)))
    padding = Padding(top=1, bottom=1, left=1, right=1)
    builder.run(by_hand.conv2d(lram, x, weights, bias, y, padding=padding, rescale=rescale))
    builder.run(by_hand.clamp(y, z, -20, 50))
    builder.store("z", z)
    sums = tosa.conv2d(
        values.transpose(0, 2, 3, 1), weights.transpose(0, 2, 3, 1), bias, pad=(1, 1, 1, 1)
    )
    scaled = tosa.rescale(sums, [1 << 30], [42]).transpose(0, 3, 1, 2)
    beside = {f"beside {number}": np.zeros(64, np.int8) for number in range(20)}
    return builder.build(), {"x": values, **beside}, np.clip(scaled, -20, 50)


def test_a_program_of_several_blocks_computes_what_its_kernels_do() -> None:
    program, inputs, expected = _conv_then_clamp()
    assert program.blocks >= 3
    results, _ = run(program, inputs)
    np.testing.assert_array_equal(results["z"], expected)


def test_two_slices_work_at_the_same_time() -> None:
    builder = ProgramBuilder.new()
    lram = builder.lram
    a, b, c, d = (lram.tensor(name, "int32", (4000,)) for name in "abcd")
    left, right = numbers(0, (4000,), "int32", bound=9999), numbers(1, (4000,), "int32", bound=9999)
    builder.load("a", a)
    builder.load("b", b)
    builder.run(by_hand.add(a, b, c), by_hand.sub(a, b, d))
    builder.store("c", c)
    builder.store("d", d)
    results, device = run(builder.build(), {"a": left, "b": right})
    np.testing.assert_array_equal(results["c"], left + right)
    np.testing.assert_array_equal(results["d"], left - right)
    tasks = {w.unit: (w.begin, w.end) for w in device.events if w.what == "task"}
    assert tasks["SLC0"][1] > tasks["SLC1"][0] and tasks["SLC1"][1] > tasks["SLC0"][0]


def test_more_programs_than_slices_are_refused() -> None:
    builder = ProgramBuilder.new()
    with pytest.raises(IllegalSliceProgram, match="3 programs at a time"):
        builder.run([], [], [])


def test_the_causes_of_each_unit_add_up_to_the_run() -> None:
    program, inputs, _ = _conv_then_clamp()
    _, device = run(program, inputs)
    time = npu_time(device.events)
    assert time.cycles == time.both + time.only_dma + time.only_compute + time.neither
    for unit in time.units:
        assert sum(unit.causes.values()) == time.cycles
        assert all(cycles > 0 for cycles in unit.causes.values())
    assert {unit.unit for unit in time.units} == {"NSS", "XR", "XW", "SLC0"}


def test_the_timeline_shows_every_unit_and_names_what_is_moved() -> None:
    program, inputs, _ = _conv_then_clamp()
    _, device = run(program, inputs)
    trace = timeline(
        device.events,
        device.machine,
        accesses=device.accesses,
        symbols=[(s.start, s.stop, s.name) for s in program.notes.symbols],
        title="conv2d, clamp",
    )
    assert {"NPU", "NSS", "XR", "XW", "SLC0", "LRAM"} <= {track.name for track in trace.tracks}
    names = {trace.names[n] for n in trace.slices.name}
    assert {"load x", "load weights of y", "store z", "task: y", "task: z"} <= names


def test_time_without_events_is_nothing() -> None:
    time = npu_time([])
    assert time.cycles == 0 and time.units == ()
    trace = timeline([], sl2610())
    assert len(trace.slices.name) == 0


def test_overlap_of_moving_and_computing_is_counted_once() -> None:
    events = [
        Work(unit="XR", what="load", begin=0, end=10),
        Work(unit="XW", what="store", begin=5, end=15),
        Work(unit="SLC0", what="task", begin=8, end=20, agents=(("ALU", 12),), limit="ALU"),
    ]
    time = npu_time(events)
    assert (time.both, time.only_dma, time.only_compute, time.neither) == (7, 8, 5, 0)


def test_a_program_survives_as_an_executable() -> None:
    program, _, _ = _conv_then_clamp()
    executable = pack(program, "conv_clamp")
    again = read_executable(write_executable(executable))
    assert again.name == "conv_clamp"
    assert [(s.address, bytes(s.data or b"")) for s in again.segments] == list(program.segments)
    assert [(b.address, b.size) for b in again.bindings] == [
        (b.address, b.size) for b in program.bindings
    ]
    assert again.buffers[0].shape == (1, 8, 16, 16)
    check(again)


def test_an_executable_keeps_what_its_compiler_meant() -> None:
    program, _, _ = _conv_then_clamp()
    again = read_executable(write_executable(pack(program, "conv_clamp")))
    assert again.notes == program.notes
    tasks = [task.operation for tasks in program.notes.slice_programs.values() for task in tasks]
    assert tasks == ["conv2d of y", "clamp of z"]
    assert "load x" in [note.operation for note in program.notes.transfers]


def test_a_transfer_beyond_16_mib_of_xram_is_noted_where_it_is() -> None:
    note = load("x", 0x1234560, 0x1000, 64).note
    assert note is not None
    assert [operand.ranges for operand in note.operands] == [
        ((0x1234560, 0x12345A0),),
        ((0x1000, 0x1040),),
    ]
