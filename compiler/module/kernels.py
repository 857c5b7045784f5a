"""Kernels of groups: ONNX of their own, with weights as arguments, so that equal ones are one.

A kernel's name comes from what it does and the types that it does it with, not from where it
stands: layers that repeat, and shape sets that have the same sizes, share it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from ..graph.elements import Array
from ..graph.symbolic.dims import Dim, Dims
from ..graph.symbolic.graph import Graph
from ..models.errors import ModelError
from .groups import Group

_MOST_EMBEDDED: Final = 16
"""Elements of constants that are part of a kernel; whole numbers always are."""
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
_TORCH: Final = "torch.overwrite.tensor.contents"


@dataclass(frozen=True, kw_only=True, slots=True)
class Kernel:
    """A group's kernel: `arguments` are the tensors and weights it reads, as the graph has them."""

    entry: str
    arguments: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: tuple[Dim, ...] = ()
    """Integers that it takes behind the arguments."""
    model: bytes = b""
    """ONNX: the graph's inputs are the arguments, in their order."""
    mlir: str = ""
    """A function of MLIR instead."""


def kernel_of(graph: Graph, group: Group) -> Kernel:
    """The kernel of a group. Raises MissingTool."""
    if group.last.ranges:
        return _slice(graph, group)
    return _Writer(graph, group).kernel()


def _slice(graph: Graph, group: Group) -> Kernel:
    """A slice between places that it is told, so that no kernel has to read them."""
    (name,), (output,) = group.last.inputs, group.outputs
    source, target = graph.tensors[name], graph.tensors[output]
    element = _ELEMENTS.get(source.dtype.name)
    if element is None:
        raise ModelError(f"{group.last.name}: slices of {source.dtype} cannot be built")
    axes = sorted(group.last.ranges)
    constants = [place for axis in axes for place in group.last.ranges[axis]]
    places = "".join(f", %p{number}: !torch.int" for number in range(len(constants)))
    kind = [None if not isinstance(dim, int) else dim for dim in source.dims]
    body = ["%one = torch.constant.int 1"]
    for number, axis in enumerate(axes):
        before = _tensor_type("vtensor", kind, element)
        kind = [*kind[:axis], None, *kind[axis + 1 :]]
        after = _tensor_type("vtensor", kind, element)
        start, end = (f"%p{2 * number + more}" for more in (0, 1))
        body += [
            f"%a{number} = torch.constant.int {axis}",
            f"%x{number + 1} = torch.aten.slice.Tensor %x{number}, %a{number}, {start}, {end}, "
            f"%one : {before}, !torch.int, !torch.int, !torch.int, !torch.int -> {after}",
        ]
    given = _tensor_type(
        "vtensor", [d if isinstance(d, int) else None for d in source.dims], element
    )
    made = _tensor_type("vtensor", kind, element)
    place = _tensor_type("tensor", kind, element)
    assert len(target.dims) == len(kind)
    body += [f"{_TORCH} %x{len(axes)} overwrites %out : {made}, {place}", "return"]
    version = "torch.onnx_meta.opset_version = 17 : si64"
    signature = f"(%x0: {given}{places}, %out: {place}) attributes {{{version}}}"
    text = f"{signature} {{\n  " + "\n  ".join(body) + "\n}"
    entry = f"slice_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    return Kernel(
        entry=entry,
        arguments=(name,),
        outputs=(output,),
        constants=tuple(constants),
        mlir=f"func.func @{entry}{text}",
    )


def _tensor_type(kind: str, sizes: Sequence[int | None], element: str) -> str:
    dims = ",".join("?" if size is None else str(size) for size in sizes)
    return f"!torch.{kind}<[{dims}],{element}>"


