"""Encoders and queues: what hazard tracking, fences and events order."""

from __future__ import annotations

import numpy as np
import pytest

from assay.hal.metal import emulated as Metal

from .script import SHARED, SIZE, UNTRACKED, Script, findings, finished, kinds


@pytest.fixture(scope="module")
def script() -> Script:
    return Script()


def blit_then_compute(
    script: Script, scratch: Metal.MTLBuffer, *, fence: bool, apart: bool = False
) -> list:
    """A fill, and a kernel that reads what it filled; perhaps in two command buffers."""
    out, barrier = script.buffer("out"), script.device.newFence()
    with findings() as found:
        first = script.commands("first")
        second = script.commands("second") if apart else first
        with script.blit(first, "fill") as encoder:
            encoder.fillBuffer_range_value_(scratch, (0, SIZE), 1)
            if fence:
                encoder.updateFence_(barrier)
        with script.compute(second, "use") as encoder:
            if fence:
                encoder.waitForFence_(barrier)
            script.dispatch(encoder, "move", scratch, out)
        finished(*([first, second] if apart else [first]))
    return found


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("fence", [False, True])
def test_an_untracked_buffer_needs_a_fence_between_blit_and_compute(
    script: Script, fence: bool, apart: bool
) -> None:
    found = blit_then_compute(script, script.buffer("scratch", UNTRACKED), fence=fence, apart=apart)
    assert kinds(found) == ([] if fence else ["unordered-passes"])
    if found:
        assert "'scratch', which is untracked, and no fence orders them" in found[0].message
        assert "encoder 'use'" in found[0].message and "encoder 'fill'" in found[0].message
        assert "MTLFence" in found[0].hint
        assert found[0].parties[1].what.startswith("write by fill of encoder 'fill'")
        assert found[0].parties[1].site.file.endswith("test_passes.py")


@pytest.mark.parametrize("apart", [False, True])
def test_a_tracked_buffer_needs_no_fence(script: Script, apart: bool) -> None:
    assert blit_then_compute(script, script.buffer("scratch"), fence=False, apart=apart) == []


@pytest.mark.parametrize("tracking", ["Default", "Untracked", "Tracked"])
@pytest.mark.parametrize("fence", [False, True])
def test_a_heap_needs_a_fence_unless_it_is_tracked(
    script: Script, tracking: str, fence: bool
) -> None:
    heap = script.heap(getattr(Metal, f"MTLHazardTrackingMode{tracking}"))
    found = blit_then_compute(script, script.in_heap(heap, "part"), fence=fence)
    right = fence or tracking == "Tracked"
    assert kinds(found) == ([] if right else ["unordered-passes"])
    assert right or "lies in an untracked heap" in found[0].message


def test_fences_order_what_came_before_what_they_wait_for(script: Script) -> None:
    for kept in (True, False):
        chain = [script.buffer(f"chain {number}", UNTRACKED) for number in range(3)]
        fences = [script.device.newFence() for _ in range(2)]
        with findings() as found:
            commands = script.commands()
            with script.compute(commands) as encoder:
                script.dispatch(encoder, "put", chain[0])
                encoder.updateFence_(fences[0])
            with script.compute(commands) as encoder:
                if kept:
                    encoder.waitForFence_(fences[0])
                script.dispatch(encoder, "put", chain[1])
                encoder.updateFence_(fences[1])
            with script.compute(commands) as encoder:
                encoder.waitForFence_(fences[1])
                script.dispatch(encoder, "move", chain[0], chain[2])
            finished(commands)
        assert kinds(found) == ([] if kept else ["unordered-passes"])


def test_a_fence_orders_nothing_else_than_its_encoders(script: Script) -> None:
    first, second, out = (script.buffer(n, UNTRACKED) for n in ("first", "second", "out"))
    fence = script.device.newFence()
    with findings() as found:
        commands = script.commands()
        with script.compute(commands) as encoder:
            script.dispatch(encoder, "put", first)
        with script.compute(commands) as encoder:
            script.dispatch(encoder, "put", second)
            encoder.updateFence_(fence)
        with script.compute(commands) as encoder:
            encoder.waitForFence_(fence)
            script.dispatch(encoder, "move", second, out)
            script.dispatch(encoder, "move", first, out)
        finished(commands)
    assert [finding.memory for finding in found] == ["'first'"]


def two_queues(script: Script, options: int, *, event: bool, wait: int = 1) -> list:
    scratch, out = script.buffer("scratch", options), script.buffer("out")
    other, signal = script.device.newCommandQueue(), script.device.newEvent()
    with findings() as found:
        first, second = script.commands("first"), script.commands("second", other)
        with script.compute(first, "make") as encoder:
            script.dispatch(encoder, "put", scratch)
        if event:
            first.encodeSignalEvent_value_(signal, 1)
            second.encodeWaitForEvent_value_(signal, wait)
        with script.compute(second, "use") as encoder:
            script.dispatch(encoder, "move", scratch, out)
        finished(first, second)
    return found


@pytest.mark.parametrize("options", [SHARED, UNTRACKED], ids=["tracked", "untracked"])
@pytest.mark.parametrize("event", [False, True])
def test_two_queues_need_an_event_also_where_hazards_are_tracked(
    script: Script, options: int, event: bool
) -> None:
    found = two_queues(script, options, event=event)
    assert kinds(found) == ([] if event else ["unordered-queues"])
    if found:
        assert "no event orders them" in found[0].message and "'scratch'" in found[0].message
        assert "MTLEvent" in found[0].hint


