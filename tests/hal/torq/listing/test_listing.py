"""Executables and their listings in TorqHW are each other's inverse, whatever the programs are."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from assay.compiler.torq.blocks import Program
from assay.compiler.torq.hw.dialect import hw_context, hw_parsed, hw_text
from assay.compiler.torq.program import ProgramBuilder
from assay.compiler.torq.slice.lram import Lram
from assay.hal.status import StatusError
from assay.hal.torq.format import BufferType, Executable, HostCopy, Segment, StartNss, WaitNss
from assay.hal.torq.listing.module import executable_of, module_of
from assay.hal.torq.pack import pack
from assay.hal.torq.write import write_executable
from assay.hw.torq.words.commands import NssProgram, NssTask, SliceProgram
from assay.hw.torq.words.encode.programs import encode, memory_image
from tests.compiler.graph import models
from tests.compiler.torq import by_hand
from tests.compiler.torq.schedule.running import lowered
from tests.compiler.torq.test_mutants import PROGRAMS
from tests.support import torq_tasks
from tests.support.torq_executables import executables, multiply
from tests.support.torq_golden import CONVOLVE, COPY_AND_CALL, LOAD_RUN_STORE, MULTIPLY
from tests.support.torq_programs import nss_programs, slice_programs

_XRAM = 0x100000


def assert_inverse(executable: Executable) -> str:
    """Words to text to words to text: both words, and both texts, are the same. Gives the text."""
    text = hw_text(module_of(executable))
    again = executable_of(_unverified(text))
    assert again == _plain(executable)
    assert write_executable(again) == write_executable(executable)
    assert hw_text(module_of(again)) == text
    return text


def _unverified(text: str) -> ModuleOp:
    return Parser(hw_context(), text).parse_module()


def _plain(executable: Executable) -> Executable:
    """With bytes in place of views."""
    segments = tuple(
        Segment(address=s.address, size=s.size, data=None if s.data is None else bytes(s.data))
        for s in executable.segments
    )
    values = {name: getattr(executable, name) for name in Executable.__dataclass_fields__}
    return Executable(**{**values, "segments": segments})


def holding(*programs: SliceProgram | NssProgram, start: int) -> Executable:
    """An executable whose one segment is copied to LRAM as these programs' words."""
    words: dict[int, int] = {}
    for program in programs:
        words |= memory_image(encode(program))
    data = bytearray(max(words) + 4)
    for at, word in words.items():
        data[at : at + 4] = word.to_bytes(4, "little")
    copy = HostCopy(
        source=BufferType.XRAM,
        target=BufferType.LRAM,
        source_address=_XRAM,
        target_address=0,
        source_strides=(),
        target_strides=(),
        shape=(),
        element_bytes=len(data),
    )
    return Executable(
        name="drawn",
        segments=(Segment(address=_XRAM, size=len(data), data=bytes(data)),),
        bindings=(),
        actions=(copy, StartNss(address=start), WaitNss()),
    )


def running(program: SliceProgram) -> Executable:
    """An executable that runs a program of a slice."""
    words = memory_image(encode(program))
    place = next(at for at in range(0, 1 << 19, 64) if not set(range(at, at + 64, 4)) & set(words))
    start = NssTask(slc_start=(True, False), slc_wait=(True, False), slc_cfg_addr=(_at(program), 0))
    return holding(program, NssProgram(tasks=(start,), address=place), start=place)


def _at(program: SliceProgram) -> int:
    return program.address


@pytest.mark.parametrize("program", [MULTIPLY, CONVOLVE], ids=["multiply", "convolve"])
def test_known_slice_programs_are_listed_as_tasks(program: SliceProgram) -> None:
    text = assert_inverse(running(program))
    assert text.count("torq_hw.slice_task") == 1 and "act_rsh" in text
    assert hw_text(hw_parsed(text)) == text


@pytest.mark.parametrize("make", [torq_tasks.conv, torq_tasks.depthwise])
def test_slice_tasks_written_by_hand_are_listed(make) -> None:  # type: ignore[no-untyped-def]
    places = {"source": 0x1000, "weights": 0x4000, "bias": 0x5000, "target": 0x6000}
    sizes = {"channels": 8, "height": 8, "width": 8}
    if make is torq_tasks.conv:
        sizes["outputs"] = 8
    text = assert_inverse(running(SliceProgram(tasks=(make(**places, **sizes),), address=0x600)))
    assert "torq_hw.slice_task" in text and "not read" not in text


@pytest.mark.parametrize("program", [LOAD_RUN_STORE, COPY_AND_CALL], ids=["load", "copy"])
def test_known_nss_programs_are_listed_as_starts_and_waits(program: NssProgram) -> None:
    text = assert_inverse(holding(program, start=program.address))
    assert text.count("torq_hw.wait") == len(program.tasks)


