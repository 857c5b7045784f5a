"""Chooses machine instructions for a kernel's operations."""

from __future__ import annotations

from collections.abc import Callable

from assay.sim.simt.analysis.offsets import EXTENSIONS
from assay.sim.simt.ir.llvm_types import is_float
from assay.sim.simt.ir.nodes import Block, Constant, Instruction, Value
from assay.sim.simt.ir.operations import functions as f
from assay.sim.simt.ir.operations.calls import CALL
from assay.sim.simt.ir.operations.control import PHI, SELECT
from assay.sim.simt.ir.operations.conversions import BITCAST, FPEXT, FPTRUNC, SEXT, TRUNC, ZEXT
from assay.sim.simt.ir.operations.floats import FADD, FCMP, FDIV, FMA, FMUL, FNEG, FREM, FSUB, SQRT
from assay.sim.simt.ir.operations.handlers import Handlers
from assay.sim.simt.ir.operations.integers import (
    AND,
    ASHR,
    ICMP,
    LSHR,
    MUL,
    SDIV,
    SHL,
    SREM,
    UDIV,
    UREM,
)
from assay.sim.simt.ir.operations.lanes import MMA
from assay.sim.simt.ir.operations.marks import (
    ACCESS_KIND,
    EXPECT_INSIDE,
    EXPECT_SIMDGROUPS,
    EXPECT_UNIFORM,
    LANE_OF,
    UNIFORM,
)
from assay.sim.simt.ir.operations.memory import ADDRESS, COMPONENT, LOOKUP_AVAILABLE, LOOKUP_HOST
from assay.sim.simt.ir.operations.operation import OfOperands, Operation, Origin
from assay.sim.simt.ir.operations.synchronisation import (
    FENCE,
    SIMDGROUP_BARRIER,
    THREADGROUP_BARRIER,
)
from assay.sim.site import Site

from . import classes as t
from .address import Addresses
from .copies import copy_class
from .folds import Folds
from .instructions import Lowered, Op, latest
from .machine_operations import CLASSES, machine_classes
from .memory import ACCESSES, MemoryInstructions
from .values import Values, halves_of, is_narrow, is_short

_ROOTS = frozenset({SQRT, f.SQUARE_ROOT})
_MEDIANS = frozenset({f.MEDIAN3, f.FMEDIAN3})
_REMAINDERS = frozenset({UREM, SREM})
_PRODUCTS = frozenset({MUL, FMUL})
_MOST_SHIFT = 4  # by which an addition shifts one of its operands


