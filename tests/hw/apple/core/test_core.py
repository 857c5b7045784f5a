"""The core model on programs whose time can be told by hand."""

from dataclasses import replace

import pytest

from assay.hw.apple.core.model import TimingError, simulate
from assay.hw.apple.core.occupancy import occupancy
from assay.hw.apple.core.result import CAUSES, DispatchTime
from assay.hw.apple.core.sample import Sample, choose_sample
from assay.hw.apple.facts.chips import chip
from assay.hw.apple.facts.instructions import instruction_set
from assay.hw.apple.facts.memory import memory
from assay.hw.facts import SpecError
from tests.support.timing_programs import Op, Program, Touch, straight

M1_MAX = chip("m1-max")
CLASSES = instruction_set("apple7").classes
MEMORY = memory("apple7")
LENGTH = 400
START = MEMORY.dispatch_start + MEMORY.threadgroup_launch


def chains(name: str, count: int, *, length: int = LENGTH) -> Program:
    """`count` independent chains of one class, interleaved."""
    reads = (((i - count,) if i >= count else ()) for i in range(length))
    return Program(blocks=[[Op(name=name, reads=read, flops=1) for read in reads]])


def busy(result: DispatchTime) -> float:
    """Cycles after the first threadgroup has been launched."""
    return result.cycles - START


def on_one_core(program: Program, simdgroups: int, *, key: str = "m1-max") -> DispatchTime:
    """Run so many simdgroups, a threadgroup each, on one core."""
    tape = program.tape([[(0, ())]] * simdgroups)
    sample = Sample(positions=tape.threadgroups, core=simdgroups)
    # As many as the machine's cores would make it one for each core.
    wide = program.tape([[(0, ())]] * simdgroups, grid=(simdgroups * chip(key).cores, 1, 1))
    return simulate(program.code(), wide, chip(key), sample=sample)


@pytest.mark.parametrize("name", ["fadd32", "imul32_imad32", "rsqrt", "simd_sum_f32", "iadd64"])
def test_a_dependent_chain_takes_its_latency_each_time(name: str) -> None:
    cycles = busy(on_one_core(chains(name, 1), 1))
    each = max(CLASSES[name].latency, CLASSES[name].interval)
    assert cycles / LENGTH == pytest.approx(each, rel=0.02)


@pytest.mark.parametrize("name", ["fadd32", "imul32_imad32", "recip", "mma_8x8x8_f32", "bitwise"])
def test_independent_instructions_of_many_simdgroups_take_their_interval(name: str) -> None:
    cycles = busy(on_one_core(chains(name, 8), 32))
    assert cycles / (LENGTH * 32 / 4) == pytest.approx(CLASSES[name].interval, rel=0.03)


def test_a_lone_simdgroup_uses_one_of_four_partitions() -> None:
    alone, four = (on_one_core(chains("fadd32", 8), count) for count in (1, 4))
    assert four.cycles == pytest.approx(alone.cycles, rel=0.05)
    assert alone.causes["idle"] == pytest.approx(
        0.75 * (alone.cycles - MEMORY.dispatch_start), rel=0.01
    )


@pytest.mark.parametrize(
    ("chain_count", "wide", "narrow"),
    [(1, 1.84, 1.56), (2, 1.73, 1.05), (3, 1.37, 1.04), (4, 1.0, 1.0)],
)
def test_fresh_operands_slow_a_full_core_as_measured(
    chain_count: int, wide: float, narrow: float
) -> None:
    for name, each in (("fadd32", wide), ("fadd16", narrow)):
        cycles = busy(on_one_core(chains(name, chain_count), 88))
        assert cycles / (LENGTH * 22) == pytest.approx(each, rel=0.02)


@pytest.mark.parametrize(
    ("mix", "measured"),
    [
        (("imul32_imad32", "fmul32", "fmul32"), 4.0),
        (("imul32_imad32", "fmul32", "fmul32", "fmul32"), 5.2),
        (("exp2_log2", "fmul32", "fmul32", "fmul32"), 5.2),
        (("recip", "fmul32", "fmul32"), 6.04),
        (("exp2_log2", "rsqrt"), 10.85),
        (("rint_trunc", "imul32_imad32"), 8.02),
        (("fadd32", "iadd", "ffma16", "fadd32"), 4.12),
        (("exp2_log2", "recip"), 8.76),
        (("imul32_imad32", "fadd32", "bitwise"), 4.24),
    ],
)
def test_units_work_side_by_side_as_measured(mix: tuple[str, ...], measured: float) -> None:
    """Mixed sequences of the metal-benchmarks tables, cycles of a partition for one of each."""
    repeats = 40
    ops = [
        Op(name=name, reads=(max(0, i * len(mix) + k - 4 * len(mix)),))
        for i in range(repeats)
        for k, name in enumerate(mix)
    ]
    cycles = busy(on_one_core(Program(blocks=[ops]), 32))
    assert cycles / (repeats * 8) == pytest.approx(measured, rel=0.1)


