"""Rows of single instructions and sequences: chains in MSL, timed as their sources did.

Throughput: chains enough on simdgroups enough that latency does not show. Latency: one chain, on
four simdgroups of a core (one per partition), less what a loop costs. "Raw" latency: one chain on
two simdgroups, as many repetitions as the source says, and what starting and ending costs.
"""

from __future__ import annotations

import re

from .cases import Case, Predict, Status
from .chains import HELPERS, STEPS, Chains, instruction, sequence
from .launches import Buffer, Bytes, Launch, kernel_text, number, size
from .machine import Machine
from .published import Row

GROUP = "instructions"
_METAL_BENCHMARKS = "philipturner/metal-benchmarks"
_SATURATED = 32  # simdgroups of a core
_CHAINS = 4
_STEPS = 24  # of a round

# "Optimal repetitions" of the source, where it gives them; the most of a range.
_REPETITIONS = {
    "CONVERT(F->I64)": 240,
    "FRACT32": 960,
    "ROUND_INF": 240,
    "FMEDIAN16": 240,
    "FMEDIAN32": 480,
    "DIV16": 960,
    "DIV32": 960,
    "SQRT16": 960,
    "SQRT32": 960,
    "SIN16": 240,
    "SINPI16": 240,
    "SIN32": 240,
    "COS32": 240,
    "SINPI32": 72,
    "EXPE_32": 960,
    "LOGE_32": 960,
    "EXP10_32": 960,
    "LOG10_32": 960,
    "Precise RECIP32": 120,
    "Precise SQRT32": 72,
    "Precise SIN32": 240,
    "Precise SINPI32": 48,
    "IMADHI16": 720,
    "BITWISE32 + ADD32": 720,
    "BITINSERT32 + ADD32": 360,
    "BITREV16": 480,
    "BITROTATE32": 1440,
    "RHADD16": 480,
    "RHADD32": 240,
    "CLZ32": 960,
    "LSHIFT32": 720,
    "RSHIFT32": 720,
    "ABSDIFF32": 1440,
    "IADD(32+32=64)": 480,
    "IADD(64+32=64)": 480,
    "IADD(64+64=64)": 360,
    "IMUL(64x64=64)": 240,
    "IMADHI32": 720,
    "IMAD((32x32=32)+64)": 360,
    "IMAD((32x32=64)+64)": 960,
    "IMAD((64x64=64)+64)": 180,
    "IMULHI64": 120,
    "SHUFFLE_RANDOM_SAME32": 480,
    "SHUFFLE_RANDOM_DIFF32": 240,
    "PRODUCT<I16>": 240,
    "PRODUCT<I32>": 360,
    "Quad BALLOT": 720,
    "Quad ICMP_BALLOT": 720,
    "Quad FCMP_BALLOT": 720,
    "Quad PRODUCT<I16>": 24,
    "Quad PRODUCT<I32>": 24,
}
_MOST_REPETITIONS = 1440

# Names of the source for what is the same or nearly the same step.
_NAMES = {
    "4 FADD/FFMA/IADD16": "4 FADD16",
    "4 FADD/FFMA/IADD32": "4 FADD32",
    "2 FADD/FFMA32 + 2 FADD/FFMA16": "2 FADD32 + 2 FADD16",
    "IMUL/MAD16 + 3 FADD/FFMA/IADD16": "IMUL16 + 3 FADD16",
}
_MATRICES = {"MATMUL<8x8xF16>": "half", "MATMUL<8x8xF32>": "float"}
_UNNAMEABLE = {
    "SIN_PT_1": "MSL cannot name this half of a sine",
    "SIN_PT_2": "MSL cannot name this half of a sine",
    "BITINTERLEAVE16": "MSL has no such function",
}
_RATES = {
    "F32 exp2": "EXP2_32",
    "F32 recip": "RECIP32",
    "F32 rsqrt": "RSQRT32",
    "F32 sin": "SIN32",
    "I32 add": "IADD32",
    "I32 mul": "IMUL32",
    "I64 add": "IADD(64+64=64)",
    "I64 mul": "IMUL(64x64=64)",
    "I32 bitwise": "BITWISE32",
    "I32 shift": "LSHIFT32",
}
# Sequences without a class of their own: the compiler's instructions are predicted one by one.
_COMPOSED = frozenset(
    {
        "CONVERT(F->I64)",
        "ROUND_INF",
        "FMEDIAN16",
        "FMEDIAN32",
        "IMADHI16",
        "IMADHI32",
        "BITWISE32 + ADD32",
        "BITINSERT32 + ADD32",
        "BITREV16",
        "IADD(32+32=64)",
        "IADD(64+32=64)",
        "IMAD((64x64=64)+64)",
    }
)
# Mixtures from which the issue cycles of the complex pipe are derived.
_DERIVED = frozenset(
    {
        "IMUL32 + 3 FMUL32",
        "IADD64 + 3 IADD32",
        "Fast EXP2_32 + 3 FMUL32",
        "Fast EXP2_32 + IMUL32",
        "Fast RSQRT32 + IMUL32",
        "Fast RECIP32 + IMUL32",
        "Fast DIV32 + IMUL32",
        "Fast EXP2_32 + RSQRT32",
    }
)
# The sequence by which the source measured the insertion of bits.
_INSERTION = "BITINSERT32 + ADD32"
# Raw latencies that a class has its own from, since the source does not give an adjusted one.
_RAW_ONLY = frozenset(
    {
        "SIMD SHUFFLE_RANDOM_SAME32",
        "SIMD PRODUCT<I32>",
        "Quad PRODUCT<I32>",
        "Quad BALLOT",
    }
)
_PARTS = {
    "IADD64": "IADD(64+64=64)",
    "ADD32": "IADD32",
    "DIV_32": "DIV32",
    "IMAD((32x32=32)+64=64)": "IMAD((32x32=32)+64)",
}