class Selector:
    """Walks through a kernel in the order of its blocks."""

    def __init__(self, values: Values) -> None:
        self.values = values
        blocks = values.blocks
        self.code = Lowered({b: [] for b in blocks}, {b: [] for b in blocks}, {})
        self.addresses = Addresses(values, self.code)
        self.registers = self.addresses.registers
        self.folds = Folds(values, self.addresses.unneeded)
        self.memory = MemoryInstructions(self)
        self.block = blocks[0]
        self._sides = self._find_sides()
        self._products: dict[tuple[int, ...], int] = {}

    def run(self) -> Lowered:
        """Choose for all blocks."""
        for block in self.values.cfg.order:
            self.code.phis[block] = []
            for phi in block.phis:
                if phi in self.values.live:
                    register = self.code.register(halves_of(phi.type))
                    self.registers[phi] = (register,)
                    self.code.phis[block].append((phi, register))
        for block in self.values.cfg.order:
            self.block = block
            for instruction in block.body:
                if instruction in self.values.live:
                    self._instruction(instruction)
            self._end(block)
        return self.code

    # -- registers -----------------------------------------------------------------------------

    def read(self, *values: Value) -> tuple[int, ...]:
        """The registers behind values, without repetition."""
        return tuple(dict.fromkeys(r for v in values for r in self.registers.get(v, ())))

    def emit(
        self, kind: str, type: str, sources: tuple[int, ...], site: Site, *, flops: int = -1
    ) -> int:
        """Append an instruction that gives a value of a type; returns its register."""
        narrow = t.NARROW.get(kind, kind) if is_narrow(type) else kind
        register = self.code.register(halves_of(type))
        count = t.FLOPS.get(narrow, 0) if flops < 0 else flops
        self.code.ops[self.block].append(Op(narrow, register, latest(sources), site, count))
        return register

    def chain(
        self, kinds: tuple[str, ...], type: str, sources: tuple[int, ...], site: Site
    ) -> tuple[int, ...]:
        """Instructions of which each reads the one before."""
        for kind in kinds:
            sources = (self.emit(kind, type, sources, site),)
        return sources

    def alias(self, instruction: Instruction, *values: Value) -> None:
        """An instruction that costs nothing: who reads it reads what it was made from."""
        self.registers[instruction] = self.read(*values)

    # -- instructions --------------------------------------------------------------------------

    def _instruction(self, i: Instruction) -> None:
        if self.values.is_early(i) or self.values.is_zero(i) or i in self.addresses.unneeded:
            # A sum that only addresses need is formed from what is in it.
            return
        if self.folds.is_folded(i):
            self.alias(i, *self.values.operands(i))
        else:
            INSTRUCTIONS[i.operation](self, i)

    def _access(self, i: Instruction) -> None:
        self.memory.access(i)

    def _arithmetic(self, i: Instruction) -> None:
        kinds = ARITHMETIC[i.operation](self, i)
        self.registers[i] = self.chain(kinds, i.type, self.read(*i.operands), i.site)

    def _math(self, i: Instruction) -> None:
        function, operands = i.operation, list(self.values.operands(i))
        kinds = _function_classes(i)
        if self._is_reciprocal_root(i):
            kinds = ()
        if function is f.DIVIDE and _is_one(operands[0]):
            kinds = ("recip_precise",) if kinds == ("div_precise",) else ("recip",)
        if function is f.ROTATE and isinstance(operands[1], Constant):
            kinds = ("bitfield_extract", "bitfield_insert")
        sources = self.read(*operands)
        if function in _MEDIANS:
            others = self.read(*operands[1:])
            both = [self.emit("cmpsel32_min_max", i.type, others, i.site) for _ in range(2)]
            sources = (*self.read(operands[0]), *both)
        self.registers[i] = self.chain(kinds, i.type, sources, i.site)

    def _call_apart(self, i: Instruction) -> None:
        """A function of mathematics that is not marked, since the headers call it themselves."""
        function = f.function_of(i.function)
        assert function is not None
        self.registers[i] = self.chain(t.MATH[function], i.type, self.read(*i.operands), i.site)

    def _machine(self, i: Instruction) -> None:
        kinds = machine_classes(i, self.values)
        self.registers[i] = self.chain(kinds, i.type, self.read(*i.operands), i.site)

    def _ordering(self, i: Instruction) -> None:
        plain = "barrier" if i.operation is THREADGROUP_BARRIER else "simdgroup_barrier"
        self.code.ops[self.block].append(Op(copy_class(i) or plain, -1, (), i.site))

    def _product(self, i: Instruction) -> None:
        """A matrix product, which the IR says once for each of a lane's two elements."""
        key = tuple(self.read(*i.operands[1:]))
        found = self._products.get(key)
        if found is None:
            elements = self.folds.matrix_type(i)
            # Two sums of a lane: halves share a register.
            pair = "i32" if elements == "f16" else "i64"
            found = self.emit(f"mma_8x8x8_{elements}", pair, key, i.site)
            self._products[key] = found
        self.registers[i] = (found,)

    # -- arithmetic ----------------------------------------------------------------------------

    def _float_sum(self, i: Instruction) -> tuple[str, ...]:
        return ("ffma32",) if self._multiplies(i) else (t.FLOAT_ARITHMETIC[i.operation],)

    def _choice(self, i: Instruction) -> tuple[str, ...]:
        return ("cmpsel32_min_max",) * (2 if _is_wide(i) else 1)

    def _to_or_from_integer(self, i: Instruction) -> tuple[str, ...]:
        wide = "i64" in (i.type, i.operands[0].type)
        return ("convert_f_i", *(("ffma32", "convert_f_i") if wide else ()))

    def _extreme(self, i: Instruction) -> tuple[str, ...]:
        return ("cmpsel32_min_max",) * (2 if i.type == "i64" else 1)

    def _square_root(self, i: Instruction) -> tuple[str, ...]:
        return () if self._is_reciprocal_root(i) else t.CALLS[i.operation]

    def _call(self, i: Instruction) -> tuple[str, ...]:
        return t.CALLS[i.operation]

    def _is_reciprocal_root(self, root: Instruction) -> bool:
        """Whether a square root is taken for what one is divided by."""
        if root.operation not in _ROOTS:
            return False
        user = self.values.only_user(root)
        return (
            user is not None
            and user.operation is FDIV
            and _is_one(user.operands[0])
            and user.operands[1] is root
        )

    def _division(self, i: Instruction) -> tuple[str, ...]:
        numerator, denominator = i.operands
        fast = self.values.is_fast or is_narrow(i.type)
        if _is_one(numerator):
            if isinstance(denominator, Instruction) and self._is_reciprocal_root(denominator):
                return ("rsqrt",) if fast else ("rsqrt_precise",)
            return ("recip",) if fast else ("recip_precise",)
        if isinstance(denominator, Constant) and fast:
            return ("fmul32",)
        return ("div_fast",) if fast else ("div_precise",)

    def _convert(self, i: Instruction) -> tuple[str, ...]:
        types = (i.type, i.operands[0].type)
        if "bfloat" in types:
            # Half of a register becomes the upper half of another; the way back has to round.
            return ("move",) if i.operation is FPEXT else ("bitfield_extract", "iadd", "bitwise")
        return ("convert_f16_f32",)

    def _integer_sum(self, i: Instruction) -> tuple[str, ...]:
        wide = i.type == "i64"
        if wide and (product := self._widened_product(i)) is not None:
            return ("imad64",) if product.type == "i64" else ("imad32_add64",)
        if self._multiplies(i):
            return ("iadd",) if self._is_stepped(i) else ("imul32_imad32",)
        if wide and any(is_short(operand) for operand in i.operands):
            return ("iadd",) * 3
        return ("iadd64",) if wide else ("iadd",)

    def _logic(self, i: Instruction) -> tuple[str, ...]:
        if i.operation is AND and self._extracts(i):
            return ("bitfield_extract",)
        return ("bitwise",) * (2 if i.type == "i64" and not is_short(i) else 1)

    def _extracts(self, i: Instruction) -> bool:
        """Whether what is masked was shifted for that alone."""
        source = i.operands[0]
        return (
            isinstance(source, Instruction)
            and source.operation is LSHR
            and self.values.only_user(source) is i
            and self.folds.is_folded(source)
            and not self.folds.is_free_shift(source)
        )

    def _widened_product(self, sum_: Instruction) -> Instruction | None:
        """The product that a 64-bit sum makes along."""
        for operand in sum_.operands:
            value = operand
            if isinstance(value, Instruction) and value.operation in EXTENSIONS:
                value = value.operands[0]
            if (
                isinstance(value, Instruction)
                and value.operation is MUL
                and self.folds.widens(value)
            ):
                return value
        return None

    def _multiplies(self, i: Instruction) -> bool:
        """Whether one of a sum's operands is a product that is folded into it."""
        return any(
            isinstance(o, Instruction) and o.operation in _PRODUCTS and self.folds.is_folded(o)
            for o in i.operands
        )

    def _is_stepped(self, i: Instruction) -> bool:
        return any(
            isinstance(o, Instruction) and o.operation is MUL and self._goes_up(o)
            for o in i.operands
        )

    def _goes_up(self, product: Instruction) -> bool:
        """Whether a product goes up by equal steps around its loop, so that adding will do."""
        assert product.block is not None
        loop = self.values.cfg.innermost[product.block]
        if loop is None:
            return False
        for counter, other in (product.operands, product.operands[::-1]):
            if self.values.is_counter(counter, loop) and self.values.is_invariant(other, loop):
                return True
        return False

    def _multiplication(self, i: Instruction) -> tuple[str, ...]:
        if i.type == "i64":
            short = all(is_short(o) or _is_extended(o) for o in i.operands)
            return ("imulhi32",) if short else ("imul64",)
        if self._goes_up(i) or _is_shift_and_add(i.operands[1]):
            return ("iadd",)
        return ("imul32_imad32",)

    def _shift(self, i: Instruction) -> tuple[str, ...]:
        amount = i.operands[1]
        number = amount.number if isinstance(amount, Constant) else None
        if i.type == "i64" and not is_short(i.operands[0]):
            if number is None:
                return ("shl_dynamic" if i.operation is SHL else "shr_dynamic",) * 2
            return ("bitfield_extract",) if number >= 32 else ("bitfield_extract", "rotate")
        if number is None:
            return ("shl_dynamic",) if i.operation is SHL else ("shr_dynamic",)
        if i.operation is SHL:
            return ("iadd",) if number <= _MOST_SHIFT else ("bitfield_insert",)
        return ("bitfield_extract",)

    def _integer_division(self, i: Instruction) -> tuple[str, ...]:
        divisor = i.operands[1]
        number = divisor.number if isinstance(divisor, Constant) else None
        rest = ("imul32_imad32",) if i.operation in _REMAINDERS else ()
        if i.type == "i64":
            return ("imul64",) * 3 + ("iadd64",) * 2 if number else ("idiv32",) * 4
        if number is None:
            return ("idiv32", *rest)
        if number & (number - 1) == 0:  # of a signed number, or LLVM had made a shift of it
            return ("bitfield_extract", "iadd", "bitfield_extract")
        return ("imulhi32", "bitfield_extract", *rest)

    # -- control flow --------------------------------------------------------------------------

    def _end(self, block: Block) -> None:
        """How the machine leaves a block: masks of lanes, then a jump if no lane stays."""
        index, end = self.values.cfg.index, self.code.ends[block]
        if len(block.targets) == 2 and block not in self.values.branches:
            return  # all that it chooses is done by one instruction
        if len(block.targets) == 2:
            assert block.condition is not None
            sources = latest(self.read(block.condition))
            end.append(Op("branch", -1, sources, block.site))
            end.append(Op("jump", -1, (), block.site))
        elif block.targets and index[block.targets[0]] <= index[block]:
            loop = self.values.cfg.innermost[block]
            if loop is None or not self.values.is_free(loop):
                end.append(Op("jump", -1, (), block.site))
        elif block in self._sides:
            # Lanes of the other side go on here.
            end.append(Op("branch", -1, (), block.site))

    def _find_sides(self) -> set[Block]:
        """Blocks that lead from a side of a branch to where the lanes meet."""
        found: set[Block] = set()
        for branch in self.values.branches:
            meeting = self.values.cfg.postdominator[branch]
            found |= {b for b in self.values.chosen(branch) if b.targets == [meeting]}
        return found


