"""Values of function constants, and what is known of the constants of a library."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike

from assay.hw.apple.facts.limits import limits

from .. import constants
from ..constants import MTLDataTypeNone
from ..errors import MetalValidationError
from ..objects import MetalObject, UserMade, call_of, expect
from ..resources.memory import bytes_of
from ..structs import as_integer, as_range

if TYPE_CHECKING:
    from assay.compiler.msl.rewrite.function_constants import FunctionConstant

Constant = bool | int | float | tuple[bool | int | float, ...]

_SCALARS: dict[str, DTypeLike] = {
    "Float": np.float32,
    "Half": np.float16,
    "BFloat": ml_dtypes.bfloat16,
    "Int": np.int32,
    "UInt": np.uint32,
    "Short": np.int16,
    "UShort": np.uint16,
    "Char": np.int8,
    "UChar": np.uint8,
    "Bool": np.bool_,
    "Long": np.int64,
    "ULong": np.uint64,
}
# MTLDataType to its element type and number of elements.
_DATA_TYPES: dict[int, tuple["np.dtype[np.generic]", int]] = {
    getattr(constants, f"MTLDataType{name}{count if count > 1 else ''}"): (np.dtype(scalar), count)
    for name, scalar in _SCALARS.items()
    for count in (1, 2, 3, 4)
}
# What MSL calls them: "float", "uint3".
_DATA_TYPE_OF_NAME: dict[str, int] = {
    f"{name.lower()}{count if count > 1 else ''}": getattr(
        constants, f"MTLDataType{name}{count if count > 1 else ''}"
    )
    for name in _SCALARS
    for count in (1, 2, 3, 4)
}


class MTLFunctionConstantValues(UserMade):
    """Values of [[function_constant(n)]], by number or name, given as bytes in memory."""

    def __init__(self) -> None:
        self.values: dict[int | str, Constant] = {}

    def setConstantValue_type_atIndex_(self, value: object, kind: int, index: int) -> None:
        """Set constant number `index` to the MTLDataType `kind` that `value` holds."""
        where = call_of(self)
        limit = limits().function_constants
        index = as_integer(where, "the index", index)
        if not 0 <= index < limit:
            raise MetalValidationError(f"{where}: index is {index}; it must lie in 0..{limit - 1}")
        self.values[index] = _decode(where, value, kind, 1)[0]

    def setConstantValue_type_withName_(self, value: object, kind: int, name: str) -> None:
        """Set the constant called `name` to the MTLDataType `kind` that `value` holds."""
        where = call_of(self)
        expect(where, "the name", name, str)
        self.values[name] = _decode(where, value, kind, 1)[0]

    def setConstantValues_type_withRange_(
        self, values: object, kind: int, span: Sequence[int]
    ) -> None:
        """Set constants of successive numbers to successive values."""
        where = call_of(self)
        location, length = as_range(where, span)
        for place, value in enumerate(_decode(where, values, kind, length)):
            self.values[location + place] = value

    def reset(self) -> None:
        """Forget all values."""
        self.values.clear()


class MTLFunctionConstant(MetalObject):
    """One [[function_constant(n)]] of a library."""

    def __init__(self, constant: "FunctionConstant"):
        self._constant = constant

    def name(self) -> str:
        """The name in the source."""
        return self._constant.name

    def index(self) -> int:
        """The number within [[function_constant(n)]]."""
        return self._constant.index

    def type(self) -> int:
        """The MTLDataType; MTLDataTypeNone when the type is none that Metal allows."""
        return _DATA_TYPE_OF_NAME.get(self._constant.type_name, MTLDataTypeNone)

    def required(self) -> bool:
        """Always True: whether the source tests for the constant is not known."""
        return True


def _decode(where: str, values: object, kind: int, count: int) -> list[Constant]:
    """`count` values of the MTLDataType `kind`. Raises MetalValidationError."""
    if as_integer(where, "the type", kind) not in _DATA_TYPES:
        raise MetalValidationError(
            f"{where}: type {kind!r} is no MTLDataType of a scalar or vector that a function "
            "constant can have"
        )
    dtype, elements = _DATA_TYPES[kind]
    # A three-element vector takes the room of four.
    stride = 4 if elements == 3 else elements
    data = bytes_of(where, values, dtype.itemsize * (stride * (count - 1) + elements))
    room = np.zeros(count * stride * dtype.itemsize, dtype=np.uint8)
    room[: data.nbytes] = data
    rows = room.view(dtype).reshape(count, stride)[:, :elements].tolist()
    return [row[0] if elements == 1 else tuple(row) for row in rows]
