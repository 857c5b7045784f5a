"""Looks for what is wrong with a TFLite file before it is converted, tensor by tensor."""

from __future__ import annotations

from collections.abc import Iterator

from .errors import GraphRefused, Problem
from .flatbuffer import Table, Truncated
from .tflite_operators import OPTIONS, operator_name

_TYPES = {
    0: "FLOAT32",
    1: "FLOAT16",
    2: "INT32",
    3: "UINT8",
    4: "INT64",
    5: "STRING",
    6: "BOOL",
    7: "INT16",
    8: "COMPLEX64",
    9: "INT8",
    10: "FLOAT64",
}
_QUANTISED = ("INT8", "UINT8", "INT16")
_NEVER = ("STRING", "COMPLEX64", "FLOAT64")
_MOVES = frozenset(
    [
        "RESHAPE",
        "TRANSPOSE",
        "SLICE",
        "STRIDED_SLICE",
        "CONCATENATION",
        "PAD",
        "PADV2",
        "GATHER",
        "GATHER_ND",
        "SPLIT",
        "SPLIT_V",
        "SQUEEZE",
        "EXPAND_DIMS",
        "PACK",
        "UNPACK",
        "TILE",
        "SPACE_TO_DEPTH",
        "DEPTH_TO_SPACE",
        "REVERSE_V2",
        "SELECT",
        "SELECT_V2",
        "EQUAL",
        "NOT_EQUAL",
        "GREATER",
        "GREATER_EQUAL",
        "LESS",
        "LESS_EQUAL",
        "MAXIMUM",
        "MINIMUM",
        "ARG_MAX",
        "ARG_MIN",
        "BROADCAST_TO",
        "MIRROR_PAD",
        "RESIZE_NEAREST_NEIGHBOR",
        "MAX_POOL_2D",
        "BITWISE_XOR",
        "CAST",
    ]
)
"""Operators that need no scale."""
_CUSTOM = 32
_UNKNOWN = "operator"
"""What stands before the number of one without a name."""


def check_tflite(data: bytes, name: str) -> None:
    """Raises GraphRefused, which lists everything that was found."""
    try:
        problems = list(_problems(Table.root(data)))
    except (Truncated, RecursionError) as error:
        problems = [Problem(where="the file", reason=f"it is cut short or damaged: {error}")]
    if problems:
        raise GraphRefused(name, problems)


def _problems(model: Table) -> Iterator[Problem]:
    subgraphs = model.tables(2)
    if not subgraphs:
        yield Problem(where="the file", reason="there is no subgraph in it")
    codes = [_operator(code) for code in model.tables(1)]
    buffers = len(model.tables(4))
    for subgraph in subgraphs:
        tensors = subgraph.tables(0)
        for tensor in tensors:
            yield from _tensor(tensor, buffers)
        for operator in subgraph.tables(3):
            yield from _wiring(operator, tensors, codes)


def _operator(code: Table) -> str:
    number = max(code.integer(0, "<b"), code.integer(3))
    if number == _CUSTOM:
        return f"CUSTOM {code.text(1)}"
    return operator_name(number) or f"{_UNKNOWN} {number}"


def _tensor(tensor: Table, buffers: int) -> Iterator[Problem]:
    where = f"tensor {tensor.text(3)}"
    kind = _type(tensor)
    if kind in _NEVER:
        yield Problem(where=where, reason=f"its elements are {kind}, which the NPU does not have")
    shape = tensor.integers(7) or tensor.integers(0)
    if any(size < 0 for size in shape):
        known = ", ".join("?" if size < 0 else str(size) for size in shape)
        yield Problem(where=where, reason=f"its shape ({known}) must be known when it is compiled")
    if tensor.integer(2, "<I") >= max(buffers, 1):
        yield Problem(where=where, reason="the buffer that it names is not in the file")


def _type(tensor: Table) -> str:
    number = tensor.integer(1, "<b")
    return _TYPES.get(number, f"type {number}")


def _wiring(operator: Table, tensors: list[Table], codes: list[str]) -> Iterator[Problem]:
    index = operator.integer(0, "<I")
    if index >= len(codes):
        yield Problem(where="an operator", reason=f"its code {index} is not in the file")
        return
    name = codes[index]
    named = [number for number in (*operator.integers(1), *operator.integers(2)) if number >= 0]
    if any(number >= len(tensors) for number in named):
        yield Problem(
            where="an operator", operator=name, reason="it names a tensor that is missing"
        )
        return
    outputs = [number for number in operator.integers(2) if number >= 0]
    where = ", ".join(tensors[number].text(3) for number in outputs) or "?"
    if name.startswith("CUSTOM"):
        yield Problem(where=where, operator=name, reason="operators of others are not known")
    elif name.startswith(_UNKNOWN):
        yield Problem(where=where, operator=name, reason="TFLite has no operator of this number")
    elif _lacks_options(operator, name):
        reason = "its options are missing, or those of another operator: the file is damaged"
        yield Problem(where=where, operator=name, reason=reason)
    elif name not in _MOVES:
        for number in dict.fromkeys(named):
            tensor = tensors[number]
            kind, scales = _type(tensor), tensor.table(4)
            if kind in _QUANTISED and (scales is None or not scales.length(2)):
                reason = f"tensor {tensor.text(3)} is {kind} without a scale: quantise the model"
                yield Problem(where=where, operator=name, reason=reason)


def _lacks_options(operator: Table, name: str) -> bool:
    """Whether what an operator needs to know is not there; readers take it for granted."""
    wanted = OPTIONS.get(name)
    given = operator.integer(3, "<B") if operator.table(4) is not None else 0
    return wanted is not None and given != wanted
