"""The estimate of registers grows with what is alive at once, and with nothing else."""

from assay.compiler.msl import compile_library
from assay.sim.simt.analysis.registers import RegisterEstimate, estimate_registers
from tests.support.msl import PRELUDE


def estimate(body: str, arguments: str = "device float* x") -> RegisterEstimate:
    source = (
        f"{PRELUDE}kernel void k({arguments}, uint i [[thread_position_in_grid]]) {{\n{body}\n}}"
    )
    return estimate_registers(compile_library(source).function("k").program().function)


def sums(count: int, kind: str = "float") -> str:
    """`count` values that are all loaded before the first of them is used."""
    loads = "".join(f"{kind} v{n} = x[i * {count} + {n}];\n" for n in range(count))
    barrier = "threadgroup_barrier(mem_flags::mem_device);\n"
    stores = "".join(f"x[i * {count} + {n}] = v{count - 1 - n} * v{n};\n" for n in range(count))
    return loads + barrier + stores


def test_a_register_for_each_value_that_waits_for_its_use() -> None:
    few, many = estimate(sums(4)).registers, estimate(sums(20)).registers
    assert many - few == 16


def test_two_halves_share_a_register() -> None:
    wide = estimate(sums(20)).registers
    narrow = estimate(sums(20, "half"), "device half* x").registers
    assert wide - narrow == 10


def test_a_long_takes_two_registers() -> None:
    assert estimate(sums(20, "long"), "device long* x").registers >= 40


def test_values_that_do_not_wait_for_each_other_take_no_more_registers() -> None:
    chain = "".join(
        "x[i] = x[i] * 1.5f + 2.0f;\nthreadgroup_barrier(mem_flags::mem_device);\n"
        for _ in range(8)
    )
    assert estimate(chain).registers <= estimate(chain[: len(chain) // 8]).registers + 1


def test_what_all_lanes_share_is_counted_apart() -> None:
    shared = estimate(
        "float a = c[0] * c[1], b = c[2] * c[3]; x[i] = a; x[i + 1] = b; x[i + 2] = a * b;",
        "device float* x, constant float* c",
    )
    assert shared.uniform >= 2
    assert shared.registers <= 3


def test_the_place_of_the_most_registers_is_in_the_source() -> None:
    found = estimate(sums(12))
    assert found.site.file == "program_source.metal"
    assert 3 <= found.site.line <= 30
