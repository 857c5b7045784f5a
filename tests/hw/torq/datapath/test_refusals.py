"""Malformed slice tasks and unknown fields: refused with the reason, never a crash or a hang."""

import random
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hw.torq.datapath.banks import check_banks
from assay.hw.torq.datapath.descriptors import Descriptor, Loop
from assay.hw.torq.datapath.interpreter import Interpreter, count
from assay.hw.torq.datapath.plan import plan_task
from assay.hw.torq.datapath.refusals import _ALWAYS
from assay.hw.torq.device.device import Device
from assay.hw.torq.facts.registers import Image, registers
from assay.hw.torq.faults import AccessFault, CountMismatch, Misaligned, NotModelled, TorqFault
from assay.hw.torq.lram import Lram
from assay.hw.torq.words.commands import NssProgram, NssTask, SliceProgram, SliceTask
from assay.hw.torq.words.encode.programs import encode, memory_image
from tests.support.torq_golden import CONVOLVE, MULTIPLY
from tests.support.torq_run import CODE, load, register_words
from tests.support.torq_tasks import conv, depthwise, halving_conv, shifting, streaming

PLACES = {"source": 0x2000, "weights": 0x4000, "bias": 0x5000, "target": 0x6000}


def task() -> SliceTask:
    return conv(channels=2, outputs=4, height=8, width=8, **PLACES)  # type: ignore[arg-type]


def image_of(lram: Lram) -> Image:
    return Image(registers("slice"), register_words(lram))


def attempt(lram: Lram, words: dict[int, int]) -> None:
    plan = plan_task(words, lram)
    count(plan)
    Interpreter().run(plan, lram)


@pytest.mark.parametrize("name", _ALWAYS)
def test_a_field_nobody_knows_is_refused_by_its_name(name: str) -> None:
    lram = load(task(), {})
    image = image_of(lram)
    image[name] = 1
    with pytest.raises(NotModelled, match=rf"^{name.replace('.', '[.]')}.* is 0x1: its effect"):
        attempt(lram, image.words)


CHANGES = [
    ("CE.CTRL.cepw_t_size", 2, CountMismatch, "DEDR and CEPR disagree: DEDR makes 18 ALU cycles"),
    ("CE.CTRL.cepw_n_size", 17, CountMismatch, "CEPR 17"),
    ("CE.CTRL.cewr_n_size", 2, CountMismatch, "DEWR and CEPR disagree: DEWR makes 36"),
    ("DE_ACT.m_size", 3, CountMismatch, "DEBR and ACPR disagree: DEBR makes 12"),
    ("CE.AC_P.cepr_s1_size", 15, CountMismatch, "DEBR and ACPR disagree"),
    ("CE.CTRL.cedw_s_size", 0, CountMismatch, "which do not fill words of 4 segments"),
    ("DE_D_R.w_size", 73, TorqFault, "do not fit into a segment of 72 bytes"),
    ("DE_D_R.simd_size", 3, NotModelled, "there are 1, 2 or 4 groups"),
    ("CE.COMM.cedw_dis", 1, TorqFault, "leaves its words to no one"),
    ("CE.COMM.ceww_dis", 2, TorqFault, "takes no weight words, but START starts DEWR"),
    ("CE.AL_MODE.op_mode", 3, NotModelled, "no operation is known by this code"),
    ("CE.AL_MODE.op_mode", 1, NotModelled, "products of integers"),
    ("CE.AL_MODE.cepx_out_en", 0, TorqFault, "takes sums that CE.AL_MODE.cepx_out_en keeps"),
    ("CE.CG_CTRL.alu_disable", 3, NotModelled, "a part of the ALU off"),
    ("DE_ACT.act_mode", 12, NotModelled, "no mode is known"),
    ("DE_ACT.bbus_byp", 1, TorqFault, "DEBR: runs, but"),
    ("DE_ACT.q_size", 3, NotModelled, "1, 2 or 4 bytes"),
    ("DE_Q_W.fill_en", 1, TorqFault, "only then"),
    ("DE_Q_W.w_size", 17, TorqFault, "a vector has 16 results of 1"),
    ("DE_Q_W.x_size", 0, TorqFault, "a plane of 0 by 1 pixels has none"),
    ("DE_D_R.desc", 0x5102, AccessFault, "no multiple of 4"),
    ("DE_D_R.desc", 0x80000, AccessFault, "not inside of LRAM"),
    ("DE_Q_W.desc", 0x2000, TorqFault, "is no header of a descriptor"),
    ("CE.CTRL_C1.aldw_l_size", 2, NotModelled, "not modelled"),
    ("CE.AL_MODE_C1.op_mode", 2, NotModelled, "the second set of operations"),
    ("CE.CG_CTRL.alu_disable", 0xFFFF, TorqFault, "START.act starts what CE.CG_CTRL.alu_disable"),
    ("CTRL.act_dis", 0xF, TorqFault, "START.ce0 starts what CTRL.act_dis turns off"),
    ("START.qw", 0, CountMismatch, "START does not start DEQW"),
    ("START.act", 0, CountMismatch, "START does not start the ALU"),
]


