"""A whole function from TOSA to TorqHL; what cannot be done is collected, not the first told."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from ...graph.elements import dtype_of, shape_of
from ...graph.errors import GraphRefused, Problem
from ...graph.tosa import evaluate, ops
from ..hl.moves import Host
from ..hl.types import Space, Tensor, TensorAttr
from . import elementwise, moves, products
from .builder import HOST, Builder, NotForNpu, result

NPU_TYPES = frozenset(("bool", "int8", "uint8", "int16", "int32", "int48", "bfloat16"))
"""What operands may be; of bfloat16, results may be float32."""
LEGALISERS = {**products.LEGALISERS, **elementwise.LEGALISERS, **moves.LEGALISERS}


_IDENTITY = "tosa.identity"
_UNKNOWN = "the NPU's compiler does not know this operator"


def legalise_module(module: ModuleOp, name: str = "module") -> None:
    """Every function of a module, in place. Raises GraphRefused."""
    problems: list[Problem] = []
    made = [(function, _legalised(function, problems)) for function in ops.functions(module)]
    if problems:
        raise GraphRefused(name, problems)
    for old, new in made:
        if new is not None:
            module.body.block.insert_op_before(new, old)
            module.body.block.erase_op(old)


def _legalised(function: FuncOp, problems: list[Problem]) -> FuncOp | None:
    """The function in TorqHL, None if there are problems."""
    old = ops.body(function)
    if any(isinstance(argument.type, TensorAttr) for argument in old.args):
        return None
    kinds = [_argument(value) for value in old.args]
    if any(kind is None for kind in kinds):
        problems += [_bad(value) for value, k in zip(old.args, kinds, strict=True) if k is None]
        return None
    block = Block(arg_types=[TensorAttr(kind) for kind in kinds if kind is not None])
    builder = Builder(block)
    for value, new in zip(old.args, block.args, strict=True):
        builder.bind(value, new)
    last = ops.returned(function)
    for op in old.ops:
        if op is not last:
            problem = _step(op, builder)
            problems += [] if problem is None else [problem]
    if problems:
        return None
    outputs = [builder.value(value) for value in last.operands]
    block.add_op(ReturnOp(*outputs))
    made = FuncOp(
        function.sym_name.data,
        ([argument.type for argument in block.args], [value.type for value in outputs]),
        Region([block]),
    )
    made.attributes.update(function.attributes)
    made.location = function.location
    return made


def _argument(value: SSAValue) -> Tensor | None:
    shape = shape_of(value.type)
    dtype = dtype_of(getattr(value.type, "element_type", value.type))
    if shape is None or dtype is None or any(size < 1 for size in shape):
        return None
    return Tensor(dtype=dtype, shape=shape, space=Space.XRAM)


def _bad(value: SSAValue) -> Problem:
    return Problem(
        where=f"an input of the function, {value.type}", reason="its type or shape is not known"
    )


def _step(op: Operation, builder: Builder) -> Problem | None:
    """Legalises one operator; gives what stands in the way.

    Of what takes the result of an operator that cannot be done, only the name is judged.
    """
    name = ops.name_of(op)
    if not all(map(builder.is_known, op.operands)):
        is_known = name in LEGALISERS or name in evaluate.MEANINGS or name == _IDENTITY
        return None if is_known else _problem(op, _UNKNOWN)
    if name in ops.CONSTANTS:
        found = ops.constant(op.results[0])
        if found is None:
            return _problem(op, "its elements are not in the file")
        builder.hold(op.results[0], found)
        return None
    arrays = [builder.constant(value) for value in op.operands]
    if name in evaluate.MEANINGS and all(array is not None for array in arrays):
        folded = evaluate.result_of(op, [array for array in arrays if array is not None])
        builder.hold(op.results[0], folded.reshape(ops.shape(op.results[0])))
        return None
    if name == _IDENTITY:
        builder.bind(op.results[0], builder.value(op.operands[0]))
        return None
    return _operator(op, name, builder)


def _operator(op: Operation, name: str, builder: Builder) -> Problem | None:
    reason = _UNKNOWN
    types = {ops.dtype(value) for value in op.operands if shape_of(value.type) is not None}
    if types - NPU_TYPES:
        reason = f"the NPU does not compute with {', '.join(sorted(types - NPU_TYPES))}"
    elif name in LEGALISERS:
        way, legalise = LEGALISERS[name]
        builder.begin(op, way)
        try:
            builder.bind(op.results[0], legalise(op, builder))
            return None
        except NotForNpu as error:
            reason = str(error)
    if name not in evaluate.MEANINGS:
        return _problem(op, reason)
    builder.begin(op, HOST)
    inputs = [builder.value(value) for value in op.operands]
    given = DictionaryAttr(dict(op.properties))
    made = builder.emit(Host, inputs, result(op), operator=name, given=given, reason=reason)
    builder.bind(op.results[0], made)
    return None


def _problem(op: Operation, reason: str) -> Problem:
    return Problem(where=ops.location(op) or "?", operator=ops.name_of(op), reason=reason)
