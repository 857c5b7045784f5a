"""Programs damaged on purpose: every harmful damage to order, places and counts is reported."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from assay.compiler.torq.blocks import Program
from assay.compiler.torq.operators.products import Padding
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.program import ProgramBuilder
from assay.compiler.torq.slice.tensor import dense
from assay.hw.torq.check.kinds import NPU_CHECKS, UNREAD
from assay.hw.torq.check.watcher import Watcher
from assay.hw.torq.device.device import Device
from assay.hw.torq.facts.registers import registers
from assay.hw.torq.faults import TorqFault
from assay.hw.torq.words.commands import SliceTask
from assay.hw.torq.words.errors import EncodeError
from assay.sim.check import Checker, Finding
from tests.compiler.torq import by_hand

from .machine import Array, numbers

_START = ((0x1F0004, 1 << 24), (0x1F0008, 1), (0x1FC004, 1), (0x1F0010, 1))
_BLOCK = 640
_NSS = registers("nss")
LENGTHS = [_NSS.address(f"DMA_{c}.CFG.{name}") for c in ("XR", "XW") for name in ("xlen", "llen")]
PLACES = [
    _NSS.address(name)
    for name in (
        "DMA_XR.CFG.laddr",
        "DMA_XR.SRC.HEAD.a",
        "DMA_XW.CFG.laddr",
        "DMA_XW.DST.HEAD.a",
    )
]
SHIFTS = (1, 2, 4, 8, 64, 256, -1, -2, -4, -8, -64, -256)
MOVES = (8, 64, 256, -8, -64, -256, 0x20000, 0x40000, 0x80000, 0x1000000)
Words = list[tuple[int, int, int, int]]
"""(segment, index of a word, its register or -1 for a wait, the word)."""


def convolution() -> tuple[Program, dict[str, Array]]:
    builder = ProgramBuilder.new()
    lram = builder.lram
    x, y, z = (lram.planes(name, "int8", (1, 8, 16, 16)) for name in "xyz")
    weights, bias = numbers(1, (8, 8, 3, 3), "int8"), numbers(2, (8,), "int32", bound=1000)
    builder.load("x", x)
    padding = Padding(top=1, bottom=1, left=1, right=1)
    rescale = Rescale(multipliers=(1 << 30,), shifts=(42,))
    builder.run(by_hand.conv2d(lram, x, weights, bias, y, padding=padding, rescale=rescale))
    builder.run(by_hand.clamp(y, z, -20, 50))
    builder.store("z", z)
    return builder.build(), {"x": numbers(0, x.shape, "int8")}


def sums_and_differences() -> tuple[Program, dict[str, Array]]:
    builder = ProgramBuilder.new()
    lram = builder.lram
    a, b, c, d = (lram.tensor(name, "int32", (400,)) for name in "abcd")
    builder.load("a", a)
    builder.load("b", b)
    builder.run(by_hand.add(a, b, c), by_hand.sub(a, b, d))
    builder.store("c", c)
    builder.store("d", d)
    return builder.build(), {n: numbers(k, (400,), "int32", bound=999) for k, n in enumerate("ab")}


def downsampled_rows() -> tuple[Program, dict[str, Array]]:
    """Taken apart, convolved with stride 2, turned, pooled; then some of its rows."""
    builder = ProgramBuilder.new()
    lram = builder.lram
    x = lram.planes("x", "int8", (1, 4, 16, 16))
    apart = lram.planes("x apart", "int8", (1, 4, 4, 8, 8))
    y = lram.planes("y", "int8", (1, 4, 8, 8))
    turned = lram.tensor("y turned", "int8", (1, 8, 8, 4))
    pooled = lram.tensor("pooled", "int8", (1, 4, 4, 4))
    rows, picked = lram.tensor("rows", "int32", (3,)), lram.tensor("picked", "int8", (3, 4))
    builder.load("x", x)
    builder.load("rows", rows)
    builder.run(by_hand.segmentation(x, apart), source="conv_1")
    builder.run(
        by_hand.conv2d(
            lram,
            apart,
            numbers(1, (4, 3, 3), "int8"),
            numbers(2, (4,), "int32", bound=1000),
            y,
            padding=Padding(top=0, bottom=1, left=1, right=0),
            rescale=Rescale(multipliers=(1 << 30,), shifts=(40,)),
            stride=2,
        ),
        source="conv_1",
    )
    builder.run(by_hand.transpose(y, turned, (0, 2, 3, 1)), source="pool_2")
    builder.run(by_hand.max_pool2d(turned, pooled, kernel=(2, 2), stride=(2, 2)), source="pool_2")
    values = dense("pooled", pooled.address, "int8", (16, 4))
    builder.run(by_hand.gather(lram, values, rows, picked), source="gather_3")
    builder.store("picked", picked)
    chosen = np.array([7, 0, 12], np.int32)
    return builder.build(), {"x": numbers(0, x.shape, "int8"), "rows": chosen}


PROGRAMS = [convolution, sums_and_differences, downsampled_rows]


def run(
    program: Program,
    inputs: dict[str, Array],
    segments: list[tuple[int, bytes]],
    *,
    unread: bool = False,
) -> tuple[dict[str, bytes], tuple[Finding, ...]]:
    """Outputs (none when a fault ended the run), and what the checker found."""
    checks = (*NPU_CHECKS, UNREAD) if unread else NPU_CHECKS
    watcher = Watcher(Checker(checks), notes=program.notes)
    device = Device(watcher=watcher, cycle_limit=100_000, word_limit=4000)
    device.map(0x100000, 1 << 20)
    for address, data in segments:
        device.xram.write(address, data)
    for binding in program.bindings:
        if not binding.is_output:
            device.xram.write(binding.address, np.ascontiguousarray(inputs[binding.name]).tobytes())
    device.lram.write(0, device.xram.read(program.first_block, _BLOCK))
    try:
        for register, value in _START:
            device.write32(register, value)
        device.wait_irq()
    except TorqFault:
        return {}, watcher.findings
    results = {
        binding.name: device.xram.read(binding.address, binding.size)
        for binding in program.bindings
        if binding.is_output
    }
    watcher.finish()
    return results, watcher.findings


def commands(program: Program) -> Iterator[tuple[int, int, int, int]]:
    """Register words and waits of the program's blocks of commands."""
    for number, (address, data) in enumerate(program.segments):
        if address < program.first_block:
            continue
        words = np.frombuffer(data, np.uint32).tolist()
        at = 0
        while at < len(words):
            head = words[at]
            if head >> 28 & 7 == 1:
                count = head >> 16 & 0xFFF
                for k in range(count):
                    yield number, at + 1 + k, (head & 0xFFFF) + 4 * k, words[at + 1 + k]
                at += count
            elif head >> 28 & 7 == 6 and head & 0xFFFF:
                yield number, at, -1, head
            if head >> 31:
                break
            at += 1


