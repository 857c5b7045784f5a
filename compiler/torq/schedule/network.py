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
from ...graph.errors import GraphRefused, Problem
from ...graph.tosa import ops
from ..hl.moves import Const, Host, Transpose, View
from ..hl.operation import HlOp
from ..hl.operator_of import NoOperator, operator_of, type_of
from ..hl.tiles import Tiles
from ..hl.types import tensor_of
from ..kernels.variants import refusal, variants
from ..operators.operator import Operator
from ..operators.tensors import Layout, TensorType
from ..plan.operations import ScheduleOp
from .storage import Home, Role, constant, stored

VALUES = ("weights", "bias")
"""Operands that kernels pack."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """An operator with the values that it reads and makes, by name."""

    name: str
    source: str
    """The operator of the model: its names or place there; `name` if it has none."""
    way: str
    """How that came to the NPU; empty of helpers."""
    op: Operator
    operands: Mapping[str, SSAValue]
    result: SSAValue
    values: Mapping[str, Array]
    tiles: Tiles | None = None
    """How its result is made, if that is stated."""

    @property
    def place(self) -> str:
        """As messages name it: with the names or the place of its operator in the model."""
        return self.name if self.source == self.name else f"{self.name} at {self.source}"


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
    """What a function in TorqHL asks for. Raises GraphRefused: all that cannot be done."""
    network = Network()
    refused = _callers(function, network)
    unmade = {value for value in ops.body(function).args if value not in network.homes}
    for op in ops.body(function).ops:
        if op is ops.returned(function):
            break
        if isinstance(op, ScheduleOp):
            continue
        # What takes the result of an operator that cannot be done is not judged.
        behind = not unmade.isdisjoint(op.operands)
        reason = "" if behind else _add(op, network)
        if reason:
            refused.append(_problem(op, reason))
        if reason or behind:
            unmade.update(op.results)
    if refused:
        raise GraphRefused("module", list(dict.fromkeys(refused)))
    return network


def _problem(op: Operation, reason: str) -> Problem:
    """Why an operation cannot be done, with its names or place in the model."""
    name = op.operator.data if isinstance(op, Host) else op.name
    where = ops.location(op)
    return Problem(where=where or name, operator=name if where else "", reason=reason)


def _callers(function: FuncOp, network: Network) -> list[Problem]:
    """Homes of arguments, and of results back to the operators that make them.

    Gives those that can have none.
    """
    refused = []
    for number, argument in enumerate(ops.body(function).args):
        try:
            home = _of_caller(f"input {number}", argument, Role.INPUT)
        except NoOperator as error:
            refused.append(Problem(where=f"input {number}", reason=str(error)))
            continue
        network.homes[argument] = home
        network.callers.append(home)
    for number, value in enumerate(ops.returned(function).operands):
        try:
            _result(number, value, network)
        except NoOperator as error:
            refused.append(Problem(where=f"output {number}", reason=str(error)))
    return refused


def _result(number: int, value: SSAValue, network: Network) -> None:
    """The home of a result, and of what makes it. Raises NoOperator."""
    home = _of_caller(f"output {number}", value, Role.OUTPUT)
    network.callers.append(home)
    owner, there = _maker(value, home)
    if owner in network.homes or not _has_job(owner) or not _may_live(owner, there):
        network.copies.append((value, home))
    else:
        network.homes[owner] = there


def _of_caller(name: str, value: SSAValue, role: Role) -> Home:
    """Memory for a tensor of the caller's, who knows truth values and tensors of no dimension."""
    kind = tensor_of(value)
    return stored(name, type_of(kind), role, (kind.dtype, kind.shape))


def _has_job(value: SSAValue) -> bool:
    """Whether an operator makes a value."""
    return isinstance(value.owner, HlOp) and not _is_const(value) and not _is_by_dma(value.owner)


def _may_live(value: SSAValue, home: Home) -> bool:
    """Whether all who read a value find it there: another shape of it needs the usual strides."""
    return home.is_usual or not any(isinstance(use.operation, View) for use in value.uses)


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
        if isinstance(op, Host):
            return str(op.field("reason") or "the NPU has no kernel for it")
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
        Job(
            name=name,
            source=_printable(ops.location(op)) or name,
            way=op.way,
            op=operator,
            operands=operands,
            result=op.value,
            values=values,
            tiles=op.tiles,
        )
    )
    return ""


def _printable(name: str) -> str:
    """A name of the model's as every reader of notes takes it."""
    return "".join(c if c.isprintable() else "?" for c in name)


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
