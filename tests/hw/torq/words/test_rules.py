"""Every rule of the hardware refuses what breaks it, by name: task, agent, dimension, rule."""

from dataclasses import replace

import pytest

from assay.compiler.torq.slice.held import held
from assay.hw.torq.facts.registers import registers
from assay.hw.torq.words.commands import Dim, Ndl, NssProgram, NssTask, SliceProgram, SliceTask
from assay.hw.torq.words.encode.programs import encode, memory_image
from assay.hw.torq.words.errors import EncodeError
from tests.support.torq_golden import B1, B4, B8, CONVOLVE, LOAD_RUN_STORE, MULTIPLY, ONCE, dim

REF = Ndl(agent="REF")


def slice_task(*ndls: Ndl, **config: object) -> SliceTask:
    return replace(SliceTask(ndls=(REF, *ndls)), **config)  # type: ignore[arg-type]


def refused(task: SliceTask | NssTask) -> str:
    program: SliceProgram | NssProgram
    if isinstance(task, SliceTask):
        program = SliceProgram(tasks=(SliceTask(), task), address=0x400)
    else:
        program = NssProgram(tasks=(NssTask(), task))
    with pytest.raises(EncodeError) as caught:
        encode(program)
    assert caught.value.task == 1
    return str(caught.value)


def memory(agent: str, *low: Dim, **more: object) -> Ndl:
    return replace(Ndl(agent=agent, low=low, high=(ONCE,)), **more)  # type: ignore[arg-type]


BIAS = memory("DEBR", B4, dim("D", 2, 4))


