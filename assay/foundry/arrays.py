"""Arrays of others, as NumPy's: by DLPack, which NumPy alone does not read bfloat16 from."""

from __future__ import annotations

import ctypes
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

_UINT: Final = 1  # kDLUInt
_BFLOAT: Final = 4  # kDLBfloat


class _Tensor(ctypes.Structure):
    """`DLTensor` of dlpack.h, as far as its type."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
    )


class _AsBits:
    """A tensor of bfloat16 that says of itself that it holds numbers of 16 bits."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __dlpack__(self, **_: Any) -> Any:
        capsule = self._value.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        tensor = _Tensor.from_address(pointer(capsule, b"dltensor"))
        if (tensor.code, tensor.bits) != (_BFLOAT, 16):
            raise BufferError(f"numbers of {tensor.bits} bits and code {tensor.code}")
        tensor.code = _UINT
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._value.__dlpack_device__()


def from_dlpack(value: Any) -> NDArray[Any]:
    """The same memory as an array. Raises BufferError for what is not on the CPU, and the like."""
    try:
        found: NDArray[Any] = np.from_dlpack(value)
    except RuntimeError:  # a type that NumPy does not have
        bits: NDArray[Any] = np.from_dlpack(_AsBits(value))
        return bits.view(ml_dtypes.bfloat16)
    return found
