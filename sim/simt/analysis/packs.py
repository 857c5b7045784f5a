"""How many threadgroups, neighbours in x, one vector can stand for.

Kernels of which a few lanes do all the work, or one, leave a vector empty, and wait for one sum
after the other. Where threadgroups share nothing, several of them fill it: their lanes are side by
side, and where the threadgroup is, in x, is one more pattern.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..ir.cfg import Cfg
from ..ir.llvm_types import Scalar, size_of
from ..ir.nodes import (
    AddressRoot,
    BufferRoot,
    Constant,
    ConstantRoot,
    Function,
    Instruction,
    PrivateRoot,
    Root,
    ThreadgroupRoot,
    Value,
    is_private,
)
from ..ir.operations.conversions import SEXT, ZEXT
from ..ir.operations.integers import AND, ASHR, LSHR, SDIV, SREM, UDIV, UREM
from ..ir.operations.memory import ADDRESS
from ..ir.operations.operation import Meeting
from ..ir.operations.positions import (
    THREAD_POSITION_IN_GRID,
    THREADGROUP_POSITION_IN_GRID,
)
from ..ir.operations.synchronisation import FENCE
from ..ir.passes import rewrites
from ..ir.shape import LANES
from .divergence import Divergence
from .linear import LinearForms
from .windows import plan

_DIVIDES = frozenset({UDIV, UREM, SDIV, SREM})
_SHIFTS = frozenset({LSHR, ASHR})
_EXTENDS = frozenset({ZEXT, SEXT})
# Pieces of memory that an access in a loop may be made of: with more, packing does not pay.
_MOST_WINDOWS = 2
_MOST_WITH_GAPS = 16  # elements of a piece of which some are nobody's
_ALIGNMENT = 16  # of a lane's arrays, as of variables of threadgroups


def is_place_in_x(instruction: Instruction) -> bool:
    """Whether threadgroups that are neighbours in x differ in an operation's result."""
    if instruction.operation is not THREADGROUP_POSITION_IN_GRID:
        return False
    (dimension,) = instruction.operands
    return isinstance(dimension, Constant) and dimension.number == 0


def find_packs(function: Function, lanes: int, simdgroups: int) -> int:
    """How many threadgroups of so many lanes each fit; 1 if they have to stay apart.

    Rows of a grid are counted in one number, from which kernels get at places by division: packs
    divide the divisors, so that all threadgroups of a pack have the same quotient.
    """
    if function.apart or not all(map(_may_be_packed, function.instructions())):
        return 1
    alone = lanes == 1 and simdgroups == 1
    roots = {each.root for each in function.instructions() if each.operation.accesses_memory}
    if not alone and any(isinstance(root, ThreadgroupRoot) for root in roots):
        return 1
    written = {
        each.root
        for each in function.instructions()
        if each.operation.writes_memory and not isinstance(each.root, ThreadgroupRoot)
    }
    if any(each.root in written for each in _reads(function)):
        return 1  # or what a fault leaves behind could not be made again
    common = math.gcd(*_divisors(function))
    if common == 0:
        return 1  # grids of kernels that do not divide can have any number of threadgroups
    most = LANES // lanes
    return max(each for each in range(1, most + 1) if common % each == 0)


def _reads(function: Function) -> Iterator[Instruction]:
    return (
        each
        for each in function.instructions()
        if each.operation.accesses_memory and not each.operation.writes_memory
    )


def _may_be_packed(instruction: Instruction) -> bool:
    operation = instruction.operation
    if operation.is_atomic or operation is FENCE or operation.meeting is not Meeting.NONE:
        return False
    if operation in (THREAD_POSITION_IN_GRID, ADDRESS):
        return False
    return not operation.accesses_memory or _is_shared(instruction.root)


def _is_shared(root: Root | None) -> bool:
    return isinstance(root, BufferRoot | AddressRoot | ConstantRoot | ThreadgroupRoot)


@rewrites
def take_for_own(function: Function) -> None:
    """Make the memory of a threadgroup that one lane works for that lane's own, in place.

    So each of several threadgroups that run at once has its own.
    """
    start = -(-function.private_memory // _ALIGNMENT) * _ALIGNMENT
    for each in function.instructions():
        root = each.root
        if isinstance(root, ThreadgroupRoot):
            each.root = PrivateRoot(start + root.start, root.size, root.name)
    function.private_memory = start + function.threadgroup_memory


def _divisors(function: Function) -> list[int]:
    """What a threadgroup's place in x is divided by, again and again; 0 if by nothing."""
    found = [0]
    places: set[Value] = set()
    for block in function.blocks:
        for each in block.body:
            if is_place_in_x(each):
                places.add(each)
            elif each.operands and each.operands[0] in places:
                if each.operation in _EXTENDS:
                    places.add(each)
                elif (divisor := _divisor(each)) is not None:
                    places.add(each)
                    found.append(divisor)
    return found


def _divisor(instruction: Instruction) -> int | None:
    operation = instruction.operation
    if len(instruction.operands) < 2 or not isinstance(instruction.operands[1], Constant):
        return 1 if operation in _DIVIDES | _SHIFTS | {AND} else None
    number = instruction.operands[1].number or 0
    if operation in _DIVIDES:
        return number
    if operation in _SHIFTS:
        return 1 << number
    return number + 1 if operation is AND else None


def are_worth_it(function: Function, cfg: Cfg, divergence: Divergence, linear: LinearForms) -> bool:
    """Whether packed threadgroups read and write plain pieces of memory in their loops."""
    for block in cfg.order:
        if cfg.innermost[block] is None:
            continue
        for each in block.body:
            if each.operation.accesses_memory and not _is_plain(each, divergence, linear):
                return False
    return True


def _is_plain(access: Instruction, divergence: Divergence, linear: LinearForms) -> bool:
    assert access.block is not None
    if isinstance(access.root, AddressRoot) and divergence.is_varying(access.root.address):
        return False
    writing = access.operation.writes_memory
    form = linear.of(access.operands[0], access.block)
    if form is None:
        return False
    if is_private(access.root):
        return form.is_uniform
    if form.is_uniform:
        return not writing or not any(divergence.is_varying(o) for o in access.operands[1:])
    size = size_of(Scalar(access.element))
    windows = plan(form, size, access.components, writing=writing)
    if windows is None or len(windows) > _MOST_WINDOWS:
        return False
    longest = max(each.elements for each in windows)
    return longest <= max(len(form.lanes) * access.components, _MOST_WITH_GAPS)
