"""Rows of single chips' suites: rates and costs of arithmetic, exchange, divergence, registers."""

from __future__ import annotations

import re
from functools import partial

from .cases import Case, Predict, Status
from .chains import instruction
from .instruction_rows import (
    GROUP as INSTRUCTIONS,
)
from .instruction_rows import (
    matrix_step,
    mixed,
    per_step,
    throughput,
)
from .launches import Buffer, Launch, Scratch, kernel_text, number, size
from .machine import Machine
from .memory_rows import CORE, difference, in_core
from .published import Row

OCCUPANCY, OVERHEADS, CONTROL = "occupancy", "overheads", "divergence and registers"
_FITTED, _COUNTED, _SHOWN = Status.FITTED, Status.COUNTED, Status.SHOWN


def _per_second(cycles: Predict, lanes: int = 32, unit: float = 1e12) -> Predict:
    """Operations of lanes (or instructions, of one lane) per second in multiples of `unit`."""
    return lambda machine: machine.cores * 4 * lanes * machine.chip.clock / cycles(machine) / unit


def _nanoseconds(cycles: Predict, share: float = 1.0) -> Predict:
    return lambda machine: share * cycles(machine) / machine.chip.clock * 1e9


def _cost(name: str) -> Predict:
    """The cost of an instruction in fused multiply-adds, both at full occupancy."""
    one, other = throughput(name), throughput("FFMA32")
    return lambda machine: one(machine) / other(machine)


def _against_serial(*names: str) -> Predict:
    """Time of a mixture over the sum of its parts' times."""
    together = mixed(names * 2)
    parts = [throughput(name) for name in names]
    return lambda machine: together(machine) / 2 / sum(part(machine) for part in parts)


def _lone(name: str) -> Predict:
    """Cycles of a dependent instruction of one simdgroup on the whole GPU."""
    chains = instruction(name, 1, 24)

    def predict(machine: Machine) -> float:
        return per_step(machine, chains, simdgroups=4)

    return predict


def _eight_chains(name: str) -> Predict:
    """Cycles per instruction of one simdgroup with eight chains."""
    chains = instruction(name, 8, 24)
    return lambda machine: per_step(machine, chains, simdgroups=4)


def _divergence(kernel: str, taken: int) -> Predict:
    """Time of a branch that `taken` lanes take over that of the same chain without a branch."""

    def predict(machine: Machine) -> float:
        groups = 4 * machine.cores
        branch = partial(in_core, kernel, groups=groups, threads=256, taken=taken)
        plain = partial(in_core, "uniform_chain", groups=groups, threads=256)
        return difference(machine, branch) / difference(machine, plain)

    return predict


def _live(registers: int) -> Predict:
    """10^12 fused operations per second with so many values alive."""

    def predict(machine: Machine) -> float:
        groups = 16 * machine.cores
        make = partial(in_core, "live_registers", groups=groups, threads=256, LIVE=registers)
        return groups * 256 * registers / difference(machine, make) / 1e12

    return predict


def _indexed(machine: Machine) -> float:
    groups = 4 * machine.cores
    slow = partial(_array_indexed, groups=groups)
    fast = partial(in_core, "array_known", groups=groups, threads=256)
    return difference(machine, slow) / difference(machine, fast)


def _array_indexed(rounds: int, groups: int) -> Launch:
    return in_core("array_indexed", rounds=rounds, groups=groups, threads=256, taken=7)


def _emulated(macro: str) -> Predict:
    """10^9 simdgroup operations per second by way of threadgroup memory."""

    def predict(machine: Machine) -> float:
        groups = 4 * machine.cores
        make = partial(in_core, "emulated", groups=groups, threads=256, **{macro: 1})
        return groups * 8 / difference(machine, make) / 1e9

    return predict


def _matrix_peak(element: str) -> Predict:
    """10^12 operations per second of independent products of 8 x 8 matrices."""
    return _per_second(matrix_step(element, chains=4, simdgroups=16), lanes=1024)


def _resident(size_bytes: int) -> Predict:
    """Threadgroups of 128 threads on the whole GPU at a time."""

    def predict(machine: Machine) -> float:
        launch = Launch(
            source=kernel_text("core"),
            kernel="resident",
            arguments=(
                Buffer(bytes=4 * 128 * 64 * machine.cores),
                number(4),
                Scratch(bytes=max(16, size_bytes)),
            ),
            threadgroups=size(64 * machine.cores),
            threads=size(128),
        )
        return machine.time(launch).occupancy.threadgroups * machine.cores

    return predict


def _nothing(groups: int = 1) -> Launch:
    return Launch(
        source=kernel_text("memory"),
        kernel="nothing",
        arguments=(Buffer(bytes=4096),),
        threadgroups=size(groups),
        threads=size(32),
    )


