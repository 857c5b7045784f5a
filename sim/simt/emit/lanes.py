"""Operations across the lanes of a simdgroup: shuffles, votes, reductions, scans and matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..analysis.linear_form import number_of
from ..ir.llvm_types import bits, is_float
from ..ir.nodes import Instruction, Value
from ..ir.shape import LANES, matrix_column, matrix_row
from .text import literal, mangled, vector_of, zero_of

if TYPE_CHECKING:
    from .vectorise import Vectoriser

_SUFFIX_TYPES = {
    **{"f32": "float", "i32": "i32", "u32": "i32", "i64": "i64", "u64": "i64"},
    **{"i16": "i16", "f16": "half"},
}


def _identity(op: str, suffix: str) -> str:
    type = _SUFFIX_TYPES[suffix]
    if op in ("sum", "or", "xor"):
        return zero_of(type)
    if op == "product":
        return "1.0" if is_float(type) else "1"
    if op == "and":
        return "-1"
    if suffix == "f32":
        return "0x7FF0000000000000" if op == "min" else "0xFFF0000000000000"
    width = bits(type)
    if suffix[0] == "u":
        return "-1" if op == "min" else "0"
    return str((1 << (width - 1)) - 1) if op == "min" else str(-(1 << (width - 1)))


class LaneOperations:
    """Emits the machine operations whose lanes see each other."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        self.v = vectoriser
        self.text = vectoriser.text

    def emit(self, instruction: Instruction) -> tuple[str, bool] | None:
        """Emit an operation; returns (result, whether it is a vector), None if not known here."""
        name = instruction.callee
        if name.startswith("simd_shuffle_"):
            return self._shuffle(instruction)
        if name.startswith("simd_broadcast_first_"):
            return self._broadcast_first(instruction.operands[0]), False
        if name == "simd_ballot":
            return self._ballot(instruction), False
        if name == "simd_active_mask":
            return self.text.let(f"zext i32 {self._mask()} to i64"), False
        if name.startswith("simd_prefix_"):
            return self._prefix(instruction), True
        if name.startswith("mma_f32"):
            return self._multiply_matrices(instruction), True
        if name.startswith("simd_"):
            return self._reduce(instruction)
        return None

    def _mask(self) -> str:
        return self.text.mask_bits(self.v.mask)

    def _select_active(self, type: str, value: str, identity: str) -> str:
        if self.v.mask == "splat (i1 true)":
            return value
        kind = vector_of(type)
        return self.text.let(
            f"select {vector_of('i1')} {self.v.mask}, {kind} {value}, "
            f"{kind} splat ({type} {identity})"
        )

    # -- moving values --------------------------------------------------------------------------

    def _shuffle(self, instruction: Instruction) -> tuple[str, bool]:
        value, source = instruction.operands
        text, type = self.text, value.type
        if not self.v.varying(value):
            return self.v.scalar(value), False
        vector = self.v.vector(value)
        if not self.v.varying(source):
            lane = text.let(f"and i32 {self.v.scalar(source)}, {LANES - 1}")
            return text.let(f"extractelement {vector_of(type)} {vector}, i32 {lane}"), False
        form = self.v.form(source)
        base = number_of(form.base) if form is not None else None
        if form is not None and base is not None and not form.terms and not form.guards:
            lanes = [(base + lane) % LANES for lane in form.lanes]
            return text.shuffle(type, vector, LANES, lanes), True
        return self._permute(type, vector, self.v.vector(source)), True

    def _permute(self, type: str, vector: str, lanes: str) -> str:
        """Lanes chosen at run time, through memory."""
        text = self.text
        kind = vector_of(type)
        place = text.slot(kind)
        text.do(f"store {kind} {vector}, ptr {place}")
        chosen = text.let(f"and {vector_of('i32')} {lanes}, splat (i32 {LANES - 1})")
        pointers = text.let(f"getelementptr {type}, ptr {place}, {vector_of('i32')} {chosen}")
        return text.call(
            kind,
            f"llvm.masked.gather.v{LANES}{mangled(type)}.v{LANES}p0",
            (vector_of("ptr"), pointers),
            (vector_of("i1"), "splat (i1 true)"),
            (kind, "poison"),
        )

    def _broadcast_first(self, value: Value) -> str:
        if not self.v.varying(value):
            return self.v.scalar(value)
        text = self.text
        first = text.call("i32", "llvm.cttz.i32", ("i32", self._mask()), ("i1", "false"))
        lane = text.let(f"and i32 {first}, {LANES - 1}")
        vector = self.v.vector(value)
        return text.let(f"extractelement {vector_of(value.type)} {vector}, i32 {lane}")

    def _ballot(self, instruction: Instruction) -> str:
        text = self.text
        predicate = self.v.vector(instruction.operands[0])
        kind = vector_of(instruction.operands[0].type)
        true = text.let(f"icmp ne {kind} {predicate}, zeroinitializer")
        voting = text.let(f"and {vector_of('i1')} {true}, {self.v.mask}")
        return text.let(f"zext i32 {text.mask_bits(voting)} to i64")

    # -- reductions -----------------------------------------------------------------------------

    def _combine(self, op: str, suffix: str, a: str, b: str, count: int) -> str:
        type = _SUFFIX_TYPES[suffix]
        kind = vector_of(type, count) if count > 1 else type
        floating = is_float(type)
        plain = {
            "sum": "fadd" if floating else "add",
            "product": "fmul" if floating else "mul",
            "and": "and",
            "or": "or",
            "xor": "xor",
        }
        if op in plain:
            return self.text.let(f"{plain[op]} {kind} {a}, {b}")
        name = f"{op}num" if floating else f"{'u' if suffix[0] == 'u' else 's'}{op}"
        lanes = f"v{count}" if count > 1 else ""
        return self.text.call(kind, f"llvm.{name}.{lanes}{mangled(type)}", (kind, a), (kind, b))

    def _reduce(self, instruction: Instruction) -> tuple[str, bool] | None:
        parts = instruction.callee.split("_")
        if len(parts) != 3 or parts[2] not in _SUFFIX_TYPES:
            return None
        _, op, suffix = parts
        type = _SUFFIX_TYPES[suffix]
        value = self._select_active(
            type, self.v.vector(instruction.operands[0]), _identity(op, suffix)
        )
        cluster = number_of(instruction.operands[1])
        if cluster == LANES:
            return self._reduce_all(op, suffix, value), False
        for step in (2, 1):
            other = self.text.shuffle(type, value, LANES, [lane ^ step for lane in range(LANES)])
            value = self._combine(op, suffix, value, other, LANES)
        return value, True

    def _reduce_all(self, op: str, suffix: str, value: str) -> str:
        """A tree: each step adds the upper half of the lanes to the lower half."""
        text, type, count = self.text, _SUFFIX_TYPES[suffix], LANES
        while count > 1:
            half = count // 2
            low = text.shuffle(type, value, count, range(half))
            high = text.shuffle(type, value, count, range(half, count))
            if half == 1:
                low, high = (
                    text.let(f"extractelement <1 x {type}> {part}, i64 0") for part in (low, high)
                )
            value = self._combine(op, suffix, low, high, half)
            count = half
        return value

    def _prefix(self, instruction: Instruction) -> str:
        text = self.text
        _, _, mode, op, suffix = instruction.callee.split("_")
        type = _SUFFIX_TYPES[suffix]
        cluster = number_of(instruction.operands[1]) or LANES
        identity = _identity(op, suffix)
        value = self._select_active(type, self.v.vector(instruction.operands[0]), identity)
        step = 1
        while step < cluster:
            moved = self._shifted(type, value, step, cluster, identity)
            combined = self._combine(op, suffix, moved, value, LANES)
            reaching = [int(lane % cluster >= step) for lane in range(LANES)]
            value = text.let(
                f"select {vector_of('i1')} {literal('i1', reaching)}, "
                f"{vector_of(type)} {combined}, {vector_of(type)} {value}"
            )
            step *= 2
        if mode == "exclusive":
            value = self._shifted(type, value, 1, cluster, identity)
        return value

    def _shifted(self, type: str, value: str, step: int, cluster: int, identity: str) -> str:
        """The value of the lane `step` below, in its cluster; the identity where there is none."""
        lanes = [lane - step if lane % cluster >= step else LANES + lane for lane in range(LANES)]
        kind = vector_of(type)
        from .text import shuffle_mask

        return self.text.let(
            f"shufflevector {kind} {value}, {kind} splat ({type} {identity}), {shuffle_mask(lanes)}"
        )

    # -- matrices -------------------------------------------------------------------------------

    def _multiply_matrices(self, instruction: Instruction) -> str:
        """One of a lane's two elements of A * B + C: eight fused steps, k ascending."""
        text = self.text
        element = number_of(instruction.operands[0]) or 0
        a = [self.v.vector(o) for o in instruction.operands[1:3]]
        b = [self.v.vector(o) for o in instruction.operands[3:5]]
        result = self.v.vector(instruction.operands[5 + element])
        kind = vector_of("float")
        for k in range(8):
            left = text.shuffle("float", a[k % 2], LANES, _row_holders(k))
            column_parity = element
            right = text.shuffle("float", b[column_parity], LANES, _column_holders(k))
            result = text.call(
                kind, f"llvm.fma.v{LANES}f32", (kind, left), (kind, right), (kind, result)
            )
        return result


_HOLDER = {(matrix_row(lane), matrix_column(lane)): lane for lane in range(LANES)}


def _row_holders(k: int) -> list[int]:
    """For each lane, the lane that holds column k of its row (A's element for step k)."""
    return [_HOLDER[matrix_row(lane), k & ~1] for lane in range(LANES)]


def _column_holders(k: int) -> list[int]:
    """For each lane, the lane that holds row k of its columns (B's element for step k)."""
    return [_HOLDER[k, matrix_column(lane)] for lane in range(LANES)]