def _operands(data: Bytes) -> None:
    """Numbers near 1 for floats, small odd ones for integers; different for each lane."""
    words = data.view("float32").reshape(-1, 8)
    for row, operand in enumerate(words):
        operand[:4] = [1.0 + (row + column) / 64 for column in range(4)]
    whole = data.view("int32").reshape(-1, 8)
    for row, operand in enumerate(whole):
        operand[4:] = [2 * (row + 7 * column) + 1 for column in range(4)]


def launch(chains: Chains, *, simdgroups: int, groups: int, rounds: int) -> Launch:
    """Chains in `groups` threadgroups of so many simdgroups."""
    threads = 32 * simdgroups
    return Launch(
        source=chains.text,
        kernel="chains",
        arguments=(
            Buffer(bytes=32 * 32, fill=_operands),
            Buffer(bytes=4 * threads * groups),
            number(rounds),
        ),
        threadgroups=size(groups),
        threads=size(threads),
    )


def per_step(machine: Machine, chains: Chains, *, simdgroups: int, least: int = 2) -> float:
    """Cycles of one partition per instruction (or sequence), at so many simdgroups of a core.

    The difference of two numbers of rounds, so that starting and ending does not count.
    """
    in_group = 8 if simdgroups % 8 == 0 and simdgroups > 8 else simdgroups
    groups = machine.cores * simdgroups // in_group
    short, long = (
        machine.cycles(launch(chains, simdgroups=in_group, groups=groups, rounds=rounds))
        for rounds in (least, 3 * least)
    )
    done = 2 * least * chains.per_round * chains.chains * simdgroups / 4
    return (long - short) / done


def throughput(name: str, chains: int = _CHAINS, simdgroups: int = _SATURATED) -> Predict:
    """Cycles that an instruction takes of a partition."""
    made = instruction(name, chains, _STEPS)
    return lambda machine: per_step(machine, made, simdgroups=simdgroups)


def mixed(names: tuple[str, ...]) -> Predict:
    """Cycles that a sequence takes of a partition, its instructions independent of each other."""
    made = sequence(names, _STEPS)
    return lambda machine: per_step(machine, made, simdgroups=_SATURATED)


def latency(name: str) -> Predict:
    """Cycles from an instruction to the next that needs its result, one simdgroup per partition."""
    made = instruction(name, 1, _STEPS)
    helper = HELPERS.get(name)

    def predict(machine: Machine) -> float:
        found = per_step(machine, made, simdgroups=4)
        if helper is not None:
            found -= per_step(machine, instruction(helper, 1, _STEPS), simdgroups=4)
        return found

    return predict


def raw_latency(name: str, repetitions: int) -> Predict:
    """The same with two simdgroups on a core, and with all that surrounds the chain."""
    steps = next(n for n in (24, 20, 12) if repetitions % n == 0)
    made = instruction(name, 1, steps)
    helper = HELPERS.get(name)

    def predict(machine: Machine) -> float:
        rounds, groups = repetitions // steps, 2 * machine.cores
        total = machine.cycles(launch(made, simdgroups=1, groups=groups, rounds=rounds))
        found = total / repetitions
        if helper is not None:
            found -= per_step(machine, instruction(helper, 1, _STEPS), simdgroups=4)
        return found

    return predict


def matrix_launch(
    machine: Machine, *, element: str, chains: int, simdgroups: int, rounds: int
) -> Launch:
    """Products of 8 x 8 matrices, 16 in a round, on so many simdgroups of each core."""
    in_group = min(simdgroups, 4)
    groups = machine.cores * simdgroups // in_group
    return Launch(
        source=kernel_text("core", MATRIX=element, CHAINS=chains),
        kernel="matrices",
        arguments=(Buffer(bytes=4 * (128 + 64 * chains * in_group * groups)), number(rounds)),
        threadgroups=size(groups),
        threads=size(32 * in_group),
    )


def matrix_step(element: str, *, chains: int, simdgroups: int) -> Predict:
    """Cycles of one partition per product of 8 x 8 matrices."""

    def predict(machine: Machine) -> float:
        short, long = (
            machine.cycles(
                matrix_launch(
                    machine, element=element, chains=chains, simdgroups=simdgroups, rounds=rounds
                )
            )
            for rounds in (2, 6)
        )
        return (long - short) / (4 * 16 * simdgroups / 4)

    return predict


