"""Kernels of groups: ONNX of their own, with weights as arguments, so that equal ones are one.

A kernel's name comes from what it does and the types that it does it with, not from where it
stands: layers that repeat, and shape sets that have the same sizes, share it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from ..graph.elements import Array
from ..graph.symbolic.dims import Dim, Dims
from ..graph.symbolic.graph import Graph
from ..models.errors import ModelError
from .groups import Group
from .kernel import Kernel
from .sized_kernels import OVERWRITE, sized_kernel

_FLAGS: Final = ("--iree-execution-model=async-external",)
_DOUBLES: Final = ("--iree-input-demote-f64-to-f32=false",)
_MOST_EMBEDDED: Final = 16
"""Elements of constants that are part of a kernel; whole numbers always are."""


def kernel_of(graph: Graph, group: Group) -> Kernel:
    """The kernel of a group. Raises MissingTool."""
    if group.last.takes_sizes:
        return sized_kernel(graph, group.last)
    return _Writer(graph, group).kernel()


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


def flags_of(module: bytes) -> tuple[str, ...]:
    """With which IREE compiles a module of kernels.

    Functions of MLIR then wait for a fence and signal one, as those of ONNX do. Tensors of doubles
    are that, where IREE would take them for floats.
    """
    return (*_FLAGS, *(_DOUBLES if b",f64>" in module else ()))


def _write_in_place(ir: Any, function: Any) -> None:
    """A function that gives tensors writes them into arguments instead."""
    block = function.regions[0].blocks[0]
    last = list(block.operations)[-1]
    results = list(last.operands)
    for value in results:
        kind = ir.Type.parse(str(value.type).replace("!torch.vtensor", "!torch.tensor", 1))
        place = block.add_argument(kind, ir.Location.unknown())
        ir.Operation.create(OVERWRITE, operands=[value, place], ip=ir.InsertionPoint(last))
    ir.Operation.create("func.return", ip=ir.InsertionPoint(last))
    last.operation.erase()
    kinds = [argument.type for argument in block.arguments]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, []))
