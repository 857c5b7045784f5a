"""Kernels that are told sizes as integers, so that none has to read them from a tensor.

They are written in Torch's dialect of MLIR, whose operators take integers beside tensors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ..graph.symbolic.computed import resize_mode
from ..graph.symbolic.dims import Dim, Dims, Named
from ..graph.symbolic.graph import Graph, Operator
from ..models.errors import ModelError
from .kernel import Kernel

OVERWRITE: Final = "torch.overwrite.tensor.contents"
_OPSET: Final = "torch.onnx_meta.opset_version = 17 : si64"
_ELEMENTS: Final = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "int8": "si8",
    "uint8": "ui8",
    "int32": "si32",
    "int64": "si64",
}
"""Torch's names of types, by NumPy's."""


class _Body:
    """Lines of a function whose tensor is %x and whose integers are %p0 and so on."""

    def __init__(self, graph: Graph, operator: Operator) -> None:
        self.operator = operator
        (self.output,) = operator.outputs
        target = graph.tensors[self.output]
        self.element = _element(operator, target.dtype.name)
        self.sources = [graph.tensors[name].dims for name in operator.inputs]
        self.target = target.dims
        self.constants: Sequence[Dim] = operator.numbers
        self.lines: list[str] = []

    def kind(self, dims: Dims, word: str = "vtensor") -> str:
        """The type of a tensor; sizes that are no numbers are open."""
        sizes = ",".join(str(dim) if isinstance(dim, int) else "?" for dim in dims)
        return f"!torch.{word}<[{sizes}],{self.element}>"

    def constant(self, name: str, kind: str, value: str) -> None:
        """Defines a constant."""
        self.lines.append(f"{name} = torch.constant.{kind}{value and f' {value}'}")

    def integers(self) -> str:
        """All integers as a list; the name of it."""
        names = ", ".join(f"%p{number}" for number in range(len(self.constants)))
        kinds = ", ".join("!torch.int" for _ in self.constants)
        self.lines.append(f"%l = torch.prim.ListConstruct {names} : ({kinds}) -> !torch.list<int>")
        return "%l"

    def kernel(self, result: str, dims: Dims) -> Kernel:
        """The kernel that gives `result`."""
        place = self.kind(dims, "tensor")
        arguments = [f"%x: {self.kind(dims)}" for dims in self.sources]
        arguments += [f"%p{number}: !torch.int" for number in range(len(self.constants))]
        lines = [
            *self.lines,
            f"{OVERWRITE} {result} overwrites %out : {self.kind(dims)}, {place}",
            "return",
        ]
        signature = f"({', '.join([*arguments, f'%out: {place}'])}) attributes {{{_OPSET}}}"
        text = f"{signature} {{\n  " + "\n  ".join(lines) + "\n}"
        kind = self.operator.node.op_type.lower()
        entry = f"{kind}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        return Kernel(
            entry=entry,
            arguments=self.operator.inputs,
            outputs=(self.output,),
            constants=tuple(self.constants),
            mlir=f"func.func @{entry}{text}",
        )


def sized_kernel(graph: Graph, operator: Operator) -> Kernel:
    """The kernel of an operator that takes sizes. Raises ModelError."""
    return _WRITERS[operator.node.op_type](_Body(graph, operator))


def _element(operator: Operator, dtype: str) -> str:
    found = _ELEMENTS.get(dtype)
    if found is None:
        kind = operator.node.op_type.lower()
        raise ModelError(f"{operator.name}: a {kind} of {dtype} cannot be built")
    return found


def _slice(body: _Body) -> Kernel:
    """Between places, axis by axis."""
    operator = body.operator
    axes = sorted(operator.ranges)
    body.constants = [place for axis in axes for place in operator.ranges[axis]]
    (dims,) = body.sources
    body.constant("%one", "int", "1")
    name = "%x"
    for number, axis in enumerate(axes):
        before, made = body.kind(dims), f"%x{number}"
        dims = (*dims[:axis], body.target[axis], *dims[axis + 1 :])
        dims = _opened(dims, axis)
        start, end = (f"%p{2 * number + more}" for more in (0, 1))
        body.constant(f"%a{number}", "int", str(axis))
        body.lines.append(
            f"{made} = torch.aten.slice.Tensor {name}, %a{number}, {start}, {end}, %one : "
            f"{before}, !torch.int, !torch.int, !torch.int, !torch.int -> {body.kind(dims)}"
        )
        name = made
    return body.kernel(name, dims)


def _range(body: _Body) -> Kernel:
    """From a first number in steps, up to an end."""
    body.constant("%none", "none", "")
    body.constant("%type", "int", {"si32": "3", "si64": "4"}[body.element])
    dims = _opened(body.target, 0)
    kinds = "!torch.int, !torch.int, !torch.int, !torch.int, !torch.none, !torch.none, !torch.none"
    body.lines.append(
        "%r = torch.aten.arange.start_step %p0, %p1, %p2, %type, %none, %none, %none : "
        f"{kinds} -> {body.kind(dims)}"
    )
    return body.kernel("%r", dims)


def _tile(body: _Body) -> Kernel:
    """A tensor repeated along each of its dimensions."""
    dims = _opened(body.target, *range(len(body.target)))
    repeats = body.integers()
    body.lines.append(
        f"%r = torch.aten.tile %x, {repeats} : {body.kind(body.sources[0])}, !torch.list<int> "
        f"-> {body.kind(dims)}"
    )
    return body.kernel("%r", dims)


def _resize(body: _Body) -> Kernel:
    """An image at other sizes of its last two dimensions."""
    attributes = {each.name: each.s for each in body.operator.node.attribute if each.HasField("s")}
    mode, corners = resize_mode(attributes)
    body.constant("%none", "none", "")
    body.constant("%false", "bool", "false")
    body.constant("%corners", "bool", "true" if corners else "false")
    body.constant("%mode", "str", f'"{mode}"')
    dims = _opened(body.target, 2, 3)
    sizes = body.integers()
    aligned = "%none" if mode == "nearest" else "%corners"
    kind = "!torch.none" if mode == "nearest" else "!torch.bool"
    body.lines.append(
        f"%r = torch.aten.__interpolate.size_list_scale_list %x, {sizes}, %none, %mode, {aligned}, "
        f"%none, %false : {body.kind(body.sources[0])}, !torch.list<int>, !torch.none, !torch.str, "
        f"{kind}, !torch.none, !torch.bool -> {body.kind(dims)}"
    )
    return body.kernel("%r", dims)


_ANY: Final = Named("any")
"""A size that is no number in a kernel's types."""


def _opened(dims: Dims, *axes: int) -> Dims:
    """The same with some sizes left open: which of them are numbers, kernels need not know."""
    return tuple(_ANY if axis in axes else dim for axis, dim in enumerate(dims))


_WRITERS: Final[Mapping[str, Callable[[_Body], Kernel]]] = {
    "Slice": _slice,
    "Range": _range,
    "Tile": _tile,
    "Resize": _resize,
}
