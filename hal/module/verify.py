"""What must hold of a module before anything is made of it: numbers, sizes, shapes, types.

What instructions do to tensors is checked in `flow`. Errors name the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from .. import element_type as elements
from ..status import StatusError, invalid_argument
from . import expressions
from .flow import check_flow
from .kernels import check_kernel
from .records import (
    LARGEST_DIMENSION,
    MOST_DIMENSIONS,
    NONE,
    UNKNOWN,
    Input,
    Model,
    Module,
    Place,
    Tensor,
)

ALIGNMENT = 64
"""Of tensors in arenas, in bytes."""
LARGEST_ARENA = 1 << 48


def verify(module: Module, name: str) -> None:
    """Raises StatusError, saying where, if a module does not hold together."""
    try:
        _module(module)
        for number, model in enumerate(module.models):
            with_name = f"model {number} ({model.name})"
            try:
                _model(module, model)
                check_flow(module, model)
            except StatusError as error:
                raise invalid_argument(f"{with_name}: {error.message}") from None
    except StatusError as error:
        raise invalid_argument(f"{name}: no sound module: {error.message}") from None


def bytes_of(element_type: int, shape: Sequence[int]) -> int:
    """Bytes of so many elements, row by row."""
    return prod(shape) * elements.dtype_of(element_type).itemsize


def _module(module: Module) -> None:
    if not module.models:
        raise invalid_argument("it has no model")
    if len(set(module.devices)) != len(module.devices) or "" in module.devices:
        raise invalid_argument("its devices need different names")
    for number, symbol in enumerate(module.symbols):
        sizes = (symbol.minimum, symbol.maximum or LARGEST_DIMENSION, LARGEST_DIMENSION)
        if not (0 <= sizes[0] <= sizes[1] <= sizes[2] and 1 <= symbol.multiple_of <= sizes[2]):
            raise invalid_argument(f"symbol {number} ({symbol.name}) has impossible bounds")
    for number, weight in enumerate(module.weights):
        where = f"weight {number} ({weight.name})"
        _shape(weight.shape, weight.element_type, where)
        _number(weight.segment, module.segments, f"the segment of {where}")
        if module.segments[weight.segment].size != bytes_of(weight.element_type, weight.shape):
            raise invalid_argument(f"{where} has another size than its segment")
    for number, kernel in enumerate(module.kernels):
        where = f"kernel {number} ({kernel.entry})"
        _number(kernel.device, module.devices, f"the device of {where}")
        _number(kernel.segment, module.segments, f"the segment of {where}")
        for stage in kernel.stages:
            if stage.segment != NONE:
                _number(stage.segment, module.segments, f"the segment of stage {stage.entry}")
        try:
            check_kernel(kernel)
        except StatusError as error:
            raise invalid_argument(f"{where}: {error.message}") from None
    for number, expression in enumerate(module.expressions):
        try:
            references = expressions.check(expression.code)
        except StatusError as error:
            raise invalid_argument(f"expression {number}: {error.message}") from None
        for reference in references:
            if reference.op is expressions.Op.SYMBOL:
                _number(reference.number, module.symbols, f"a symbol of expression {number}")


def _model(module: Module, model: Model) -> None:
    if len(set(model.devices)) != len(model.devices):
        raise invalid_argument("it names a device twice")
    for device in model.devices:
        _number(device, module.devices, "a device")
    if len({arena.device for arena in model.arenas}) != len(model.arenas):
        raise invalid_argument("it has two arenas on one device")
    for number, arena in enumerate(model.arenas):
        _device(model, arena.device, f"arena {number}")
        if not 0 <= arena.size <= LARGEST_ARENA:
            raise invalid_argument(f"arena {number} has {arena.size} bytes")
    for number, tensor in enumerate(model.tensors):
        _tensor(module, model, tensor, f"tensor {number} ({tensor.name})")
    for number, given in enumerate(model.inputs):
        _input(module, model, given, number)
    for number, output in enumerate(model.outputs):
        _number(output.tensor, model.tensors, f"the tensor of output {number} ({output.name})")
    for names in ([each.name for each in model.inputs], [each.name for each in model.outputs]):
        if len(set(names)) != len(names):
            raise invalid_argument("two inputs or two outputs have one name")
    if not model.regions or not 0 <= model.points <= 1 << 20:
        raise invalid_argument(f"it has {len(model.regions)} regions and {model.points} points")


def _tensor(module: Module, model: Model, tensor: Tensor, where: str) -> None:
    _shape([size for size in tensor.shape if size != UNKNOWN], tensor.element_type, where)
    _device(model, tensor.device, where)
    if len(tensor.shape) > MOST_DIMENSIONS:
        raise invalid_argument(f"{where} has {len(tensor.shape)} dimensions")
    if tensor.location != NONE:
        _number(tensor.location, module.locations, f"the location of {where}")
    if not 0 <= tensor.place < len(Place):
        raise invalid_argument(f"{where} is at no known place ({tensor.place})")
    if tensor.place == Place.PLANNED:
        _planned(model, tensor, where)
    elif tensor.place == Place.INPUT:
        _number(tensor.where, model.inputs, f"the input of {where}")
    elif tensor.place == Place.WEIGHT:
        _number(tensor.where, module.weights, f"the weight of {where}")
        weight = module.weights[tensor.where]
        if (weight.element_type, weight.shape) != (tensor.element_type, tensor.shape):
            raise invalid_argument(f"{where} has another type or shape than weight {weight.name}")


def _planned(model: Model, tensor: Tensor, where: str) -> None:
    _number(tensor.where, model.arenas, f"the arena of {where}")
    arena = model.arenas[tensor.where]
    if arena.device != tensor.device:
        raise invalid_argument(f"{where} is in another device's arena")
    if tensor.offset < 0 or tensor.offset % ALIGNMENT or tensor.size < 0:
        raise invalid_argument(f"{where} has {tensor.size} bytes at byte {tensor.offset}")
    if tensor.offset + tensor.size > arena.size:
        raise invalid_argument(f"{where} ends outside of its arena of {arena.size} bytes")
    if UNKNOWN not in tensor.shape and bytes_of(tensor.element_type, tensor.shape) > tensor.size:
        raise invalid_argument(f"{where} has more elements than fit {tensor.size} bytes")


def _input(module: Module, model: Model, given: Input, number: int) -> None:
    where = f"input {number} ({given.name})"
    _number(given.tensor, model.tensors, f"the tensor of {where}")
    tensor = model.tensors[given.tensor]
    if tensor.place != Place.INPUT or tensor.where != number:
        raise invalid_argument(f"{where} and its tensor name each other differently")
    if len(given.dims) != len(tensor.shape):
        raise invalid_argument(f"{where} has another rank than its tensor")
    for dim, size in zip(given.dims, tensor.shape, strict=True):
        _number(dim, module.expressions, f"a dimension of {where}")
        code = module.expressions[dim].code
        if code[0] not in (expressions.Op.CONST, expressions.Op.SYMBOL) or len(code) != 2:
            raise invalid_argument(f"a dimension of {where} is neither a number nor a symbol")
        known = expressions.constant(code)
        if known is not None and not 0 <= known <= LARGEST_DIMENSION:
            raise invalid_argument(f"{where} has a dimension of {known}")
        if size != (UNKNOWN if known is None else known):
            raise invalid_argument(f"{where} has another shape than its tensor")


def _shape(shape: Sequence[int], element_type: int, where: str) -> None:
    if len(shape) > MOST_DIMENSIONS or not all(0 <= d <= LARGEST_DIMENSION for d in shape):
        raise invalid_argument(f"{where} has the impossible shape {tuple(shape)[:20]}")
    if bytes_of(element_type, shape) >> 62:
        raise invalid_argument(f"{where} has more bytes than can be counted")


def _device(model: Model, device: int, where: str) -> None:
    if device not in model.devices:
        raise invalid_argument(f"{where} is on device {device}, which the model does not use")


def _number(number: int, records: Sequence[object], what: str) -> None:
    if not 0 <= number < len(records):
        raise invalid_argument(f"{what} is {number} of {len(records)}")
