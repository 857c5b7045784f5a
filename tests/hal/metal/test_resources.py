"""Devices, buffers, heaps, libraries: what they are, and the visibility rules of memory."""

import mmap
import threading
from collections.abc import Callable

import numpy as np
import pytest

from assay.hal.metal import api
from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MetalOutOfMemoryError, MetalValidationError, MTLDevice
from assay.hal.metal.emulated.manual import page
from assay.hw.facts import SpecError
from tests.support.metal_fakes import KERNELS, FakeLibrary, fake_device

SHARED = Metal.MTLResourceStorageModeShared
MANAGED = Metal.MTLResourceStorageModeManaged
PRIVATE = Metal.MTLResourceStorageModePrivate


@pytest.fixture
def device() -> MTLDevice:
    return fake_device()


def run_add_one(device: MTLDevice, source: Metal.MTLBuffer, target: Metal.MTLBuffer) -> None:
    library, _ = device.newLibraryWithSource_options_error_("", None, None)
    assert library is not None
    state, _ = device.newComputePipelineStateWithFunction_error_(
        library.newFunctionWithName_("add_one"), None
    )
    command_buffer = device.newCommandQueue().commandBuffer()
    encoder = command_buffer.computeCommandEncoder()
    encoder.setComputePipelineState_(state)
    encoder.setBuffer_offset_atIndex_(source, 0, 0)
    encoder.setBuffer_offset_atIndex_(target, 0, 1)
    encoder.dispatchThreads_threadsPerThreadgroup_((1, 1, 1), (1, 1, 1))
    encoder.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()


def test_a_device_is_the_chip_that_was_asked_for() -> None:
    device = fake_device(chip="m2-pro")
    assert device.name() == "Apple M2 Pro" and device.hasUnifiedMemory()
    assert device.supportsFamily_(Metal.MTLGPUFamilyApple8)
    assert not device.supportsFamily_(Metal.MTLGPUFamilyApple9)
    assert device.supportsFamily_(Metal.MTLGPUFamilyMetal3)
    assert device.supportsFamily_(Metal.MTLGPUFamilyCommon3)
    assert device.supportsFamily_(Metal.MTLGPUFamilyMac2)
    assert not device.supportsFamily_(Metal.MTLGPUFamilyMetal4)
    assert device.maxThreadsPerThreadgroup() == Metal.MTLSizeMake(1024, 1024, 1024)
    assert device.maxThreadgroupMemoryLength() == 32768
    assert device.registryID() != fake_device().registryID()
    with pytest.raises(SpecError, match="chip 'm9' is not known; there are a14, m1"):
        fake_device(chip="m9")


def test_what_does_not_exist_is_said_to_be_absent(device: MTLDevice) -> None:
    with pytest.raises(
        AttributeError, match=r"emulated MTLDevice has no 'newRenderPipeline.*metal-api"
    ):
        device.newRenderPipelineStateWithDescriptor_error_  # type: ignore[attr-defined]  # noqa: B018


def test_shared_buffers_show_one_copy_to_host_and_device(device: MTLDevice) -> None:
    a, b = (device.newBufferWithLength_options_(4, SHARED) for _ in range(2))
    contents = a.contents()
    contents[0] = b"\x05"
    contents[1:3] = (b"\1", b"\0")
    assert contents[0] == b"\x05" and contents[0:2] == (b"\x05", b"\1")
    assert contents.as_tuple(2) == (b"\x05", b"\1")
    run_add_one(device, a, b)
    assert bytes(b.contents().as_buffer(4)) == b"\x06\1\0\0"


