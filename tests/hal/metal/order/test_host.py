"""The host and command buffers in flight: who may touch what, and until when."""

from __future__ import annotations

import struct
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated.order.guard import guard

from .script import COUNT, SIZE, Script, findings, finished, ints, kinds

pytestmark = pytest.mark.skipif(
    guard() is None, reason="this host does not show what programs do to memory"
)
Commands = Metal.MTLCommandBuffer
Access = Callable[[Metal.MTLBuffer], object]


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


def putting(script: Script, out: Metal.MTLBuffer, label: str = "frame") -> Commands:
    commands = script.commands(label)
    with script.compute(commands) as encoder:
        script.dispatch(encoder, "put", out)
    return commands


def by_element(buffer: Metal.MTLBuffer) -> object:
    return ints(buffer)[3]


READS: dict[str, Access] = {
    "sum": lambda buffer: ints(buffer).sum(),
    "element": by_element,
    "bytes": lambda buffer: bytes(buffer.contents().as_buffer(SIZE)),
    "struct": lambda buffer: struct.unpack_from("<i", buffer.contents().as_buffer(SIZE), 8),
    "varlist": lambda buffer: buffer.contents()[8],
    "tuple": lambda buffer: buffer.contents().as_tuple(8),
    "list": lambda buffer: list(buffer.contents().as_buffer(SIZE)),
    "copy": lambda buffer: ints(buffer).copy(),
    "compare": lambda buffer: np.array_equal(ints(buffer), np.zeros(COUNT)),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("waits", [False, True])
def test_a_result_is_to_be_read_after_the_wait(script: Script, read: Access, waits: bool) -> None:
    with findings() as found:
        out = script.buffer("out")
        commands = putting(script, out)
        commands.commit()
        if waits:
            commands.waitUntilCompleted()
        read(out)
        commands.waitUntilCompleted()
    assert kinds(found) == ([] if waits else ["host-read-early"])


def test_an_early_read_is_named_with_its_line_and_what_writes(script: Script) -> None:
    with findings() as found:
        out = script.buffer("out")
        commands = putting(script, out)
        values = ints(out)
        commands.commit()
        total = int(values[4])
        commands.waitUntilCompleted()
    [finding] = found
    assert total in (0, 5)
    assert finding.message == (
        "the host reads 'out' while command buffer 'frame', which writes it, may still run"
    )
    assert (finding.memory, finding.offset) == ("'out'", 16)
    assert "waitUntilCompleted() of that command buffer" in finding.hint
    host, device = finding.parties
    assert host.what == "read by the host, at this line or just before"
    assert host.site.file.endswith("test_host.py") and host.site.line > 60
    assert device.what.startswith("write of 4 bytes by dispatch 1 ('put') of encoder 1 of")


def test_a_view_that_was_taken_early_may_be_read_late(script: Script) -> None:
    with findings() as found:
        out = script.buffer("out")
        values = ints(out)
        commands = putting(script, out)
        commands.commit()
        again = ints(out)
        commands.waitUntilCompleted()
        assert values.sum() == again.sum() == sum(range(1, COUNT + 1))
    assert found == []


@pytest.mark.parametrize("early", [False, True])
def test_inputs_are_not_to_be_written_while_they_are_read(script: Script, early: bool) -> None:
    with findings() as found:
        source, out = script.buffer("source"), script.buffer("out")
        commands = script.commands("frame")
        with script.compute(commands) as encoder:
            script.dispatch(encoder, "move", source, out)
        commands.commit()
        if not early:
            commands.waitUntilCompleted()
        ints(source)[:] = 7
        commands.waitUntilCompleted()
    assert kinds(found) == (["host-write-in-flight"] if early else [])
    if found:
        assert found[0].message == (
            "the host writes 'source' while command buffer 'frame', which reads it, may still run"
        )


def test_inputs_may_be_read_while_they_are_read(script: Script) -> None:
    with findings() as found:
        source, out = script.buffer("source"), script.buffer("out")
        commands = script.commands()
        with script.compute(commands) as encoder:
            script.dispatch(encoder, "move", source, out)
        commands.commit()
        assert ints(source).sum() == 0
        commands.waitUntilCompleted()
    assert found == []


def test_the_host_may_use_other_bytes_of_a_buffer_in_flight(script: Script) -> None:
    with findings() as found:
        out = script.buffer("out", size=2 * SIZE)
        commands = putting(script, out)
        commands.commit()
        ints(out)[COUNT:] = 3
        assert ints(out)[COUNT + 5] == 3
        commands.waitUntilCompleted()
        assert ints(out)[0] == 1
    assert found == []


@pytest.mark.parametrize("right", [False, True])
def test_a_wait_for_another_command_buffer_is_not_enough(script: Script, right: bool) -> None:
    with findings() as found:
        first, second = script.buffer("first"), script.buffer("second")
        one, two = putting(script, first, "one"), putting(script, second, "two")
        one.commit()
        two.commit()
        (two if right else one).waitUntilCompleted()
        ints(first).sum()
        ints(second).sum()
        two.waitUntilCompleted()
    assert kinds(found) == ([] if right else ["host-read-early"])
    assert right or "'second' while command buffer 'two'" in found[0].message


def test_a_wait_for_another_queue_is_not_enough(script: Script) -> None:
    with findings() as found:
        out, other = script.buffer("out"), script.buffer("other")
        commands = putting(script, out)
        elsewhere = script.commands("", script.device.newCommandQueue())
        with script.compute(elsewhere) as encoder:
            script.dispatch(encoder, "put", other)
        commands.commit()
        elsewhere.commit()
        elsewhere.waitUntilCompleted()
        ints(out).sum()
        commands.waitUntilCompleted()
    assert kinds(found) == ["host-read-early"]


def by_handler(script: Script, commands: Commands) -> None:
    done = threading.Event()
    commands.addCompletedHandler_(lambda _: done.set())
    commands.commit()
    assert done.wait(10)


def by_status(script: Script, commands: Commands) -> None:
    commands.commit()
    while commands.status() < Metal.MTLCommandBufferStatusCompleted:
        time.sleep(0.001)


def by_event(script: Script, commands: Commands) -> None:
    event = script.device.newSharedEvent()
    commands.encodeSignalEvent_value_(event, 1)
    commands.commit()
    assert event.waitUntilSignaledValue_timeoutMS_(1, 10_000)


def by_polling_an_event(script: Script, commands: Commands) -> None:
    event = script.device.newSharedEvent()
    commands.encodeSignalEvent_value_(event, 1)
    commands.commit()
    while event.signaledValue() < 1:
        time.sleep(0.001)


def by_a_listener(script: Script, commands: Commands) -> None:
    event, done = script.device.newSharedEvent(), threading.Event()
    listener = Metal.MTLSharedEventListener.alloc().init()
    event.notifyListener_atValue_block_(listener, 1, lambda *_: done.set())
    commands.encodeSignalEvent_value_(event, 1)
    commands.commit()
    assert done.wait(10)


@pytest.mark.parametrize(
    "wait", [by_handler, by_status, by_event, by_polling_an_event, by_a_listener]
)
def test_there_are_other_ways_to_know_that_commands_have_ended(
    script: Script, wait: Callable[[Script, Commands], None]
) -> None:
    with findings() as found:
        out = script.buffer("out")
        commands = putting(script, out)
        wait(script, commands)
        assert ints(out)[1] == 2
    assert found == []


def test_sleeping_is_no_way_to_know(script: Script) -> None:
    with findings() as found:
        out = script.buffer("out")
        putting(script, out).commit()
        time.sleep(0.05)
        ints(out).sum()
    assert kinds(found) == ["host-read-early"]


@pytest.mark.parametrize("right", [False, True])
def test_a_shared_event_lets_the_host_write_before_the_device_reads(
    script: Script, right: bool
) -> None:
    with findings() as found:
        source, out = script.buffer("source"), script.buffer("out")
        ready = script.device.newSharedEvent()
        commands = script.commands()
        commands.encodeWaitForEvent_value_(ready, 1)
        with script.compute(commands) as encoder:
            script.dispatch(encoder, "move", source, out)
        commands.commit()
        if not right:
            ready.setSignaledValue_(1)
        ints(source)[:] = 3
        if right:
            ready.setSignaledValue_(1)
        commands.waitUntilCompleted()
    assert kinds(found) == ([] if right else ["host-write-in-flight"])


@pytest.mark.parametrize("right", [False, True])
def test_texels_are_to_be_fetched_after_the_wait(script: Script, right: bool) -> None:
    make = Metal.MTLTextureDescriptor
    descriptor = make.texture2DDescriptorWithPixelFormat_width_height_mipmapped_(
        Metal.MTLPixelFormatR32Uint, 8, 8, False
    )
    copy = (
        "copyFromBuffer_sourceOffset_sourceBytesPerRow_sourceBytesPerImage_sourceSize_toTexture_"
        "destinationSlice_destinationLevel_destinationOrigin_"
    )
    with findings() as found:
        texture = script.device.newTextureWithDescriptor_(descriptor)
        texture.setLabel_("picture")
        rows, host = script.buffer("rows"), bytearray(256)
        commands = script.commands()
        with script.blit(commands) as encoder:
            getattr(encoder, copy)(rows, 0, 32, 256, (8, 8, 1), texture, 0, 0, (0, 0, 0))
        commands.commit()
        if right:
            commands.waitUntilCompleted()
        region = ((0, 0, 0), (8, 8, 1))
        texture.getBytes_bytesPerRow_fromRegion_mipmapLevel_(host, 32, region, 0)
        commands.waitUntilCompleted()
    assert kinds(found) == ([] if right else ["host-read-early"])
    assert right or found[0].memory == "'picture'"


def test_command_buffers_in_turn_take_two_buffers_in_turn(script: Script) -> None:
    """Triple buffering's little sister: write one while the other is read."""
    for slots, expected in ((2, []), (1, ["host-write-in-flight"])):
        with findings() as found:
            sources = [script.buffer(f"source {number}") for number in range(slots)]
            out, committed = script.buffer("out"), []
            for frame in range(6):
                if frame >= slots and slots > 1:
                    committed[frame - slots].waitUntilCompleted()
                ints(sources[frame % slots])[:] = frame
                commands = script.commands(f"frame {frame}")
                with script.compute(commands) as encoder:
                    script.dispatch(encoder, "move", sources[frame % slots], out)
                commands.commit()
                committed.append(commands)
            committed[-1].waitUntilCompleted()
            assert ints(out)[0] == 6
        assert kinds(found) == expected


def test_large_arrays_are_seen_too(script: Script) -> None:
    with findings() as found:
        out = script.buffer("large", size=8 << 20)
        commands = script.commands("frame")
        with script.blit(commands) as encoder:
            encoder.fillBuffer_range_value_(out, ((8 << 20) - 4096, 4096), 1)
        commands.commit()
        ints(out).sum()
        commands.waitUntilCompleted()
    assert kinds(found) == ["host-read-early"]


def test_buffers_hold_what_they_should_under_checks(script: Script) -> None:
    with findings() as found:
        data = np.arange(COUNT, dtype=np.int32)
        source = script.device.newBufferWithBytes_length_options_(data, SIZE, 0)
        out = script.buffer("out")
        for round_ in range(3):
            commands = script.commands()
            with script.compute(commands) as encoder:
                script.dispatch(encoder, "move", source, out)
            finished(commands)
            assert (ints(out) == ints(source) + 1).all()
            ints(source)[:] = round_
    assert found == []
