"""Binary archives and dynamic libraries: what is accepted says that it does nothing."""

import logging
from pathlib import Path

import pytest

from assay.hal.metal import emulated as Metal
from assay.hal.metal.emulated import MTLDevice
from tests.support.metal_fakes import fake_device


@pytest.fixture
def device() -> MTLDevice:
    return fake_device()


def archive_at(
    device: MTLDevice, url: object
) -> tuple[Metal.MTLBinaryArchive | None, Metal.NSError | None]:
    descriptor = Metal.MTLBinaryArchiveDescriptor.new()
    descriptor.setUrl_(url)
    return device.newBinaryArchiveWithDescriptor_error_(descriptor, None)


def test_an_archive_accepts_pipelines_and_says_that_it_keeps_none(
    device: MTLDevice, caplog: pytest.LogCaptureFixture
) -> None:
    archive, error = archive_at(device, None)
    assert archive is not None, error
    descriptor = Metal.MTLComputePipelineDescriptor.new()
    descriptor.setBinaryArchives_([archive])
    assert descriptor.binaryArchives() == (archive,)
    with caplog.at_level(logging.INFO):
        added = archive.addComputePipelineFunctionsWithDescriptor_error_(descriptor, None)
    assert added == (True, None)
    assert "binary archives keep nothing" in caplog.text


def test_an_archive_that_was_written_can_be_read(device: MTLDevice, tmp_path: Path) -> None:
    archive, _ = archive_at(device, None)
    assert archive is not None
    path = tmp_path / "a b.metalar"
    assert archive.serializeToURL_error_(path.as_uri(), None) == (True, None)
    assert archive_at(device, str(path))[1] is None


def test_a_file_that_is_no_archive_is_an_error(device: MTLDevice, tmp_path: Path) -> None:
    path = tmp_path / "other.metalar"
    assert "cannot be read" in str(archive_at(device, path)[1])
    path.write_bytes(b"something else")
    archive, error = archive_at(device, path)
    assert archive is None and error is not None
    assert error.domain() == Metal.MTLBinaryArchiveDomain
    assert "is no archive of the emulated device" in error.localizedDescription()


def test_an_archive_that_cannot_be_written_is_an_error(device: MTLDevice, tmp_path: Path) -> None:
    archive, _ = archive_at(device, None)
    assert archive is not None
    done, error = archive.serializeToURL_error_(str(tmp_path / "none" / "a"), None)
    assert not done and "cannot be written" in str(error)


def test_dynamic_libraries_are_refused_by_name(device: MTLDevice) -> None:
    library, _ = device.newLibraryWithSource_options_error_("kernels", None, None)
    assert library is not None
    assert not device.supportsDynamicLibraries()
    made, error = device.newDynamicLibrary_error_(library, None)
    assert made is None and "dynamic libraries are not emulated" in str(error)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("newMTL4CommandBuffer", "that part of Metal 4 is not emulated"),
        ("newRenderPipelineStateWithDescriptor_error_", "rendering is not emulated"),
        ("newCounterSampleBufferWithDescriptor_error_", "counters are not emulated"),
        ("noSuchThing", "has no 'noSuchThing'; docs"),
    ],
)
def test_what_is_absent_is_named(device: MTLDevice, name: str, reason: str) -> None:
    with pytest.raises(AttributeError, match=reason):
        getattr(device, name)