def test_managed_buffers_without_synchronisation_show_stale_data() -> None:
    device = fake_device(unified_memory=False)
    a = device.newBufferWithBytes_length_options_(b"\1\0\0\0", 4, MANAGED)
    b = device.newBufferWithLength_options_(4, MANAGED)
    a.contents().as_buffer(4)[0] = 7
    run_add_one(device, a, b)
    assert b.contents()[0] == b"\0"
    synchronise(device, b)
    assert b.contents()[0] == b"\2"
    a.didModifyRange_((0, 1))
    run_add_one(device, a, b)
    synchronise(device, b)
    assert b.contents()[0] == b"\x08"
    with pytest.raises(MetalValidationError, match=r"bytes 0\.\.5 of <MTLBuffer of 4 bytes>"):
        a.didModifyRange_((0, 5))


def test_managed_buffers_on_unified_memory_are_coherent(device: MTLDevice) -> None:
    a = device.newBufferWithBytes_length_options_(b"\1\0\0\0", 4, MANAGED)
    b = device.newBufferWithLength_options_(4, MANAGED)
    a.contents().as_buffer(4)[0] = 7
    run_add_one(device, a, b)
    assert b.contents()[0] == b"\x08"


def synchronise(device: MTLDevice, buffer: Metal.MTLBuffer) -> None:
    command_buffer = device.newCommandQueue().commandBuffer()
    blit = command_buffer.blitCommandEncoder()
    blit.synchronizeResource_(buffer)
    blit.endEncoding()
    command_buffer.commit()
    command_buffer.waitUntilCompleted()


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda d: d.newBufferWithLength_options_(0, 0), "length is 0 B; it must lie in 1"),
        (lambda d: d.newBufferWithLength_options_(1 << 60, 0), "maxBufferLength"),
        (lambda d: d.newBufferWithLength_options_(4, 3 << 4), "Memoryless is for textures"),
        (lambda d: d.newBufferWithLength_options_(4, 5 << 4), "options 0x50 name no storage"),
        (lambda d: d.newBufferWithLength_options_(4, 1 << 20), "are no MTLResourceOptions"),
        (lambda d: d.newBufferWithBytes_length_options_(b"1234", 4, PRIVATE), "cannot fill"),
        (lambda d: d.newBufferWithBytes_length_options_(b"12", 4, 0), "only 2 B are given"),
        (
            lambda d: d.newBufferWithLength_options_(4, PRIVATE).contents(),
            "MTLStorageModePrivate, which the host cannot see; copy it into a shared buffer",
        ),
        (lambda d: d.newBufferWithLength_options_(4, 0).contents()[4], "5 bytes asked for"),
        (lambda d: d.newBufferWithLength_options_(4, 0).didModifyRange_((0, 1)), "leave the call"),
        (lambda d: d.newCommandQueueWithMaxCommandBufferCount_(0), "count is 0"),
        (lambda d: d.newSharedEvent().setSignaledValue_(-1), "-1 is not in"),
    ],
)
def test_misuse_of_resources_is_refused(
    device: MTLDevice, misuse: Callable[[MTLDevice], object], message: str
) -> None:
    with pytest.raises(MetalValidationError, match=message):
        misuse(device)


def test_memory_beyond_the_budget_is_refused_not_exhausted() -> None:
    device = fake_device(memory=1000)
    first = device.newBufferWithLength_options_(600, SHARED)
    with pytest.raises(
        MetalOutOfMemoryError, match="500 bytes do not fit: 600 of the device's 1000"
    ):
        device.newBufferWithLength_options_(500, SHARED)
    del first
    assert device.newBufferWithLength_options_(500, SHARED).length() == 500
    cycle: list[object] = [device.newBufferWithLength_options_(600, SHARED)]
    cycle.append(cycle)
    del cycle
    assert device.newBufferWithLength_options_(np.int64(700), SHARED).length() == 700