def test_integers_and_floats_issue_together_from_apple9_on() -> None:
    mix = Program(blocks=[[Op(name=("fadd32", "iadd")[i % 2]) for i in range(LENGTH)]])
    older, newer = (busy(on_one_core(mix, 16, key=key)) for key in ("m1-max", "m4-max"))
    assert older == pytest.approx(LENGTH * 4, rel=0.05)
    assert newer < 0.95 * older


def test_half_precision_of_apple10_is_fast_with_many_chains() -> None:
    few, many = (busy(on_one_core(chains("ffma16", n), 40, key="m5-max")) for n in (8, 32))
    assert few / (LENGTH * 10) == pytest.approx(0.95, rel=0.05)
    assert many / (LENGTH * 10) == pytest.approx(0.65, rel=0.05)  # as fast as it can issue


def barrier_program(
    work: tuple[int, int],
) -> tuple[Program, list[list[tuple[int, tuple[Touch, ...]]]]]:
    """Two simdgroups that do different amounts of work, wait for each other, and go on."""
    blocks = [
        [Op(name="fadd32", reads=(0,))] * work[0],
        [Op(name="fadd32", reads=(0,))] * work[1],
        [Op(name="barrier", line=2)],
        [Op(name="fadd32", line=3)],
    ]
    paths = [[(side, ()), (2, ()), (3, ())] for side in (0, 1)]
    return Program(blocks=blocks), paths


def test_a_barrier_opens_when_the_last_has_come() -> None:
    program, paths = barrier_program((400, 10))
    result = simulate(program.code(), program.tape(paths, simdgroups=2), M1_MAX)
    assert result.cycles == pytest.approx(START + 400 + MEMORY.barrier_latency + 2, abs=8)
    (at,) = (site for site, entry in result.by_site.items() if "barrier" in entry)
    assert at.line == 2
    assert result.causes["barrier"] > 80  # a quarter of what the fast one waited, at least


def test_a_barrier_is_passed_by_those_that_are_left() -> None:
    program, paths = barrier_program((50, 10))
    gone = [paths[0], paths[1][:1]]
    result = simulate(program.code(), program.tape(gone, simdgroups=2), M1_MAX)
    assert result.cycles > 50 + MEMORY.barrier_latency


def load_chain(lines: int, *, steps: int = 200) -> DispatchTime:
    """One simdgroup that follows a chain through `lines` lines, over and over."""
    program = Program(blocks=[[Op(name="device_load", reads=(0,))]])
    touches = [(0, (Touch(lines=(1000 + i % lines,), words=1),)) for i in range(steps)]
    return simulate(program.code(), program.tape([touches]), M1_MAX, footprint=lines * 128)


def test_a_chase_through_a_working_set_takes_the_latency_of_the_level_that_holds_it() -> None:
    steps = 4000
    each = {lines: load_chain(lines, steps=steps).cycles / steps for lines in (32, 1024)}
    assert each[32] == pytest.approx(MEMORY.l1_latency, rel=0.05)
    assert each[1024] == pytest.approx(MEMORY.l2_latency, rel=0.05)
    nanoseconds = load_chain(20_000, steps=40_000).cycles / 40_000 / (M1_MAX.clock * 1e-9)
    assert nanoseconds == pytest.approx(MEMORY.slc_latency, rel=0.05)


def stream(key: str, lines: int, *, footprint: int | None = None) -> DispatchTime:
    """Every simdgroup of a large grid reads eight times 512 bytes that nobody else reads."""
    groups = 1 << 18
    program = Program(blocks=[[Op(name="device_load"), Op(name="fadd32", reads=(0,))]])
    count = 96

    def touches(group: int) -> list[tuple[int, tuple[Touch, ...]]]:
        starts = (4 * (group * 8 + i) % lines for i in range(8))
        return [(0, (Touch(lines=tuple(range(s, s + 4)), words=128),)) for s in starts]

    grid = (groups, 1, 1)
    positions = tuple((i * chip(key).cores, 0, 0) for i in range(count))
    tape = program.tape([touches(x) for x, _, _ in positions], grid=grid, positions=positions)
    sample = Sample(positions=positions, core=count)
    return simulate(program.code(), tape, chip(key), sample=sample, footprint=footprint)