@pytest.mark.parametrize(("name", "value", "error", "message"), CHANGES)
def test_what_does_not_fit_together_is_named(
    name: str, value: int, error: type[TorqFault], message: str
) -> None:
    lram = load(task(), {})
    image = image_of(lram)
    image[name] = value
    with pytest.raises(error, match=message):
        attempt(lram, image.words)


FLOATS = streaming(
    source=0x2000,
    target=0x6000,
    size=4,
    count=8,
    words=1,
    result=4,
    alu_op0_mode="DBYP",
    alu_op1_mode="BOR",
    alu_d_unsigned=7,
    alu_format="BF",
    act_format="BF",
    act_sum_bits=32,
    act_clip_min=-0x800000,
    act_clip_max=0x7F800000,
)
ADDED = streaming(
    source=0x2000, target=0x6000, size=1, count=64, words=2, result=1, no_p_clear=True
)
COMPARED = streaming(
    source=0x2000,
    target=0x6000,
    size=1,
    count=64,
    words=1,
    result=1,
    alu_op0_mode="DBYP",
    alu_op1_mode="MAX",
    no_p_clear=True,
)


@pytest.mark.parametrize(
    ("kept", "message"),
    [(ADDED, "sums of several blocks are not kept"), (COMPARED, "only sums are modelled")],
)
def test_what_is_kept_are_sums_of_one_block(kept: SliceTask, message: str) -> None:
    lram = load(replace(kept, alu_op0_mode="DBYP"), {})
    with pytest.raises(NotModelled, match=f"CE.AL_MODE.cepx_clr_en.*{message}"):
        attempt(lram, image_of(lram).words)


SHIFTS = shifting(source=0x2000, amounts=0x3000, target=0x6000, size=2, words=2, act_mode="ASR")


@pytest.mark.parametrize(
    ("of", "name", "value"),
    [
        (FLOATS, "DE_ACT.tbl_en", 1),
        (FLOATS, "DE_ACT.act_sh", 3),
        (FLOATS, "DE_ACT.qzero_pt", 1),
        (FLOATS, "DE_ACT.sum_psh", 1),
        (FLOATS, "DE_ACT.rnd_type", 1),
        (SHIFTS, "DE_ACT.rnd_type", 1),
        (SHIFTS, "DE_ACT.rnd_type", 2),
        (SHIFTS, "DE_ACT.tbl_en", 1),
    ],
)
def test_what_one_mode_of_activation_lacks_is_refused_by_its_field(
    of: SliceTask, name: str, value: int
) -> None:
    lram = load(of, {})
    image = image_of(lram)
    attempt(lram, image.words)
    image[name] = value
    with pytest.raises(NotModelled, match=f"^{name}"):
        attempt(lram, image.words)


@pytest.mark.parametrize("bias", [0x5001, 0x5004, 0x5006])
def test_biases_that_would_lie_in_two_banks_are_refused(bias: int) -> None:
    crossing = conv(channels=2, outputs=4, height=8, width=8, **(PLACES | {"bias": bias}))  # type: ignore[arg-type]
    lram = load(crossing, {})
    with pytest.raises(Misaligned, match=rf"DEBR: reads 8 bytes at a time from {bias:#x} in steps"):
        attempt(lram, register_words(lram))