def test_host_memory_is_wrapped_without_a_copy(device: MTLDevice) -> None:
    pages = mmap.mmap(-1, mmap.PAGESIZE)
    freed: list[tuple[object, int]] = []
    wrap = device.newBufferWithBytesNoCopy_length_options_deallocator_
    buffer = wrap(
        pages, mmap.PAGESIZE, SHARED, lambda pointer, length: freed.append((pointer, length))
    )
    pages[0] = 41
    run_add_one(device, buffer, buffer)
    assert pages[0] == 42
    del buffer
    assert freed == [(pages, mmap.PAGESIZE)]
    with pytest.raises(MetalValidationError, match="must be multiples of the page"):
        wrap(pages, 100, SHARED, None)
    with pytest.raises(MetalValidationError, match="bytes is read-only memory"):
        wrap(bytes(mmap.PAGESIZE), mmap.PAGESIZE, SHARED, None)


def test_contents_made_empty_are_garbage(device: MTLDevice) -> None:
    buffer = device.newBufferWithBytes_length_options_(b"1234", 4, SHARED)
    assert buffer.setPurgeableState_(Metal.MTLPurgeableStateVolatile) == (
        Metal.MTLPurgeableStateNonVolatile
    )
    assert buffer.contents()[0] == b"1"
    buffer.setPurgeableState_(Metal.MTLPurgeableStateEmpty)
    assert buffer.setPurgeableState_(Metal.MTLPurgeableStateKeepCurrent) == (
        Metal.MTLPurgeableStateEmpty
    )
    assert np.isnan(np.frombuffer(buffer.contents().as_buffer(4), dtype=np.float32))


def heap(device: MTLDevice, size: int, kind: int) -> Metal.MTLHeap:
    descriptor = Metal.MTLHeapDescriptor.alloc().init()
    descriptor.setSize_(size)
    descriptor.setStorageMode_(Metal.MTLStorageModeShared)
    descriptor.setType_(kind)
    return device.newHeapWithDescriptor_(descriptor)


def test_a_heap_places_buffers_and_reuses_their_room(device: MTLDevice) -> None:
    pool = heap(device, 1024, Metal.MTLHeapTypeAutomatic)
    first = pool.newBufferWithLength_options_(300, SHARED)
    second = pool.newBufferWithLength_options_(256, SHARED)
    assert first is not None and second is not None
    assert (first.heapOffset(), second.heapOffset(), pool.usedSize()) == (0, 512, 768)
    assert pool.maxAvailableSizeWithAlignment_(256) == 256
    assert pool.newBufferWithLength_options_(300, SHARED) is None
    del first
    third = pool.newBufferWithLength_options_(500, SHARED)
    assert third is not None and third.heapOffset() == 0 and third.heap() is pool
    second.makeAliasable()
    assert second.isAliasable() and pool.usedSize() == 512
    assert device.currentAllocatedSize() == 1024


def test_buffers_of_a_placement_heap_may_share_bytes(device: MTLDevice) -> None:
    pool = heap(device, 1024, Metal.MTLHeapTypePlacement)
    whole = pool.newBufferWithLength_options_offset_(1024, SHARED, 0)
    part = pool.newBufferWithLength_options_offset_(256, SHARED, 512)
    part.contents()[0] = b"\7"
    assert whole.contents()[512] == b"\7"
    size, align = device.heapBufferSizeAndAlignWithLength_options_(300, SHARED)
    assert (size, align) == (512, 256)
    with pytest.raises(MetalValidationError, match="offset is 100; it must be a multiple of 256"):
        pool.newBufferWithLength_options_offset_(4, SHARED, 100)
    with pytest.raises(MetalValidationError, match=r"bytes 768\.\.1268 of a heap of 1024"):
        pool.newBufferWithLength_options_offset_(500, SHARED, 768)
    with pytest.raises(MetalValidationError, match="storage mode 2 in a heap of storage mode 0"):
        pool.newBufferWithLength_options_offset_(4, PRIVATE, 0)
    with pytest.raises(MetalValidationError, match="use newBufferWithLength_options_offset_"):
        pool.newBufferWithLength_options_(4, SHARED)


