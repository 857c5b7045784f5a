"""Quantised ONNX graphs as functions of TOSA operators on integers.

Every real number of the graph is an integer with a scale; what the graph computes between a
dequantiser and the next quantiser is written in integers, scaled once at its end. Inputs and
results that are floats outside of a quantiser are the integers inside of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ..elements import LIMITS, Array, element_type
from ..errors import GraphRefused, Problem
from ..tosa import ops
from . import (
    arithmetic,
    convolution,
    folding,
    functions,
    integers,
    moves,
    normalisation,
    pooling,
    products,
    quantisation,
    resize,
    softmax,
)
from .model import Input, Model, Node, read_model
from .quantisation import scale_of
from .state import Refused, State, reason_of, zero_point_of
from .values import (
    OFFSETS,
    SIGNED,
    WITHOUT_LIMITS,
    Constant,
    FloatInput,
    Integers,
    NotForNpu,
    Real,
    Tensor,
    Value,
)
from .writer import Writer

OPERATORS = {
    key: convert
    for room in (
        arithmetic,
        convolution,
        functions,
        integers,
        moves,
        normalisation,
        pooling,
        products,
        quantisation,
        resize,
        softmax,
    )
    for key, convert in room.OPERATORS.items()
}
"""What makes TOSA of a node, by its domain and operator."""
_DOMAINS = {"", *(domain for domain, _ in OPERATORS)}
_UNSIGNED = ("uint8", "uint16")


@dataclass(frozen=True, kw_only=True)
class Port:
    """An input or result of the program: integers of a type of ONNX.

    Those that are floats in the graph are (integer - zero_point) * scale; without `scale` they are
    integers there, too.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    scale: float | None = None
    zero_point: int = 0

    def real(self, integers: Array) -> Array:
        """What the graph has for these integers."""
        if self.scale is None:
            return integers
        found = (integers.astype(np.float64) - self.zero_point) * self.scale
        return found.astype(np.float32)

    def integers(self, real: Array) -> Array:
        """The integers for what the graph has."""
        if self.scale is None:
            return real
        low, high = LIMITS[self.dtype]
        rounded = np.rint(real.astype(np.float64) / self.scale) + self.zero_point
        made: Array = np.clip(rounded, low, high).astype(self.dtype)
        return made


@dataclass(frozen=True, kw_only=True)
class Made:
    """A tensor of the graph that is one of the program's.

    The operator that makes it has the first of the names `sources`, those before it whose results
    only it needs have the others: what becomes one operator of the NPU has one of them.
    Those that are floats in the graph are (integer - zero_point) * scale, integers there are
    `offset` more than the program's. `channels_last` says that the program has dimension 1 last.
    """

    name: str
    sources: tuple[str, ...]
    dtype: str
    shape: tuple[int, ...]
    channels_last: bool
    offset: int = 0
    scale: float | None = None
    zero_point: int = 0

    def stored(self, array: Array) -> Array:
        """The program's integers for what the graph has, in the program's order."""
        numbers = array.astype(np.float64)
        if self.scale is None:
            integers = numbers - self.offset
        else:
            integers = np.rint(numbers / self.scale) + self.zero_point
        kept: Array = np.clip(integers, *LIMITS[self.dtype]).astype(self.dtype)
        return np.moveaxis(kept, 1, -1) if self.channels_last else kept


@dataclass(frozen=True, kw_only=True)
class Converted:
    """A graph in TOSA, what goes in and comes out, and what is made between."""

    module: ModuleOp
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    tensors: tuple[Made, ...]


def converted(path: Path, context: Context) -> Converted:
    """The model in a file. Raises GraphRefused, which lists all that is wrong, and MissingTool."""
    model = read_model(path)
    return _Conversion(model, context, str(path)).result()


