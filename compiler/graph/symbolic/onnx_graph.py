"""ONNX models to graphs for one set of input shapes.

What depends on constants alone is computed here; what computes shapes becomes sizes; what only
gives memory another shape becomes a forward; everything else stays an operator, for a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...models.errors import ModelError
from ..elements import Array
from ..errors import GraphRefused, Problem
from . import contents, sizes
from .computed import computed
from .contents import Elements
from .dims import Dim, Dims, Element, is_known, product, text
from .expansions import EXPANDED, Expansion, expand_nonzero, expand_topk
from .graph import Forward, Graph, Operator, Tensor
from .inference import Inference, Unknown
from .onnx_model import OnnxModel
from .reshapes import RESHAPES, contiguous, reshaped

_RANDOM: Final = ("RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike")
_MOST_FOLDED: Final = 1 << 30
"""Bytes of a constant that is computed when the graph is read."""
_WHOLE: Final = "iu"
_WRITES_OVER: Final = ("Scatter", "ScatterElements", "ScatterND", "TopK")
"""What IREE's kernels do in the memory of their first operand, although it is an argument."""
_SIZED: Final = {"Range": (0, 1, 2), "Tile": (1,), "Resize": (3,)}
"""Operands that are sizes, by operator."""


def graph_of(model: OnnxModel, shapes: Mapping[str, Dims]) -> Graph:
    """The graph for these input shapes. Raises ModelError; GraphRefused lists all problems."""
    names = [value.name for value in model.inputs]
    if sorted(shapes) != sorted(names):
        raise ModelError(
            f"{model.path}: the shapes are those of {', '.join(shapes) or 'no input'}; the model's "
            f"inputs are {', '.join(names) or 'none'}"
        )
    return _Reader(model, shapes).graph()