def test_compiler_errors_come_as_error_objects(device: MTLDevice) -> None:
    library, error = device.newLibraryWithSource_options_error_("error", None, None)
    assert library is None and error is not None
    assert error.domain() == Metal.MTLLibraryErrorDomain
    assert error.code() == Metal.MTLLibraryErrorCompileFailure
    assert "program_source.metal:1:1: error" in error.localizedDescription()
    _, error = device.newLibraryWithFile_error_("x.metallib", None)
    assert error is not None and error.code() == Metal.MTLLibraryErrorFileNotFound
    assert "x.metallib: cannot be read" in error.localizedDescription()


def test_libraries_and_pipelines_are_made_in_the_background_too(device: MTLDevice) -> None:
    done = threading.Event()
    results: list[object] = []

    def have_state(state: object, error: object) -> None:
        results.append((type(state).__name__, error))
        done.set()

    def have_library(library: Metal.MTLLibrary | None, error: object) -> None:
        assert library is not None
        results.append((library.functionNames(), error))
        function = library.newFunctionWithName_("add_one")
        assert function is not None
        device.newComputePipelineStateWithFunction_completionHandler_(function, have_state)

    device.newLibraryWithSource_options_completionHandler_("", None, have_library)
    assert done.wait(5)
    assert results == [(tuple(KERNELS), None), ("MTLComputePipelineState", None)]


def test_functions_are_found_by_name_and_take_constants(device: MTLDevice) -> None:
    library, _ = device.newLibraryWithSource_options_error_("", None, None)
    assert library is not None and library.newFunctionWithName_("absent") is None
    values = Metal.MTLFunctionConstantValues.alloc().init()
    values.setConstantValue_type_atIndex_(np.float32(1.5), Metal.MTLDataTypeFloat, 0)
    values.setConstantValue_type_withName_(b"\1", Metal.MTLDataTypeBool, "flag")
    values.setConstantValues_type_withRange_(
        np.arange(8, dtype=np.uint16), Metal.MTLDataTypeUShort3, (4, 2)
    )
    function, error = library.newFunctionWithName_constantValues_error_("add_one", values, None)
    assert function is not None and error is None and function.name() == "add_one"
    fake = library.compiled
    assert isinstance(fake, FakeLibrary)
    assert fake.values["add_one"] == {0: 1.5, "flag": True, 4: (0, 1, 2), 5: (4, 5, 6)}
    function, error = library.newFunctionWithName_constantValues_error_("absent", values, None)
    assert function is None and error is not None
    assert "no kernel is called 'absent'; there are add_one, fail" in str(error)
    with pytest.raises(MetalValidationError, match="type 58 is no MTLDataType of a scalar"):
        values.setConstantValue_type_atIndex_(b"", Metal.MTLDataTypeTexture, 0)
    with pytest.raises(MetalValidationError, match="length is 4 B, but only 1 B are given"):
        values.setConstantValue_type_atIndex_(b"1", Metal.MTLDataTypeInt, 0)


def test_names_are_importable_by_star() -> None:
    names: dict[str, object] = {}
    exec("from assay.hal.metal.emulated import *", names)
    assert names["MTLResourceStorageModePrivate"] == 32
    assert names["MTLResourceOptions"](0) == 0  # type: ignore[operator]
    assert Metal.MTLSize(width=3) == (3, 0, 0)


def test_load_chooses_by_name_and_never_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert api.load("emulated") is Metal
    with pytest.raises(api.NoSuchMetal, match="'auto' is not known; there are emulated, native"):
        api.load("auto")
    monkeypatch.setattr(api.platform, "system", lambda: "Linux")
    with pytest.raises(api.NoSuchMetal, match="runs Linux; choose device 'emulated'"):
        api.load("native")
    monkeypatch.setattr(api.platform, "system", lambda: "Darwin")
    with pytest.raises(api.NoSuchMetal, match=r"pip install 'assay-emulator\[macos\]'"):
        api.load("native")


def test_the_reference_page_is_current(pytestconfig: pytest.Config) -> None:
    stored = pytestconfig.rootpath / "docs" / "reference" / "metal-api.md"
    assert stored.read_text(encoding="utf-8") == page()
