"""Textures, samplers, function tables and tensors that a compute encoder passes to kernels."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.hw.apple.facts.limits import limits

from ..constants import (
    MTLDataTypeInt,
    MTLDataTypeShort,
    MTLDataTypeUInt,
    MTLDataTypeUShort,
    MTLTensorUsageCompute,
)
from ..errors import MetalValidationError
from ..objects import MetalObject, call_of, expect
from ..programs.function_table import MTLVisibleFunctionTable
from ..resources.memory import Bytes
from ..structs import as_integer, as_list, as_number, as_range
from ..tensors.tensor import MOST_DIMENSIONS, MTLTensor
from ..texture_constants import MTLTextureUsageShaderRead, MTLTextureUsageShaderWrite
from ..textures.formats import Kind
from ..textures.sampler import MTLSamplerState
from ..textures.texture import MTLTexture
from .encoder import MTLCommandEncoder

if TYPE_CHECKING:
    from assay.compiler.msl import Argument

    from ..programs.pipeline import MTLComputePipelineState

_LIMITS = limits()
_ADDRESS_SIZE = 8
_TYPES = (
    "1D",
    "1DArray",
    "2D",
    "2DArray",
    "2DMultisample",
    "Cube",
    "CubeArray",
    "3D",
    "2DMultisampleArray",
    "TextureBuffer",
)
_SIGNED = (MTLDataTypeInt, MTLDataTypeShort)
_UNSIGNED = (MTLDataTypeUInt, MTLDataTypeUShort)
# Puts a few bytes into device memory for one command buffer; their address.
Inline = Callable[[str, Bytes], int]


class ResourceEncoder(MTLCommandEncoder):
    """The part of MTLComputeCommandEncoder that binds textures, samplers and function tables."""

    _textures: dict[int, MTLTexture | None]
    _samplers: dict[int, tuple[MTLSamplerState, int] | None]
    _tables: dict[int, MTLVisibleFunctionTable | None]
    _tensors: dict[int, MTLTensor]
    _pipeline: "MTLComputePipelineState | None"
    _retained: dict[int, MetalObject] | None

    def setTexture_atIndex_(self, texture: MTLTexture | None, index: int) -> None:
        """Pass `texture`; None passes a null texture."""
        self._check_open("setTexture_atIndex_")
        self._set_texture(call_of(self), texture, index)

    def setTextures_withRange_(
        self, textures: Sequence[MTLTexture | None], span: Sequence[int]
    ) -> None:
        """Pass several textures at successive indices."""
        self._check_open("setTextures_withRange_")
        where = call_of(self)
        location, length = as_range(where, span)
        for place, texture in enumerate(as_list(where, "the textures", textures, length)):
            self._set_texture(where, texture, location + place)

    def setSamplerState_atIndex_(self, sampler: MTLSamplerState | None, index: int) -> None:
        """Pass `sampler`."""
        self._check_open("setSamplerState_atIndex_")
        self._set_sampler(call_of(self), sampler, index)

    def setSamplerStates_withRange_(
        self, samplers: Sequence[MTLSamplerState | None], span: Sequence[int]
    ) -> None:
        """Pass several samplers at successive indices."""
        self._check_open("setSamplerStates_withRange_")
        where = call_of(self)
        location, length = as_range(where, span)
        for place, sampler in enumerate(as_list(where, "the samplers", samplers, length)):
            self._set_sampler(where, sampler, location + place)

    def setSamplerState_lodMinClamp_lodMaxClamp_atIndex_(
        self, sampler: MTLSamplerState | None, least: float, most: float, index: int
    ) -> None:
        """Pass `sampler` with other bounds of the level."""
        self._check_open("setSamplerState_lodMinClamp_lodMaxClamp_atIndex_")
        where = call_of(self)
        clamp = as_number(where, "lodMinClamp", least), as_number(where, "lodMaxClamp", most)
        self._set_sampler(where, sampler, index, clamp)

    def setVisibleFunctionTable_atBufferIndex_(
        self, table: MTLVisibleFunctionTable | None, index: int
    ) -> None:
        """Pass a function table; None passes a null table."""
        self._check_open("setVisibleFunctionTable_atBufferIndex_")
        self._set_table(call_of(self), table, index)

    def setVisibleFunctionTables_withBufferRange_(
        self, tables: Sequence[MTLVisibleFunctionTable | None], span: Sequence[int]
    ) -> None:
        """Pass several function tables at successive indices."""
        self._check_open("setVisibleFunctionTables_withBufferRange_")
        where = call_of(self)
        location, length = as_range(where, span)
        for place, table in enumerate(as_list(where, "the tables", tables, length)):
            self._set_table(where, table, location + place)

    def bind_tensor(self, tensor: MTLTensor, index: int) -> None:
        """Pass `tensor` at a buffer's index, as argument tables of Metal 4 do."""
        self._check_own("bind_tensor", tensor)
        self._keep(tensor)
        self._tensors[index] = tensor

    def _set_table(self, where: str, table: MTLVisibleFunctionTable | None, index: int) -> None:
        index = checked_index(where, index, _LIMITS.buffers_per_stage)
        if table is not None:
            expect(where, "the table", table, MTLVisibleFunctionTable)
            self._check_own(where, table)
            self._keep(table)
        self._tables[index] = table

    def _set_texture(self, where: str, texture: MTLTexture | None, index: int) -> None:
        index = checked_index(where, index, _LIMITS.textures_per_stage)
        if texture is not None:
            expect(where, "the texture", texture, MTLTexture)
            self._check_own(where, texture)
            self._keep(texture)
            if self.notes is not None:
                self.notes.use(texture)
        self._textures[index] = texture

    def _set_sampler(
        self,
        where: str,
        sampler: MTLSamplerState | None,
        index: int,
        clamp: tuple[float, float] | None = None,
    ) -> None:
        index = checked_index(where, index, _LIMITS.samplers_per_stage)
        if sampler is None:
            self._samplers[index] = None
            return
        expect(where, "the sampler", sampler, MTLSamplerState)
        self._check_own(where, sampler)
        self._keep(sampler)
        word = sampler.word if clamp is None else sampler.clamped_word(*clamp)
        self._samplers[index] = sampler, word

    def _keep(self, thing: MetalObject) -> None:
        if self._retained is not None:
            self._retained[id(thing)] = thing

    def _inline(self, where: str, data: Bytes) -> int:
        address = self._device.memory.inline(where, data, "an array of arguments")
        self._command_buffer.inline.append(address)
        return address

    def _resource(self, where: str, kernel: str, argument: "Argument") -> int:
        """What the engine takes for a texture or sampler argument."""
        what = f"{where}: kernel {kernel!r}, argument {argument.name!r}"
        if argument.kind == "texture":
            return self._texture_argument(where, what, argument)
        if argument.kind == "function_table":
            return self._table_argument(what, argument)
        if argument.kind == "tensor":
            return self._tensor_argument(what, argument)
        words = [
            self._sampler_word(what, argument, argument.index + place)
            for place in range(argument.count)
        ]
        return self._inline(where, np.array(words, dtype="<u8").view(np.uint8))

    def _texture_argument(self, where: str, what: str, argument: "Argument") -> int:
        """The address of a texture's description, or of an array of such addresses."""
        addresses = []
        for index in range(argument.index, argument.index + argument.count):
            if index not in self._textures and argument.count == 1:
                raise MetalValidationError(
                    f"{what} [[texture({index})]]: no texture is set; call setTexture_atIndex_ "
                    "first"
                )
            texture = self._textures.get(index)
            if texture is not None:
                check_texture(f"{what} [[texture({index})]]", argument, texture)
            addresses.append(0 if texture is None else texture.described.address)
        if argument.count == 1 and not argument.type_name.startswith("array"):
            return addresses[0]
        return self._inline(where, np.array(addresses, dtype="<u8").view(np.uint8))

    def _table_argument(self, what: str, argument: "Argument") -> int:
        """The address of a function table, which must be of the pipeline state that runs."""
        if argument.index not in self._tables:
            raise MetalValidationError(
                f"{what} [[buffer({argument.index})]]: no function table is set; call "
                "setVisibleFunctionTable_atBufferIndex_ first"
            )
        table = self._tables[argument.index]
        if table is None:
            return 0
        if table.pipeline is not self._pipeline:
            raise MetalValidationError(
                f"{what} [[buffer({argument.index})]]: {table!r} was made by another pipeline "
                "state; make one with newVisibleFunctionTableWithDescriptor_ of the one that runs"
            )
        return table.allocation.address

    def _tensor_argument(self, what: str, argument: "Argument") -> int:
        """The address of a tensor's description."""
        tensor = self._tensors.get(argument.index)
        if tensor is None:
            raise MetalValidationError(
                f"{what} [[buffer({argument.index})]]: no tensor is set; give its gpuResourceID() "
                "to setResource_atBufferIndex_ of the MTL4ArgumentTable"
            )
        check_tensor(f"{what} [[buffer({argument.index})]]", argument, tensor)
        return tensor.described.address

    def _sampler_word(self, what: str, argument: "Argument", index: int) -> int:
        bound = self._samplers.get(index)
        if bound is None:
            raise MetalValidationError(
                f"{what} [[sampler({index})]]: no sampler is set; call setSamplerState_atIndex_ "
                "first"
            )
        return bound[1]


