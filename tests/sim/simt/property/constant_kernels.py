"""Generated MSL in two forms: with numbers written out, and with the same numbers from buffers.

What is wrong in one form is wrong in the other: both must give the same bits and the same faults.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

TYPES = {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
_RANKS = tuple(TYPES)
_SUFFIX = {"int": "", "uint": "u", "long": "l", "ulong": "ul"}
_EDGES = (0, 0, 1, 2, 3, 5, 7, 31, 32, 33, 40, 63, 64, 65, 100, -1, -1, -3, -32, 1 << 31, 1 << 63)
_FLOATS = {
    "1e30f": 1e30,
    "-1e30f": -1e30,
    "NAN": float("nan"),
    "INFINITY": float("inf"),
    "-5.5f": -5.5,
    "3.75f": 3.75,
    "-0.25f": -0.25,
    "2147483648.0f": 2.0**31,
    "4e18f": 4e18,
}
_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Expression:
    """Text of both forms, its type and value, and what the compiler can say of it.

    `is_wrong` says that a shift or division in it has no result; `is_whole` that C++ defines its
    value, so that the compiler can tell when it is a wrong count or divisor.
    """

    written: str
    loaded: str
    type: str
    value: int
    is_wrong: bool = False
    is_whole: bool = True


class Numbers:
    """The numbers of a kernel, by type, in the order in which its run-time form loads them."""

    def __init__(self) -> None:
        self.columns: dict[str, list[str | int]] = {name: [] for name in (*TYPES, "float")}

    def load(self, type: str, number: str | int) -> str:
        """The text that loads a number."""
        column = self.columns[type]
        column.append(number)
        return f"{type}s[{len(column) - 1}]"

    def buffers(self) -> list[np.ndarray]:
        """The columns as arrays, none of them empty."""
        found = [np.array([*self.columns[t], 0], np.int64).astype(d) for t, d in TYPES.items()]
        floats = [_FLOATS[str(text)] for text in self.columns["float"]]
        return [*found, np.array([*floats, 0.0], np.float32)]


def _wrapped(number: int, type: str) -> int:
    bits = 8 * np.dtype(TYPES[type]).itemsize
    number &= (1 << bits) - 1
    is_signed = type in ("int", "long")
    return number - (1 << bits) if is_signed and number >> (bits - 1) else number


def expression(choose: random.Random, numbers: Numbers, depth: int = _DEPTH) -> Expression:
    """A random expression of integers."""
    if depth == 0 or choose.random() < 0.15:
        return _leaf(choose, numbers)
    if choose.random() < 0.12:
        return _conversion(choose, numbers)
    op = choose.choice(("+", "-", "*", "&", "|", "^", "<<", ">>", "<<", ">>", "/", "%", "/"))
    left, right = (expression(choose, numbers, depth - 1) for _ in range(2))
    if op in ("<<", ">>"):
        type = left.type
        bits = 8 * np.dtype(TYPES[type]).itemsize
        fails = not 0 <= right.value < bits
        count = right.value % bits
        value = left.value << count if op == "<<" else left.value >> count
        fits = True
    else:
        type = max(left.type, right.type, key=_RANKS.index)
        a, b = _wrapped(left.value, type), _wrapped(right.value, type)
        fails = op in "/%" and b == 0
        value = _computed(op, a, b)
        fits = type[0] == "u" or _wrapped(value, type) == value
        fits = fits and not (op == "%" and b == -1 and _wrapped(-a, type) == a != 0)
    return Expression(
        f"({left.written} {op} {right.written})",
        f"({left.loaded} {op} {right.loaded})",
        type,
        _wrapped(value, type),
        is_wrong=(fails and right.is_whole) or left.is_wrong or right.is_wrong,
        is_whole=not fails and fits and left.is_whole and right.is_whole,
    )


def _computed(op: str, a: int, b: int) -> int:
    if op in "/%":
        if b == 0:
            return 0 if op == "/" else a
        quotient = abs(a) // abs(b) * (-1 if (a < 0) != (b < 0) else 1)
        return quotient if op == "/" else a - quotient * b
    plain = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    return plain[op]


def _leaf(choose: random.Random, numbers: Numbers) -> Expression:
    type = choose.choice(("int", "int", *_RANKS))
    value = _wrapped(choose.choice((*_EDGES, choose.randrange(-(1 << 40), 1 << 40))), type)
    text = f"{value}{_SUFFIX[type]}"
    if value < 0:
        text = f"(-{-value - 1}{_SUFFIX[type]} - 1{_SUFFIX[type]})"
    return Expression(text, numbers.load(type, _wrapped(value, "long")), type, value)


def _conversion(choose: random.Random, numbers: Numbers) -> Expression:
    """A number that an integer type may not hold: it becomes the nearest that it does hold."""
    type, text = choose.choice(_RANKS), choose.choice(tuple(_FLOATS))
    number, info = float(np.float32(_FLOATS[text])), np.iinfo(TYPES[type])
    low, high = int(info.min), int(info.max)
    value = 0 if number != number else low if number < low else high
    if low <= number <= high:
        value = int(number)
    return Expression(
        f"{type}({text})",
        f"{type}({numbers.load('float', text)})",
        type,
        value,
        is_whole=number == number and low - 1 < number < high + 1,
    )


PARAMETERS = (
    "device ulong* out [[buffer(0)]], device const int* ints [[buffer(1)]], "
    "device const uint* uints [[buffer(2)]], device const long* longs [[buffer(3)]], "
    "device const ulong* ulongs [[buffer(4)]], device const float* floats [[buffer(5)]]"
)


def kernel(expressions: Sequence[Expression]) -> str:
    """A library with kernels `written` and `loaded`, each of them a line for each expression."""
    forms = []
    for name in ("written", "loaded"):
        lines = [
            f"  out[{number}] = (ulong)(long){getattr(each, name)};"
            if each.type in ("int", "long")
            else f"  out[{number}] = (ulong){getattr(each, name)};"
            for number, each in enumerate(expressions)
        ]
        forms.append("\n".join([f"kernel void {name}({PARAMETERS}) {{", *lines, "}"]))
    return "\n".join(forms)


# Accesses by {n}, a number of elements or an index; `which` chooses the case that runs.
_ACCESSES = (
    "float a[4]; for (int j = 0; j < 4; j++) a[j] = x[j]; float s = 0; "
    "for (int j = 0; j < {n}; j++) s += a[j]; y[0] = s;",
    "float a[4] = {{1, 2, 3, 4}}; for (int j = 0; j < {n}; j++) a[j] = x[j % 4]; "
    "y[0] = a[0] + a[3];",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; y[0] = a[{n}];",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; a[{n}] = 9; y[0] = a[0] + a[1] + a[2] + a[3];",
    "float s = 0; for (int j = 0; j < {n}; j++) s += table[j]; y[0] = s;",
    "y[0] = table[{n}];",
    "float4 v = float4(x[0], x[1], x[2], x[3]); y[0] = v[{n}];",
    "float4 v = float4(x[0], x[1], x[2], x[3]); v[{n}] = 5; y[0] = v.x + v.y + v.z + v.w;",
    "float4x4 m = float4x4(x[0]); y[0] = m[{n}][1];",
    "float4x4 m = float4x4(x[0]); y[0] = m[{n}].y + m[0].x;",
    "float i = x[0]; y[0] = (&i)[{n}];",
    "float i = x[0]; (&i)[{n}] = 2; y[0] = i;",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; thread float* p = a; p += {n}; y[0] = *p;",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; y[0] = sum(a, {n});",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; View w = {{a, 4}}; y[0] = w.at({n});",
    "float a[2][3]; for (int j = 0; j < 6; j++) a[j / 3][j % 3] = x[j % 4]; y[0] = a[{n}][2];",
    "array<float, 4> a = {{x[0], x[1], x[2], x[3]}}; y[0] = a[{n}];",
    "Pair a[3] = {{{{1, x[0]}}, {{2, x[1]}}, {{3, x[2]}}}}; Pair b = a[{n}]; y[0] = b.u + b.v;",
    "Pair a[3] = {{{{1, x[0]}}, {{2, x[1]}}, {{3, x[2]}}}}; y[0] = a[{n}].v > 1 ? 7 : 8;",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; if (a[{n}] > 1.5f) y[0] = 1; else y[0] = 2;",
    "short a[5] = {{1, 2, 3, 4, 5}}; a[{n}] += 2; y[0] = a[0] + a[4];",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; auto f = [&](int j) {{ return a[j]; }}; "
    "y[0] = f({n});",
    "float a[4] = {{x[0], x[1], x[2], x[3]}}; float b[8] = {{}}; "
    "thread float* p = x[0] > 0 ? a : b; y[0] = p[{n}];",
)
_HEAD = """
constant float table[4] = {1, 2, 3, 4};
struct Pair { int u; float v; };
struct View { thread float* data; int count; float at(int i) { return data[i]; } };
static float sum(thread const float* a, int n) {
  float s = 0;
  for (int j = 0; j < n; j++) s += a[j];
  return s;
}
"""


def accesses(choose: random.Random, count: int) -> tuple[str, list[int]]:
    """A library with kernels `written` and `loaded` of so many cases, and the cases' numbers."""
    picked = [(choose.choice(_ACCESSES), _index(choose)) for _ in range(count)]
    forms = []
    for name in ("written", "loaded"):
        lines = [
            f"  if (which == {number}) {{ "
            + text.format(n=str(n) if name == "written" else f"n[{number}]")
            + " }"
            for number, (text, n) in enumerate(picked)
        ]
        head = (
            f"kernel void {name}(device float* y [[buffer(0)]], device const float* x "
            "[[buffer(1)]], device const int* n [[buffer(2)]], constant int& which [[buffer(3)]]) {"
        )
        forms.append("\n".join([head, *lines, "}"]))
    return _HEAD + "\n".join(forms), [n for _, n in picked]


def _index(choose: random.Random) -> int:
    return choose.choice((0, 1, 2, 3, 4, 5, 6, 8, 16, -1, -2, 1000, 4, 5))