def _is_one(value: Value) -> bool:
    return (
        isinstance(value, Constant)
        and is_float(value.type)
        and value.literal in ("1.000000e+00", "1.0", "0xH3C00", "0xR3F80")
    )


def _is_extended(value: Value) -> bool:
    return (
        isinstance(value, Instruction)
        and value.operation is SEXT
        and value.operands[0].type == "i32"
    )


def _is_wide(i: Instruction) -> bool:
    return any(o.type == "i64" and not is_short(o) for o in i.operands)


def _is_shift_and_add(value: Value) -> bool:
    """Whether a number times anything is that plus itself shifted by one to four."""
    number = value.number if isinstance(value, Constant) else None
    return number in (3, 5, 9, 17)


def _function_classes(i: Instruction) -> tuple[str, ...]:
    """What a marked function is made of; some are of others if precise, narrow or wide."""
    by_type = t.MATH_WIDE if i.type == "i64" else t.MATH_NARROW if is_narrow(i.type) else {}
    if i.operation in by_type:
        return by_type[i.operation]
    if i.precise and i.operation in t.PRECISE:
        return t.PRECISE[i.operation]
    return t.MATH[i.operation]


def _always(*classes: str) -> Chooser:
    return lambda selector, i: classes


def _is_arithmetic(operation: Operation) -> bool:
    computes = operation.origin in (Origin.INSTRUCTION, Origin.INTRINSIC)
    return computes and isinstance(operation.meaning, OfOperands)