@pytest.mark.parametrize(
    ("ndl", "message"),
    [
        (memory("DEDR", Dim(count=3, stride=1, tag="B")), "DEDR low: dimension B is 3; 1, 2, 4"),
        (memory("DEDR", B1, dim("D", 73, 1)), "DEDR low: a transfer of 73 bytes; the bus takes 72"),
        (memory("DEDR", B1, dim("D", 8, 2)), "DEDR low: dimension D must be contiguous"),
        (memory("DEDR", B1, dim("D", 8, 1), dim("G", 3, 64)), "dimension G is 3; 1, 2, 4"),
        (
            memory("DEDR", Dim(count=2, stride=1, tag="B"), dim("D", 8, 2), dim("G", 2, 63)),
            "stride 63 of dimension G is no multiple of B, 2",
        ),
        (memory("DEDR", B1, dim("D", 8, 1), dim("G", 2, 1 << 23)), "signed 24-bit number"),
        (memory("DEDR", B1, dim("D", 4, 1), dim("G", 2, 9), dim("G", 2, 99)), r"low\[3\]: low dim"),
        (memory("DEDR", B1, dim("D", 8, 1), B1), r"low\[2\]: only the first low dimension"),
        (memory("DEDR", Dim(count=4, stride=2, tag="B")), r"low\[0\]: dimension B has stride 1"),
        (memory("DEDR", Dim(count=4, stride=1, tag="b")), "addressed in bytes"),
        (memory("DEDR", Dim(count=0, stride=1, tag="B")), r"low\[0\]: has 0 steps"),
        (memory("DEDR", B1, set=2), "DEDR: has no set 2"),
        (memory("DEDR", B1, sync_mode="Q"), "DEDR sync_mode: is 'Q'; R, P or nothing"),
        (memory("DEDR", B1, sync_nhd=2), "DEDR sync_nhd: is 2; there are 1 high dimensions"),
        (memory("DEDR", B1, high=()), "DEDR: has 0 high dimensions; 1 to 15"),
        (memory("DEDR", B1, high=(ONCE,) * 16), "has 16 high dimensions; 1 to 15"),
        (memory("DEDR", B1, high=(dim("a", 4, 1),)), r"DEDR high\[0\]: tag 'a' is none; tags are"),
        (memory("DEDR", B1, high=(dim("A", 0),)), r"high\[0\]: has 0 steps"),
        (memory("DEDR", B1, high=(dim("A", 2, 1 << 23),)), "signed 24-bit number is possible"),
        (memory("DEDR", B1, high=(Dim(count=1, pad=16),)), r"high\[0\]: pad 16 is more than 15"),
        (memory("DEDR", B1, base_address=1 << 24), "base address 0x1000000 does not fit 24 bits"),
        (memory("DEDR", B1, descriptor_address=6), "descriptor address 0x6 must be"),
        (memory("DEDR", B1, dim("D", 8, 1), dim("G", 2, 9), set=1), "DEDR1 low: cannot have a dim"),
        (memory("DEWR", B1, dim("D", 33, 1)), "DEWR low: a transfer of 33 bytes; the bus takes 32"),
        (memory("DEWR", B1, set=1), "DEWR: has no set 1"),
        (memory("DEBR", B4, dim("D", 3, 4)), "transfer in bytes is 12; 4, 8, 16, 32"),
        (memory("DEBR", B4, dim("D", 2, 4), sync_mode="P"), "sync mode of DEBR is R or none"),
        (BIAS, "ACBR: reads 0 bytes at once .* and DEBR brings 8"),
        (memory("DEQW", B1, dim("D", 65, 1)), "DEQW low: a transfer of 65 bytes; the bus takes 64"),
        (memory("DEQW", B1, dim("D", 3, 9)), "goes to one address, or in two halves"),
        (memory("DEQW", B1, dim("D", 9, 1), dim("G", 2, 99)), "split in halves is 18; 16, 32, 64"),
        (
            memory("DEQW", B1, dim("D", 8, 1), dim("G", 2, 99), special=(dim("X", 4, 1),)),
            "split transfer cannot have special dimensions",
        ),
        (memory("DEQW", B1, special=(dim("Z", 4, 1),)), r"special\[0\]: special dim"),
        (memory("DEQW", B1, special=(dim("Y", 2, 9), dim("X", 4, 1))), r"special\[1\]: special"),
        (memory("DEQW", B1, special=(B4, dim("X", 4, 4))), "special dimension B is 4; 1, 2"),
        (memory("DEQW", B1, special=(dim("X", 4, 3),)), "X is contiguous pixels, or even and odd"),
        (memory("DEQW", B1, special=(dim("X", 1 << 16, 1),)), "X has 65536 steps together"),
        (
            memory("DEQW", B1, special=(dim("Y", 3, 9), dim("Y", 3, 99))),
            "of two Y dimensions the first has 2 steps",
        ),
        (memory("DEQW", B1, special=(dim("Y", 3, 1 << 17),)), "signed 18-bit number"),
        (Ndl(agent="DIXR"), "DIXR: is no agent of a slice; there are REF, DEDR"),
        (Ndl(agent="REF"), "REF: is there twice"),
    ],
)
def test_memory_agents_refuse_transfers_they_cannot_make(ndl: Ndl, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(refused(slice_task(ndl)))


@pytest.mark.parametrize(
    ("ndl", "message"),
    [
        (Ndl(agent="CEDR", low=(B1, dim("D", 24, 1))), "CEDR D: I x B x D is 24 bytes; 8, 16"),
        (Ndl(agent="CEDR", low=(B1, dim("D", 64, 3))), "CEDR D: has stride 3; 1, 2, 4, 16, 36"),
        (Ndl(agent="CEDR", low=(B1, dim("D", 64, 1), dim("G", 2))), "CEDR G: has 2 steps; 1, 4, 8"),
        (Ndl(agent="CEDR", low=(B1, dim("D", 64, 1), dim("G", 8))), "G is 512 bytes; 256"),
        (
            Ndl(agent="CEDR", low=(B1, dim("D", 64, 1)), high=(dim("S", 5, 1),)),
            "CEDR S: has 5 steps; 1 to 4",
        ),
        (
            Ndl(agent="CEDR", low=(B1, dim("D", 64, 1)), high=(dim("S", 2, 3),)),
            "CEDR S: has stride 3; 1, 2, 4",
        ),
        (
            Ndl(agent="CEDR", low=(B1, dim("D", 64, 1)), high=(dim("M", 1 << 24), dim("N", 2))),
            r"CEDR N: M x N is 33554432; 1 to 2\^24",
        ),
        (
            Ndl(agent="CEDR", low=(B1, dim("I", 2, 1), dim("D", 32, 1))),
            "I repeats: its stride is 0",
        ),
        (Ndl(agent="CEDR", low=(dim("Q", 2, 1),)), "tag Q means nothing here"),
        (Ndl(agent="CEWR", low=(B1, dim("D", 33, 0))), "CEWR D: has 33 steps; 1 to 32"),
        (Ndl(agent="CEWR", low=(B1, dim("G", 2, 1))), "CEWR G: has 2 steps; 1, 4, 8, 16"),
        (Ndl(agent="CEWR", low=(B1,), high=(dim("S", 3, 2),)), "CEWR S: has stride 2; 1 are"),
        (
            Ndl(agent="CEWR", low=(B1,), high=(Dim(count=3, stride=1, tag="S", pad=-3),)),
            "CEWR S: has pad -3; -2 to 0",
        ),
        (
            Ndl(agent="CEWR", low=(B1,), high=(dim("W", 3), dim("N", 3))),
            "CEWR W: W and M x N share one counter",
        ),
        (Ndl(agent="CEPR", high=(dim("N", 65537),)), r"CEPR N: M x N is 65537; 1 to 2\^16"),
        (Ndl(agent="CEPW", high=(dim("T", (1 << 24) + 1),)), "CEPW T: has 16777217 steps"),
        (Ndl(agent="ACPR", low=(B4, dim("D", 1, 4))), "ACPR D: has 1 steps; 2, 4, 8, 16"),
        (Ndl(agent="ACPR", low=(B4, dim("D", 16, 6))), "ACPR D: has stride 6; a multiple of 4"),
        (
            Ndl(agent="ACPR", low=(B4, dim("D", 16, 4)), high=(dim("S", 17, 64),)),
            "ACPR S: has 17 steps; 1 to 16",
        ),
        (
            Ndl(agent="ACPR", low=(B4, dim("D", 16, 4)), high=(dim("S", 4, 48),)),
            "ACPR S: has stride 48; 16, 32, 64, 128, 256",
        ),
        (Ndl(agent="ACPW", low=(B4, dim("D", 2, 4), dim("G", 4, 8))), "ACPW G: D x G is 8; 16"),
        (Ndl(agent="ACBR", low=(B1,)), "ACBR B: has 1 steps; 2, 4, 8"),
        (Ndl(agent="CEDW", high=(dim("S", 5),)), "CEDW S: has 5 steps; 1 to 4"),
        (Ndl(agent="CEWW", high=(dim("S", 3),)), "CEWW S: has 3 steps; 1, 2, 4"),
        (Ndl(agent="ALDW", low=(dim("D", 128, 1),)), "ALDW D: has 128 steps; 64, 256"),
        (Ndl(agent="CEWR", set=1, low=(B1,)), "CEWR: has no set 1"),
        (Ndl(agent="CEDR", special=(dim("X", 2),)), "only DEQW has special dimensions"),
        (Ndl(agent="ACPR", low=(B4, B8)), r"ACPR low\[1\]: there are two B dimensions"),
    ],
)
def test_register_agents_refuse_loops_that_no_field_holds(ndl: Ndl, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(refused(slice_task(ndl)))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"kernel_left": 4}, "kernel_left: is 4; 0 to 3"),
        ({"kernel_top": -1}, "kernel_top: is -1, less than 0"),
        ({"pad_left": 2}, "pad_left: is 2; it is a flag"),
        ({"kernel_top": 2, "pad_top": 1}, "pad_top: is 1; it is 0 or the kernel's border, 2"),
        ({"stride": 3}, "stride: is 3; 1 and 2 are possible"),
        ({"stride": 1, "stride_offset": 1}, "stride_offset: is 1; it is less than the stride"),
        ({"stride": 2, "kernel_right": 1, "stride_offset": 1}, "does not contain its centre"),
        ({"alu_op0_mode": "ADD"}, "alu_op0_mode: is 'ADD'; there are MUL, DBYP"),
        ({"alu_op1_mode": "DIV"}, "alu_op1_mode: is 'DIV'; there are ACC, SACC"),
        ({"alu_format": "F"}, "alu_format: is 'F'; there are I, BF"),
        ({"act_mode": "EXP"}, "act_mode: is 'EXP'; there are ACT, ABS"),
        ({"act_round_mode": "NTZ"}, "act_round_mode: is 'NTZ'; there are NTP, DBL, NTE, OFF"),
        ({"act_lsh": (0, 8, 8, 8)}, "act_lsh: is 0,8,8,8; possible are 0,0,0,0"),
        ({"act_sum_bits": 24}, "act_sum_bits: is '24'; there are 8, 16, 32, 48"),
        ({"act_rsh": 64}, "act_rsh: is 64; 0 to 63"),
        ({"act_rsh": 60, "act_sh": 1}, "act_rsh: is 64; 0 to 63"),
        ({"act_zero_point": 1 << 15}, "act_zero_point: is 32768; -32768 to 32767"),
        ({"act_clip_max": 1 << 32}, "act_clip_max: is 4294967296"),
        ({"alu_d_unsigned": 256}, "alu_d_unsigned: is 256; 0 to 255"),
        ({"act_disable": 16}, "act_disable: is 16; 0 to 15"),
        ({"pad_value": 1 << 16}, "pad_value: is 65536; -32768 to 65535"),
        ({"table": ()}, "table: has 0 words; 1 to 512"),
        ({"table": (1 << 32,)}, r"table\[0\]: is 4294967296; 32 bits"),
    ],
)
def test_configurations_refuse_values_that_the_hardware_does_not_have(
    config: dict[str, object], message: str
) -> None:
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(refused(slice_task(**config)))