def test_waiting_for_an_earlier_value_of_an_event_is_not_enough(script: Script) -> None:
    scratch, out = script.buffer("scratch"), script.buffer("out")
    other, signal = script.device.newCommandQueue(), script.device.newEvent()
    for value, expected in ((2, []), (1, ["unordered-queues"])):
        with findings() as found:
            first, second = script.commands("first"), script.commands("second", other)
            first.encodeSignalEvent_value_(signal, 1)
            with script.compute(first) as encoder:
                script.dispatch(encoder, "put", scratch)
            first.encodeSignalEvent_value_(signal, 2)
            second.encodeWaitForEvent_value_(signal, value)
            with script.compute(second) as encoder:
                script.dispatch(encoder, "move", scratch, out)
            finished(first, second)
        assert kinds(found) == expected
        signal = script.device.newEvent()


def test_a_wait_of_the_host_between_two_queues_orders_them(script: Script) -> None:
    scratch, out = script.buffer("scratch", UNTRACKED), script.buffer("out")
    other = script.device.newCommandQueue()
    with findings() as found:
        for queue, kernel, buffers in (
            (script.queue, "put", [scratch]),
            (other, "move", [scratch, out]),
        ):
            commands = script.commands("", queue)
            with script.compute(commands) as encoder:
                script.dispatch(encoder, kernel, *buffers)
            finished(commands)
    assert found == []


@pytest.mark.parametrize("declared", [False, True])
def test_what_is_reached_through_a_residency_set_alone_is_not_tracked(
    script: Script, declared: bool
) -> None:
    target = script.buffer("target")
    table = script.device.newBufferWithBytes_length_options_(
        np.array([target.gpuAddress()], np.uint64), 8, SHARED
    )
    resident, _ = script.device.newResidencySetWithDescriptor_error_(
        Metal.MTLResidencySetDescriptor.new(), None
    )
    resident.addAllocation_(target)
    resident.commit()
    usage = Metal.MTLResourceUsageRead | Metal.MTLResourceUsageWrite
    with findings() as found:
        commands = script.commands()
        commands.useResidencySet_(resident)
        for _ in range(2):
            with script.compute(commands) as encoder:
                if declared:
                    encoder.useResource_usage_(target, usage)
                script.dispatch(encoder, "far", table)
        finished(commands)
    assert kinds(found) == ([] if declared else ["unordered-passes"])
    if found:
        assert "useResource_usage_" in found[0].hint


@pytest.mark.parametrize("given_up", ["before", "after"])
def test_a_resource_is_not_to_be_used_once_it_is_aliasable(script: Script, given_up: str) -> None:
    part = script.in_heap(script.heap(), "part")
    with findings() as found:
        commands = script.commands()
        if given_up == "before":
            part.makeAliasable()
        with script.compute(commands, "late") as encoder:
            script.dispatch(encoder, "put", part)
        if given_up == "after":
            part.makeAliasable()
        finished(commands)
    assert kinds(found) == (["aliased-use"] if given_up == "before" else [])
    if found:
        assert "'part'" in found[0].message and "makeAliasable" in found[0].hint


@pytest.mark.parametrize("fence", [False, True])
def test_buffers_that_share_a_part_of_a_heap_need_a_fence(script: Script, fence: bool) -> None:
    heap, between = script.heap(), script.device.newFence()
    first = script.in_heap(heap, "first")
    with findings() as found:
        commands = script.commands()
        with script.compute(commands) as encoder:
            script.dispatch(encoder, "put", first)
            encoder.updateFence_(between)
        first.makeAliasable()
        second = script.in_heap(heap, "second")
        assert second.heapOffset() == first.heapOffset()
        with script.compute(commands) as encoder:
            if fence:
                encoder.waitForFence_(between)
            script.dispatch(encoder, "put", second)
        finished(commands)
    assert kinds(found) == ([] if fence else ["unordered-passes"])


def test_textures_in_an_untracked_heap_need_a_fence(script: Script) -> None:
    descriptor = Metal.MTLTextureDescriptor
    made = descriptor.texture2DDescriptorWithPixelFormat_width_height_mipmapped_(
        Metal.MTLPixelFormatR32Uint, 8, 8, False
    )
    made.setStorageMode_(Metal.MTLStorageModeShared)
    heap, rows = script.heap(), script.buffer("rows")
    texture = heap.newTextureWithDescriptor_(made)
    assert texture is not None
    fence = script.device.newFence()
    copy = (
        "copyFromBuffer_sourceOffset_sourceBytesPerRow_sourceBytesPerImage_sourceSize_toTexture_"
        "destinationSlice_destinationLevel_destinationOrigin_"
    )
    for fenced in (True, False):
        with findings() as found:
            commands = script.commands()
            for number in range(2):
                with script.blit(commands) as encoder:
                    if fenced and number:
                        encoder.waitForFence_(fence)
                    origin = (0, 0, 0)
                    getattr(encoder, copy)(rows, 0, 32, 256, (8, 8, 1), texture, 0, 0, origin)
                    encoder.updateFence_(fence)
            finished(commands)
        assert kinds(found) == ([] if fenced else ["unordered-passes"])