def check_texture(what: str, argument: "Argument", texture: MTLTexture) -> None:
    """Raise MetalValidationError unless the kernel's argument can be this texture."""
    layout = texture.layout
    if layout.type != argument.texture_type:
        raise MetalValidationError(
            f"{what} is of MTLTextureType{_TYPES[argument.texture_type]}, but {texture!r} is of "
            f"MTLTextureType{_TYPES[layout.type]}"
        )
    if argument.data_type in _SIGNED:
        fits = layout.format.kind == Kind.SINT
    elif argument.data_type in _UNSIGNED:
        fits = layout.format.kind == Kind.UINT
    else:
        fits = not layout.format.is_integer
    if not fits:
        raise MetalValidationError(
            f"{what} is {argument.type_name}, but texels of {texture!r} are "
            f"{'integers' if layout.format.is_integer else 'real numbers'} of another kind"
        )
    if argument.is_depth and not layout.format.is_depth:
        raise MetalValidationError(
            f"{what} is {argument.type_name}, but {texture!r} has no depth format"
        )
    needed = 0
    if argument.access in ("read", "read_write"):
        needed |= MTLTextureUsageShaderRead
    if argument.access in ("write", "read_write"):
        needed |= MTLTextureUsageShaderWrite
    if texture.usage() and needed & ~texture.usage():
        missing = "Write" if needed & ~texture.usage() & MTLTextureUsageShaderWrite else "Read"
        raise MetalValidationError(
            f"{what}: {texture!r} was made without MTLTextureUsageShader{missing}; give it to "
            "MTLTextureDescriptor.setUsage_"
        )