Chooser = Callable[[Selector, Instruction], tuple[str, ...]]
ARITHMETIC: Handlers[Chooser] = Handlers("the classes of arithmetic", _is_arithmetic)
"""The classes of the instructions that an operation takes, each of which reads the one before."""

ARITHMETIC.put((FADD, FSUB), Selector._float_sum)
ARITHMETIC.put((FMUL,), _always(t.FLOAT_ARITHMETIC[FMUL]))
ARITHMETIC.put((FMA,), _always("ffma32"))
ARITHMETIC.put((FDIV,), Selector._division)
ARITHMETIC.put((FREM,), _always(*t.MATH[f.FMOD]))
ARITHMETIC.put((ICMP, FCMP, SELECT), Selector._choice)
ARITHMETIC.put(t.CONVERSIONS, Selector._to_or_from_integer)
ARITHMETIC.put((FPEXT, FPTRUNC), Selector._convert)
ARITHMETIC.put((FNEG, BITCAST, TRUNC, ZEXT), _always("bitwise"))
ARITHMETIC.put((SEXT,), _always("bitfield_extract"))
ARITHMETIC.put(t.INTEGER_SUMS, Selector._integer_sum)
ARITHMETIC.put(t.LOGIC, Selector._logic)
ARITHMETIC.put((MUL,), Selector._multiplication)
ARITHMETIC.put((SHL, LSHR, ASHR), Selector._shift)
ARITHMETIC.put((UDIV, SDIV, UREM, SREM), Selector._integer_division)
ARITHMETIC.put(t.EXTREMES, Selector._extreme)
ARITHMETIC.put((SQRT,), Selector._square_root)
ARITHMETIC.put(t.CALLS.keys() - {SQRT}, Selector._call)


