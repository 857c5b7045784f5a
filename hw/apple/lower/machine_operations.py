"""Instructions for what the IR calls operations of the machine: positions, lanes, reductions."""

from __future__ import annotations

from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import Constant, Instruction, Value

from .lanes import stays_in_quads
from .values import Values

_POSITIONS = ("thread", "simdgroup_index")
_QUAD = 4


def machine_classes(i: Instruction, values: Values) -> tuple[str, ...]:
    """The classes of an operation's instructions; each reads the one before."""
    name = i.callee
    if name in ("matrix_row", "matrix_column"):
        return ("bitwise", "bitwise")  # of the lane's number
    if name.startswith(_POSITIONS):
        return ("move",)  # from a special register
    if name.startswith("simd_shuffle_"):
        return _shuffle(i, values)
    if name.startswith("simd_broadcast_first"):
        return ("shuffle_fixed",)
    if name.startswith(("simd_ballot", "simd_active_mask")):
        return ("quad_ballot",) if _serves_quads(i, values) else ("ballot",)
    if name.startswith("simd_"):
        return _reduction(i)
    return ("move",)


def _shuffle(i: Instruction, values: Values) -> tuple[str, ...]:
    lane = i.operands[1]
    same = values.is_early(lane) or not values.divergence.is_varying(lane)
    if stays_in_quads(lane, values.lane_only) and not _is_mirrored(lane):
        kind = "quad_shuffle"
    else:
        kind = "shuffle_fixed" if same or lane in values.lane_only else "shuffle_dynamic"
    return (kind,) * (2 if i.type == "i64" else 1)


def _is_mirrored(lane: Value) -> bool:
    """Whether lanes are exchanged by a mask, which the machine does over all lanes."""
    return isinstance(lane, Instruction) and lane.op == "xor"


def _reduction(i: Instruction) -> tuple[str, ...]:
    """Sums and their like over 32 lanes or four.

    Minima and maxima of floats are taken to cost what sums do; of integers, what bit operations do.
    """
    _, op, *rest, suffix = i.callee.split("_")
    lanes = "quad" if _number(i.operands[-1]) == _QUAD else "simd"
    if op == "prefix":
        kind = f"{lanes}_prefix" + ("_exclusive" if rest[0] == "exclusive" else "")
    elif suffix == "f32":
        kind = f"{lanes}_sum_f{_width(i.operands[0])}"
    elif op == "product":
        kind = f"{lanes}_product_i32"
    elif op == "sum":
        kind = f"{lanes}_sum_i{_width(i.operands[0])}"
    else:
        kind = f"{lanes}_bitwise_{_width(i.operands[0])}"
    return (kind,) * (2 if i.type == "i64" else 1)


def _width(value: Value) -> int:
    """Bits of what is reduced, which the IR has extended to 32."""
    if not isinstance(value, Instruction):
        return 32
    if value.op in ("fpext", "zext", "sext"):
        return min(32, max(16, bits(value.operands[0].type)))
    # A shift to the left and back: the sign of 16 bits is copied.
    half = value.op == "ashr" and _number(value.operands[1]) == 16
    return 16 if half else 32


def _serves_quads(ballot: Instruction, values: Values) -> bool:
    """Whether all that is read of a vote is the part of a thread's quad."""
    work = list(values.users_of(ballot))
    if not work:
        return False
    while work:
        user = work.pop()
        if not isinstance(user, Instruction):
            return False
        if user.op in ("zext", "trunc"):
            work += values.users_of(user)
        elif user.op != "lshr" or not _is_lane_only(user.operands[1], values):
            return False
    return True


def _is_lane_only(value: Value, values: Values) -> bool:
    while isinstance(value, Instruction) and value.op in ("zext", "trunc"):
        value = value.operands[0]
    return value in values.lane_only


def _number(value: Value) -> int | None:
    return value.number if isinstance(value, Constant) else None
