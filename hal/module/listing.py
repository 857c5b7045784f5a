"""An Assay module for people: shape sets, kernels, memory maps, instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import element_type as elements
from . import expressions
from .file import ModuleFile
from .records import (
    NONE,
    UNKNOWN,
    Call,
    Check,
    Copy,
    Deduce,
    Forward,
    If,
    Instruction,
    Kernel,
    Model,
    Module,
    Place,
    Read,
    Release,
    Reserve,
    Signal,
    Stage,
    Tensor,
    Wait,
    While,
)
from .shapes import ShapeTable


def listing(file: ModuleFile, *, whole: bool = False) -> Iterator[str]:
    """Lines; with `whole` all weights, kernels, tensors and instructions, too."""
    module = file.module
    yield f"module {module.name}, version {module.version}, by {module.producer}"
    yield f"devices: {', '.join(module.devices)}"
    for symbol in module.symbols:
        most = symbol.maximum or "any size"
        steps = f", multiples of {symbol.multiple_of}" if symbol.multiple_of > 1 else ""
        yield f"dimension {symbol.name}: {symbol.minimum} to {most}{steps}"
    size = sum(module.segments[weight.segment].size for weight in module.weights)
    yield f"weights: {len(module.weights)}, {size} bytes"
    for number, device in enumerate(module.devices):
        count = sum(kernel.device == number for kernel in module.kernels)
        here = [kernel for kernel in module.kernels if kernel.device == number]
        segments = {kernel.segment for kernel in here}
        segments |= {s.segment for kernel in here for s in kernel.stages if s.segment != NONE}
        held = sum(module.segments[segment].size for segment in segments)
        yield f"kernels for {device}: {count}, {held} bytes"
    if whole:
        for weight in module.weights:
            yield f"  weight {weight.name}: {_type(weight.element_type, weight.shape)}"
        for kernel in module.kernels:
            counts = f"{kernel.inputs} inputs, {kernel.outputs} outputs"
            yield f"  kernel {kernel.entry} for {module.devices[kernel.device]}: {counts}"
            for stage in kernel.stages:
                yield f"    {kernel.format}: {_stage(kernel, stage)}"
    table = ShapeTable(module, range(len(module.models)))
    for number, (model, shapes) in enumerate(zip(module.models, table.sets, strict=True)):
        yield ""
        kind = ("exact", "bounded", "dynamic")[shapes.rank]
        yield f"model {number}: {shapes.text(module.symbols)} ({kind})"
        yield from _model(module, model, whole=whole)


def _model(module: Module, model: Model, *, whole: bool) -> Iterator[str]:
    yield f"  on {', '.join(module.devices[device] for device in model.devices)}"
    for output in model.outputs:
        tensor = model.tensors[output.tensor]
        yield f"  gives {output.name}: {_type(tensor.element_type, tensor.shape)}"
    items = [item for region in model.regions for item in region.instructions]
    counts = {kind.__name__: 0 for kind in map(type, items)}
    for item in items:
        counts[type(item).__name__] += 1
    yield "  " + (", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing")
    for item in items:
        if isinstance(item, Read):
            yield f"  the host waits for {_tensor(model, item.tensor)}"
    for number, arena in enumerate(model.arenas):
        yield f"  arena on {module.devices[arena.device]}: {arena.size} bytes"
        if whole:
            yield from _map(model, number)
    if whole:
        for number, region in enumerate(model.regions):
            yield f"  region {number}"
            for item in region.instructions:
                yield f"    {_instruction(module, model, item)}"


def _map(model: Model, arena: int) -> Iterator[str]:
    """Tensors in an arena by offset."""
    here = [t for t in model.tensors if t.place == Place.PLANNED and t.where == arena]
    for tensor in sorted(here, key=lambda tensor: (tensor.offset, tensor.name)):
        end = tensor.offset + tensor.size
        kind = _type(tensor.element_type, tensor.shape)
        yield f"    {tensor.offset:>10} to {end:<10} {tensor.name}: {kind}"


def _instruction(module: Module, model: Model, item: Instruction) -> str:
    def name(number: int) -> str:
        return _tensor(model, number)

    def value(number: int) -> str:
        return expressions.text(module.expressions[number].code)

    def values(numbers: Sequence[int]) -> str:
        return "x".join(map(value, numbers)) or "scalar"

    match item:
        case Call():
            outputs = ", ".join(map(name, item.outputs))
            operands = [*map(name, item.inputs), *map(value, item.constants)]
            if item.workspace != NONE:
                operands.append(f"{value(item.workspace)} bytes to itself")
            where = _where(module, model.tensors[item.outputs[0]]) if item.outputs else ""
            grids = [
                f"{values(item.threadgroups[at : at + 3])} of {values(item.threads[at : at + 3])}"
                for at in range(0, len(item.threadgroups), 3)
            ]
            over = f" over {', '.join(grids)}" if grids else ""
            entry = module.kernels[item.kernel].entry
            return f"{outputs} = {entry}({', '.join(operands)}){over}{where}"
        case Forward():
            offset = "" if item.offset == NONE else f" from byte {value(item.offset)}"
            return f"{name(item.target)} = {name(item.source)}{offset} as {values(item.dims)}"
        case Deduce():
            return f"deduce {name(item.tensor)}: {values(item.dims)}"
        case Check():
            return f"check {value(item.expression)}: {item.message}"
        case Copy():
            return f"{name(item.target)} = copy of {name(item.source)}"
        case Reserve() | Release() | Read():
            return f"{type(item).__name__.lower()} {name(item.tensor)}"
        case Signal() | Wait():
            device = module.devices[item.device]
            return f"{type(item).__name__.lower()} point {item.point} on {device}"
        case If():
            return f"if {value(item.condition)}: region {item.then}, else {item.otherwise}"
        case While():
            return f"while {value(item.condition)}: region {item.body}"


def _stage(kernel: Kernel, stage: Stage) -> str:
    """A stage with its arguments: `sum(0: input 0, 2: constant 0 as i32)`."""
    kinds = {"input": kernel.inputs, "output": kernel.outputs, "constant": kernel.constants}
    names = [f"{kind} {number}" for kind, count in kinds.items() for number in range(count)]
    names.append("workspace")
    said = []
    for each in sorted(stage.arguments, key=lambda each: (each.index, each.offset)):
        kind = f" as {elements.text(each.element_type)}" if each.element_type else ""
        said.append(f"{each.index}: {names[each.operand]}{kind}")
    constants = [f"function constant {each.index}" for each in stage.function_constants]
    return f"{stage.entry}({', '.join([*said, *constants])})"


def _where(module: Module, tensor: Tensor) -> str:
    if tensor.location == NONE:
        return ""
    location = module.locations[tensor.location]
    return f"  # {location.operator} {location.name}"


def _tensor(model: Model, number: int) -> str:
    return model.tensors[number].name or f"t{number}"


def _type(element_type: int, shape: Sequence[int]) -> str:
    sizes = ["?" if size == UNKNOWN else str(size) for size in shape]
    return "x".join([*sizes, elements.text(element_type)])
