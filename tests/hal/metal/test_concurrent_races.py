"""Races between dispatches of a concurrent encoder, as the race check finds them."""

from collections.abc import Callable

import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MTLBuffer, MTLComputeCommandEncoder, checking
from assay.sim.check import Checker
from tests.support.metal_bench import Bench, message_of

SOURCE = """
kernel void bump(device int* a [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    a[i] = a[i] + 1;
}
"""
CONCURRENT, SERIAL = Metal.MTLDispatchTypeConcurrent, Metal.MTLDispatchTypeSerial
Step = Callable[[MTLComputeCommandEncoder, MTLBuffer], None]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench(SOURCE)


def kinds(bench: Bench, kind: int, *, between: Step | None = None, offset: int = 0) -> set[str]:
    """What the race check finds in two dispatches over one buffer."""
    target = bench.buffer([0] * 128)

    def encode(encoder: MTLComputeCommandEncoder) -> None:
        bench.start(encoder, "bump", target)
        encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))
        if between is not None:
            between(encoder, target)
        encoder.setBufferOffset_atIndex_(offset, 0)
        encoder.dispatchThreads_threadsPerThreadgroup_((64, 1, 1), (64, 1, 1))

    with checking(Checker(["race"])) as checker:
        assert message_of(bench.run(encode, kind)) == ""
    return {finding.kind for finding in checker.findings}


def test_two_dispatches_without_a_barrier_race(bench: Bench) -> None:
    assert kinds(bench, CONCURRENT)


def test_a_barrier_between_them_orders_them(bench: Bench) -> None:
    def barrier(encoder: MTLComputeCommandEncoder, target: MTLBuffer) -> None:
        encoder.memoryBarrierWithResources_count_([target], 1)

    assert kinds(bench, CONCURRENT, between=barrier) == set()


def test_parts_that_do_not_overlap_do_not_race(bench: Bench) -> None:
    assert kinds(bench, CONCURRENT, offset=256) == set()


def test_a_serial_encoder_orders_its_dispatches(bench: Bench) -> None:
    assert kinds(bench, SERIAL) == set()