def check_tensor(what: str, argument: "Argument", tensor: MTLTensor) -> None:
    """Raise MetalValidationError unless the kernel's argument can be this tensor."""
    rank = len(tensor.shape.sizes)
    if rank != argument.rank or rank > MOST_DIMENSIONS:
        raise MetalValidationError(
            f"{what} is {argument.type_name}, of {argument.rank} dimensions, but {tensor!r} has "
            f"{rank}; kernels take up to {MOST_DIMENSIONS}"
        )
    if tensor.dataType() != argument.data_type:
        raise MetalValidationError(
            f"{what} is {argument.type_name}, but elements of {tensor!r} are of MTLTensorDataType "
            f"{tensor.dataType()}, not {argument.data_type}"
        )
    if not tensor.usage() & MTLTensorUsageCompute:
        raise MetalValidationError(
            f"{what}: {tensor!r} was made without MTLTensorUsageCompute; give it to "
            "MTLTensorDescriptor.setUsage_"
        )


def checked_index(where: str, index: int, limit: int) -> int:
    """`index` as an integer below `limit`. Raises MetalValidationError."""
    index = as_integer(where, "the index", index)
    if not 0 <= index < limit:
        raise MetalValidationError(f"{where}: index is {index}; it must lie in 0..{limit - 1}")
    return index