class _Conversion:
    """One graph."""

    def __init__(self, model: Model, context: Context, source: str) -> None:
        self._model, self._source = model, source
        self._block = Block()
        self._state = State(model=model, writer=Writer(context, self._block))
        self._problems: list[Problem] = []

    def result(self) -> Converted:
        """Raises GraphRefused."""
        state, model = self._state, self._model
        for name, array in model.constants.items():
            state.values[name] = Constant(array=array)
        inputs = [port for given in model.inputs for port in self._input(given)]
        for node in model.nodes:
            self._node(node)
        outputs = [out for name in model.outputs for out in self._output(name)]
        if self._problems:
            raise GraphRefused(self._source, self._problems)
        values = [value for value, _ in outputs]
        self._block.add_op(ReturnOp(*values))
        types = [argument.type for argument in self._block.args]
        function = FuncOp("main", (types, [v.type for v in values]), Region([self._block]))
        return Converted(
            module=ModuleOp([function]),
            inputs=tuple(inputs),
            outputs=tuple(port for _, port in outputs),
            tensors=tuple(made for name in state.values for made in self._made(name)),
        )

    def _made(self, name: str) -> Iterator[Made]:
        """The program's tensor that a name of the graph stands for, if it has one of 8 or 16 bits,
        or of whole numbers.
        """
        value = self._state.values[name]
        meant: dict[str, Any]
        if isinstance(value, Integers):
            tensor, meant = value.tensor, {"offset": value.offset}
        elif isinstance(value, Real) and value.is_even and value.limits == WITHOUT_LIMITS:
            tensor = value.tensor
            if tensor.dtype not in ("int8", "int16"):
                return
            meant = {"scale": value.step, "zero_point": value.zero_point}
        else:
            return
        maker = tensor.value.owner
        if isinstance(maker, Operation) and name not in self._model.constants:
            yield Made(
                name=name,
                sources=_sources(maker),
                dtype=tensor.dtype,
                shape=tensor.shape,
                channels_last=tensor.last,
                **meant,
            )

    def _input(self, given: Input) -> Iterator[Port]:
        """Makes an argument; of floats it has the type of what quantises them."""
        state = self._state
        if given.dtype in SIGNED:
            yield self._argument(Port(name=given.name, dtype=given.dtype, shape=given.shape))
            return
        where = f"input {given.name}"
        if not given.dtype.startswith("float"):
            reason = f"its elements are {given.dtype}, which the NPU does not have"
            self._problems.append(Problem(where=where, reason=reason))
            return
        found = {meant for meant in self._quantisers(given.name) if meant is not None}
        if len(found) != 1:
            state.values[given.name] = FloatInput(name=given.name)
            reason = (
                "it is quantised in different ways" if found else "it is float and not quantised"
            )
            if found or not state.model.readers.get(given.name):
                self._problems.append(Problem(where=where, reason=reason))
            return
        ((scale, point, dtype),) = found
        port = Port(
            name=given.name,
            dtype=dtype,
            shape=given.shape,
            scale=scale,
            zero_point=point + OFFSETS.get(dtype, 0),
        )
        yield self._argument(port)
        integers = state.values[given.name]
        assert isinstance(integers, Integers)
        state.values[given.name] = Real(
            tensor=integers.tensor, scale=np.asarray(scale), zero_point=point
        )

    def _quantisers(self, name: str) -> Iterator[tuple[float, int, str] | None]:
        state = self._state
        for reader in state.model.readers.get(name, ()):
            if reader.op != "QuantizeLinear" or reader.inputs[0] != name:
                continue
            try:
                scale = scale_of(state.known(reader, 1, "a scale"))
                point, dtype = zero_point_of(state, reader, 2)
            except (NotForNpu, Refused):
                continue
            yield (float(scale), point, dtype) if scale.size == 1 else None

    def _argument(self, port: Port) -> Port:
        """The function's argument; unsigned integers become signed ones."""
        state = self._state
        state.writer.name(port.name)
        value: SSAValue = self._block.insert_arg(
            TensorType(element_type(port.dtype), list(port.shape)), len(self._block.args)
        )
        tensor = Tensor(value=value, dtype=port.dtype, shape=port.shape)
        if port.dtype in _UNSIGNED:
            tensor = state.writer.rescale(
                tensor, 1.0, SIGNED[port.dtype], input_zp=OFFSETS[port.dtype], from_unsigned=True
            )
        state.values[port.name] = Integers(tensor=tensor, dtype=port.dtype)
        return port

    def _node(self, node: Node) -> None:
        """Converts a node, or says why not. What reads a refused one's result is not judged."""
        state = self._state
        convert = OPERATORS.get((node.domain, node.op))
        given = [state.values.get(name) for name in node.inputs if name]
        state.writer.name(node.outputs[0])
        try:
            if node.domain not in _DOMAINS:
                raise NotForNpu(f"operators of {node.domain} are not known")
            if all(isinstance(value, Constant) for value in given):
                if (node.domain, node.op) != ("", "DequantizeLinear"):
                    found: Any = folding.folded(state, node)
                else:
                    found = quantisation.dequantize_linear(state, node)
            elif convert is None:
                raise NotForNpu("the NPU's compiler does not know this operator")
            else:
                found = convert(state, node)
        except Refused:
            return
        except (
            NotForNpu,
            ValueError,
            IndexError,
            TypeError,
            OverflowError,
            ZeroDivisionError,
        ) as e:
            reason = str(e) if isinstance(e, NotForNpu) else f"its attributes or operands: {e}"
            self._problems.append(Problem(where=node.where, operator=node.op, reason=reason))
            return
        several = found if isinstance(found, list | tuple) else [found]
        for name, value in zip(node.outputs, several, strict=False):
            if name:
                state.values[name] = value

    def _output(self, name: str) -> Iterator[tuple[SSAValue, Port]]:
        state = self._state
        value = state.values.get(name)
        if value is None:
            return
        state.writer.name(name)
        try:
            yield self._returned(name, value)
        except NotForNpu as error:
            self._problems.append(Problem(where=f"result {name}", reason=str(error)))

    def _returned(self, name: str, value: Value) -> tuple[SSAValue, Port]:
        state = self._state
        if isinstance(value, Real):
            x = state.settled(value)
            if not x.is_even or x.tensor.dtype == "int48":
                raise NotForNpu("it is float and not quantised: quantise the result")
            dtype = _unsigned_before(state, name, x.tensor.dtype)
            tensor, scale = x.tensor, x.step
            zero: int = x.zero_point + OFFSETS.get(dtype, 0)
        elif isinstance(value, Integers):
            tensor, dtype, scale, zero = value.tensor, value.dtype, None, 0
        elif isinstance(value, Constant):
            raise NotForNpu("it is a constant")
        else:
            raise NotForNpu(reason_of(value))
        tensor = state.writer.in_order(tensor)
        port = Port(name=name, dtype=dtype, shape=tensor.shape, scale=scale, zero_point=zero)
        if dtype in _UNSIGNED:
            tensor = state.writer.rescale(
                tensor, 1.0, dtype, output_zp=OFFSETS[dtype], to_unsigned=True
            )
        return tensor.value, port


def _sources(op: Operation) -> tuple[str, ...]:
    """Names of an operator and of those that make its first operand for nobody else."""
    found = [ops.location(op)]
    while op.operands and isinstance(before := op.operands[0].owner, Operation):
        if op.operands[0].uses.get_length() > 1 or not ops.location(before):
            break
        found.append(ops.location(before))
        op = before
    return tuple(dict.fromkeys(found))


def _unsigned_before(state: State, name: str, dtype: str) -> str:
    """The type that a result's integers have in the graph: that of what is dequantised."""
    made = {output: node for node in state.model.nodes for output in node.outputs}
    node = made.get(name)
    if node is not None and node.op == "DequantizeLinear":
        source = state.values.get(node.inputs[0])
        if isinstance(source, Integers):
            return source.dtype
    return dtype