class _Writer:
    def __init__(self, graph: Graph, group: Group) -> None:
        import onnx

        self._onnx: Any = onnx
        self._graph, self._group = graph, group
        self._names: dict[str, str] = {"": ""}
        self._symbols: dict[str, str] = {}

    def kernel(self) -> Kernel:
        group = self._group
        embedded = [name for name in group.inputs if self._is_embedded(name)]
        arguments = [name for name in group.inputs if name not in embedded]
        for number, name in enumerate(arguments):
            self._names[name] = f"a{number}"
        for number, name in enumerate(embedded):
            self._names[name] = f"c{number}"
        nodes = [self._node(node.node, number) for number, node in enumerate(group.operators)]
        inner = [
            name
            for operator in group.operators[:-1]
            for name in operator.outputs
            if name and name not in group.outputs
        ]
        proto = self._onnx.helper.make_graph(
            nodes,
            "",
            [self._info(name) for name in arguments],
            [self._info(name) for name in group.outputs],
            [self._constant(name) for name in embedded],
            value_info=[self._info(name) for name in inner],
        )
        opsets = [self._onnx.helper.make_opsetid(*each) for each in self._graph.opsets]
        model = self._onnx.helper.make_model(
            proto, opset_imports=opsets, ir_version=8, producer_name="assay"
        )
        digest = hashlib.sha256(model.SerializeToString(deterministic=True)).hexdigest()[:12]
        words = "_".join(operator.node.op_type.lower() for operator in group.operators[:3])
        model.graph.name = f"{words}_{digest}"
        return Kernel(
            entry=model.graph.name,
            arguments=tuple(arguments),
            outputs=group.outputs,
            model=model.SerializeToString(deterministic=True),
        )

    def _is_embedded(self, name: str) -> bool:
        array = self._graph.constants.get(name)
        return array is not None and (array.size <= _MOST_EMBEDDED or array.dtype.kind in "iub")

    def _node(self, node: Any, number: int) -> Any:
        """The node under other names."""
        made = self._onnx.NodeProto()
        made.CopyFrom(node)
        made.name, made.doc_string = f"n{number}", ""
        for place, name in enumerate(node.output):
            self._names.setdefault(name, f"t{number}_{place}")
        made.ClearField("input")
        made.ClearField("output")
        made.input.extend(self._names[name] for name in node.input)
        made.output.extend(self._names[name] for name in node.output)
        return made

    def _info(self, name: str) -> Any:
        array: Array | None = self._graph.constants.get(name)
        tensor = self._graph.tensors.get(name)
        dtype = array.dtype if array is not None else tensor.dtype if tensor else None
        assert dtype is not None
        dims: Dims = array.shape if array is not None else tensor.dims if tensor else ()
        return self._onnx.helper.make_tensor_value_info(
            self._names[name],
            self._onnx.helper.np_dtype_to_tensor_dtype(dtype),
            [self._dim(dim) for dim in dims],
        )

    def _dim(self, dim: Dim) -> int | str:
        if isinstance(dim, int):
            return dim
        return self._symbols.setdefault(str(dim), f"s{len(self._symbols)}")

    def _constant(self, name: str) -> Any:
        return self._onnx.numpy_helper.from_array(self._graph.constants[name], self._names[name])


def mlir_of(kernels: Sequence[Kernel]) -> bytes:
    """A module of MLIR with a function for each kernel: arguments, then places for results.

    Raises ModelError for what the importer does not know.
    """
    import onnx
    from iree.compiler import ir
    from iree.compiler.extras import onnx_importer

    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = ir.Module.create()
        for kernel in kernels:
            if kernel.mlir:
                continue
            info = onnx_importer.ModelInfo(onnx.load_from_string(kernel.model))
            try:
                importer = onnx_importer.NodeImporter.define_function(
                    info.main_graph, module.operation
                )
                importer.import_all()
            except (onnx_importer.OnnxImportError, ir.MLIRError, KeyError) as error:
                raise ModelError(f"kernel {kernel.entry} cannot be imported: {error}") from None
        for function in module.body.operations:
            _write_in_place(ir, function)
        for kernel in kernels:
            if kernel.mlir:
                parsed = ir.Module.parse(kernel.mlir)
                parsed.body.operations[0].operation.clone(ip=ir.InsertionPoint(module.body))
        return str(module).encode()


def _write_in_place(ir: Any, function: Any) -> None:
    """A function that gives tensors writes them into arguments instead."""
    block = function.regions[0].blocks[0]
    last = list(block.operations)[-1]
    results = list(last.operands)
    for value in results:
        kind = ir.Type.parse(str(value.type).replace("!torch.vtensor", "!torch.tensor", 1))
        place = block.add_argument(kind, ir.Location.unknown())
        ir.Operation.create(_TORCH, operands=[value, place], ip=ir.InsertionPoint(last))
    ir.Operation.create("func.return", ip=ir.InsertionPoint(last))
    last.operation.erase()
    kinds = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, []))