@pytest.mark.parametrize(
    ("low", "formats", "message"),
    [
        ((Dim(count=3, stride=1, tag="b"),), ("SI", "I"), "SI weights of 3 bits cannot become I"),
        ((B1, dim("D", 8, 1)), ("BF", "I"), "BF weights of 8 bits cannot become I"),
        ((B1, dim("D", 8, 1)), ("NF", "BF"), "NF weights of 8 bits cannot become BF; possible"),
        ((B1, dim("D", 17, 1)), ("SI", "BF"), "a transfer of 34 bytes"),
        ((B1,), ("SI", "F"), "wbus_format: is 'F'; I and BF"),
    ],
)
def test_weights_expand_only_between_known_formats(
    low: tuple[Dim, ...], formats: tuple[str, str], message: str
) -> None:
    task = slice_task(memory("DEWR", *low), wmem_format=formats[0], wbus_format=formats[1])
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(refused(task))


def test_padding_refuses_a_plane_wider_than_its_register() -> None:
    plane = Ndl(agent="REF", high=(dim("X", 1 << 16, 1),))
    ndls = (plane, memory("DEDR", B1, dim("D", 66, 1)))
    wide = replace(CONVOLVE.tasks[0], ndls=ndls)
    assert "plane is too large for padding" in refused(wide)
    encode(SliceProgram(tasks=(replace(SliceTask(), ndls=ndls),)))


