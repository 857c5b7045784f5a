"""What is scheduled: a function's operators in order, and where their tensors are in XRAM.

A view, a transpose that DMA does, and the tensor that they are made of are the same bytes: they
share a root, and have homes in the same memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...graph.elements import Array
from ...graph.tosa import ops
from ...models.errors import ModelError
from ..hl.moves import Const, Transpose, View
from ..hl.operation import HlOp
from ..hl.operator_of import NoOperator, operator_of, type_of
from ..hl.types import tensor_of
from ..kernels.variants import refusal, variants
from ..operators.operator import Operator
from ..operators.tensors import Layout, TensorType
from .storage import Home, Role, constant, stored

VALUES = ("weights", "bias")
"""Operands that kernels pack."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """An operator with the values that it reads and makes, by name."""

    name: str
    source: str
    op: Operator
    operands: Mapping[str, SSAValue]
    result: SSAValue
    values: Mapping[str, Array]


@dataclass(kw_only=True)
class Network:
    """Operators, homes, and what is only moved.

    Attributes:
        copies: (from, to) of results that are inputs, constants or other results.
        callers: homes of inputs and outputs, in the order of the function.
    """

    jobs: list[Job] = field(default_factory=list)
    homes: dict[SSAValue, Home] = field(default_factory=dict)
    roots: dict[SSAValue, SSAValue] = field(default_factory=dict)
    copies: list[tuple[SSAValue, Home]] = field(default_factory=list)
    callers: list[Home] = field(default_factory=list)

    def root(self, value: SSAValue) -> SSAValue:
        """The value whose bytes these are."""
        return self.roots.get(value, value)


def network_of(function: FuncOp) -> Network:
    """What a function in TorqHL asks for. Raises ModelError that names all that cannot be done."""
    network = Network()
    _callers(function, network)
    refused = []
    for op in ops.body(function).ops:
        if op is ops.returned(function):
            break
        reason = _add(op, network)
        if reason:
            refused.append(f"{op.name}: {reason}")
            for value in op.results:  # What follows is looked at as if it were there.
                network.homes.setdefault(value, stored("refused", _any_type(value), Role.WORK))
    if refused:
        listed = "\n".join(f"  {line}" for line in dict.fromkeys(refused))
        raise ModelError(f"the NPU's kernels cannot do this:\n{listed}")
    return network


def _any_type(value: SSAValue) -> TensorType:
    """A type that kernels have, if the value's own is none."""
    try:
        return type_of(tensor_of(value))
    except NoOperator:
        return TensorType(dtype="int32", shape=tensor_of(value).shape)


def _callers(function: FuncOp, network: Network) -> None:
    """Homes of arguments, and of results back to the operators that make them."""
    for number, argument in enumerate(ops.body(function).args):
        home = stored(f"input {number}", type_of(tensor_of(argument)), Role.INPUT)
        network.homes[argument] = home
        network.callers.append(home)
    for number, value in enumerate(ops.returned(function).operands):
        home = stored(f"output {number}", type_of(tensor_of(value)), Role.OUTPUT)
        network.callers.append(home)
        owner, there = _maker(value, home)
        if owner in network.homes or not isinstance(owner.owner, HlOp) or _is_const(owner):
            if _is_const(value):
                home_of(value, network)
            network.copies.append((value, home))
        else:
            network.homes[owner] = there


def _maker(value: SSAValue, home: Home) -> tuple[SSAValue, Home]:
    """The value whose operator fills a home, through views and transposes by DMA."""
    op = value.owner
    if isinstance(op, View):
        below = type_of(tensor_of(op.x))
        return _maker(op.x, Home(storage=home.storage, kind=below, strides=below.strides))
    if isinstance(op, Transpose) and _is_by_dma(op) and not isinstance(op.x.owner, View):
        below = type_of(tensor_of(op.x))
        if below.layout is not Layout.QUADRANTS and home.kind.layout is not Layout.QUADRANTS:
            places = [op.field("order").index(axis) for axis in range(len(below.shape))]
            strides = tuple(home.strides[place] for place in places)
            return _maker(op.x, Home(storage=home.storage, kind=below, strides=strides))
    return value, home


def _is_const(value: SSAValue) -> bool:
    return isinstance(value.owner, Const)


def _is_by_dma(op: object) -> bool:
    return isinstance(op, Transpose) and op.field("by") == "dma"


def _add(op: Operation, network: Network) -> str:
    """Takes an operation up; gives why it cannot be."""
    if not isinstance(op, HlOp):
        return "is not of TorqHL"
    try:
        if isinstance(op, Const):
            return ""
        if isinstance(op, View):
            return _view(op, network)
        if _is_by_dma(op):
            assert isinstance(op, Transpose)
            return _transposed(op, network)
        return _job(op, network)
    except NoOperator as error:
        return str(error)


def _view(op: View, network: Network) -> str:
    below = home_of(op.x, network)
    kind = type_of(op.type)
    strides = below.strides if kind.shape == below.kind.shape else kind.strides
    if kind.shape != below.kind.shape and not below.is_usual:
        return "another shape of what DMA transposes"
    network.homes[op.value] = Home(storage=below.storage, kind=kind, strides=strides)
    network.roots[op.value] = network.root(op.x)
    return ""


def _transposed(op: Transpose, network: Network) -> str:
    below = home_of(op.x, network)
    strides = tuple(below.strides[axis] for axis in op.field("order"))
    network.homes[op.value] = Home(storage=below.storage, kind=type_of(op.type), strides=strides)
    network.roots[op.value] = network.root(op.x)
    return ""


def _job(op: HlOp, network: Network) -> str:
    operator = operator_of(op)
    if not variants(operator):
        return refusal(operator)
    names = op.get_irdl_definition().operands
    operands: dict[str, SSAValue] = {}
    values: dict[str, Array] = {}
    given = list(op.operands)
    several = (len(names) == 1 and len(operator.operands) != 1) or names[0][0] == "parts"
    named = list(operator.operands) if several else [name for name, _ in names]
    for name, value in zip(named, given, strict=True):
        if name in VALUES:
            if not isinstance(value.owner, Const):
                return f"{name} are no constants"
            values[name] = value.owner.array
        else:
            operands[name] = value
            home_of(value, network)
    name = f"{op.name.removeprefix('torq_hl.')} {len(network.jobs)}"
    if op.value not in network.homes:
        network.homes[op.value] = stored(name, type_of(op.type), Role.WORK)
    network.jobs.append(
        Job(name=name, source=name, op=operator, operands=operands, result=op.value, values=values)
    )
    return ""


def home_of(value: SSAValue, network: Network) -> Home:
    """Where a value is in XRAM; constants get memory when they are first asked for."""
    if value not in network.homes:
        owner = value.owner
        assert isinstance(owner, Const) and not isinstance(owner, BlockArgument), owner
        kind = type_of(owner.type)
        network.homes[value] = constant(_name(kind), kind, owner.array)
    return network.homes[value]


def _name(kind: TensorType) -> str:
    return f"constant {'x'.join(map(str, kind.shape))} {kind.dtype}"
