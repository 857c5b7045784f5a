"""Dispatches of one encoder: what only a barrier orders."""

from collections.abc import Callable

import pytest

from assay.hal.metal import emulated as Metal

from .script import CONCURRENT, SERIAL, Script, findings, finished, kinds

Barrier = Callable[[Metal.MTLComputeCommandEncoder, list[Metal.MTLBuffer]], None]


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


def nothing(encoder: Metal.MTLComputeCommandEncoder, buffers: list[Metal.MTLBuffer]) -> None:
    pass


def two(
    script: Script,
    barrier: Barrier = nothing,
    *,
    kind: int = CONCURRENT,
    second: str = "move",
    offset: int = 0,
) -> list:
    """put to `scratch`, a barrier, and another kernel that reads it."""
    scratch, out = script.buffer("scratch", size=512), script.buffer("out", size=512)
    with findings() as found:
        commands = script.commands("frame")
        with script.compute(commands, "pair", kind) as encoder:
            script.dispatch(encoder, "put", scratch)
            barrier(encoder, [scratch, out])
            script.dispatch(encoder, second, scratch, out, offset=offset)
        finished(commands)
    return found


def test_two_concurrent_dispatches_are_named_with_encoder_buffer_and_the_barrier_that_helps(
    script: Script,
) -> None:
    [finding] = two(script)
    assert finding.kind == "unordered-dispatches" and finding.check == "race"
    assert finding.message == (
        "dispatch 1 ('put') and dispatch 2 ('move') of encoder 'pair' of command buffer 'frame' "
        "touch 'scratch', and no barrier is between them"
    )
    assert (finding.memory, finding.offset) == ("'scratch'", 0)
    assert "memoryBarrierWithScope_" in finding.hint and "another dispatch" not in finding.hint
    later, earlier = finding.parties
    assert later.what.startswith("read of 4 bytes by dispatch 2 ('move') of encoder 'pair'")
    assert earlier.what.startswith("write of 4 bytes by dispatch 1 ('put')")
    assert "script.py:" in later.what and "encoded at" in later.what
    assert later.site.line == 9 and earlier.site.line == 5


@pytest.mark.parametrize(
    ("barrier", "found"),
    [
        (lambda e, b: e.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers), []),
        (lambda e, b: e.memoryBarrierWithResources_count_(b[:1], 1), []),
        (
            lambda e, b: e.memoryBarrierWithScope_(Metal.MTLBarrierScopeTextures),
            ["unordered-dispatches"],
        ),
        (lambda e, b: e.memoryBarrierWithResources_count_(b[1:], 1), ["unordered-dispatches"]),
    ],
    ids=["buffers", "that buffer", "textures", "another buffer"],
)
def test_a_barrier_orders_what_it_is_for(
    script: Script, barrier: Barrier, found: list[str]
) -> None:
    assert kinds(two(script, barrier)) == found


def test_a_barrier_for_another_resource_is_said_to_be_for_another(script: Script) -> None:
    [finding] = two(script, lambda e, b: e.memoryBarrierWithResources_count_(b[1:], 1))
    assert finding.message.endswith("the barrier between them is not for that memory")


def test_a_serial_encoder_orders_its_dispatches(script: Script) -> None:
    assert two(script, kind=SERIAL) == []


def test_dispatches_that_touch_other_bytes_need_no_barrier(script: Script) -> None:
    assert two(script, offset=256) == []


@pytest.mark.parametrize("kernel", ["put", "count"])
def test_atomic_additions_need_no_barrier_among_each_other_alone(
    script: Script, kernel: str
) -> None:
    total = script.buffer("total")
    with findings() as found:
        commands = script.commands()
        with script.compute(commands, kind=CONCURRENT) as encoder:
            script.dispatch(encoder, "count", total)
            script.dispatch(encoder, kernel, total)
        finished(commands)
    assert kinds(found) == ([] if kernel == "count" else ["unordered-dispatches"])


def test_reads_need_no_barrier_among_each_other(script: Script) -> None:
    source, first, second = (script.buffer(name) for name in ("source", "first", "second"))
    with findings() as found:
        commands = script.commands()
        with script.compute(commands, kind=CONCURRENT) as encoder:
            script.dispatch(encoder, "move", source, first)
            script.dispatch(encoder, "move", source, second)
        finished(commands)
    assert found == []


def test_a_write_after_a_read_needs_a_barrier_too(script: Script) -> None:
    source, out = script.buffer("source"), script.buffer("out")
    with findings() as found:
        commands = script.commands()
        with script.compute(commands, kind=CONCURRENT) as encoder:
            script.dispatch(encoder, "move", source, out)
            script.dispatch(encoder, "put", source)
        finished(commands)
    assert [finding.memory for finding in found] == ["'source'"]


def test_what_was_encoded_before_checks_began_is_judged_by_its_barriers(script: Script) -> None:
    for ordered in (False, True):
        scratch, out = script.buffer("scratch"), script.buffer("out")
        commands = script.commands()
        with script.compute(commands, kind=CONCURRENT) as encoder:
            script.dispatch(encoder, "put", scratch)
            if ordered:
                encoder.memoryBarrierWithScope_(Metal.MTLBarrierScopeBuffers)
            script.dispatch(encoder, "move", scratch, out)
        with findings() as found:
            finished(commands)
        assert kinds(found) == ([] if ordered else ["unordered-dispatches"])
