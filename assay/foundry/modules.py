"""Kernels, and what is composed of them, as Assay modules: sizes may be named, and vary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from assay.compiler.foundry.errors import FoundryError
from assay.compiler.foundry.kernels import Output as Made
from assay.compiler.foundry.kernels import Tensor as Array
from assay.compiler.foundry.kernels import tensor
from assay.compiler.graph.symbolic.dims import Dim, combined, greatest, product
from assay.compiler.graph.symbolic.shape_sets import Bounds, parse_bounds, parse_shapes
from assay.compiler.models.errors import ModelError
from assay.hal import element_type as elements
from assay.hal.module.build.pool import Pool
from assay.hal.module.file import write_module
from assay.hal.module.records import (
    NONE,
    UNKNOWN,
    VERSION,
    Arena,
    Argument,
    Call,
    Check,
    Deduce,
    Input,
    Instruction,
    Kernel,
    Model,
    Module,
    Output,
    Place,
    Region,
    Reserve,
    Stage,
    Tensor,
)
from assay.hal.module.staged import MSL

from .kernel import Kernel as Callee
from .sizes import Conditions, Size
from .tracing import Number, Trace, Traced, TracedCall

_DEVICE: Final = 0
_ALIGNMENT: Final = 256
"""Of arrays in arenas and workspaces, in bytes: what Metal wants of buffers at most."""
_UNSIGNED: Final = 0x12


@dataclass(frozen=True, slots=True)
class Sized:
    """An array that a module is given: its type, and its sizes, which are numbers or names."""

    element: Any
    shape: tuple[int | str, ...]


def sized(element: Any, *shape: int | str) -> Sized:
    """An input of a module: `sized(half, "tokens", 4096)`."""
    return Sized(element, shape)


def build_module(
    function: Callable[..., Any],
    output: str | Path | None = None,
    *,
    name: str = "",
    dims: Mapping[str, str] | None = None,
    **arguments: Any,
) -> bytes:
    """An Assay module that does what `function` does with kernels; its bytes.

    `function` is a `Kernel`, or calls some: with what one returns another is called. It is called
    once, with arrays of which only the shapes are known for those `arguments` that are `sized`;
    NumPy arrays among the others become constants of the module. It returns an array, a tuple, or a
    dictionary of arrays by the names that outputs get. What is between kernels lies in a workspace,
    as large as the sizes of a run ask for.

    `dims` are bounds of named sizes, {"tokens": "1..512"}: memory of results is then planned for
    the largest. Raises FoundryError, and ModelError for bounds that cannot be.
    """
    inputs = {key: each for key, each in arguments.items() if isinstance(each, Sized)}
    conditions = Conditions(_bounds(inputs, dims or {}))
    trace = Trace(conditions)
    given = {key: _traced(trace, key, each) for key, each in inputs.items()}
    made = function(**{**arguments, **given})
    draft = _Draft(trace, list(given.values()), _outputs(made))
    data = draft.module(name or "+".join(each.declared.function for each in trace.calls))
    if output is not None:
        Path(output).write_bytes(data)
    return data


def build_of_shapes(kernel: Callee, shapes: str, dims: Sequence[str]) -> bytes:
    """An Assay module of a kernel, of what people write: "x=rowsx512", and "rows=1..128".

    Raises FoundryError, and ModelError for shapes and bounds that cannot be.
    """
    sets = parse_shapes(shapes)
    if len(sets) > 1:
        raise ModelError("shapes: a kernel has one set; name the sizes that vary")
    arrays = {
        name: each.element
        for name, each in kernel.declared.arguments.items()
        if isinstance(each, Array) and not isinstance(each, Made)
    }
    given: dict[str, Any] = {}
    for name, sizes in sets[0].items():
        if name not in arrays:
            raise ModelError(
                f"shapes: the kernel takes no array {name}; it takes {', '.join(arrays)}"
            )
        given[name] = Sized(arrays[name], tuple(map(_named, sizes)))
    return build_module(kernel, dims=dict(text.partition("=")[::2] for text in dims), **given)


def _named(size: Dim) -> int | str:
    return size if isinstance(size, int) else str(size)


def _bounds(inputs: Mapping[str, Sized], dims: Mapping[str, str]) -> dict[str, Bounds]:
    sizes = [size for each in inputs.values() for size in each.shape]
    names = dict.fromkeys(size for size in sizes if isinstance(size, str))
    known = parse_bounds([f"{name}={text}" for name, text in dims.items()])
    for name in known:
        if name not in names:
            listed = ", ".join(names) or "none"
            raise ModelError(f"dims: no input has a size {name}; named are {listed}")
    return {name: known.get(name, Bounds()) for name in names}


def _traced(trace: Trace, name: str, given: Sized) -> Traced:
    sizes = (trace.conditions.size(s) if isinstance(s, str) else s for s in given.shape)
    return Traced(trace, name, tuple(sizes), tensor(given.element).dtype)


def _outputs(made: Any) -> dict[str, Traced]:
    """What a function returned, by names. Raises FoundryError for anything but arrays."""
    if isinstance(made, Mapping):
        named = dict(made)
    else:
        several = made if isinstance(made, tuple | list) else (made,)
        plain = [each.name if isinstance(each, Traced) else "" for each in several]
        named = {
            name if plain.count(name) == 1 else f"{name}{at}": each
            for at, (name, each) in enumerate(zip(plain, several, strict=True))
        }
    for name, each in named.items():
        if not isinstance(each, Traced):
            raise FoundryError(
                "module-output",
                f"output {name or '1'} is {type(each).__name__}; a module gives what kernels make "
                "of its inputs",
            )
    return named


@dataclass
class _Draft:
    """A module in the making: one kernel, with a stage for each call, called once.

    Its operands are inputs and constant arrays, outputs, numbers, the workspace, in this order.
    """

    trace: Trace
    inputs: Sequence[Traced]
    outputs: Mapping[str, Traced]
    numbers: dict[Dim, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.trace.calls:
            raise FoundryError("module-output", "no kernel was called with its inputs")
        self.pool = Pool(("metal",), self.trace.conditions.bounds)
        self.weights = [each for each, _ in self.trace.constants.values()]
        made = {id(each) for call in self.trace.calls for each in call.tensors.values()}
        mine = {id(each) for each in (*self.inputs, *self.weights)}
        for name, each in self.outputs.items():
            if id(each) in mine or id(each) not in made:
                raise FoundryError("module-output", f"output {name} is not made by a kernel")
        if len({id(each) for each in self.outputs.values()}) < len(self.outputs):
            raise FoundryError("module-output", "an array is two outputs")
        self._tensors = [*self.inputs, *self.weights, *self.outputs.values()]
        self._operands = {id(each): at for at, each in enumerate(self._tensors)}
        self._places, self._workspace = self._between()
        for dim in (*self._passed(), *self._places.values()):
            self.numbers.setdefault(dim, len(self.numbers))
        self._texts: dict[str, int] = {}

    def _passed(self) -> Iterator[Dim]:
        """The numbers that kernels are given."""
        for call in self.trace.calls:
            for group in call.numbers.values():
                for each in group:
                    yield _dim(each.value)

    def _between(self) -> tuple[dict[int, Dim], Dim]:
        """Where in the workspace each array is that only kernels see, and how large that is."""
        places: dict[int, Dim] = {}
        end: Dim = 0
        for call in self.trace.calls:
            for each in call.tensors.values():
                if id(each) not in self._operands and id(each) not in places:
                    places[id(each)] = end
                    end = combined("add", end, _aligned(_bytes(each)))
        return places, end

    def module(self, name: str) -> bytes:
        """The file. Raises StatusError for what no module can be."""
        tensors, arena = self._records()
        stages = [self._stage(call) for call in self.trace.calls]
        inputs = len(self.inputs) + len(self.weights)
        first = stages[0].segment
        kernel = Kernel(
            _DEVICE, MSL, first, name, inputs, len(self.numbers), len(self.outputs), tuple(stages)
        )
        self.pool.add_kernel(kernel)
        model = Model(
            name="model",
            devices=(_DEVICE,),
            inputs=tuple(self._input(at, each) for at, each in enumerate(self.inputs)),
            outputs=tuple(
                Output(key, self._operands[id(each)]) for key, each in self.outputs.items()
            ),
            arenas=(Arena(_DEVICE, arena),) if arena else (),
            tensors=tuple(tensors),
            regions=(Region(tuple(self._instructions(name, tensors))),),
            points=0,
        )
        module = Module(
            version=VERSION,
            name=name,
            producer="assay",
            devices=self.pool.devices,
            symbols=self.pool.symbols,
            weights=self.pool.weights,
            kernels=self.pool.kernels,
            expressions=self.pool.expressions,
            models=(model,),
            locations=(),
            segments=(),
        )
        return write_module(module, self.pool.segments)

    def _records(self) -> tuple[list[Tensor], int]:
        """Tensors by operand, and bytes of the arena."""
        made, end = [], 0
        ranges = {
            name: (each.minimum, each.maximum or None)
            for name, each in self.trace.conditions.bounds.items()
        }
        arrays = {id(each): array for each, array in self.trace.constants.values()}
        names = {id(each): name for name, each in self.outputs.items()}
        for at, each in enumerate(self._tensors):
            code = elements.code_of(each.dtype)
            shape = tuple(UNKNOWN if isinstance(size, Size) else size for size in each.shape)
            place, where, offset, size = Place.INPUT, at, 0, 0
            if id(each) in arrays:
                place, where = Place.WEIGHT, self.pool.weight(each.name, arrays[id(each)])
            elif id(each) in names:
                most = greatest(_bytes(each), ranges)
                place, where = (Place.DYNAMIC if most is None else Place.PLANNED), 0
                if most is not None:
                    offset, size = end, most
                    end += -(-most // _ALIGNMENT) * _ALIGNMENT
            name = names.get(id(each), each.name)
            made.append(Tensor(name, code, shape, _DEVICE, place, where, offset, size, NONE))
        return made, end

    def _input(self, at: int, given: Traced) -> Input:
        return Input(given.name, at, tuple(self._expression(size) for size in given.shape))

    def _instructions(self, name: str, tensors: Sequence[Tensor]) -> list[Instruction]:
        items: list[Instruction] = [
            Check(self._expression(condition), message)
            for condition, message in self.trace.conditions.found.items()
        ]
        outputs = [self._operands[id(each)] for each in self.outputs.values()]
        for number in outputs:
            if UNKNOWN in tensors[number].shape:
                dims = tuple(self._expression(size) for size in self._tensors[number].shape)
                items.append(Deduce(number, dims))
            if tensors[number].place == Place.DYNAMIC:
                items.append(Reserve(number))
        grids = [call.grid for call in self.trace.calls]
        items.append(
            Call(
                self.pool.kernel(_DEVICE, name),
                tuple(range(len(self.inputs) + len(self.weights))),
                tuple(map(self._expression, self.numbers)),
                tuple(outputs),
                self._expression(self._workspace) if self._places else NONE,
                tuple(self._expression(size) for each in grids for size in each.threadgroups),
                tuple(self._expression(size) for each in grids for size in each.threads),
            )
        )
        return items

    def _stage(self, call: TracedCall) -> Stage:
        tensors = [self._memory(index, each) for index, each in call.tensors.items()]
        numbers = [
            Argument(self._number(_dim(each.value)), index, _code(each), each.offset)
            for index, group in call.numbers.items()
            for each in group
        ]
        source = call.declared.source
        if source not in self._texts:
            self._texts[source] = self.pool.segment(source.encode())
        return Stage(call.declared.function, self._texts[source], (*tensors, *numbers), (), ())

    def _memory(self, index: int, each: Traced) -> Argument:
        if id(each) in self._operands:
            return Argument(self._operands[id(each)], index, 0, NONE)
        workspace = len(self._tensors) + len(self.numbers)
        return Argument(workspace, index, 0, self._number(self._places[id(each)]))

    def _number(self, dim: Dim) -> int:
        """The operand of a number."""
        return len(self._tensors) + self.numbers[dim]

    def _expression(self, size: Dim | Size) -> int:
        return self.pool.size(_dim(size), {})


def _dim(size: Any) -> Dim:
    return size.dim if isinstance(size, Size) else size


def _bytes(each: Traced) -> Dim:
    return product((*map(_dim, each.shape), each.dtype.itemsize))


def _aligned(size: Dim) -> Dim:
    return combined("mul", combined("ceildiv", size, _ALIGNMENT), _ALIGNMENT)


def _code(number: Number) -> int:
    """What a number becomes: as many bits as it has."""
    return _UNSIGNED << 24 | 8 * number.scalar.size
