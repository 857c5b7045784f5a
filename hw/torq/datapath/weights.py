"""What each code of a compressed weight stands for, on the weight bus."""

import struct

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ...small_floats import FP4, NF4
from ..facts.modes import Mode, modes
from ..faults import NotModelled


def format_of(code: int) -> Mode:
    """The format that DE_W_R.d_cfmt names. Raises NotModelled."""
    for mode in modes("weight_format").modes.values():
        if mode.code() == code:
            return mode
    raise NotModelled(f"DE_W_R.d_cfmt is {code}, which names no format", agent="DEWR")


def expansion(mode: Mode, as_bfloat: bool) -> NDArray[np.int64]:
    """256 entries: per code the byte, or the bfloat16 bits. Raises NotModelled."""
    bits, name = mode.code("bits"), mode.word("format")
    if not as_bfloat and name not in ("SI", "UI"):
        raise NotModelled(
            f"DE_W_R.d_type asks for integers from {mode.name} weights, which are fractions",
            agent="DEWR",
        )
    values = [_value(name, bits, code) for code in range(1 << bits)]
    found = np.zeros(256, np.int64)
    for code, value in enumerate(values):
        found[code] = bfloat_bits(value) if as_bfloat else int(value) & 0xFF
    return found


def bfloat_bits(value: float) -> int:
    """The 16 bits of the nearest bfloat16."""
    return int(np.array(value, ml_dtypes.bfloat16).view(np.uint16))


def _value(name: str, bits: int, code: int) -> float:
    if name == "NF":
        return NF4[code]
    if name == "UI":
        return code
    if name == "SI":
        return code - (1 << bits) if code >> (bits - 1) else code
    if name == "FP" and bits == 4:
        return -FP4[code & 7] if code & 8 else FP4[code]
    kind = ml_dtypes.float8_e4m3fn if name == "FN" else ml_dtypes.float8_e5m2
    return float(np.frombuffer(struct.pack("B", code), kind)[0])