def test_a_listing_names_places_in_both_memories() -> None:
    program, _ = PROGRAMS[0]()
    text = assert_inverse(pack(program, "convolution"))
    assert 'DIXR xram[@"x"]' in text and 'to DILW lram[@"x"]' in text
    assert 'agent DEDR lram[@"x"]' in text and 'agent DEQW lram[@"y"]' in text


@pytest.mark.parametrize("make", PROGRAMS)
def test_what_the_compiler_makes_is_listed_whole(make) -> None:  # type: ignore[no-untyped-def]
    program, _ = make()
    text = assert_inverse(pack(program, "program"))
    assert "not read" not in text
    hw_parsed(text)  # verified


@pytest.mark.skipif(not models.IMPORTABLE, reason="converter or IREE are missing")
@pytest.mark.parametrize("name", ["small", pytest.param("mobilenet_v2", marks=pytest.mark.slow)])
def test_a_networks_listing_is_its_executable(name: str, tmp_path: Path) -> None:
    program = lowered(models.imported(name, tmp_path))
    text = assert_inverse(pack(program, name))
    assert "not read" not in text
    assert not re.search(r"(DI|DO|DE|DB|DW)[A-Z]+ [lx]ram\[0x", text), "a region without a name"
    hw_parsed(text)


def test_programs_of_an_npu_with_more_memory_are_listed() -> None:
    program = by_hand_far()
    small, large = pack(program, "far"), pack(program, "far")
    large = replace(large, notes=replace(large.notes, hardware="0:1024:2:coral_v1:nss_v1"))
    assert "what it runs is not known" in assert_inverse(small)
    text = assert_inverse(large)
    assert "torq_hw.slice_task" in text and "not known" not in text


def by_hand_far() -> Program:
    """A limit of 64 numbers behind the LRAM of the usual NPU."""
    builder = ProgramBuilder(lram=Lram(600 << 10, 1 << 20))
    x, y = (builder.lram.tensor(name, "int8", (64,)) for name in "xy")
    builder.load("x", x)
    builder.run(by_hand.clamp(x, y, -5, 5))
    builder.store("y", y)
    return builder.build()


def test_the_listing_of_somebody_elses_executable_is_whole() -> None:
    assert "torq_hw.slice_task" in assert_inverse(multiply())


@settings(max_examples=30, deadline=None)
@given(slice_programs())
def test_any_slice_program_is_its_listing(program: SliceProgram) -> None:
    text = assert_inverse(running(program))
    assert text.count("torq_hw.slice_task") == len(program.tasks)


@settings(max_examples=30, deadline=None)
@given(nss_programs())
def test_any_nss_program_is_its_listing(program: NssProgram) -> None:
    assert_inverse(holding(program, start=program.address))


@settings(max_examples=40, deadline=None)
@given(executables())
def test_any_executable_is_its_listing(executable: Executable) -> None:
    assert_inverse(executable)


def test_what_was_left_out_is_not_made_up() -> None:
    program, _ = PROGRAMS[0]()
    text = hw_text(module_of(pack(program, "convolution")), most=8)
    with pytest.raises(StatusError, match="left out"):
        executable_of(hw_parsed(text))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("torq_hw.wait(%slc0)", "torq_hw.wait(%xr)", "waits for XR, which has ended"),
        ("torq_hw.wait(%slc0)", "torq_hw.wait()", "SLC0 is started, and nothing has waited"),
        ("act_rsh = 16", "act_rsh = 64", "0 to 63"),
        ("act_rsh = 16", "act_shift = 16", "there is no field act_shift"),
        ("agent CEDR low", "agent CEDX low", "is no agent of a slice"),
        ("high [136 by 1] to", "high [137 by 1] to", "the channel would hang"),
        ("DILW lram", "DOLR lram", "moves by DIXR to DOLR"),
        ("slice_start 0", "slice_start 2", "there is no slice 2"),
    ],
)
def test_the_verifier_refuses(old: str, new: str, says: str) -> None:
    text = _twice(hw_text(module_of(multiply())))
    assert old in text
    with pytest.raises(VerifyException, match=says):
        hw_parsed(text.replace(old, new))


def _twice(text: str) -> str:
    """The slice started again behind its end, so that a dropped wait has something behind it."""
    start = next(line for line in text.splitlines() if "slice_start" in line)
    again = start.replace("%slc0", "%slc0_1") + "\n      torq_hw.wait(%slc0_1)\n"
    at = text.index("torq_hw.wait(%slc0)") + len("torq_hw.wait(%slc0)")
    return f"{text[:at]}\n{again}{text[at:]}"


@pytest.mark.parametrize(
    ("old", "new"),
    [("lram[", "ram["), ("torq_hw.wait(", "torq_hw.wait "), ('"', "'"), ("by 1", "by one")],
)
def test_the_parser_refuses(old: str, new: str) -> None:
    text = hw_text(module_of(multiply()))
    with pytest.raises(ParseError):
        hw_parsed(text.replace(old, new))