def case(row: Row, chip: str) -> Case | None:
    """The case of a row of instructions; None if it is of another kind."""
    if _METAL_BENCHMARKS not in row.source:
        return None
    kind, _, name = row.workload.partition("/")
    if kind == "instr":
        return _instruction(row, chip, name)
    if kind == "ilp-occupancy":
        return _occupancy(row, chip, name)
    if kind == "rate":
        return _rate(row, chip, name)
    return None


def _instruction(row: Row, chip: str, name: str) -> Case:
    family, _, rest = name.partition(" ")
    plain = f"Quad {rest}" if family == "Quad" else rest
    if reason := _UNNAMEABLE.get(rest):
        return Case(row=row, chip=chip, group=GROUP, status=Status.OUT, why=reason)
    is_sequence = family == "seq"
    bound = row.note.startswith("approximate or bound")
    if element := _MATRICES.get(rest):
        chains, simdgroups = (4, 16) if row.metric.startswith("throughput") else (1, 4)
        predict = matrix_step(element, chains=chains, simdgroups=simdgroups)
        return Case(row=row, chip=chip, group=GROUP, status=Status.FITTED, predict=predict)
    parts = _parts(name)
    own_class = len(parts) == 1 and parts[0] not in _COMPOSED
    if row.metric == "throughput_cycles_per_partition":
        predict = throughput(parts[0]) if len(parts) == 1 else mixed(parts)
        status = Status.FITTED if own_class else Status.COUNTED
    elif row.metric == "adjusted_latency_cycles":
        predict, status = latency(parts[0]), Status.FITTED
    else:
        # Of a sequence the source gives this latency only, so its class has it from here.
        predict = raw_latency(parts[0], _REPETITIONS.get(plain, _MOST_REPETITIONS))
        own = (is_sequence and own_class) or name in _RAW_ONLY
        status = Status.FITTED if own else Status.COUNTED
    throughput_row = row.metric.startswith("throughput")
    if rest in _DERIVED or (rest == _INSERTION and throughput_row):
        status = Status.FITTED
    if bound and status is Status.COUNTED:
        why = "the source gives a bound only"
        return Case(row=row, chip=chip, group=GROUP, status=Status.SHOWN, why=why, predict=predict)
    return Case(row=row, chip=chip, group=GROUP, status=status, predict=predict)


def _parts(name: str) -> tuple[str, ...]:
    """The steps of a row: several of them in a sequence."""
    family, _, rest = name.partition(" ")
    prefix = "Quad " if family == "Quad" else ""
    if prefix + rest in STEPS:
        return (prefix + rest,)
    found: list[str] = []
    rest = _NAMES.get(rest, rest).removeprefix("Fast ")
    found += _folded(rest)
    for part in filter(None, _without_folded(rest).split(" + ")):
        counted = re.match(r"(\d) (.+)", part)
        times, step = (int(counted[1]), counted[2]) if counted else (1, part)
        step = _PARTS.get(step, step)
        if step not in STEPS and step != "BITWISE32":
            raise KeyError(f"no step is called {step!r} ({name})")
        found += [step] * times
    return tuple(found)


# Steps that the compiler would fold were they not mixed with what the sequence has anyway.
_TOGETHER = (
    ("RINT32", "BITWISE32"),
    ("RINT32", "FADD32"),
)


def _folded(rest: str) -> list[str]:
    """Steps of two instructions of the sequence, at most one."""
    parts = rest.split(" + ")
    for one, other in _TOGETHER:
        if one in parts and (other in parts or f"2 {other}" in parts):
            return [f"{one} + {other}"]
    return []


def _without_folded(rest: str) -> str:
    """The sequence without what `_folded` has."""
    parts = rest.split(" + ")
    for pair in _folded(rest):
        for name in pair.split(" + "):
            if name in parts:
                parts.remove(name)
            else:
                parts[parts.index(f"2 {name}")] = name
    return " + ".join(parts)


_FULL = "88"  # simdgroups of a core
_DOUBTED = "author says a later set-up"
_DOUBT = "the source: a sub-optimal set-up; later ones reduced the latency"


def _occupancy(row: Row, chip: str, name: str) -> Case:
    found = re.fullmatch(r"(\S+) ILP=(\d) (\d+) simds/core", name)
    if found is None:
        raise ValueError(f"row {row.ident}: {name!r} is not understood")
    width = "32" if row.metric.endswith("32bit") else "16"
    step = ("FFMA" if found[1] == "FFMA" else "FADD") + width
    predict = throughput(step, chains=int(found[2]), simdgroups=int(found[3]))
    why = _DOUBT if row.note.startswith(_DOUBTED) else ""
    status = Status.SHOWN if why else Status.COUNTED
    if found[3] == _FULL:  # what results that are read at once cost is from here
        status = Status.FITTED
    return Case(row=row, chip=chip, group=GROUP, status=status, why=why, predict=predict)


def _rate(row: Row, chip: str, name: str) -> Case:
    cycles = throughput(_RATES[name])
    return Case(
        row=row,
        chip=chip,
        group=GROUP,
        status=Status.SHOWN,
        why="the same measurement as the table of intervals",
        predict=lambda machine: 128 / cycles(machine),
    )