def _micro(nanoseconds: str, *, work: bool = False) -> Predict:
    """Microseconds of overheads, named with + between; with an empty dispatch if `work`."""

    def predict(machine: Machine) -> float:
        names = filter(None, nanoseconds.split("+"))
        found = sum(int(getattr(machine.overheads, name)) for name in names)
        return found / 1e3 + (machine.seconds(_nothing()) * 1e6 if work else 0.0)

    return predict


def _small_reduction(machine: Machine) -> float:
    """Microseconds from commit until the host sees the sum of 1024 numbers."""
    launch = Launch(
        source=kernel_text("rows"),
        kernel="sum_all",
        arguments=(Buffer(bytes=4096), Buffer(bytes=64), number(1)),
        threadgroups=size(1),
        threads=size(256),
    )
    return (machine.alone(launch) + machine.overheads.completion / 1e9) * 1e6


_Entry = tuple[str, Status, str, Predict | None]
_NO_CPU = "what the CPU takes of the bandwidth is not modelled"
_NO_MATRIX = "the matrix unit of Apple10, which MSL's simdgroup matrices do not reach"
_UNKNOWN_KERNEL = "the source does not describe the kernel"
_ESTIMATE = "the source calls it an estimate"
_OVERLAPPED = "the source: the instruction overlapped or was folded"