@pytest.mark.parametrize("key", ["m1", "m1-max", "m2-ultra", "m4-max", "m5-max"])
def test_a_stream_is_as_fast_as_memory(key: str) -> None:
    result = stream(key, 1 << 40)
    known = chip(key)
    assert result.achieved_bytes["dram"] == pytest.approx(
        known.bandwidth * known.sustained, rel=0.06
    )
    assert result.roofline.bound == "dram"
    assert result.roofline.fraction > 0.9
    assert result.causes["dram"] > 0.6 * result.cycles


def test_a_working_set_that_the_slc_holds_is_read_faster_than_dram() -> None:
    size = 12 << 20
    result = stream("m4-pro", size // 128, footprint=size)
    assert result.bytes["dram"] == 0
    rate = result.achieved_bytes["slc"] / (result.cores * chip("m4-pro").clock)
    assert rate == pytest.approx(memory("apple9").slc_rate, rel=0.1)


def test_cold_caches_make_the_first_run_slower() -> None:
    program = Program(blocks=[[Op(name="device_load"), Op(name="fadd32", reads=(0,))]])
    tape = program.tape([[(0, (Touch(lines=(7,)),))]])
    warm, cold = (simulate(program.code(), tape, M1_MAX, warm=on) for on in (True, False))
    assert (warm.bytes["dram"], cold.bytes["dram"]) == (0, 128)
    assert cold.cycles > warm.cycles + 200


def first_copy(key: str, groups: int) -> DispatchTime:
    """A first run that copies memory, 32 lines in each of so many threadgroups."""
    known = chip(key)
    program = straight([Op(name="device_load"), Op(name="device_store", reads=(0,))])
    resident = occupancy(
        known, registers=8, simdgroups=8, threadgroup_memory=0, threadgroups=groups
    )
    sample = choose_sample((groups, 1, 1), resident, known)

    def events(simdgroup: int) -> list[tuple[int, tuple[Touch, ...]]]:
        read = tuple(range(4 * simdgroup, 4 * simdgroup + 4))
        written = tuple(10**9 + line for line in read)
        return [(0, (Touch(lines=read, words=128), Touch(lines=written, words=128)))]

    tape = program.tape(
        [events(8 * x + number) for x, _, _ in sample.positions for number in range(8)],
        grid=(groups, 1, 1),
        positions=sample.positions,
        simdgroups=8,
    )
    return simulate(program.code(), tape, known, sample=sample, warm=False)


@pytest.mark.parametrize("key", ["m1", "m2-pro", "m2-ultra", "m4-max", "m5-max"])
def test_no_copy_however_short_moves_more_than_memory_can(key: str) -> None:
    """What a short one writes is in the caches when it ends, and not yet in DRAM."""
    most = chip(key).bandwidth * chip(key).sustained
    times = [first_copy(key, 1 << n) for n in range(13)]
    rates = [time.achieved_bytes["dram"] for time in times]
    assert 0.9 * most < max(rates) <= most * (1 + 1e-9)
    assert all(time.roofline.fraction <= 1 + 1e-9 for time in times)


def test_lines_that_all_threadgroups_read_come_from_dram_once() -> None:
    """A row of threadgroups that read the same lines: each core fetches its part of them."""
    known, lines, resident = chip("m4-max"), 512, 42
    program = Program(blocks=[[Op(name="device_load")]])
    touches = [(0, (Touch(lines=(i,)),)) for i in range(lines)]
    total = known.cores * resident
    positions = tuple((i * known.cores, 0, 0) for i in range(resident))
    near, far = (1, 0, 0), (known.cores * resident // 2 + 1, 0, 0)
    tape = program.tape(
        [touches] * (resident + 2), grid=(total, 1, 1), positions=(*positions, near, far)
    )
    sample = Sample(
        positions=tape.threadgroups,
        core=resident,
        near=(resident, -1, -1),
        far=(resident + 1, -1, -1),
    )
    result = simulate(program.code(), tape, known, sample=sample, warm=False)
    assert result.bytes["dram"] == pytest.approx(lines * 128, rel=0.5)


def pieces(words: int) -> DispatchTime:
    """A row of threadgroups that read a piece each of every line of 128 bytes of a matrix."""
    known, lines, resident, parts = chip("m4-max"), 256, 4, 32 // words
    program = Program(blocks=[[Op(name="device_load")]])
    groups = known.cores * resident * 2

    def touches(number: int) -> list[tuple[int, tuple[Touch, ...]]]:
        first = number // parts * lines
        return [(0, (Touch(lines=(first + i,), words=words),)) for i in range(lines)]

    numbers = (*(i * known.cores for i in range(resident)), 1, groups // 2)
    tape = program.tape(
        [touches(number) for number in numbers],
        grid=(groups, 1, 1),
        positions=tuple((number, 0, 0) for number in numbers),
    )
    sample = Sample(
        positions=tape.threadgroups,
        core=resident,
        near=(resident, -1, -1),
        far=(resident + 1, -1, -1),
    )
    return simulate(program.code(), tape, known, sample=sample, warm=False)


@pytest.mark.parametrize("words", [8, 16])
def test_neighbours_that_read_a_piece_of_each_line_get_all_of_it_from_dram(words: int) -> None:
    """Sectors that one threadgroup reads alone are nobody else's to fetch."""
    result = pieces(words)
    whole = result.threadgroups * 256 * words * 4
    assert result.bytes["dram"] == pytest.approx(whole, rel=0.1)


@pytest.mark.parametrize(
    ("rows", "ways", "measured"),
    [(1, 1, 1.0), (4, 4, 1.6), (8, 8, 1.9), (16, 16, 3.0), (32, 32, 5.1), (32, 1, 1.85)],
)
def test_threadgroup_memory_slows_with_strides_as_measured(
    rows: int, ways: int, measured: float
) -> None:
    def cycles(rows: int, ways: int) -> float:
        program = straight([Op(name="threadgroup_load")], repeat=400)
        touch = Touch(rows=rows, ways=ways, cached=False)
        streams = [[(0, (touch,) * 400)]] * 8
        tape = program.tape(streams, simdgroups=8)
        return busy(simulate(program.code(), tape, M1_MAX))

    assert cycles(rows, ways) / cycles(1, 1) == pytest.approx(measured, rel=0.15)


LINES = 64


def copying(*after: str, waits: bool = True) -> tuple[Program, list[tuple[int, tuple[Touch, ...]]]]:
    """A copy of 8 KiB, line by line, then instructions, then the wait for it."""
    program = Program(
        blocks=[
            [Op(name="async_copy")],
            [Op(name="copy_device_load"), Op(name="copy_threadgroup_store")],
            [Op(name=name, reads=(0,) if name == "fadd32" else ()) for name in after],
            [Op(name="async_copy_wait", line=2)] if waits else [],
            [Op(name="fadd32", line=3)],
        ]
    )
    local = Touch(rows=1, ways=1, cached=False)
    path = [(1, (Touch(lines=(1000 + i,)), local)) for i in range(LINES)]
    touched = tuple(local for name in after if name.startswith("threadgroup"))
    return program, [(0, ()), *path, (2, touched), *([(3, ())] if waits else []), (4, ())]


def copied(*after: str, waits: bool = True) -> DispatchTime:
    program, path = copying(*after, waits=waits)
    return simulate(program.code(), program.tape([path]), M1_MAX, footprint=LINES * 128)


def test_a_copy_takes_its_bytes_time_and_its_latency() -> None:
    # What the first run left in L2 comes through its port.
    cycles = busy(copied())
    assert cycles == pytest.approx(LINES * 128 / MEMORY.l2_rate + MEMORY.l2_latency, rel=0.1)
    assert copied().instructions == 3


def test_arithmetic_goes_on_beside_a_copy_until_the_wait() -> None:
    alone = busy(copied())
    assert busy(copied(*["fadd32"] * 100)) == pytest.approx(alone, abs=3)
    longer = busy(copied(*["fadd32"] * 1000))
    assert longer == pytest.approx(1000, rel=0.05)


def test_the_wait_for_a_copy_has_the_cause_of_its_last_bytes() -> None:
    result = copied()
    (at,) = (site for site, entry in result.by_site.items() if "l2" in entry)
    assert at.line == 2


def test_no_barrier_waits_for_a_copy_but_the_threadgroup_stays_until_it_is_done() -> None:
    work = ["fadd32"] * 1000
    for barrier in ("simdgroup_barrier", "barrier"):
        cycles = busy(copied(barrier, *work, waits=False))
        assert cycles == pytest.approx(1000 + MEMORY.barrier_latency, rel=0.05)
    assert busy(copied(waits=False)) == pytest.approx(busy(copied()), abs=3)


def test_what_a_copy_brings_takes_the_port_of_threadgroup_memory() -> None:
    many = ["threadgroup_load"] * 400
    free = busy(copied(*many, waits=False))
    program, path = copying(*many, waits=False)
    path = [event for event in path if event[0] != 1]
    alone = busy(simulate(program.code(), program.tape([path]), M1_MAX))
    assert free - alone == pytest.approx(LINES * MEMORY.threadgroup_interval, rel=0.1)


def written(rounds: int) -> DispatchTime:
    """Every simdgroup of a huge grid reads a line of its own and writes sixteen times as much."""
    known, groups, count = chip("m1"), 1 << 16, 96
    ops = [Op(name="device_load"), *[Op(name="device_store", reads=(0,))] * 4]
    program = Program(blocks=[ops, [Op(name="fadd32")] * 100])

    def events(number: int) -> list[tuple[int, tuple[Touch, ...]]]:
        stores = (
            Touch(lines=tuple(range(s, s + 4)), words=128)
            for s in range(10**9 + 16 * number, 10**9 + 16 * number + 16, 4)
        )
        return [(0, (Touch(lines=(number,)), *stores)), *[(1, ())] * rounds]

    positions = tuple((i * known.cores, 0, 0) for i in range(count))
    tape = program.tape(
        [events(x) for x, _, _ in positions], grid=(groups, 1, 1), positions=positions
    )
    sample = Sample(positions=positions, core=count)
    return simulate(program.code(), tape, known, sample=sample)


def test_arithmetic_goes_on_while_caches_write_back() -> None:
    known = chip("m1")
    moved = written(0)
    rate = known.bandwidth * known.sustained / MEMORY.write_cost
    assert moved.achieved_bytes["dram"] == pytest.approx(rate, rel=0.1)
    rounds = 16
    arithmetic = rounds * 100 * (1 << 16) / 4 / known.cores
    assert arithmetic == pytest.approx(moved.cycles, rel=0.2)
    assert written(rounds).cycles < 1.25 * moved.cycles


def test_atomics_of_one_address_happen_one_after_the_other() -> None:
    """All lanes of all cores add to one word: one lane in a cycle, for the whole machine."""
    known = chip("m5-max")
    program = straight([Op(name="device_atomic")], repeat=8)
    touch = Touch(lines=(3,), words=1, sharing=32)
    streams = [[(0, (touch,) * 8)]] * 20
    positions = tuple((i * known.cores, 0, 0) for i in range(18))
    tape = program.tape(
        streams, grid=(40 * known.cores, 1, 1), positions=(*positions, (1, 0, 0), (300, 0, 0))
    )
    sample = Sample(positions=tape.threadgroups, core=18, near=(18, -1, -1), far=(19, -1, -1))
    result = simulate(program.code(), tape, known, sample=sample)
    lanes = 40 * known.cores * 8 * 32
    assert lanes / result.seconds / 1e9 == pytest.approx(1.58, rel=0.15)
    assert result.causes["atomic"] > 0.5 * result.cycles


def test_every_cycle_has_a_cause_and_every_work_cycle_a_place() -> None:
    program, paths = barrier_program((60, 10))
    result = simulate(program.code(), program.tape(paths * 40, simdgroups=2), M1_MAX)
    assert set(result.causes) == set(CAUSES)
    assert sum(result.causes.values()) == pytest.approx(result.cycles)
    placed = [sum(entry.get(cause, 0.0) for entry in result.by_site.values()) for cause in CAUSES]
    for cause, cycles in zip(CAUSES, placed, strict=True):
        if cause not in ("launch", "idle"):
            assert cycles == pytest.approx(result.causes[cause])


def test_slices_of_a_simdgroup_tile_its_life() -> None:
    program, paths = barrier_program((60, 10))
    tape = program.tape(paths * 3, simdgroups=2)
    line = simulate(program.code(), tape, M1_MAX, timeline=True).timeline
    assert line is not None
    lives = {(g, s) for g, s in zip(line.threadgroup, line.simdgroup, strict=True)}
    assert len(lives) == 6
    for group, simdgroup in lives:
        mine = (line.threadgroup == group) & (line.simdgroup == simdgroup)
        begin, end = line.begin[mine], line.end[mine]
        assert (begin[1:] == end[:-1]).all()
        assert (end > begin).all()
    barriers = line.cause == CAUSES.index("barrier")
    waiting = barriers & (line.end - line.begin > MEMORY.barrier_latency + 8)
    assert (line.simdgroup[waiting] == 1).all()  # it has little to do,
    assert (line.awaited[waiting] == 0).all()  # and waits for the one that has much
    assert (line.awaited[~barriers] == -1).all()
    assert simulate(program.code(), tape, M1_MAX).timeline is None


def test_phis_hand_readiness_from_block_to_block() -> None:
    """A loop whose value goes round through a phi is as slow as the chain that it is."""
    loop = [Op(name="rsqrt", reads=(0,)), Op(name="rsqrt", reads=(0,))]
    program = Program(blocks=[[Op(name="move")], loop], moves=[[], [(0, 0, 0), (1, 0, 2)]])
    tape = program.tape([[(0, ()), *[(1, ())] * 100]])
    cycles = busy(simulate(program.code(), tape, M1_MAX))
    assert cycles / 100 == pytest.approx(
        CLASSES["rsqrt"].latency + CLASSES["rsqrt"].interval, rel=0.1
    )


def test_the_same_tape_gives_the_same_result() -> None:
    first, second = (stream("m4-pro", 1 << 40) for _ in range(2))
    assert first == second


def test_a_large_grid_is_extrapolated_in_proportion() -> None:
    program = chains("ffma32", 8)
    known = chip("m1-max")

    def cycles(waves: int) -> DispatchTime:
        grid = (known.cores * 96 * waves, 1, 1)
        count = 96 * min(waves, 2)
        positions = tuple((i * known.cores, 0, 0) for i in range(count))
        tape = program.tape([[(0, ())]] * count, grid=grid, positions=positions)
        sample = Sample(positions=positions, core=count)
        return simulate(program.code(), tape, known, sample=sample)

    two, twenty = cycles(2), cycles(20)
    assert busy(twenty) / busy(two) == pytest.approx(10, rel=0.03)
    assert (two.error, twenty.sampled) == (0, 192)
    assert twenty.flops == 10 * two.flops == known.cores * 96 * 20 * LENGTH * 32
    assert twenty.roofline.bound == "compute"
    assert twenty.achieved == pytest.approx(twenty.roofline.flops_per_second / 2, rel=0.05)


def test_what_cannot_be_simulated_is_refused() -> None:
    program = chains("fadd32", 1)
    tape = program.tape([[(0, ())]])
    with pytest.raises(SpecError, match=r"\[apple7\.classes\] lacks dance; there are fadd32"):
        simulate(chains("dance", 1).code(), tape, M1_MAX)
    with pytest.raises(TimingError, match="not of the threadgroups that the sample names"):
        simulate(program.code(), tape, M1_MAX, sample=Sample(positions=(), core=0))
    with pytest.raises(TimingError, match="the code has 1 blocks and the tape 4"):
        other, paths = barrier_program((1, 1))
        simulate(program.code(), other.tape(paths, simdgroups=2), M1_MAX)
    with pytest.raises(TimingError, match="accesses that the tape lacks"):
        simulate(straight([Op(name="device_load")]).code(), tape, M1_MAX)
    with pytest.raises(TimingError, match="cut short because it grew too large"):
        simulate(program.code(), replace(tape, truncated=True), M1_MAX)
    with pytest.raises(TimingError, match="no threadgroups"):
        simulate(program.code(), program.tape([]), M1_MAX)


def test_no_dispatch_ends_before_one_of_its_threadgroups() -> None:
    quick = [Op(name="fadd32")] * LENGTH
    slow = [Op(name="rsqrt", reads=(i - 1,) if i else ()) for i in range(LENGTH)]
    program = Program(blocks=[quick, slow])
    slow_in_the_middle = [[(int(8 <= n < 24), ())] for n in range(32)]
    tape = program.tape(slow_in_the_middle, threadgroup_memory=32 << 10)
    time = simulate(program.code(), tape, M1_MAX)
    assert time.cycles > LENGTH * CLASSES["fadd32"].interval
