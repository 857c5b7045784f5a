"""Argument buffers: structs of resource addresses that kernels read from memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.hw.apple.facts.limits import limits

from ..constants import (
    MTLArgumentAccessReadOnly,
    MTLDataTypeNone,
    MTLDataTypePointer,
    MTLDataTypeSampler,
    MTLDataTypeTexture,
)
from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..resources.buffer import MTLBuffer, VarList
from ..structs import as_integer, as_list, as_range
from ..textures.sampler import MTLSamplerState
from ..textures.texture import MTLTexture
from .function_table import MTLVisibleFunctionTable

if TYPE_CHECKING:
    from assay.compiler.msl import Argument

    from ..device import MTLDevice

_ADDRESS_SIZE = 8
_KINDS = {
    MTLDataTypePointer: "buffer",
    MTLDataTypeTexture: "texture",
    MTLDataTypeSampler: "sampler",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """What has one [[id(n)]]: its byte offset in the struct, and its kind as the compiler says."""

    offset: int
    kind: str


class MTLArgumentDescriptor(UserMade):
    """One member of an argument buffer that no function declares."""

    _data_type = MTLDataTypeNone
    _index = 0
    _array_length = 0
    _access = MTLArgumentAccessReadOnly
    _constant_block_alignment = 0

    @classmethod
    def argumentDescriptor(cls) -> "MTLArgumentDescriptor":
        """A fresh descriptor."""
        return cls()

    def dataType(self) -> int:
        """The MTLDataType."""
        return self._data_type

    def setDataType_(self, kind: int) -> None:
        """Set the MTLDataType; MTLDataTypePointer is a buffer."""
        self._data_type = as_integer(call_of(self), "the value", kind)

    def index(self) -> int:
        """The [[id(n)]]."""
        return self._index

    def setIndex_(self, index: int) -> None:
        """Set the [[id(n)]]."""
        self._index = as_integer(call_of(self), "the value", index)

    def arrayLength(self) -> int:
        """How many of it; 0 for one alone."""
        return self._array_length

    def setArrayLength_(self, length: int) -> None:
        """Set how many of it; 0 for one alone."""
        self._array_length = as_integer(call_of(self), "the value", length)

    def access(self) -> int:
        """The MTLArgumentAccess."""
        return self._access

    def setAccess_(self, access: int) -> None:
        """Set the MTLArgumentAccess."""
        self._access = as_integer(call_of(self), "the value", access)

    def constantBlockAlignment(self) -> int:
        """Alignment in bytes of constant data."""
        return self._constant_block_alignment

    def setConstantBlockAlignment_(self, alignment: int) -> None:
        """Set the alignment in bytes of constant data."""
        self._constant_block_alignment = as_integer(call_of(self), "the value", alignment)


class MTLArgumentEncoder(MetalObject):
    """Writes what kernels take for buffers, textures and samplers into an argument buffer."""

    def __init__(self, device: "MTLDevice", members: Mapping[int, Member], length: int):
        self._device = device
        self._members = members
        self._length = length
        self._target: MTLBuffer | None = None
        self._start = 0

    def device(self) -> "MTLDevice":
        """The device that the encoder belongs to."""
        return self._device

    def encodedLength(self) -> int:
        """Bytes of the argument buffer."""
        return self._length

    def alignment(self) -> int:
        """Bytes that the argument buffer's offset must be a multiple of."""
        return _ADDRESS_SIZE

    def setArgumentBuffer_offset_(self, buffer: MTLBuffer, offset: int) -> None:
        """Write into `buffer` from `offset` on."""
        where = call_of(self)
        expect(where, "the buffer", buffer, MTLBuffer)
        offset = as_integer(where, "the offset", offset)
        if offset < 0 or offset % _ADDRESS_SIZE:
            raise MetalValidationError(
                f"{where}: offset is {offset}; it must be a multiple of {_ADDRESS_SIZE}"
            )
        buffer.check_range(where, offset, self._length)
        if buffer.host_bytes is None:
            raise MetalValidationError(
                f"{where}: {buffer!r} has MTLStorageModePrivate, which the host cannot write; "
                "encode into a shared buffer"
            )
        self._target, self._start = buffer, offset

    def setArgumentBuffer_startOffset_arrayElement_(
        self, buffer: MTLBuffer, start: int, element: int
    ) -> None:
        """Write into element `element` of an array of structs that begins at `start`."""
        stride = -(-self._length // _ADDRESS_SIZE) * _ADDRESS_SIZE
        self.setArgumentBuffer_offset_(buffer, start + element * stride)

    def setBuffer_offset_atIndex_(self, buffer: MTLBuffer | None, offset: int, index: int) -> None:
        """Write the address of byte `offset` of `buffer` to [[id(index)]]; None writes null."""
        self._set(call_of(self), buffer, offset, index)

    def setBuffers_offsets_withRange_(
        self,
        buffers: Sequence[MTLBuffer | None],
        offsets: Sequence[int],
        span: Sequence[int],
    ) -> None:
        """Write several addresses to successive ids."""
        where = call_of(self)
        location, length = as_range(where, span)
        bound = as_list(where, "the buffers", buffers, length)
        starts = as_list(where, "the offsets", offsets, length)
        for place, (buffer, start) in enumerate(zip(bound, starts, strict=True)):
            self._set(where, buffer, start, location + place)

    def setTexture_atIndex_(self, texture: MTLTexture | None, index: int) -> None:
        """Write `texture` to [[id(index)]]; None writes a null texture."""
        self._set_texture(call_of(self), texture, index)

    def setTextures_withRange_(
        self, textures: Sequence[MTLTexture | None], span: Sequence[int]
    ) -> None:
        """Write several textures to successive ids."""
        where = call_of(self)
        location, length = as_range(where, span)
        for place, texture in enumerate(as_list(where, "the textures", textures, length)):
            self._set_texture(where, texture, location + place)

    def setSamplerState_atIndex_(self, sampler: MTLSamplerState | None, index: int) -> None:
        """Write `sampler` to [[id(index)]]; None writes the plainest of samplers."""
        self._set_sampler(call_of(self), sampler, index)

    def setSamplerStates_withRange_(
        self, samplers: Sequence[MTLSamplerState | None], span: Sequence[int]
    ) -> None:
        """Write several samplers to successive ids."""
        where = call_of(self)
        location, length = as_range(where, span)
        for place, sampler in enumerate(as_list(where, "the samplers", samplers, length)):
            self._set_sampler(where, sampler, location + place)

    def setVisibleFunctionTable_atIndex_(
        self, table: MTLVisibleFunctionTable | None, index: int
    ) -> None:
        """Write a function table to [[id(index)]]; None writes a null table."""
        where = call_of(self)
        if table is not None:
            expect(where, "the table", table, MTLVisibleFunctionTable)
        self._write(where, "function_table", index, table.allocation.address if table else 0)

    def constantDataAtIndex_(self, index: int) -> VarList:
        """The bytes from the constant [[id(index)]] to the end, to be written by the program."""
        where = call_of(self)
        member = self._members.get(as_integer(where, "the index", index))
        if member is None or member.kind != "constant":
            known = [number for number, each in self._members.items() if each.kind == "constant"]
            raise MetalValidationError(
                f"{where}: [[id({index})]] is not constant data; these are: {sorted(known)}"
            )
        data = self._checked_target(where).host_bytes
        assert data is not None
        return VarList(where, data[self._start + member.offset : self._start + self._length])

    def _set(self, where: str, buffer: MTLBuffer | None, offset: int, index: int) -> None:
        address = 0
        if buffer is not None:
            expect(where, "the buffer", buffer, MTLBuffer)
            offset = as_integer(where, "the offset", offset)
            if not 0 <= offset < buffer.length():
                raise MetalValidationError(
                    f"{where}: offset {offset} for [[id({index})]] is not within {buffer!r}"
                )
            address = buffer.gpuAddress() + offset
        self._write(where, "buffer", index, address)

    def _set_texture(self, where: str, texture: MTLTexture | None, index: int) -> None:
        if texture is not None:
            expect(where, "the texture", texture, MTLTexture)
        address = 0 if texture is None else texture.described.address
        self._write(where, "texture", index, address)

    def _set_sampler(self, where: str, sampler: MTLSamplerState | None, index: int) -> None:
        if sampler is not None:
            expect(where, "the sampler", sampler, MTLSamplerState)
            if not sampler.in_argument_buffers:
                raise MetalValidationError(
                    f"{where}: {sampler!r} was made without supportArgumentBuffers; call "
                    "MTLSamplerDescriptor.setSupportArgumentBuffers_"
                )
        self._write(where, "sampler", index, 0 if sampler is None else sampler.word)

    def _write(self, where: str, kind: str, index: int, word: int) -> None:
        """Write what kernels take for the member [[id(index)]], which must be of this kind."""
        member = self._members.get(as_integer(where, "the index", index))
        if member is None or member.kind != kind:
            known = [number for number, each in self._members.items() if each.kind == kind]
            raise MetalValidationError(
                f"{where}: [[id({index})]] is not a {kind} of the struct; these are: "
                f"{sorted(known)}"
            )
        data = self._checked_target(where).host_bytes
        assert data is not None
        start = self._start + member.offset
        data.data[start : start + _ADDRESS_SIZE] = word.to_bytes(_ADDRESS_SIZE, "little")

    def _checked_target(self, where: str) -> MTLBuffer:
        if self._target is None:
            raise MetalValidationError(
                f"{where}: there is no argument buffer yet; call setArgumentBuffer_offset_ first"
            )
        return self._target


def encoder_of(where: str, device: "MTLDevice", argument: "Argument") -> MTLArgumentEncoder:
    """An encoder for `argument` of a kernel. Raises MetalValidationError."""
    if not argument.members:
        raise MetalValidationError(
            f"{where}: argument {argument.name!r} is no argument buffer, that is a struct of "
            "resources with [[id(n)]]"
        )
    return MTLArgumentEncoder(device, members_of(argument), argument.size)


def members_of(argument: "Argument") -> dict[int, Member]:
    """The members of an argument buffer by id, as the compiler lays them out.

    An array of addresses has one id per element; its length shows in where the next member begins.
    """
    found = {
        member.id: Member(offset=member.offset, kind=member.kind) for member in argument.members
    }
    ends = sorted({member.offset for member in argument.members} | {argument.size})
    for member in argument.members:
        end = next((end for end in ends if end > member.offset), argument.size)
        for place in range(1, (end - member.offset) // _ADDRESS_SIZE):
            if member.kind != "constant":
                offset = member.offset + place * _ADDRESS_SIZE
                found.setdefault(member.id + place, Member(offset=offset, kind=member.kind))
    return found


def members_described(
    where: str, descriptors: Sequence[MTLArgumentDescriptor]
) -> tuple[dict[int, Member], int]:
    """Members and length of the argument buffer that `descriptors` describe."""
    members: dict[int, Member] = {}
    offset = 0
    if not isinstance(descriptors, Sequence):
        raise MetalValidationError(f"{where}: {descriptors!r:.80} is no list of descriptors")
    for descriptor in descriptors:
        expect(where, "a descriptor", descriptor, MTLArgumentDescriptor)
    for descriptor in sorted(descriptors, key=MTLArgumentDescriptor.index):
        kind = _KINDS.get(descriptor.dataType())
        if kind is None:
            raise MetalValidationError(
                f"{where}: data type {descriptor.dataType()} at id {descriptor.index()}; only "
                "MTLDataTypePointer, Texture and Sampler are emulated here, take "
                "newArgumentEncoderWithBufferIndex_ of a function for constant data"
            )
        for place in range(max(descriptor.arrayLength(), 1)):
            index = descriptor.index() + place
            if index in members or index >= limits().function_constants:
                raise MetalValidationError(f"{where}: id {index} is given twice or is too large")
            members[index] = Member(offset=offset, kind=kind)
            offset += _ADDRESS_SIZE
    return members, offset