def changed(program: Program, segment: int, index: int, word: int) -> list[tuple[int, bytes]]:
    segments = list(program.segments)
    address, data = segments[segment]
    words = np.frombuffer(data, np.uint32).copy()
    words[index] = word
    segments[segment] = (address, words.tobytes())
    return segments


@pytest.mark.parametrize("make", PROGRAMS)
def test_a_correct_program_has_no_findings(make) -> None:  # type: ignore[no-untyped-def]
    program, inputs = make()
    results, findings = run(program, inputs, list(program.segments))
    assert results and not findings


@pytest.mark.sampled
@pytest.mark.parametrize("make", PROGRAMS)
def test_every_harmful_missing_wait_is_reported(make) -> None:  # type: ignore[no-untyped-def]
    program, inputs = make()
    good, _ = run(program, inputs, list(program.segments))
    tried = 0
    for segment, index, register, word in commands(program):
        if register == -1:
            tried += 1
            without = changed(program, segment, index, word & ~0xFFFF)
            results, findings = run(program, inputs, without)
            assert results == good or findings, f"segment {segment}, word {index}"
    assert tried >= 7


@pytest.mark.sampled
@pytest.mark.parametrize("make", PROGRAMS)
@pytest.mark.parametrize("registers_", [LENGTHS, PLACES], ids=["lengths", "places"])
def test_every_harmful_change_of_a_transfer_is_reported(make, registers_) -> None:  # type: ignore[no-untyped-def]
    program, inputs = make()
    good, _ = run(program, inputs, list(program.segments))
    draw = random.Random(7)
    tried = 0
    for segment, index, register, word in commands(program):
        if register not in registers_:
            continue
        for _ in range(3):
            if registers_ is LENGTHS:
                new = word ^ 1 << draw.randrange(8)
            else:
                new = (word + draw.choice(MOVES)) & 0xFFFFFFFF
            tried += 1
            results, findings = run(program, inputs, changed(program, segment, index, new))
            assert results == good or findings, f"segment {segment}, word {index}: {new:#x}"
    assert tried >= 8


