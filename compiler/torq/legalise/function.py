"""A whole function from TOSA to TorqHL; what cannot be done is collected, not the first told."""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...graph import reference
from ...graph.elements import dtype_of, shape_of
from ...graph.errors import GraphRefused, Problem
from ...graph.tosa import evaluate, ops
from ...models.errors import ModelError
from ..hl.moves import Host
from ..hl.types import Space, Tensor, TensorAttr
from . import elementwise, floats, gathering, linalg, moves, products, resizing, spreading
from .builder import HOST, Builder, NotForNpu, result

TYPES = frozenset(("bool", "int8", "uint8", "int16", "int32", "bfloat16", "float32"))
"""What a function's arguments may be."""
NPU_TYPES = frozenset(("bool", "int8", "uint8", "int16", "int32", "int48", "bfloat16"))
"""What operands may be; of bfloat16, results may be float32."""
LEGALISERS = {
    **products.LEGALISERS,
    **spreading.LEGALISERS,
    **elementwise.LEGALISERS,
    **moves.LEGALISERS,
    **gathering.LEGALISERS,
    **resizing.LEGALISERS,
}


_IDENTITY = "tosa.identity"
_OF_FLOAT32 = (
    frozenset((*moves.LEGALISERS, *gathering.LEGALISERS, "tosa.cast", "tosa.select"))
    | floats.LEGALISERS.keys()
)
"""Operators that take float32, too: its bits are moved, or compared in their order."""
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
    kinds = {value: kind for value in old.args if (kind := _argument(value)) is not None}
    problems += [bad for value in old.args if (bad := _bad(value, kinds.get(value))) is not None]
    block = Block(arg_types=[TensorAttr(kind) for kind in kinds.values()])
    builder = Builder(block)
    for value, new in zip(kinds, block.args, strict=True):
        builder.bind(value, new)
    last = ops.returned(function)
    for op in old.ops:
        if op is not last:
            problem = _step(op, builder)
            problems += [] if problem is None else [problem]
    if problems:
        problems += [_left_to_the_host(op) for op in block.ops if isinstance(op, Host)]
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


def _bad(value: BlockArgument, kind: Tensor | None) -> Problem | None:
    """Why an argument cannot be given to the NPU."""
    where = f"input {value.index} of the function, {value.type}"
    if kind is None:
        return Problem(where=where, reason="its type or shape is not known")
    if kind.dtype not in TYPES:
        return Problem(where=where, reason=f"the NPU has no numbers of {kind.dtype}")
    return None


def _left_to_the_host(op: Host) -> Problem:
    name, reason = op.operator.data, str(op.field("reason"))
    return Problem(where=ops.location(op) or "?", operator=name, reason=reason)


def _step(op: Operation, builder: Builder) -> Problem | None:
    """Legalises one operator; gives what stands in the way.

    Of what takes the result of an operator that cannot be done, only the name is judged.
    """
    name = ops.name_of(op)
    if not all(map(builder.is_known, op.operands)):
        is_known = name in {*LEGALISERS, *linalg.LEGALISERS, *reference.MEANINGS, _IDENTITY}
        return None if is_known else _problem(op, _UNKNOWN)
    if name in ops.CONSTANTS:
        found = ops.constant(op.results[0])
        if found is None:
            return _problem(op, "its elements are not in the file")
        builder.hold(op.results[0], found)
        return None
    arrays = [builder.constant(value) for value in op.operands]
    if name in reference.MEANINGS and all(array is not None for array in arrays):
        try:
            folded = reference.result_of(op, [array for array in arrays if array is not None])
        except (ModelError, ValueError) as error:
            return _problem(op, str(error))
        builder.hold(op.results[0], folded.reshape(ops.shape(op.results[0])))
        return None
    if name == _IDENTITY:
        builder.bind(op.results[0], builder.value(op.operands[0]))
        return None
    return _operator(op, name, builder)


def _operator(op: Operation, name: str, builder: Builder) -> Problem | None:
    if name in linalg.LEGALISERS:
        return _general(op, name, builder)
    reason = _UNKNOWN
    types = {ops.dtype(value) for value in op.operands if shape_of(value.type) is not None}
    types -= {"float32"} if name in _OF_FLOAT32 else set()
    if types - NPU_TYPES:
        reason = f"the NPU does not compute with {', '.join(sorted(types - NPU_TYPES))}"
    elif name in LEGALISERS:
        of_floats = name in floats.LEGALISERS and ops.dtype(op.operands[0]) == "float32"
        way, legalise = floats.LEGALISERS[name] if of_floats else LEGALISERS[name]
        builder.begin(op, way)
        try:
            builder.bind(op.results[0], legalise(op, builder))
            return None
        except (NotForNpu, VerifyException) as error:
            reason = str(error)
    if name not in evaluate.MEANINGS:
        return _problem(op, reason)
    builder.begin(op, HOST)
    try:
        inputs = [builder.value(value) for value in op.operands]
    except NotForNpu as error:
        return _problem(op, str(error))
    given = DictionaryAttr(dict(op.properties))
    made = builder.emit(Host, inputs, result(op), operator=name, given=given, reason=reason)
    builder.bind(op.results[0], made)
    return None


def _general(op: Operation, name: str, builder: Builder) -> Problem | None:
    """An operator of linalg, tensor, arith or math, of types that have 32 bits or less."""
    types = {_type_name(value) for value in (*op.operands, *op.results)}
    if types - NPU_TYPES - {"float32", "index"}:
        wide = ", ".join(sorted(types - NPU_TYPES - {"float32", "index"}))
        return _problem(op, f"the NPU does not compute with {wide}")
    if any(min(shape_of(value.type) or (1,)) < 1 for value in (*op.operands, *op.results)):
        return _problem(op, "a shape that is not known")
    way, legalise = linalg.LEGALISERS[name]
    builder.begin(op, way)
    try:
        builder.bind(op.results[0], legalise(op, builder))
    except (NotForNpu, VerifyException) as error:
        return _problem(op, str(error))
    return None


def _type_name(value: SSAValue) -> str:
    """The element type, as its file writes it if the NPU has no such type."""
    element = getattr(value.type, "element_type", value.type)
    return dtype_of(element) or str(element)


def _problem(op: Operation, reason: str) -> Problem:
    return Problem(where=ops.location(op) or "?", operator=ops.name_of(op), reason=reason)
