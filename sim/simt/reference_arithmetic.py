"""What the engines' scalar operations mean, on bit patterns held in Python integers.

Where LLVM leaves a result undefined, the engines define it: division by zero gives 0 and leaves
all of the dividend, the smallest integer divided by -1 gives itself, shifts count modulo the width.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from . import reference_float as floats
from .ir import Instruction
from .llvm_types import bits, is_float


def signed(number: int, width: int) -> int:
    """The two's complement reading of a bit pattern."""
    return number - (1 << width) if number >> (width - 1) else number


def _signed_divide(left: int, right: int, width: int) -> int:
    a, b = signed(left, width), signed(right, width)
    if b == 0:
        return 0
    return abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)


def _signed_remainder(left: int, right: int, width: int) -> int:
    a, b = signed(left, width), signed(right, width)
    return a if b == 0 else abs(a) % abs(b) * (-1 if a < 0 else 1)


_INTEGER: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "udiv": lambda a, b, w: a // b if b else 0,
    "urem": lambda a, b, w: a % b if b else a,
    "sdiv": _signed_divide,
    "srem": _signed_remainder,
    "shl": lambda a, b, w: a << b % w,
    "lshr": lambda a, b, w: a >> b % w,
    "ashr": lambda a, b, w: signed(a, w) >> b % w,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "llvm.umin": lambda a, b, w: min(a, b),
    "llvm.umax": lambda a, b, w: max(a, b),
    "llvm.smin": lambda a, b, w: min(signed(a, w), signed(b, w)),
    "llvm.smax": lambda a, b, w: max(signed(a, w), signed(b, w)),
    "llvm.uadd.sat": lambda a, b, w: min(a + b, (1 << w) - 1),
    "llvm.usub.sat": lambda a, b, w: max(a - b, 0),
    "llvm.sadd.sat": lambda a, b, w: _saturate(signed(a, w) + signed(b, w), w),
    "llvm.ssub.sat": lambda a, b, w: _saturate(signed(a, w) - signed(b, w), w),
}


def _saturate(number: int, width: int) -> int:
    return min(max(number, -(1 << (width - 1))), (1 << (width - 1)) - 1)


def integer_binary(op: str, left: int, right: int, width: int) -> int:
    """An integer operation of two operands, modulo 2**width."""
    return _INTEGER[op](left, right, width) & ((1 << width) - 1)


_ORDERINGS: dict[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


def _compare_integers(predicate: str, left: int, right: int, width: int) -> bool:
    if predicate.startswith("s"):
        left, right = signed(left, width), signed(right, width)
    return _ORDERINGS[predicate[-2:]](left, right)


_UNARY: dict[str, Callable[[int, int], int]] = {
    "llvm.ctpop": lambda a, w: a.bit_count(),
    "llvm.bitreverse": lambda a, w: int(format(a, f"0{w}b")[::-1], 2),
    "llvm.bswap": lambda a, w: int.from_bytes(a.to_bytes(w // 8, "little"), "big"),
    "llvm.ctlz": lambda a, w: w - a.bit_length(),
    "llvm.cttz": lambda a, w: (a & -a).bit_length() - 1 if a else w,
    "llvm.abs": lambda a, w: abs(signed(a, w)),
}

# name: (smallest, NaN wins)
_EXTREMES = {
    "llvm.minnum": (True, False),
    "llvm.maxnum": (False, False),
    "llvm.minimumnum": (True, False),
    "llvm.maximumnum": (False, False),
    "llvm.minimum": (True, True),
    "llvm.maximum": (False, True),
}


def evaluate(instruction: Instruction, operands: Sequence[int]) -> int:
    """The value of a scalar instruction that touches neither memory nor other lanes.

    Raises:
        NotImplementedError: for an operation that the lowering should not have let through.
    """
    name = instruction.callee if instruction.op == "call" else instruction.op
    result, source = instruction.type, instruction.operands[0].type
    if name == "icmp":
        left, right = operands
        return int(_compare_integers(instruction.predicate, left, right, bits(source)))
    if name == "fcmp":
        return int(floats.compare(instruction.predicate, operands[0], operands[1], source))
    if name == "select":
        return operands[1] if operands[0] else operands[2]
    if name in ("freeze", "bitcast"):
        return operands[0]
    if name in _CONVERSIONS:
        return _CONVERSIONS[name](operands[0], source, result)
    if is_float(source):
        return _evaluate_float(name, operands, source)
    return _evaluate_integer(name, operands, source, result)


def _evaluate_integer(name: str, operands: Sequence[int], source: str, result: str) -> int:
    width = bits(source)
    mask = (1 << width) - 1
    if name in _INTEGER:
        return integer_binary(name, operands[0], operands[1], width)
    if name in _UNARY:
        return _UNARY[name](operands[0], width) & mask
    if name in ("llvm.fshl", "llvm.fshr"):
        high, low, count = operands
        both, count = high << width | low, count % width
        return (both << count >> width if name == "llvm.fshl" else both >> count) & mask
    if name in ("llvm.scmp", "llvm.ucmp"):
        a, b = operands
        if name == "llvm.scmp":
            a, b = signed(a, width), signed(b, width)
        return ((a > b) - (a < b)) & ((1 << bits(result)) - 1)
    raise NotImplementedError(f"'{name}' on {source}")


def _evaluate_float(name: str, operands: Sequence[int], type: str) -> int:
    sign = floats.FORMATS[type].sign
    first = operands[0]
    if name in floats.BINARY:
        return floats.binary(name, first, operands[1], type)
    if name in _EXTREMES:
        smallest, nan_wins = _EXTREMES[name]
        return floats.choose((first, operands[1]), type, smallest=smallest, nan_wins=nan_wins)
    if name in floats.ROUNDING_NAMES:
        return floats.round_to_integral(name, first, type)
    match name:
        case "fneg":
            return first ^ sign
        case "llvm.fabs":
            return first & ~sign
        case "llvm.copysign":
            return first & ~sign | operands[1] & sign
        case "llvm.fma":
            return floats.fma(first, operands[1], operands[2], type)
        case "llvm.sqrt":
            return floats.square_root(first, type)
        case "llvm.canonicalize":
            return floats.encode(floats.decode(first, type), type)
        case "llvm.is.fpclass":
            return int(floats.in_class(first, type, operands[1]))
    raise NotImplementedError(f"'{name}' on {type}")


def _truncate(value: int, source: str, result: str) -> int:
    return value & ((1 << bits(result)) - 1)


def _sign_extend(value: int, source: str, result: str) -> int:
    return signed(value, bits(source)) & ((1 << bits(result)) - 1)


def _resize_float(value: int, source: str, result: str) -> int:
    return floats.encode(floats.decode(value, source), result)


def _to_signed(value: int, source: str, result: str) -> int:
    return floats.to_integer(value, source, bits(result), signed=True)


def _to_unsigned(value: int, source: str, result: str) -> int:
    return floats.to_integer(value, source, bits(result), signed=False)


_CONVERSIONS: dict[str, Callable[[int, str, str], int]] = {
    "trunc": _truncate,
    "zext": lambda value, source, result: value,
    "sext": _sign_extend,
    "fptrunc": _resize_float,
    "fpext": _resize_float,
    "fptosi": _to_signed,
    "fptoui": _to_unsigned,
    "llvm.fptosi.sat": _to_signed,
    "llvm.fptoui.sat": _to_unsigned,
    "sitofp": lambda value, source, result: floats.from_integer(
        signed(value, bits(source)), result
    ),
    "uitofp": lambda value, source, result: floats.from_integer(value, result),
}
