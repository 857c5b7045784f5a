"""Where a kernel expects the elements of tensors in a simdgroup's registers.

Metal leaves that to the GPU and has a function that tells an element's row and column. Kernels that
do not call it count on the places of some GPUs: they compute columns of the number of a thread in
its simdgroup. Which ones they compute says which GPUs they are for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

Lanes = tuple[int, ...]
"""A whole number of each thread of a simdgroup."""
_LANES = range(32)
_ASKED = re.compile(r"@__tensorops_impl_\w+_get_coordinate\(")
_OPERAND = "@__tensorops_impl_matmul2d_op_cooperative_tensor_"
# Two neighbours in each matrix of 8 x 8, as of simdgroup matrices; four in each of 16 x 16 (M5).
_OF_EIGHTS: Lanes = tuple((lane >> 1 & 4) | (lane << 1 & 2) for lane in _LANES)
_OF_SIXTEENS: Lanes = tuple(2 * column for column in _OF_EIGHTS)
_FUNCTION = re.compile(r"^define [^\n]*\{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_OWN = re.compile(
    r"^  (%\S+) = [^\n]*call [^\n@]*@air\.get_thread_index_in_simdgroup", re.MULTILINE
)
_COMPUTED = re.compile(
    r"^  (?P<to>%\S+) = (?P<how>\w+) (?:(?:nuw|nsw|exact|disjoint|nneg) )*(?P<kind>i\d+) "
    r"(?P<a>[%\w.-]+)(?:, (?P<b>[%\w.-]+)| to (?P<wider>i\d+))",
    re.MULTILINE,
)
_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << (b & 63),
    "lshr": lambda a, b: a >> (b & 63),
    "ashr": lambda a, b: a >> (b & 63),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "udiv": lambda a, b: a // b if b else 0,
    "urem": lambda a, b: a % b if b else 0,
}
_CASTS = ("zext", "sext", "trunc", "freeze")


def counts_on_eights(text: str, lanes: Sequence[str] = ()) -> bool:
    """Whether a module counts on the places of GPUs before M5: matrices of 8 x 8.

    `lanes` are parameters of its kernel with the number of a thread in its simdgroup.
    """
    if _OPERAND not in text or _ASKED.search(text):
        return False
    found = {each for body in _FUNCTION.findall(text) for each in _of_lanes(body, lanes)}
    return _OF_EIGHTS in found and _OF_SIXTEENS not in found


def _of_lanes(body: str, lanes: Sequence[str]) -> Iterator[Lanes]:
    """All that a function computes of a thread's number alone."""
    own = [*_OWN.findall(body), *lanes]
    known = {name: tuple(_LANES) for name in own}
    for line in _COMPUTED.finditer(body) if known else ():
        value = _value(line, known)
        if value is not None:
            known[line["to"]] = value
            yield value


def _value(line: re.Match[str], known: dict[str, Lanes]) -> Lanes | None:
    how, a = line["how"], known.get(line["a"])
    if how in ("sext", "ashr") and a is not None and max(a) >> int(line["kind"][1:]) - 1:
        return None  # negative: no place
    if how in _CASTS and a is not None:
        return _cut(a, line["wider"] or line["kind"])
    b = known.get(line["b"]) or _constant(line["b"])
    a = a or _constant(line["a"])
    if how not in _OPERATIONS or a is None or b is None:
        return None
    return _cut(tuple(map(_OPERATIONS[how], a, b)), line["kind"])


def _constant(written: str | None) -> Lanes | None:
    return (int(written),) * len(_LANES) if written and re.fullmatch(r"-?\d+", written) else None


def _cut(values: Lanes, kind: str) -> Lanes:
    mask = (1 << int(kind[1:])) - 1
    return tuple(value & mask for value in values)