class _Reader:
    def __init__(self, model: OnnxModel, shapes: Mapping[str, Dims]) -> None:
        self._model = model
        self._constants = dict(model.constants)
        self._contents: dict[str, Elements] = {}
        self._steps: list[Operator | Forward] = []
        self._reads: dict[str, None] = {}
        self._problems: list[Problem] = []
        self._inference = Inference(model.onnx, model.proto)
        self._inputs = tuple(
            Tensor(name=value.name, dtype=model.dtype(value), dims=shapes[value.name])
            for value in model.inputs
        )
        self._tensors = {tensor.name: tensor for tensor in self._inputs}

    def graph(self) -> Graph:
        """Everything in it."""
        proto = self._model.proto
        self._check_declared()
        for number, node in enumerate(proto.graph.node):
            name = node.name or f"{node.op_type.lower()}_{number}"
            try:
                self._node(node, name)
            except Unknown as unknown:
                where = f"node {name}"
                self._problems.append(
                    Problem(where=where, operator=node.op_type, reason=str(unknown))
                )
                break  # what follows could not be told either
        outputs = tuple(value.name for value in proto.graph.output)
        if not self._problems:
            for name in outputs:
                if name not in self._tensors:
                    reason = "it is the same whatever the inputs are; leave it out of the model"
                    self._problems.append(Problem(where=f"result {name}", reason=reason))
        if self._problems:
            raise GraphRefused(str(self._model.path), self._problems)
        return Graph(
            name=proto.graph.name or "model",
            opsets=tuple((entry.domain, entry.version) for entry in proto.opset_import),
            inputs=self._inputs,
            outputs=outputs,
            tensors=self._tensors,
            constants=self._constants,
            steps=tuple(self._steps),
            reads=tuple(self._reads),
        )

    def _check_declared(self) -> None:
        """Sizes that the file fixes are what they are."""
        for name, declared in self._model.declared().items():
            given = self._tensors[name].dims
            fits = len(given) == len(declared) and all(
                not isinstance(one, int) or one == other
                for one, other in zip(declared, given, strict=True)
            )
            if not fits and not self._is_free(declared):
                reason = (
                    f"its shape is {text(declared)} in the model, which {text(given)} does not fit"
                )
                self._problems.append(Problem(where=f"input {name}", reason=reason))

    def _is_free(self, declared: Dims) -> bool:
        """Fixed shapes can be changed where nothing in the model was computed from them.

        That shows when the graph is read: a reshape to frozen sizes then does not fit.
        """
        return is_known(declared) and not self._model.proto.graph.value_info

    def _node(self, node: Any, name: str) -> None:
        if self._fold(node) or self._compute_sizes(node):
            return
        if self._forward(node, name):
            return
        if node.op_type == "Slice" and self._slice(node, name):
            return
        if self._expand(node, name) or self._computed(node, name):
            return
        node = self._with_copy(node, name)
        dims = self._result_shapes(node)
        kinds = self._results(node)
        for output, shape, (dtype, _) in zip(node.output, dims, kinds, strict=True):
            if output:
                self._tensors[output] = Tensor(name=output, dtype=dtype, dims=shape)
        for each in filter(None, node.input):
            self._needs_tensor(each)
        self._steps.append(
            Operator(node=node, name=name, inputs=tuple(node.input), outputs=tuple(node.output))
        )

    def _with_copy(self, node: Any, name: str) -> Any:
        """The node on a copy of its first input, if IREE's kernel for it would write over that."""
        if node.op_type not in _WRITES_OVER:
            return node
        source, copy = node.input[0], f"{name}/copy"
        dtype, dims = self._type(source)
        self._needs_tensor(source)
        self._tensors[copy] = Tensor(name=copy, dtype=dtype, dims=dims)
        made = self._model.onnx.helper.make_node("Identity", [source], [copy], name=copy)
        self._steps.append(Operator(node=made, name=copy, inputs=(source,), outputs=(copy,)))
        changed = type(node)()
        changed.CopyFrom(node)
        changed.input[0] = copy
        return changed

    # Constants.

    def _fold(self, node: Any) -> bool:
        """Computes a node of constants alone."""
        known = all(not name or self._constant(name) is not None for name in node.input)
        if not known or node.op_type in _RANDOM or self._inference.has_graphs(node):
            return False
        given = {
            name: array
            for name in node.input
            if name and (array := self._constant(name)) is not None
        }
        if node.op_type == "DequantizeLinear":
            found = {node.output[0]: self._dequantised(node, given)}
        else:
            found = self._inference.computed(node, given)
        for name, array in found.items():
            if array.nbytes > _MOST_FOLDED:
                raise Unknown(f"its constant result would have {array.nbytes} bytes")
            self._constants[name] = array
        return True

    def _dequantised(self, node: Any, given: Mapping[str, Array]) -> Array:
        """ONNX's own definition, which the onnx package has for late opsets only."""
        array, scale = given[node.input[0]], given[node.input[1]]
        zero = given.get(node.input[2]) if len(node.input) > 2 else None
        attributes = self._inference.attributes(node)
        if attributes.get("block_size"):
            return self._inference.computed(node, given)[node.output[0]]
        axis = attributes.get("axis", 1)
        along = [-1 if at == axis % max(array.ndim, 1) else 1 for at in range(array.ndim)]
        wide = array.astype(np.int32) - (
            0 if zero is None else _along(zero.astype(np.int32), along)
        )
        made: Array = (wide.astype(np.float32) * _along(scale.astype(np.float32), along)).astype(
            scale.dtype
        )
        return made

    def _constant(self, name: str) -> Array | None:
        """The elements of a constant, or of sizes that are all known."""
        if name in self._constants:
            return self._constants[name]
        found = self._contents.get(name)
        if found is None or not all(isinstance(each, int) for each in found.flat):
            return None
        array: Array = found.astype(np.int64)
        return array

    # Sizes.

    def _compute_sizes(self, node: Any) -> bool:
        """Does on the host what computes shapes."""
        if node.op_type in ("Shape", "Size"):
            dims = self._dims(node.input[0])
            if node.op_type == "Shape":
                attributes = self._inference.attributes(node)
                part = dims[attributes.get("start", 0) : attributes.get("end")]
                made: Elements = contents.of(part)
            else:
                made = np.array(product(dims), object)
        else:
            if not any(name in self._contents for name in node.input):
                return False
            given = [self._elements(name) for name in node.input]
            if any(each is None for each in given):
                return False
            asked = contents.Asked(
                [each for each in given if each is not None], self._inference.attributes(node)
            )
            found = contents.evaluated(node.op_type, asked)
            if found is None or not self._gives_whole(node):
                return False
            made = found
        self._contents[node.output[0]] = made
        return True

    def _gives_whole(self, node: Any) -> bool:
        if node.op_type != "Cast":
            return True
        return self._inference.dtype(self._inference.attributes(node)["to"]).kind in _WHOLE

    def _elements(self, name: str) -> Elements | None:
        """The elements of a small tensor of whole numbers, as sizes, without reading it."""
        if name in self._contents:
            return self._contents[name]
        array = self._constants.get(name)
        if array is None or array.dtype.kind not in _WHOLE or array.size > contents.MOST:
            return None
        return contents.of([int(each) for each in array.flat]).reshape(array.shape)

    def _values(self, name: str) -> Elements | None:
        """The same, but of tensors that are computed, too: those are then read."""
        found = self._elements(name) if name else None
        tensor = self._tensors.get(name)
        if found is not None or tensor is None or tensor.dtype.kind not in _WHOLE:
            return found
        count = product(tensor.dims)
        if not isinstance(count, int) or count > contents.MOST:
            return None
        self._reads[name] = None
        made = np.empty(count, object)
        made[:] = [Element(name, index) for index in range(count)]
        return made.reshape([int(dim) for dim in tensor.dims if isinstance(dim, int)])

    def _dims(self, name: str) -> Dims:
        if name in self._tensors:
            return self._tensors[name].dims
        if name in self._constants:
            return self._constants[name].shape
        if name in self._contents:
            return tuple(self._contents[name].shape)
        raise Unknown(f"it reads {name}, which nothing before it makes")

    def _needs_tensor(self, name: str) -> None:
        """For an operand of a kernel: sizes that are known become a constant."""
        if name in self._tensors or name in self._constants:
            return
        array = self._constant(name)
        if array is None:
            sizes_text = ", ".join(map(str, self._contents[name].flat))
            raise Unknown(
                f"its operand {name} has sizes as elements ({sizes_text}) that are known only when "
                "the model runs"
            )
        self._constants[name] = array

    # Forwards.

    def _forward(self, node: Any, name: str) -> bool:
        """A node that moves nothing."""
        if not node.input or node.input[0] not in self._tensors:
            return False
        source = self._tensors[node.input[0]]
        offset: Dim = 0
        if node.op_type in RESHAPES:
            if len(node.output) > 1 and node.output[1]:
                return False
            given = len(node.input) > 1 and node.op_type != "Dropout"
            wanted = self._values(node.input[1]) if given else None
            attributes = self._inference.attributes(node)
            dims = reshaped(node.op_type, source.dims, attributes, wanted)
        elif node.op_type == "Slice":
            ranges = sizes.slice_ranges(self._asked(node))
            found = None if ranges is None else contiguous(source.dims, ranges)
            if found is None:
                return False
            offset, dims = found
        else:
            return False
        target = node.output[0]
        self._tensors[target] = Tensor(name=target, dtype=source.dtype, dims=dims)
        self._steps.append(
            Forward(
                name=name, operator=node.op_type, source=source.name, target=target, offset=offset
            )
        )
        return True

    def _slice(self, node: Any, name: str) -> bool:
        """A slice between places that are known only when the model runs."""
        source = self._tensors.get(node.input[0])
        if source is None or all(
            self._constant(each) is not None for each in node.input[1:] if each
        ):
            return False
        asked = self._asked(node)
        ranges, shapes = sizes.slice_ranges(asked), sizes.shapes_of("Slice", asked)
        if ranges is None or shapes is None:
            return False
        target = node.output[0]
        self._tensors[target] = Tensor(name=target, dtype=source.dtype, dims=shapes[0])
        self._steps.append(
            Operator(node=node, name=name, inputs=(source.name,), outputs=(target,), ranges=ranges)
        )
        return True

    # Shapes that follow from values.

    def _expand(self, node: Any, name: str) -> bool:
        """By other operators, where only the operator itself could tell how much it gives."""
        if node.op_type not in EXPANDED or node.input[0] not in self._tensors:
            return False
        source = self._tensors[node.input[0]]
        made = Expansion(self._model.onnx.helper.make_node, name)
        if node.op_type == "NonZero":
            expand_nonzero(made, node, source.dims, source.dtype)
        elif len(node.input) < 2 or self._constant(node.input[1]) is not None:
            return False
        else:
            expand_topk(made, node, source.dims, self._inference.attributes(node))
        self._constants.update(made.constants)
        for each in made.nodes:
            self._node(each, each.name or name)
        return True

    def _computed(self, node: Any, name: str) -> bool:
        """By a kernel that takes integers, where some inputs are sizes that a run knows."""
        sized = _SIZED.get(node.op_type, ())
        operands = [node.input[number] for number in sized if number < len(node.input)]
        if not any(each and self._constant(each) is None for each in operands):
            return False
        found = computed(node.op_type, self._asked(node))
        if found is None:
            return False
        (target,) = node.output
        dtype = self._results(node)[0][0]
        self._tensors[target] = Tensor(name=target, dtype=dtype, dims=found.dims)
        self._steps.append(
            Operator(
                node=node,
                name=name,
                inputs=tuple(node.input[number] for number in found.inputs),
                outputs=(target,),
                numbers=found.numbers,
                checks=found.checks,
            )
        )
        return True

    # Shapes of results.

    def _asked(self, node: Any) -> sizes.Asked:
        return sizes.Asked(
            [self._dims(name) if name else None for name in node.input],
            lambda number: self._values(node.input[number]) if number < len(node.input) else None,
            self._inference.attributes(node),
            len(node.output),
        )

    def _result_shapes(self, node: Any) -> list[Dims]:
        inferred = [dims for _, dims in self._results(node)]
        if all(dims is not None for dims in inferred):
            return [dims for dims in inferred if dims is not None]
        found = sizes.shapes_of(node.op_type, self._asked(node))
        if found is None:
            shapes = ", ".join(text(self._dims(name)) for name in node.input if name)
            raise Unknown(
                f"the shape of its result depends on what its inputs hold, or there is no rule for "
                f"it with inputs of {shapes}"
            )
        return found

    def _results(self, node: Any) -> list[tuple[np.dtype[Any], Dims | None]]:
        return self._inference.results(node, self._type, self._constant)

    def _type(self, name: str) -> tuple[np.dtype[Any], Dims]:
        if name in self._tensors:
            return self._tensors[name].dtype, self._dims(name)
        array = self._constants.get(name)
        return np.dtype(np.int64) if array is None else array.dtype, self._dims(name)


def _along(array: Array, shape: list[int]) -> Array:
    """A number for all elements, or one for each along an axis."""
    return array.reshape(()) if array.size == 1 else array.reshape(shape)
