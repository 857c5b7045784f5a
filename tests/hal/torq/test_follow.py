from dataclasses import replace

import pytest

from assay.hal.torq.follow import Followed, follow
from assay.hal.torq.format import Alloc, BufferType, Dealloc, Executable, HostCopy, Segment
from assay.hal.torq.lifetimes import lives, over_budget, peak
from assay.hw.torq.words.commands import NssProgram, NssTask
from tests.support.torq_executables import BLOCK, CODE, image, load, multiply


def with_program(program: NssProgram, *more: Segment) -> Executable:
    block = Segment(address=BLOCK, size=640, data=image(program, 0, 640))
    kept = [segment for segment in multiply().segments if segment.address != BLOCK]
    return replace(multiply(), segments=(*kept, block, *more))


def after(found: Followed) -> list[tuple[str, tuple[int, ...]]]:
    return [(job.unit, job.after) for job in found.jobs]


def test_jobs_are_after_what_was_waited_for() -> None:
    assert after(follow(multiply())) == [
        ("HOST", ()),
        ("XR", (0,)),
        ("XR", (1,)),
        ("SLC0", (2,)),
        ("XW", (3,)),
    ]


def test_units_that_run_at_the_same_time_do_not_follow_each_other() -> None:
    start = NssTask(slc_start=(True, True), slc_cfg_addr=(0x5A00, 0x5A00))
    program = NssProgram(
        tasks=(
            load(CODE, 0x5A00, 0x200),
            start,
            load(0x101000, 0x1000, 136),
            NssTask(slc_wait=(True, False)),
            NssTask(slc_wait=(False, True)),
            load(0x101000, 0x1000, 136),
        )
    )
    assert after(follow(with_program(program)))[2:] == [
        ("SLC0", (1,)),
        ("SLC1", (1,)),
        ("XR", (1,)),
        ("XR", (2, 3, 4)),
    ]


def test_a_program_that_loads_its_own_rest_is_followed_through_it() -> None:
    rest = 0x110000
    program = NssProgram(
        tasks=(load(rest, 0x280, 640), NssTask(address=0x280), load(CODE, 0x5A00, 512))
    )
    words = image(program, 0, 0x500)
    first = Segment(address=BLOCK, size=640, data=words[:640])
    second = Segment(address=rest, size=640, data=words[640:])
    executable = replace(multiply(), segments=(first, second))
    (found,) = follow(executable).programs
    assert (found.problem, found.tasks) == ("", 3)
    (found,) = follow(replace(executable, segments=(first,))).programs
    assert "LRAM 0x00280: what is there is only known when the program runs" in found.problem


@pytest.mark.parametrize("flipped", [0x100E0080, 0xE000011F])
def test_slice_code_that_is_damaged_is_reported_where_it_is(flipped: int) -> None:
    data = bytes(multiply().segments[0].data or b"")
    damaged = data.replace(flipped.to_bytes(4, "little"), (0).to_bytes(4, "little"))
    segments = (replace(multiply().segments[0], data=damaged), multiply().segments[1])
    jobs = follow(replace(multiply(), segments=segments)).jobs
    assert "not followed: LRAM 0x05a" in jobs[3].what


def test_a_stream_that_never_ends_is_given_up() -> None:
    forever = NssProgram(tasks=(NssTask(),))
    block = image(forever, 0, 640)
    looped = block[:16] + (0x60000000).to_bytes(4, "little") + (0x70000000).to_bytes(4, "little")
    executable = replace(
        multiply(), segments=(Segment(address=BLOCK, size=640, data=looped.ljust(640, b"\0")),)
    )
    (found,) = follow(executable).programs
    assert "no end after" in found.problem


def test_a_dma_that_would_hang_ends_what_can_be_followed() -> None:
    data = bytearray(multiply().segments[1].data or b"")
    data[12:16] = (3).to_bytes(4, "little")
    segments = (multiply().segments[0], replace(multiply().segments[1], data=bytes(data)))
    (found,) = follow(replace(multiply(), segments=segments)).programs
    assert "moves 512 bytes in XRAM and 3 in LRAM" in found.problem


def test_following_a_file_made_to_take_for_ever_is_given_up() -> None:
    endless = multiply().actions[1:4] * 100_000
    found = follow(replace(multiply(), actions=endless), budget=20_000)
    assert any("more than is followed" in program.problem for program in found.programs)
    assert len(found.jobs) < 1000


def test_a_strided_copy_brings_its_elements() -> None:
    copies = [
        HostCopy(
            source=BufferType.XRAM,
            target=BufferType.LRAM,
            source_address=BLOCK + half,
            target_address=half,
            source_strides=(4,),
            target_strides=(4,),
            shape=(80,),
            element_bytes=4,
        )
        for half in (0, 320)
    ]
    actions = [a for a in multiply().actions if not isinstance(a, HostCopy)]
    executable = replace(multiply(), actions=(*copies, *actions))
    assert follow(executable).programs[0].problem == ""


def test_lifetimes_give_the_fullest_moment() -> None:
    def alloc(number: int, address: int, size: int) -> Alloc:
        return Alloc(number=number, address=address, size=size, buffer_type=BufferType.LRAM)

    executable = replace(
        multiply(),
        actions=(alloc(1, 0, 100), alloc(2, 200, 50), Dealloc(number=1), alloc(3, 0, 60)),
    )
    found = lives(executable)
    assert [(life.number, life.begin, life.end) for life in found] == [
        (1, 0, 2),
        (2, 1, 4),
        (3, 3, 4),
    ]
    assert peak(found, "LRAM") == (150, 1)
    assert peak(found, "XRAM") == (0, 0)


def test_buffers_that_need_more_lram_than_there_is_are_named_with_the_moment() -> None:
    def alloc(number: int, address: int, size: int) -> Alloc:
        return Alloc(number=number, address=address, size=size, buffer_type=BufferType.LRAM)

    actions = (alloc(1, 0, 600), alloc(2, 400, 624), Dealloc(number=1), alloc(3, 0, 400))
    found = over_budget(replace(multiply(), actions=actions), 1024)
    assert found is not None
    assert str(found).splitlines()[:2] == [
        "HOST: error: from action 1 on, buffers 1, 2 need 1224 bytes of LRAM at once; there are "
        "1024 [npu-lram-budget]",
        "  memory: LRAM 0x0-0x400 (buffer 2)",
    ]
    fits = (actions[0], Dealloc(number=1), *actions[1:])
    assert over_budget(replace(multiply(), actions=fits), 1024) is None
