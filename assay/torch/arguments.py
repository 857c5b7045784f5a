"""What a shader's arguments become: tensors are buffers, numbers and lists of them are bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from .. import launch

if TYPE_CHECKING:
    from assay.hal.metal.emulated import MTLBuffer, MTLComputeCommandEncoder

_CASTS: dict[str, type[np.generic]] = {
    "fp16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint8": np.uint8,
}
_CONSTANT_ALIGNMENT = 4
_READ_AND_WRITE = 3  # MTLResourceUsageRead | MTLResourceUsageWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class Casts:
    """The types that numbers are to have: one for all, or by index of the argument."""

    default: str | None
    by_index: Mapping[int, str]

    def type_of(self, index: int, natural: type[np.generic]) -> np.dtype[np.generic]:
        """The type of the numbers at `index`, which are `natural` unless cast."""
        cast = self.by_index.get(index, self.default)
        return np.dtype(natural if cast is None else _CASTS[cast])


def casts_of(given: object) -> Casts:
    """What `arg_casts` says: None, a type for all numbers, or types by index. RuntimeError."""
    if given is None:
        return Casts(default=None, by_index={})
    if isinstance(given, str):
        return Casts(default=_known_cast(given), by_index={})
    if isinstance(given, Mapping):
        by_index = {int(index): _known_cast(cast) for index, cast in given.items()}
        return Casts(default=None, by_index=by_index)
    raise RuntimeError(f"Unexpected caster arg type {type(given).__name__}")


def _known_cast(cast: object) -> str:
    if cast not in _CASTS:
        raise RuntimeError(f"Unsupported cast instruction {cast}; there are {', '.join(_CASTS)}")
    return str(cast)


def is_tensor(value: object) -> bool:
    """Whether `value` is a tensor of PyTorch."""
    return isinstance(value, import_module("torch").Tensor)


def are_tensors(value: object) -> bool:
    """Whether `value` is a list of tensors, which becomes their addresses."""
    return isinstance(value, list | tuple) and bool(value) and is_tensor(value[0])


class Binder:
    """Sets the arguments of one launch; the storage of tensors is used where it lies.

    Tensors with a common storage share a buffer, as they do on a GPU.
    """

    def __init__(self, encoder: MTLComputeCommandEncoder, casts: Casts) -> None:
        self._encoder = encoder
        self._casts = casts
        self._buffers: dict[int, MTLBuffer] = {}

    def bind(self, index: int, value: object) -> None:
        """Pass `value` at `index`. Raises RuntimeError as PyTorch does."""
        if is_tensor(value):
            self._bind_tensor(index, value)
        elif are_tensors(value):
            self._bind_addresses(index, value)
        else:
            data = numbers(index, value, self._casts)
            self._encoder.setBytes_length_atIndex_(data, data.nbytes, index)

    def bind_bytes(self, index: int, data: NDArray[np.uint8], label: str) -> None:
        """Pass bytes of the host's that the kernel may write."""
        self._encoder.setBuffer_offset_atIndex_(_buffer_over(data, label), 0, index)

    def _bind_tensor(self, index: int, tensor: Any) -> None:
        found = self._place(index, tensor)
        if found is None:
            self._encoder.setBuffer_offset_atIndex_(None, 0, index)
            return
        buffer, offset = found
        self._encoder.setBuffer_offset_atIndex_(buffer, offset, index)

    def _bind_addresses(self, index: int, tensors: Any) -> None:
        """An argument buffer: the addresses of the tensors, one after another."""
        addresses = []
        for tensor in tensors:
            if not is_tensor(tensor):
                raise RuntimeError(
                    f"Unexpected argument types: argument {index} has {type(tensor).__name__} "
                    "among its tensors"
                )
            found = self._place(index, tensor)
            address = 0
            if found is not None:
                self._encoder.useResource_usage_(found[0], _READ_AND_WRITE)
                address = found[0].gpuAddress() + found[1]
            addresses.append(address)
        data = np.array(addresses, np.uint64)
        self._encoder.setBytes_length_atIndex_(data, data.nbytes, index)

    def _place(self, index: int, tensor: Any) -> tuple[MTLBuffer, int] | None:
        """The buffer of a tensor's storage and where in it the tensor begins; None if empty."""
        _check_tensor(index, tensor)
        storage = tensor.untyped_storage()
        offset = tensor.storage_offset() * tensor.element_size()
        if storage.nbytes() == 0:
            return None
        if offset % _CONSTANT_ALIGNMENT:
            # Constants must begin at a multiple of 4, which Metal asks of buffers, not of memory.
            return self._buffer(storage.data_ptr() + offset, storage.nbytes() - offset, index), 0
        return self._buffer(storage.data_ptr(), storage.nbytes(), index), offset

    def _buffer(self, address: int, length: int, index: int) -> MTLBuffer:
        from assay.hal.metal.emulated.host import bytes_at

        found = self._buffers.get(address)
        if found is None:
            found = _buffer_over(bytes_at(address, length), f"the tensor of argument {index}")
            self._buffers[address] = found
        return found


def numbers(index: int, value: object, casts: Casts) -> NDArray[Any]:
    """The bytes of a number or of a list of numbers, passed at `index`. Raises RuntimeError."""
    many = isinstance(value, list | tuple)
    values = list(value) if isinstance(value, list | tuple) else [value]
    if not values:
        raise RuntimeError("Empty list/tuple can not be an argument to metal kernel")
    natural = _natural(values[0])
    if natural is None:
        what = "Unexpected argument types" if many else "Unsupported argument type"
        raise RuntimeError(
            f"{what}: argument {index} is {type(value).__name__}; give tensors, numbers, or "
            "lists of either"
        )
    wanted = casts.type_of(index, natural)
    try:
        exact = np.array(values, natural)
    except (TypeError, ValueError, OverflowError) as error:
        raise RuntimeError(f"Unexpected argument types: argument {index}: {error}") from None
    with np.errstate(over="ignore"):
        return exact.astype(wanted)


def _natural(value: object) -> type[np.generic] | None:
    """What a number is on the device unless it is cast; None for what is no number."""
    if isinstance(value, int | np.integer):
        return np.int64
    return np.float32 if isinstance(value, float | np.floating) else None


def _check_tensor(index: int, tensor: Any) -> None:
    if tensor.device.type != "cpu":
        raise RuntimeError(
            f"argument {index} is a tensor on {tensor.device}; the emulated device works on CPU "
            "tensors"
        )
    if str(tensor.layout) != "torch.strided":
        raise RuntimeError(f"argument {index} is a tensor with layout {tensor.layout}, not strided")
    if tensor.is_conj() or tensor.is_neg():
        raise RuntimeError(
            f"argument {index} is a lazily conjugated or negated view; resolve it first with "
            "resolve_conj() or resolve_neg()"
        )
    if str(tensor.dtype) in ("torch.float64", "torch.complex128"):
        raise TypeError(
            f"argument {index}: Metal has no {str(tensor.dtype).removeprefix('torch.')}; use "
            "float32 instead"
        )


def _buffer_over(data: NDArray[np.uint8], label: str) -> MTLBuffer:
    from assay.hal.metal.emulated.host import buffer_over

    return buffer_over(launch.device(), data, label)
