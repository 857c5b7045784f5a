"""What the host learns of a kernel's textures, samplers, function tables and tensors."""

from __future__ import annotations

import re

from ...msl.arguments import Access, Argument
from ..container import AirFormatError
from ..metadata import AirArgument
from .shapes import SHAPES

_NAME = re.compile(
    r"(?:array<\s*)?(?:metal::)?(?P<name>(?:texture|depth)\w+)(?:<\s*(?P<element>[\w:]+))?"
)
_TYPES = {shape.msl: shape for shape in SHAPES.values()}
_DATA_TYPES = {"float": 3, "half": 16, "int": 29, "uint": 33, "short": 37, "ushort": 41}
_TENSOR = re.compile(
    r"(?:metal::)?tensor<\s*(?:(?P<const>const)\s+|(?:device|constant)\s+)*(?P<element>[\w:]+)\s*,"
    r"\s*(?:metal::)?(?:dextents<\s*\w+\s*,\s*(?P<rank>\d+)|extents<\s*\w+(?P<sizes>(?:\s*,\s*\w+)*))"
)
_TENSOR_TYPES = {"bfloat": 121, "bfloat16_t": 121, "char": 45, "int8_t": 45, "uchar": 49}
_TENSOR_TYPES |= {"uint8_t": 49, "int32_t": 29, "uint32_t": 33, "int16_t": 37, "uint16_t": 41}
_ACCESSES: dict[str, Access] = {"write": "write", "read_write": "read_write"}


def resource_argument(argument: AirArgument) -> Argument:
    """A texture, sampler, function table or tensor. Raises AirFormatError for an unknown type.

    Its memory is what the engine takes: a texture's description, a sampler's word, numbers.
    """
    if argument.kind == "texture":
        return _texture(argument)
    if argument.kind == "tensor":
        return _tensor(argument)
    is_sampler = argument.kind == "sampler"
    return Argument(
        name=argument.name or f"argument {argument.parameter}",
        kind="sampler" if is_sampler else "function_table",
        index=argument.index,
        address_space="constant",
        type_name=argument.type_name,
        size=8 * argument.count if is_sampler else 4,
        alignment=8 if is_sampler else 4,
        access="read",
        count=argument.count,
    )


def _texture(argument: AirArgument) -> Argument:
    found = _NAME.match(argument.type_name)
    shape = _TYPES.get(found["name"]) if found else None
    if found is None or shape is None:
        raise AirFormatError(
            f"texture '{argument.name}' is of type '{argument.type_name}', which is not known here"
        )
    return Argument(
        name=argument.name or f"argument {argument.parameter}",
        kind="texture",
        index=argument.index,
        address_space="constant",
        type_name=argument.type_name,
        size=8,
        alignment=8,
        access=_ACCESSES.get(argument.access, "read"),
        count=argument.count,
        texture_type=shape.number,
        data_type=_DATA_TYPES.get(found["element"] or "float", 0),
        is_depth=shape.is_depth,
    )


def _tensor(argument: AirArgument) -> Argument:
    found = _TENSOR.match(argument.type_name)
    data_type = 0
    if found is not None:
        element = found["element"].removeprefix("metal::")
        data_type = _TENSOR_TYPES.get(element) or _DATA_TYPES.get(element, 0)
    if found is None or not data_type:
        raise AirFormatError(
            f"tensor '{argument.name}' is of type '{argument.type_name}', which is not known here"
        )
    return Argument(
        name=argument.name or f"argument {argument.parameter}",
        kind="tensor",
        index=argument.index,
        address_space="device",
        type_name=argument.type_name,
        size=80,
        alignment=8,
        access="read" if argument.access == "read" else "read_write",
        data_type=data_type,
        rank=int(found["rank"]) if found["rank"] else (found["sizes"] or "").count(","),
    )