_FREE = frozenset({COMPONENT, ADDRESS, LOOKUP_HOST, LOOKUP_AVAILABLE})  # always folded
_COPIES = frozenset(f.COPIES)  # which stand for nothing but what reads them


def _takes_instructions(operation: Operation) -> bool:
    if operation in _FREE or operation in _COPIES or operation is PHI:
        return False
    marked_for_checks = operation.origin in _FOR_CHECKS and operation not in f.FUNCTIONS
    return not marked_for_checks and operation not in _MARKS


_FOR_CHECKS = frozenset({Origin.MARK, Origin.ENGINE})
_MARKS = frozenset(
    {UNIFORM, EXPECT_UNIFORM, EXPECT_SIMDGROUPS, EXPECT_INSIDE, LANE_OF, ACCESS_KIND}
)
INSTRUCTIONS: Handlers[Callable[[Selector, Instruction], None]] = Handlers(
    "the choice of instructions", _takes_instructions
)
INSTRUCTIONS.put(ACCESSES, Selector._access)
INSTRUCTIONS.put((CALL,), Selector._call_apart)
INSTRUCTIONS.put(t.MATH, Selector._math)
INSTRUCTIONS.put((THREADGROUP_BARRIER, SIMDGROUP_BARRIER, FENCE), Selector._ordering)
INSTRUCTIONS.put((MMA,), Selector._product)
INSTRUCTIONS.put(CLASSES, Selector._machine)
INSTRUCTIONS.put(ARITHMETIC, Selector._arithmetic)