def test_two_counters_that_share_a_register_must_agree() -> None:
    partials = Ndl(agent="CEPR", high=(dim("N", 9), dim("T", 2)))
    agreeing = replace(partials, agent="CEPW")
    assert encode(SliceProgram(tasks=(slice_task(partials, agreeing),)))
    differing = replace(agreeing, high=(dim("N", 8), dim("T", 2)))
    message = refused(slice_task(partials, differing))
    assert "CEPR: counts N 9, T 2, and CEPW N 8, T 2" in message


READ, FILL = LOAD_RUN_STORE.tasks[0].ndls


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (NssTask(dma_xr_start=True), "DIXR and DILW: a start of XR needs both"),
        (NssTask(ndls=(READ, FILL)), "DIXR: XR is not started"),
        (NssTask(ndls=(Ndl(agent="DEDR"),)), "DEDR: is no agent of an NSS task"),
        (NssTask(ndls=(READ, READ), dma_xr_start=True), "DIXR: is there twice"),
        (
            NssTask(ndls=(replace(READ, high=(dim("", 99, 1),)), FILL), dma_xr_start=True),
            "DIXR: moves 99 bytes and DILW 256: the channel would hang",
        ),
        (
            NssTask(ndls=(replace(READ, high=(dim("", 256, 2),)), FILL), dma_xr_start=True),
            r"DIXR high\[0\]: has stride 2; the innermost loop is contiguous",
        ),
        (
            NssTask(ndls=(replace(READ, low=(B4,)), FILL), dma_xr_start=True),
            "DIXR low: dimension B has 1 or 2 bytes",
        ),
        (
            NssTask(ndls=(READ, replace(FILL, low=(B1, dim("G", 2, 12)))), dma_xr_start=True),
            "DILW low: stride 12 of dimension G must be a multiple of 8",
        ),
        (
            NssTask(ndls=(replace(READ, high=(dim("", 4, 1),) * 5), FILL), dma_xr_start=True),
            "DIXR: has 5 high dimensions; 1 to 4",
        ),
        (NssTask(cdma_start=True), "cdma_len: is 0; 1 to 65535 bytes"),
        (NssTask(css_start_mode=2), "css_start_mode: is 2; 0 and 1"),
        (NssTask(slc_cfg_addr=(2, 0)), r"slc_cfg_addr\[0\]: is 0x2; a multiple of 4"),
        (NssTask(css_mbx=(0, -1, 0, 0)), r"css_mbx\[1\]: is -0x1; 32 bits"),
        (
            NssTask(dma_mtu_xr=16, ndls=(READ, FILL), dma_xr_start=True),
            "dma_mtu_xr: is 16; 0 to 15",
        ),
        (NssTask(dma_xr_attr=0x80), "dma_xr_attr: is 0x80; bits 15:8 and 6:0"),
    ],
)
def test_tasks_of_the_npu_refuse_what_would_hang_or_do_nothing(task: NssTask, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        raise AssertionError(refused(task))


def test_programs_refuse_bad_addresses_and_overlapping_words() -> None:
    with pytest.raises(EncodeError, match="address 0x2 is no multiple of 4"):
        encode(NssProgram(tasks=(NssTask(),), address=2))
    with pytest.raises(EncodeError, match="a program has at least one task"):
        encode(SliceProgram(tasks=()))
    with pytest.raises(EncodeError, match="task 1: address 0x3 is no multiple"):
        encode(NssProgram(tasks=(NssTask(), NssTask(address=3))))
    program = replace(MULTIPLY, address=0x5B00)
    with pytest.raises(EncodeError, match="DEDR: its words at 0x5b00 overlap CDS of task 0"):
        memory_image(encode(program))


def test_descriptors_without_an_address_follow_the_command_words() -> None:
    ndls = tuple(replace(ndl, descriptor_address=None) for ndl in MULTIPLY.tasks[0].ndls)
    program = replace(MULTIPLY, tasks=(replace(MULTIPLY.tasks[0], ndls=ndls),))
    places = [(s.role, s.lram_address) for s in encode(program)]
    assert places == [
        ("CDS", 0x5A00),
        ("DEDR", 0x5AC0),
        ("DEWR", 0x5AD4),
        ("DEBR", 0x5AE8),
        ("DEQW", 0x5AF4),
    ]


def test_a_task_with_an_address_is_linked_from_the_one_before() -> None:
    program = NssProgram(tasks=(NssTask(), NssTask(address=0x280)))
    first, second = encode(program)
    assert (first.words[-1], second.lram_address) == (0x70000280, 0x280)
    assert second.words[-1] >> 31 == 1
    assert first.words[-2] >> 31 == 0


def test_a_second_list_of_results_forgets_how_the_first_went() -> None:
    """As the vendor's encoder has it, but for what it leaves as it was: `split_type`."""
    apart = memory("DEQW", B1, dim("D", 8, 1), dim("G", 2, 99))
    plane = memory("DEQW", B1, dim("D", 16, 1), special=(B1, dim("X", 64, 1)))
    plain = memory("DEQW", B1, dim("D", 16, 1))
    alone = words(slice_task(plain))
    for first in (apart, plane):
        both = words(slice_task(first, plain))
        at = registers("slice").address("DE_Q_W.secv_en")
        mask = ~(1 << 26)  # split_type
        assert both[at] & mask == alone[at] & mask
        assert both[registers("slice").address("DE_Q_W.split_strd")] == 0


def words(task: SliceTask) -> dict[int, int]:
    """What registers hold when a task starts."""
    program = SliceProgram(tasks=(task,), address=0x400)
    return dict(next(held(memory_image(encode(program)), 0x400)))
