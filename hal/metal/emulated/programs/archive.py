"""Binary archives, which hold nothing here: compiled code is kept by the emulator itself."""

import logging
from typing import TYPE_CHECKING

from ..constants import MTLBinaryArchiveErrorInvalidFile
from ..descriptors import MTLComputePipelineDescriptor
from ..errors import MTLBinaryArchiveDomain, NSError
from ..objects import MetalObject, UserMade, call_of, expect
from .files import path_of

if TYPE_CHECKING:
    from ..device import MTLDevice

_log = logging.getLogger(__name__)
_CONTENT = b"An empty Metal binary archive of Assay's emulated device.\n"


class MTLBinaryArchiveDescriptor(UserMade):
    """Where a binary archive is to be read from."""

    _url: object = None

    def url(self) -> object:
        """The file, or None for a new archive."""
        return self._url

    def setUrl_(self, url: object) -> None:
        """Set the file: an NSURL, a file: URL or a path."""
        self._url = url


class MTLBinaryArchive(MetalObject):
    """Accepts pipelines and keeps none.

    Deviation: archives are empty; the emulator has a cache of its own for compiled code.
    """

    def __init__(self, device: "MTLDevice", label: str | None):
        self._device = device
        self._label = label

    def device(self) -> "MTLDevice":
        """The device that the archive belongs to."""
        return self._device

    def addComputePipelineFunctionsWithDescriptor_error_(
        self, descriptor: MTLComputePipelineDescriptor, _error: None
    ) -> tuple[bool, NSError | None]:
        """Accepted: nothing is put into the archive."""
        where = call_of(self)
        expect(where, "the descriptor", descriptor, MTLComputePipelineDescriptor)
        _log.info("%s: binary archives keep nothing; compiled code is cached anyway", where)
        return True, None

    def serializeToURL_error_(self, url: object, _error: None) -> tuple[bool, NSError | None]:
        """Write a file that says that the archive is empty."""
        try:
            path_of(url).write_bytes(_CONTENT)
        except OSError as error:
            return False, _invalid(f"the archive cannot be written: {error}", error)
        return True, None


def new_binary_archive(
    device: "MTLDevice", descriptor: MTLBinaryArchiveDescriptor
) -> tuple[MTLBinaryArchive | None, NSError | None]:
    """An archive; an error when its file is not one that this device wrote."""
    where = "MTLDevice.newBinaryArchiveWithDescriptor_error_"
    expect(where, "the descriptor", descriptor, MTLBinaryArchiveDescriptor)
    url = descriptor.url()
    if url is not None:
        try:
            with path_of(url).open("rb") as file:
                content = file.read(len(_CONTENT) + 1)
        except OSError as error:
            return None, _invalid(f"the archive cannot be read: {error}", error)
        if content != _CONTENT:
            return None, _invalid(f"{url} is no archive of the emulated device", None)
    return MTLBinaryArchive(device, descriptor.label()), None


def _invalid(description: str, cause: BaseException | None) -> NSError:
    return NSError(MTLBinaryArchiveDomain, MTLBinaryArchiveErrorInvalidFile, description, cause)
