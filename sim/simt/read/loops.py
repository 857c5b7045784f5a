"""Asks LLVM to unroll loops of known length, so that arrays come to lie in registers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_LOOP = re.compile(r"^(!(\d+) = distinct !\{!\2(?:, !\d+)*)\}$", re.MULTILINE)
_NODE = re.compile(r"^!(\d+) = ", re.MULTILINE)
_FULL = "llvm.loop.unroll.full"

_NAME = r"%(?:[\w.$-]+|\"[^\"]*\")"
_MATRICES = re.compile(rf"^  ({_NAME}) = alloca [^\n]*simdgroup_matrix", re.MULTILINE)
_FUNCTION = re.compile(r"^define .*?^\}$", re.MULTILINE | re.DOTALL)
_LABEL = re.compile(r"^([\w.$-]+|\"[^\"]*\"):")
_DEFINITION = re.compile(rf"^  ({_NAME}) = (\w+) (.*)$")
_NAMES = re.compile(_NAME)
_LATCH = re.compile(r"^  br .*, !llvm\.loop !(\d+)$")
# What an index is made of.
_ARITHMETIC = frozenset({"add", "sub", "mul", "shl", "or", "and", "zext", "sext", "trunc"})


def unroll_all(text: str) -> str:
    """The optimised module `text`, which asks for loops of known length to be unrolled."""
    text = text.replace('"llvm.loop.unroll.disable"', '"llvm.loop.was_unrolled"')
    return _unrolled(text, lambda number: True)


def unroll_over_matrices(text: str) -> str:
    """The same, but only of loops whose counters choose among a simdgroup's matrices."""
    chosen = {number for each in _FUNCTION.finditer(text) for number in _over_matrices(each[0])}
    return _unrolled(text, chosen.__contains__)


def unroll_no_more(text: str) -> str:
    """What was asked for, forgotten: what could not be unrolled needs no warning."""
    return text.replace(f'"{_FULL}"', '"llvm.loop.was_unrolled"')


def has_arrays_of_matrices(text: str) -> bool:
    """Whether matrices of a simdgroup lie in arrays."""
    return _MATRICES.search(text) is not None


def _unrolled(text: str, chosen: Callable[[str], bool]) -> str:
    number = 1 + max((int(found) for found in _NODE.findall(text)), default=0)

    def full(match: re.Match[str]) -> str:
        return f"{match[1]}, !{number}}}" if chosen(match[2]) else match[0]

    return f'{_LOOP.sub(full, text)}\n!{number} = !{{!"{_FULL}"}}\n'


def _over_matrices(function: str) -> Iterator[str]:
    """The numbers of the loops of a function that count through arrays of matrices."""
    arrays = set(_MATRICES.findall(function))
    if not arrays:
        return
    made: dict[str, tuple[str, str]] = {}  # by name: the operation, and the block of a phi or ""
    operands: dict[str, list[str]] = {}
    wanted: list[str] = []
    block = ""
    for line in function.splitlines():
        if label := _LABEL.match(line):
            block = label[1]
        if (found := _DEFINITION.match(line)) is None:
            continue
        name, operation, rest = found.groups()
        made[name], operands[name] = (operation, block), _NAMES.findall(rest)
        if operation == "getelementptr" and arrays.intersection(operands[name]):
            arrays.add(name)
            wanted += operands[name]
    headers = set(_counted_in(wanted, made, operands))
    for line in function.splitlines():
        if (latch := _LATCH.match(line)) and headers.intersection(_NAMES.findall(line)):
            yield latch[1]


def _counted_in(
    wanted: list[str], made: dict[str, tuple[str, str]], operands: dict[str, list[str]]
) -> Iterator[str]:
    """The blocks with the counters that indices are made of, as branches name them."""
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        operation, block = made.get(name, ("", ""))
        if name in seen:
            continue
        seen.add(name)
        if operation == "phi":
            yield f"%{block}"
        elif operation in _ARITHMETIC:
            wanted += operands[name]
