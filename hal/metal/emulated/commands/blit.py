"""MTLBlitCommandEncoder: copies and fills of buffers; of textures in texture_blit.py."""

import math
from collections.abc import Sequence

from assay.hw.apple.facts.limits import limits

from ..constants import MTLStorageModeManaged
from ..errors import MetalValidationError
from ..objects import call_of, expect
from ..resources.buffer import MTLBuffer
from ..structs import as_integer, as_range
from ..tensors.extents import MTLTensorExtents
from ..tensors.tensor import MTLTensor
from ..textures.texture import MTLTexture
from .commands import CopyCommand, CopyTensorCommand, FillCommand, SynchronizeCommand
from .execute import CopyCommandsCommand, ResetCommand
from .indirect import MTLIndirectCommandBuffer
from .texture_blit import TextureBlits

_ALIGNMENT = limits().blit_alignment


class MTLBlitCommandEncoder(TextureBlits):
    """Records copies, fills and synchronisations of buffers."""

    def copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_(
        self,
        source: MTLBuffer,
        source_offset: int,
        destination: MTLBuffer,
        destination_offset: int,
        size: int,
    ) -> None:
        """Copy `size` bytes. Offsets and size are multiples of 4, as on every Mac."""
        where = call_of(self)
        self._check_open("copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_")
        expect(where, "the source", source, MTLBuffer)
        expect(where, "the destination", destination, MTLBuffer)
        self._check_own(where, source)
        self._check_own(where, destination)
        source_offset = _aligned(where, "sourceOffset", source_offset)
        destination_offset = _aligned(where, "destinationOffset", destination_offset)
        size = _aligned(where, "size", size)
        source.check_range(where, source_offset, size)
        destination.check_range(where, destination_offset, size)
        if source is destination and abs(source_offset - destination_offset) < size:
            raise MetalValidationError(
                f"{where}: bytes {source_offset}..{source_offset + size} and {destination_offset}.."
                f"{destination_offset + size} of {source!r} overlap; copy through another buffer"
            )
        command = CopyCommand(source, source_offset, destination, destination_offset, size)
        self._append(command)

    def copyFromTensor_sourceOrigin_sourceDimensions_toTensor_destinationOrigin_destinationDimensions_(  # noqa: E501
        self,
        source: MTLTensor,
        origin: MTLTensorExtents,
        dimensions: MTLTensorExtents,
        destination: MTLTensor,
        target: MTLTensorExtents,
        target_dimensions: MTLTensorExtents,
    ) -> None:
        """Copy a slice of a tensor to one of another that has as many elements.

        Where their dimensions differ, elements follow each other, the innermost dimension first.
        """
        where = call_of(self)
        self._check_open(where.partition(".")[2])
        for what, tensor in (("source", source), ("destination", destination)):
            self._check_own(where, expect(where, f"the {what}", tensor, MTLTensor))
        if source.dataType() != destination.dataType():
            raise MetalValidationError(
                f"{where}: {source!r} and {destination!r} have elements of different types"
            )
        command = CopyTensorCommand(
            source,
            source.region(where, origin, dimensions),
            destination,
            destination.region(where, target, target_dimensions),
        )
        if math.prod(dimensions.values) != math.prod(target_dimensions.values):
            raise MetalValidationError(
                f"{where}: {dimensions.values} and {target_dimensions.values} are not as many "
                "elements"
            )
        self._append(command)

    def fillBuffer_range_value_(self, buffer: MTLBuffer, span: Sequence[int], value: int) -> None:
        """Set each byte of `span` to `value`. Its ends are multiples of 4, as on every Mac."""
        where = call_of(self)
        self._check_open("fillBuffer_range_value_")
        expect(where, "the buffer", buffer, MTLBuffer)
        self._check_own(where, buffer)
        location, length = as_range(where, span)
        _aligned(where, "range.location", location)
        _aligned(where, "range.length", length)
        if not length:
            raise MetalValidationError(f"{where}: the range is empty; leave the call out")
        buffer.check_range(where, location, length)
        value = as_integer(where, "the value", value)
        if not 0 <= value <= 0xFF:
            raise MetalValidationError(f"{where}: value {value} is not a byte, 0..255")
        self._append(FillCommand(buffer, location, length, value))

    def synchronizeResource_(self, resource: MTLBuffer | MTLTexture) -> None:
        """Show the host what the device wrote to a managed buffer or texture."""
        where = call_of(self)
        self._check_open("synchronizeResource_")
        if not isinstance(resource, MTLTexture):
            expect(where, "the resource", resource, MTLBuffer)
        self._check_own(where, resource)
        if resource.storageMode() != MTLStorageModeManaged:
            raise MetalValidationError(
                f"{where}: {resource!r} is not of MTLStorageModeManaged; only managed buffers have "
                "copies to bring together, so leave the call out"
            )
        self._append(SynchronizeCommand(resource))

    def resetCommandsInBuffer_withRange_(
        self, commands: MTLIndirectCommandBuffer, span: Sequence[int]
    ) -> None:
        """Make these commands of an indirect command buffer do nothing."""
        where = call_of(self)
        start, length = self._checked_commands(where, commands, span)
        self._append(ResetCommand(commands, start, length))

    def optimizeIndirectCommandBuffer_withRange_(
        self, commands: MTLIndirectCommandBuffer, span: Sequence[int]
    ) -> None:
        """Accepted: there is nothing to make faster."""
        where = call_of(self)
        self._checked_commands(where, commands, span)

    def copyIndirectCommandBuffer_sourceRange_destination_destinationIndex_(
        self,
        source: MTLIndirectCommandBuffer,
        span: Sequence[int],
        destination: MTLIndirectCommandBuffer,
        index: int,
    ) -> None:
        """Copy commands to `destination`, from its command `index` on."""
        call = "copyIndirectCommandBuffer_sourceRange_destination_destinationIndex_"
        where = f"MTLBlitCommandEncoder.{call}"
        start, length = self._checked_commands(where, source, span)
        index = as_integer(where, "the index", index)
        self._checked_commands(where, destination, (index, length))
        self._append(CopyCommandsCommand(source, start, length, destination, index))

    def _checked_commands(
        self, where: str, commands: MTLIndirectCommandBuffer, span: Sequence[int]
    ) -> tuple[int, int]:
        self._check_open(where.partition(".")[2])
        expect(where, "the commands", commands, MTLIndirectCommandBuffer)
        self._check_own(where, commands)
        return commands.checked_range(where, span)


def _aligned(where: str, what: str, value: int) -> int:
    value = as_integer(where, what, value)
    if value < 0 or value % _ALIGNMENT:
        raise MetalValidationError(
            f"{where}: {what} is {value}; it must be a multiple of {_ALIGNMENT}"
        )
    return value