def descriptors(program: Program) -> Iterator[tuple[int, int, str, int]]:
    """(segment, index of a word, `base`, `count` or `stride`, the word) of slices' descriptors."""
    for number, (address, data) in enumerate(program.segments):
        words = np.frombuffer(data[: len(data) // 4 * 4], np.uint32).tolist()
        is_code = words and words[0] >> 28 & 7 == 1 and words[0] & 0xFFFF in (0x080, 0x200)
        if address >= program.first_block or not is_code:
            continue
        at, last = 0, False
        while not last:
            head = words[at]
            last = bool(head >> 31)
            at += 1 + (head >> 16 & 0xFFF if head >> 28 & 7 == 1 else 0)
        while at < len(words):
            dims = words[at] >> 24 & 15
            yield number, at, "base", words[at]
            for k in range(dims):
                yield number, at + 1 + 2 * k, "count", words[at + 1 + 2 * k]
                yield number, at + 2 + 2 * k, "stride", words[at + 2 + 2 * k]
            at += 1 + 2 * dims


def every_word(program: Program) -> Iterator[tuple[int, int, int]]:
    """(segment, index, word) of all commands and descriptors of a program."""
    for number, (address, data) in enumerate(program.segments):
        words = np.frombuffer(data[: len(data) // 4 * 4], np.uint32).tolist()
        is_code = words and words[0] >> 28 & 7 == 1 and words[0] & 0xFFFF in (0x080, 0x200)
        if address < program.first_block and not is_code:
            continue
        at, last = 0, False
        while not last:
            head = words[at]
            last = bool(head >> 31) or head >> 28 & 7 == 7
            at += 1 + (head >> 16 & 0xFFF if head >> 28 & 7 == 1 else 0)
        end = at if address >= program.first_block else len(words)
        yield from ((number, k, words[k]) for k in range(end))


@pytest.mark.sampled(6)
@pytest.mark.parametrize("make", PROGRAMS)
@pytest.mark.parametrize("kind", ["base", "count", "stride"])
def test_every_harmful_place_count_or_stride_in_a_slice_is_reported(make, kind: str) -> None:  # type: ignore[no-untyped-def]
    program, inputs = make()
    good, _ = run(program, inputs, list(program.segments))
    draw = random.Random(7)
    harmful = 0
    for segment, index, what, word in descriptors(program):
        if what != kind:
            continue
        for _ in range(3):
            if kind != "count":
                moved = (word + draw.choice(SHIFTS)) & 0xFFFFFF
                new = word & ~0xFFFFFF | moved
            else:
                new = word + draw.choice((-1, 1, 2))
            results, findings = run(program, inputs, changed(program, segment, index, new))
            assert results == good or findings, f"segment {segment}, word {index}: {new:#x}"
            harmful += results != good
    assert harmful >= 10


def test_what_is_loaded_and_not_used_is_told() -> None:
    builder = ProgramBuilder.new()
    a, b = builder.lram.tensor("a", "int8", (320,)), builder.lram.tensor("b", "int8", (64,))
    builder.load("a", a)
    builder.run(by_hand.clamp(dense("a", a.address, "int8", (64,)), b, -5, 5))
    builder.store("b", b)
    program = builder.build()
    inputs = {"a": numbers(0, (320,), "int8")}
    assert run(program, inputs, list(program.segments))[1] == ()
    _, findings = run(program, inputs, list(program.segments), unread=True)
    (finding,) = findings
    assert (finding.kind, finding.at.unit, finding.tensor) == ("npu-unread", "XR", "a")
    assert finding.length == 256
    assert "what it writes is never read" in str(finding)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("make", PROGRAMS)
def test_every_harmful_flipped_bit_of_a_program_is_reported(make) -> None:  # type: ignore[no-untyped-def]
    program, inputs = make()
    good, _ = run(program, inputs, list(program.segments))
    draw = random.Random(3)
    harmful = 0
    for segment, index, word in every_word(program):
        new = word ^ 1 << draw.randrange(32)
        results, findings = run(program, inputs, changed(program, segment, index, new))
        assert results == good or findings, f"segment {segment}, word {index}: {new:#x}"
        harmful += results != good
    assert harmful >= 100


def altered(task: SliceTask, draw: random.Random) -> SliceTask:
    """A task with another place, or another count or stride of one loop of one agent."""
    at = draw.randrange(len(task.ndls))
    ndl = task.ndls[at]
    section = draw.choice([s for s in ("low", "high", "special", "") if not s or getattr(ndl, s)])
    if section:
        dims = list(getattr(ndl, section))
        k = draw.randrange(len(dims))
        count = draw.choice((dims[k].count + 1, dims[k].count - 1, dims[k].count // 2))
        stride = dims[k].stride + draw.choice((1, 4, 64, -1))
        dims[k] = replace(dims[k], **draw.choice(({"count": count}, {"stride": stride})))
        ndl = replace(ndl, **{section: tuple(dims)})
    else:
        ndl = replace(ndl, base_address=ndl.base_address + draw.choice((1, 4, 64)))
    return replace(task, ndls=(*task.ndls[:at], ndl, *task.ndls[at + 1 :]))


@pytest.mark.sampled
@pytest.mark.parametrize("make", PROGRAMS)
def test_every_harmful_change_of_a_task_before_it_is_encoded_is_reported(make, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    program, inputs = make()
    good, _ = run(program, inputs, list(program.segments))
    count = sum(len(notes) for notes in program.notes.slice_programs.values())
    draw, run_tasks = random.Random(7), ProgramBuilder.run
    harmful = 0
    for _ in range(90):
        left = draw.randrange(count)

        def damaged(self: ProgramBuilder, *programs: list[SliceTask], source: str = "") -> None:
            nonlocal left
            changed_programs = []
            for tasks in programs:
                at, left = left, left - len(tasks)
                new = [altered(t, draw) if k == at else t for k, t in enumerate(tasks)]
                changed_programs.append(new)
            run_tasks(self, *changed_programs, source=source)

        monkeypatch.setattr(ProgramBuilder, "run", damaged)
        try:
            mutant, _ = make()
        except EncodeError:
            continue
        results, findings = run(mutant, inputs, list(mutant.segments))
        assert results == good or findings
        harmful += results != good
    assert harmful >= 10


def test_a_position_that_is_taken_from_bytes_nobody_wrote_is_reported() -> None:
    builder = ProgramBuilder.new()
    x = builder.lram.tensor("x", "int8", (3, 9, 5))
    y = builder.lram.tensor("y", "int32", (3, 5))
    builder.run(by_hand.reduce("argmax", x, y, 1), source="argmax_1")
    builder.store("y", y)
    program = builder.build()
    _, (finding,) = run(program, {}, list(program.segments))
    assert (finding.kind, finding.at.agent, finding.tensor) == ("npu-uninitialised", "DEDR", "x")


def test_a_fault_names_the_task_that_it_ended() -> None:
    def more_steps(task: SliceTask) -> SliceTask:
        ndls = [
            replace(ndl, high=(replace(ndl.high[0], count=2), *ndl.high[1:]))
            if ndl.agent in ("CEPR", "CEPW")
            else ndl
            for ndl in task.ndls
        ]
        return replace(task, ndls=tuple(ndls))

    def faults_of(steps: bool, place: int) -> tuple[Finding, ...]:
        builder = ProgramBuilder.new()
        x, y, z = (builder.lram.tensor(name, "int8", (200,)) for name in "xyz")
        builder.load("x", x)
        (first,), (second,) = by_hand.clamp(x, y, -9, 9), by_hand.clamp(y, z, -5, 5)
        builder.run([first, more_steps(second) if steps else second], source="clamp_1")
        builder.store("z", replace(z, address=z.address + place))
        program = builder.build()
        return run(program, {"x": numbers(0, x.shape, "int8")}, list(program.segments))[1]

    (steps,) = faults_of(True, 0)
    assert (steps.kind, steps.at.task, steps.at.unit) == ("npu-count-mismatch", 2, "SLC0")
    assert (steps.tensor, steps.at.operation) == ("y", "clamp of z (clamp_1)")
    (place,) = faults_of(False, 0x80000)
    assert (place.kind, place.at.task, place.at.unit, place.at.agent) == (
        "npu-out-of-range",
        4,
        "XW",
        "DOLR",
    )
    assert (place.tensor, place.at.operation) == ("z", "store z")