@given(
    st.sampled_from([4, 8, 16, 32]),
    st.integers(0x5000, 0x5010),
    st.lists(st.tuples(st.integers(1, 12), st.integers(-9, 9)), min_size=1, max_size=3),
)
def test_each_transfer_of_biases_starts_a_bank_or_stays_inside_of_one(
    size: int, base: int, loops: list[tuple[int, int]]
) -> None:
    starts, moved, nest = [base], 0, []
    for steps, stride in loops:
        nest.append(Loop(count=steps, delta=stride - moved, tag=0))
        moved += (steps - 1) * stride
        starts = [start + k * stride for k in range(steps) for start in starts]
    wrong = any(start % 8 and start // 8 != (start + size - 1) // 8 for start in starts)
    image = Image(registers("slice"), {})
    image["DE_B_R.w_size"] = size % 32
    descriptors = {"DEBR": (Descriptor(address=0, base=base, loops=tuple(nest)),)}
    with pytest.raises(Misaligned) if wrong else nullcontext():
        check_banks(image, descriptors)


@pytest.mark.parametrize(
    ("agent", "field"),
    [("DEDR", "DE_D_R"), ("DEWR", "DE_W_R"), ("DEBR", "DE_B_R"), ("DEQW", "DE_Q_W")],
)
def test_an_agent_that_leaves_lram_is_named_with_the_address(agent: str, field: str) -> None:
    lram = load(task(), {})
    image = image_of(lram)
    at = image[f"{field}.desc"]
    header = lram.word(at) & 0xFF000000 | 0x90000
    lram.write(at, header.to_bytes(4, "little"))
    with pytest.raises(AccessFault, match=rf"{agent}: bytes 0x90\d+ to .*not inside of LRAM"):
        attempt(lram, image.words)


def test_a_task_that_would_run_for_ever_is_refused_at_once() -> None:
    device = Device(cycle_limit=10_000)
    endless = streaming(
        source=0x2000,
        target=0x4000,
        size=1,
        count=16,
        words=1 << 20,
        result=1,
        alu_op0_mode="DBYP",
        alu_op1_mode="BOR",
    )
    program = SliceProgram(tasks=(endless,), address=0x600)
    starter = NssProgram(
        tasks=(NssTask(slc_start=(True, False), slc_wait=(True, False), slc_cfg_addr=(0x600, 0)),)
    )
    for part in (program, starter):
        for address, word in memory_image(encode(part)).items():
            device.write32(address, word)
    device.write32(0x1F0004, 1 << 24)
    device.write32(0x1F0010, 1)
    with pytest.raises(CountMismatch, match=r"SLC0: a task would take 10485\d\d cycles"):
        device.run()


def tasks() -> list[SliceProgram]:
    every = [
        task(),
        depthwise(channels=4, height=6, width=9, **PLACES),  # type: ignore[arg-type]
        halving_conv(channels=1, outputs=4, height=4, width=5, size=7, **PLACES),  # type: ignore[arg-type]
        shifting(source=0x2000, amounts=0x3000, target=0x6000, size=2, words=2, act_mode="ASR"),
        streaming(
            source=0x2000,
            target=0x6000,
            size=2,
            count=32,
            words=2,
            result=2,
            operands=2,
            apart=0x100,
            alu_op0_mode="DBYP",
            alu_op1_mode="MAX",
            alu_format="BF",
            alu_d_unsigned=5,
        ),
    ]
    return [MULTIPLY, CONVOLVE, *(SliceProgram(tasks=(t,), address=CODE) for t in every)]


def damage(seed: int, rounds: int) -> None:
    """Flips bits of programs and runs them: a TorqFault is fine, anything else is not."""
    random_bits = random.Random(seed)
    for _ in range(rounds):
        program = random_bits.choice(tasks())
        device = Device(cycle_limit=20_000, word_limit=4000, record_accesses=True)
        words = memory_image(encode(program))
        starter = NssProgram(
            tasks=(
                NssTask(
                    slc_start=(True, False),
                    slc_wait=(True, False),
                    slc_cfg_addr=(program.address, 0),
                ),
            )
        )
        words |= memory_image(encode(starter))
        for address, word in words.items():
            device.write32(address, word)
        for _ in range(random_bits.choice([1, 1, 2, 8])):
            address = random_bits.choice(list(words))
            device.write32(address, device.read32(address) ^ 1 << random_bits.randrange(32))
        device.write32(0x1F0004, 1 << 24)
        device.write32(0x1FC004, 1)
        device.write32(0x1F0008, 1)
        device.write32(0x1F0010, 1)
        try:
            device.wait_irq()
        except TorqFault as fault:
            assert str(fault)


def test_damaged_programs_are_run_or_refused() -> None:
    damage(1, 150)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_thousands_of_damaged_programs_are_run_or_refused(seed: int) -> None:
    damage(seed, 400)


def test_results_of_one_task_do_not_leak_into_the_next() -> None:
    lram = load(task(), {})
    image = image_of(lram)
    plan = plan_task(image.words, lram)
    lram.bytes[0x2000:0x6000] = np.random.default_rng(0).integers(0, 256, 0x4000)
    interpreter = Interpreter()
    first = lram.bytes.copy()
    interpreter.run(plan, lram)
    again = Lram(len(first))
    again.bytes[:] = first
    interpreter.run(plan, again)
    assert np.array_equal(lram.bytes, again.bytes)