_TABLE: dict[str, _Entry] = {
    # M5 Max, phosphor.
    "alu/FP32 FMA independent chains": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _per_second(throughput("FFMA32"), lanes=64),
    ),
    "alu/FP32 FMA dependent chain": (
        INSTRUCTIONS,
        _SHOWN,
        "the source does not say how many simdgroups ran",
        None,
    ),
    "alu/FP16 FMA 8 chains": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _per_second(throughput("FFMA16", chains=8), lanes=64),
    ),
    "alu/f32 add": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("FADD32"))),
    "alu/f32 mul": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("FMUL32"))),
    "alu/f16 add": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("FADD16", chains=8))),
    "alu/f16 mul": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("FMUL16", chains=8))),
    "alu/i32 add": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("IADD32"))),
    "alu/i32 mul": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("IMUL32"))),
    "alu/fast transcendental": (
        INSTRUCTIONS,
        _SHOWN,
        "unconfirmed: equals the rate of fused operations",
        _per_second(throughput("EXP2_32")),
    ),
    "alu/fast divide": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("DIV32"))),
    "alu-coissue/FP16+FP32 mixed": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _against_serial("FFMA16", "FFMA32"),
    ),
    "alu-coissue/FP32+INT32 mixed": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _against_serial("FFMA32", "IADD32"),
    ),
    "alu-coissue/FP16+FP32+INT32 mixed": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _against_serial("FFMA16", "FFMA32", "IADD32"),
    ),
    "cost/fast rcp/rsqrt/exp2/log2": (INSTRUCTIONS, _FITTED, "", _cost("EXP2_32")),
    "cost/fast sqrt": (INSTRUCTIONS, _FITTED, "", _cost("SQRT32")),
    "cost/fast div": (INSTRUCTIONS, _FITTED, "", _cost("DIV32")),
    "cost/fast pow": (INSTRUCTIONS, _COUNTED, "", _cost("POW32")),
    "cost/fast sin/cos": (INSTRUCTIONS, _FITTED, "", _cost("SIN32")),
    "cost/precise rsqrt": (INSTRUCTIONS, _FITTED, "", _cost("Precise RSQRT32")),
    "cost/precise sqrt": (INSTRUCTIONS, _FITTED, "", _cost("Precise SQRT32")),
    "cost/precise div": (INSTRUCTIONS, _FITTED, "", _cost("Precise DIV32")),
    "cost/precise sin/cos": (INSTRUCTIONS, _FITTED, "", _cost("Precise SIN32")),
    "cost/precise pow": (INSTRUCTIONS, _COUNTED, "", _cost("Precise POW32")),
    "cost/half sin/cos": (INSTRUCTIONS, _COUNTED, "", _cost("SIN16")),
    "cost/shift": (INSTRUCTIONS, _SHOWN, _OVERLAPPED, _cost("LSHIFT32")),
    "cost/mask": (INSTRUCTIONS, _SHOWN, _OVERLAPPED, _cost("BITWISE32")),
    "simd/simd_shuffle dynamic lane": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _per_second(throughput("SHUFFLE_RANDOM_SAME32"), 1, 1e9),
    ),
    "simd/quad_shuffle": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _per_second(throughput("Quad SHUFFLE_ROTATE32"), 1, 1e9),
    ),
    "simd/simd_sum": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("SUM<F32>"), 1, 1e9)),
    "simd/simd prefix sum": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _per_second(throughput("PREFIX_ISUM<F32>"), 1, 1e9),
    ),
    "simd/simd_ballot": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("ICMP_BALLOT"), 1, 1e9)),
    "simd/shuffle emulated in tgmem": (CORE, _COUNTED, "", _emulated("SHUFFLE")),
    "simd/sum emulated in tgmem": (CORE, _COUNTED, "", _emulated("SUM")),
    "simd/prefix emulated in tgmem": (CORE, _COUNTED, "", _emulated("PREFIX")),
    "simd/ballot emulated in tgmem": (CORE, _COUNTED, "", _emulated("SUM")),
    "divergence/if/else 25% taken": (CONTROL, _COUNTED, "", _divergence("if_else", 8)),
    "divergence/if/else 50% taken": (CONTROL, _COUNTED, "", _divergence("if_else", 16)),
    "divergence/if/else 100% taken": (CONTROL, _COUNTED, "", _divergence("if_else", 32)),
    "divergence/if-only 0% taken": (CONTROL, _COUNTED, "", _divergence("if_only", 0)),
    "stream/GPU while 2 CPU memcpy threads": ("bandwidth", Status.OUT, _NO_CPU, None),
    "stream/GPU while 6 CPU memcpy threads": ("bandwidth", Status.OUT, _NO_CPU, None),
    "stream/GPU while 12 CPU memcpy threads": ("bandwidth", Status.OUT, _NO_CPU, None),
    "overhead/empty dispatch, no barrier": (OVERHEADS, _FITTED, "", _micro("dispatch")),
    "overhead/empty dispatch with barrier": (OVERHEADS, _FITTED, "", _micro("dispatch+barrier")),
    "overhead/indirect dispatch": (OVERHEADS, _COUNTED, "", _micro("dispatch")),
    "overhead/indirect chain with barrier": (OVERHEADS, _COUNTED, "", _micro("dispatch+barrier")),
    "overhead/encoder barrier": (OVERHEADS, _FITTED, "", _micro("barrier")),
    "overhead/queue barrier": (OVERHEADS, _COUNTED, "", _micro("barrier")),
    "overhead/dispatch-to-dispatch across barrier": (
        OVERHEADS,
        _COUNTED,
        "",
        _micro("dispatch+barrier", work=True),
    ),
    "overhead/tiny dependent pass": (
        OVERHEADS,
        _FITTED,
        "",
        _micro("pass_change+dispatch", work=True),
    ),
    "overhead/cross-queue event": (
        OVERHEADS,
        Status.OUT,
        "events between queues are not modelled",
        None,
    ),
    "overhead/commit, GPU side": (OVERHEADS, _FITTED, "", _micro("command_buffer")),
    "overhead/commit to CPU-visible shared event": (
        OVERHEADS,
        _SHOWN,
        "host time",
        _micro("completion+command_buffer"),
    ),
    "overhead/commit to CPU-visible, spinning": (
        OVERHEADS,
        _FITTED,
        "",
        _micro("completion+command_buffer"),
    ),
    "overhead/commit to CPU-visible, listener": (
        OVERHEADS,
        _SHOWN,
        "host time",
        _micro("completion+command_buffer"),
    ),
    "power at full FMA": (OVERHEADS, Status.OUT, "power is not modelled", None),
    "register pressure, 120 live FP32 registers": (CONTROL, _FITTED, "", _live(120)),
    "register pressure, 128 live FP32 registers": (CONTROL, _FITTED, "", _live(128)),
    "register pressure, 256 live FP32 registers": (CONTROL, _FITTED, "", _live(256)),
    "dynamically indexed stack array": (CONTROL, _FITTED, "", _indexed),
    "single-simdgroup load, 64 MiB table": (
        "memory latency",
        _SHOWN,
        "the source saw it move with the clock of the fabric",
        None,
    ),
    # M4 Pro, Forge.
    "peak/simdgroup MMA fp32": (INSTRUCTIONS, _FITTED, "", _matrix_peak("float")),
    "exp fast": (INSTRUCTIONS, _COUNTED, "", _per_second(throughput("EXPE_32"), unit=1e9)),
    "exp precise": (
        INSTRUCTIONS,
        _FITTED,
        "",
        _per_second(throughput("Precise EXPE_32"), unit=1e9),
    ),
    "int divide": (INSTRUCTIONS, _FITTED, "", _per_second(throughput("IDIV32"), unit=1e9)),
    "empty command buffer": (OVERHEADS, _FITTED, "", _micro("command_buffer")),
    "GEMM direct with edge masking": ("gemm", _SHOWN, _UNKNOWN_KERNEL, None),
    # M1, steinmarder.
    "microbench/fmul f32 dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("FMUL32"))),
    "microbench/fadd f32 dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("FADD32"))),
    "microbench/fma f32 dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("FFMA32"))),
    "microbench/fadd f16 dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("FADD16"))),
    "microbench/fmul f16 dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("FMUL16"))),
    "microbench/fma f16 dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("FFMA16"))),
    "microbench/imul i32 dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("IMUL32"))),
    "microbench/recip fast dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("RECIP32"))),
    "microbench/rsqrt fast dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("RSQRT32"))),
    "microbench/rsqrt precise dependent": (
        INSTRUCTIONS,
        _COUNTED,
        "",
        _nanoseconds(_lone("Precise RSQRT32")),
    ),
    "microbench/sqrt dependent": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("SQRT32"))),
    "microbench/fmul 8 chains": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_eight_chains("FMUL32"))),
    "microbench/fadd 8 chains": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_eight_chains("FADD32"))),
    "microbench/fma 8 chains": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_eight_chains("FFMA32"))),
    "microbench/recip 8 chains": (
        INSTRUCTIONS,
        _COUNTED,
        "",
        _nanoseconds(_eight_chains("RECIP32")),
    ),
    "microbench/simd_broadcast": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("BROADCAST32"))),
    "microbench/simd_shuffle_down": (
        INSTRUCTIONS,
        _COUNTED,
        "",
        _nanoseconds(_lone("SHUFFLE_NOROTATE32")),
    ),
    "microbench/simd_shuffle_xor": (
        INSTRUCTIONS,
        _COUNTED,
        "",
        _nanoseconds(_lone("SHUFFLE_XOR32")),
    ),
    "microbench/simd_prefix_inclusive_sum": (
        INSTRUCTIONS,
        _COUNTED,
        "",
        _nanoseconds(_lone("PREFIX_ISUM<F32>")),
    ),
    "microbench/simd_prefix_exclusive_sum": (
        INSTRUCTIONS,
        _COUNTED,
        "",
        _nanoseconds(_lone("PREFIX_ESUM<F32>")),
    ),
    "microbench/simd_sum f32": (INSTRUCTIONS, _COUNTED, "", _nanoseconds(_lone("SUM<F32>"))),
    "microbench/simdgroup_multiply_accumulate 8x8 f32, one simdgroup": (
        INSTRUCTIONS,
        _COUNTED,
        "",
        _nanoseconds(matrix_step("float", chains=1, simdgroups=4)),
    ),
    "microbench/device load warm L1": (
        "memory latency",
        _SHOWN,
        "the source: not a chain of pointers",
        None,
    ),
    "microbench/texture sample": (
        "memory latency",
        Status.OUT,
        "texture units are not modelled",
        None,
    ),
    "tiny dispatch": (OVERHEADS, Status.OUT, "the host's time over the GPU's", None),
    # Others.
    "empty batch round trip": (OVERHEADS, _FITTED, "", _micro("completion+command_buffer")),
    "1024-element reduce round trip": (OVERHEADS, _SHOWN, "host time", _small_reduction),
    "matrix FP16 ceiling": (INSTRUCTIONS, _COUNTED, "", _matrix_peak("half")),
    "FP32 FMA": (INSTRUCTIONS, _COUNTED, "", _per_second(throughput("FFMA32"), lanes=64)),
    "GEMM tinygrad FP32": ("gemm", _SHOWN, _UNKNOWN_KERNEL, None),
    "GEMM WGSL best FP32": ("gemm", _SHOWN, _UNKNOWN_KERNEL, None),
    "L1 size": (OVERHEADS, Status.OUT, "a size of the chip, which is data", None),
    "L2 size": (OVERHEADS, Status.OUT, "a size of the chip, which is data", None),
    "empty command buffer worst case": (OVERHEADS, _SHOWN, _ESTIMATE, None),
    "extra kernel launch in a dependent chain": (
        OVERHEADS,
        _SHOWN,
        "the chip is not stated clearly",
        _micro("pass_change+dispatch", work=True),
    ),
}
_CENSUS = re.compile(r"residency census, 128-thread threadgroups, (\d+) B")


def case(row: Row, chip: str) -> Case | None:
    """The case of a row that one of these suites has; None if it is of another kind."""
    if row.workload in _TABLE:
        group, status, why, predict = _TABLE[row.workload]
        status = Status.OUT if predict is None else status
        return Case(row=row, chip=chip, group=group, status=status, why=why, predict=predict)
    if found := _CENSUS.match(row.workload):
        mean = row.metric.endswith("mean")
        return Case(
            row=row,
            chip=chip,
            group=OCCUPANCY,
            status=_FITTED if mean else _SHOWN,
            why="" if mean else "the largest seen; the mean is another row",
            predict=_resident(int(found[1])),
        )
    if row.workload.startswith("relative throughput vs threadgroup bytes"):
        return Case(row=row, chip=chip, group=OCCUPANCY, status=Status.OUT, why=_UNKNOWN_KERNEL)
    if row.workload.startswith("gemm matmul2d"):
        return Case(row=row, chip=chip, group="gemm", status=Status.OUT, why=_NO_MATRIX)
    return None
