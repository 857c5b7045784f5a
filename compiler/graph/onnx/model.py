"""ONNX files as nodes, constants and values by name; what cannot be compiled is listed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...models.errors import MissingTool
from ..elements import Array
from ..errors import GraphRefused, Problem

_DOMAINS = {"": "", "ai.onnx": "", "com.microsoft": "com.microsoft"}
_MOST_ELEMENTS = 1 << 31


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node: inputs that are left out have the name ""."""

    name: str
    domain: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]

    @property
    def where(self) -> str:
        """What messages call it: its name, or that of its result."""
        return f"node {self.name}" if self.name else f"the node of {self.outputs[0]}"


@dataclass(frozen=True, kw_only=True)
class Input:
    """What the graph is given: the elements' type as NumPy writes it."""

    name: str
    dtype: str
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A graph. `opset` is that of ONNX's own operators."""

    name: str
    opset: int
    nodes: tuple[Node, ...]
    constants: Mapping[str, Array]
    inputs: tuple[Input, ...]
    outputs: tuple[str, ...]
    readers: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)


def read_model(path: Path) -> Model:
    """The graph in a file. Raises GraphRefused, which lists all that is wrong, and MissingTool."""
    try:
        import onnx
        from google.protobuf.message import DecodeError
    except ImportError:
        raise MissingTool("The onnx package", "iree") from None
    try:
        proto = onnx.load(str(path))
    except (DecodeError, UnicodeDecodeError) as error:
        raise _refused(path, f"it is cut short or damaged, or no ONNX model: {error}") from None
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise _refused(path, f"its weights cannot be read: {error}") from None
    if not proto.graph.node:
        raise _refused(path, "there is no node in it: it is cut short, or no ONNX model")
    problems: list[Problem] = []
    model = _Reader(onnx, proto, problems).model()
    if problems:
        raise GraphRefused(str(path), problems)
    return model


def with_all_outputs(path: Path) -> tuple[bytes, list[str]]:
    """(a model's file that gives every tensor that a node makes, their names).

    The model must be one that `read_model` takes.
    """
    import onnx

    proto = onnx.load(str(path))
    names = list(dict.fromkeys(name for node in proto.graph.node for name in node.output if name))
    given = {value.name for value in proto.graph.output}
    proto.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in given)
    data: bytes = proto.SerializeToString()
    return data, names


def _refused(path: Path, reason: str) -> GraphRefused:
    return GraphRefused(str(path), [Problem(where="the file", reason=reason)])


class _Reader:
    """Takes a model over from its protocol buffer."""

    def __init__(self, onnx: Any, proto: Any, problems: list[Problem]) -> None:
        self._onnx, self._graph, self._problems = onnx, proto.graph, problems
        own = [entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")]
        self._opset = max(own, default=1)

    def model(self) -> Model:
        graph = self._graph
        constants = dict(self._constants())
        nodes = tuple(self._node(node, number) for number, node in enumerate(graph.node))
        given = [value for value in graph.input if value.name not in constants]
        readers: dict[str, tuple[Node, ...]] = {}
        for node in nodes:
            for name in dict.fromkeys(node.inputs):
                readers[name] = (*readers.get(name, ()), node)
        self._check_wiring(nodes, {value.name for value in given} | set(constants))
        return Model(
            name=graph.name or "main",
            opset=self._opset,
            nodes=nodes,
            constants=constants,
            inputs=tuple(self._input(value) for value in given),
            outputs=tuple(value.name for value in graph.output),
            readers=readers,
        )

    def _constants(self) -> Iterator[tuple[str, Array]]:
        if self._graph.sparse_initializer:
            self._problem("the file", "it has sparse constants, which are not known")
        for tensor in self._graph.initializer:
            array = self._array(tensor)
            if array is None:
                self._problem(f"constant {tensor.name}", "its elements are cut short or damaged")
            else:
                yield tensor.name, array

    def _array(self, tensor: Any) -> Array | None:
        """The elements of a constant, None if they are not those that its type says."""
        if any(size < 0 for size in tensor.dims) or math.prod(tensor.dims) > _MOST_ELEMENTS:
            return None
        try:
            return np.asarray(self._onnx.numpy_helper.to_array(tensor))
        except (ValueError, TypeError, KeyError, OverflowError):
            return None

    def _node(self, node: Any, number: int) -> Node:
        return Node(
            name=node.name,
            domain=_DOMAINS.get(node.domain, node.domain),
            op=node.op_type,
            inputs=tuple(node.input),
            outputs=tuple(node.output) or (f"{number}",),
            attributes=dict(self._attributes(node)),
        )

    def _attributes(self, node: Any) -> Iterator[tuple[str, Any]]:
        kinds = self._onnx.AttributeProto
        for entry in node.attribute:
            if entry.type in (kinds.GRAPH, kinds.GRAPHS):
                yield entry.name, None
            elif entry.type == kinds.TENSOR:
                yield entry.name, self._array(entry.t)
            else:
                value = self._onnx.helper.get_attribute_value(entry)
                yield (
                    entry.name,
                    value.decode(errors="replace") if isinstance(value, bytes) else value,
                )

    def _input(self, value: Any) -> Input:
        kind = value.type.tensor_type
        where = f"input {value.name}"
        sizes = [d.dim_value if d.HasField("dim_value") else -1 for d in kind.shape.dim]
        if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
            self._problem(where, "it is no tensor of a known shape")
        elif any(size < 1 for size in sizes):
            known = ", ".join(
                d.dim_param or "?" if size < 1 else str(size)
                for d, size in zip(kind.shape.dim, sizes, strict=True)
            )
            self._problem(where, f"its shape ({known}) must be known when it is compiled")
        try:
            dtype = self._onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type).name
        except (KeyError, ValueError, TypeError):
            dtype = "unknown"
        return Input(name=value.name, dtype=dtype, shape=tuple(sizes))

    def _check_wiring(self, nodes: tuple[Node, ...], known: set[str]) -> None:
        """Every tensor must be there before a node reads it."""
        known = {*known, ""}
        for node in nodes:
            for name in node.inputs:
                if name not in known:
                    reason = f"it reads tensor {name}, which no node before it makes"
                    self._problems.append(
                        Problem(where=node.where, operator=node.op, reason=reason)
                    )
            known.update(node.outputs)
        for value in self._graph.output:
            if value.name not in known:
                self._problem(f"result {value.name}", "no node makes it")
        if not self._graph.output:
            self._problem("the file", "the graph has no results: it is cut short or damaged")

    def _problem(self, where: str, reason: str) -> None:
        self._problems.append(Problem(where=where, reason=reason))
