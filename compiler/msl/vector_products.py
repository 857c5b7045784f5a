"""Fuses products and sums of vectors as clang fuses those of scalars.

Vectors are classes, whose operators are functions: clang sees no sum of a product in `a * b + c`.
Before anything is put in its place, the code still shows what the source says: an operator is a
call, and what it gives to another of the same expression lies in a temporary that nothing else
uses.

Without fast mathematics such a pair becomes one fused operation: the product also keeps its
factors, and the sum computes with these. With it, all of a program's sums and products of vectors
are marked as those of scalars are, and the engine fuses them. The headers tell by a namespace of
the operators which it is; there is a third for programs that forbid both. What the headers' own
functions compute is never fused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from assay.sim.native.llvm_host import LLVM_LOCK, start_llvm
from assay.sim.native.llvm_modules import module_of
from assay.sim.simt.ir.llvm_types import mangled

_WITHIN, _ACROSS = "_ZN5metal8__within", "_ZN5metal8__across"
_HEADERS = ("_ZN5metal", "_ZNK5metal")  # what their functions are called
_FUNCTION = re.compile(r"^define [^\n]*?@(?P<name>[-\w.$]+)\([^\n]*\n.*?^\}$", re.M | re.S)
_MARKED = re.compile(rf"(?<=@){_ACROSS}(?:m[lLiI]|p[lL])I\w+(?=\()")
_OPERATOR = re.compile(
    rf"call (?:[^@\n]*? )?(?P<type>\{{[^}}]*\}}|\w+) @(?P<name>{_WITHIN}(?P<kind>m[liI]|p[lL])I\w+)"
    r"\((?P<operands>.*)\)(?: #\d+)?, !dbg (?P<place>!\d+)$"
)
# Which operands of a sum may be a product, the first that is one first.
_SUMS = {"pl": (0, 1), "mi": (0, 1), "pL": (1,), "mI": (1,)}
_VECTOR = r"<\d+ x (?:half|bfloat|float)>"
_PRODUCT = re.compile(rf"^  %\S+ = fmul (?P<type>{_VECTOR}) (?P<a>\S+), (?P<b>\S+)$", re.M)
_SUM = re.compile(
    rf"^  (?P<result>%\S+) = (?P<kind>f(?:add|sub)) (?P<type>{_VECTOR}) (?P<a>\S+), (?P<b>\S+)$",
    re.M,
)
_ARITHMETIC = re.compile(rf"^(  %\S+ = f(?:mul|add|sub)) (?={_VECTOR} )", re.M)
_STORED = re.compile(
    r"  (?:%\S+ = (?P<part>extractvalue) |(?P<store>store) |%\S+ = getelementptr )"
    r"[^\n]*?(?:\bptr (?P<to>%[-\w.$]+)[^\n]*)?, !dbg (?P<place>!\d+)(?:, ![^\n]*)?$"
)
_NAME = re.compile(r"%[-\w.$]+")
# What belongs to one initialisation has one number.
_INITIALISED = re.compile(r"^(!\d+) = !DILocation\([^\n]*\batomGroup: (\d+)", re.M)
_UNINTERESTING = re.compile(r"  (?:%\S+ = alloca |call void @llvm\.lifetime\.)")


def with_fused_vectors(bitcode: bytes) -> bytes:
    """Unoptimised code of the front end, in which products and sums of vectors are fused."""
    if _WITHIN.encode() not in bitcode and _ACROSS.encode() not in bitcode:
        return bitcode
    start_llvm()
    with LLVM_LOCK:
        with module_of(bitcode) as module:
            text = str(module)
        changed = _Module(text).fused()
        if changed == text:
            return bitcode
        with module_of(changed) as module:
            return bytes(module.as_bitcode())


class _Module:
    """The text of a module, and operators that were made of its own."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._functions = {found["name"]: found[0] for found in _FUNCTION.finditer(text)}
        self._initialised = dict(_INITIALISED.findall(text))
        self._made: dict[str, str] = {}
        self._declared: set[str] = set()

    def fused(self) -> str:
        changed = _FUNCTION.sub(self._changed, self._text)
        return "\n".join([changed, *self._made.values(), *sorted(self._declared)])

    def _changed(self, function: re.Match[str]) -> str:
        if function["name"].startswith(_HEADERS):
            return function[0]
        if _ACROSS in function[0]:
            return _MARKED.sub(lambda call: self._marked(call[0]), function[0])
        return self._paired(function[0]) if _WITHIN in function[0] else function[0]

    def _marked(self, operator: str) -> str:
        """The operator whose arithmetic may be fused with any other."""
        text, new = self._functions[operator], f"{operator}.contract"
        if new not in self._made and _ARITHMETIC.search(text):
            self._made[new] = _ARITHMETIC.sub(r"\1 contract ", _renamed(text, operator, new))
        return new if new in self._made else operator

    def _paired(self, text: str) -> str:
        """A function in which sums take their products' factors."""
        function = _Function(text, self._initialised)
        for number, line in enumerate(function.lines):
            call = _OPERATOR.search(line)
            if call is None:
                continue
            operands = call["operands"].split(", ")
            for position in _SUMS.get(call["kind"], ()):
                product = function.product(number, operands[position])
                if product is not None and self._pair(function, product, number, position):
                    break
        return function.text()

    def _pair(self, function: _Function, product: int, sum_: int, position: int) -> bool:
        """Whether these two can be made one, which they then are."""
        names = [function.operator(line)["name"] for line in (product, sum_)]
        products = list(_PRODUCT.finditer(self._functions[names[0]]))
        sums = list(_SUM.finditer(self._functions[names[1]]))
        if [len(products), len(sums)] != [1, 1] or products[0]["type"] != sums[0]["type"]:
            return False
        kept, fused = f"{names[0]}.kept", f"{names[1]}.fused{position}"
        if kept not in self._made:
            self._made[kept] = _keeping(self._functions[names[0]], names[0], kept, products[0])
        if fused not in self._made:
            self._made[fused] = self._fusing(names[1], fused, sums[0], position)
        function.share(products[0]["type"], {product: kept, sum_: fused})
        return True

    def _fusing(self, name: str, new: str, sum_: re.Match[str], position: int) -> str:
        """The sum of an operand and a product, whose factors it is given."""
        type = sum_["type"]
        left, other = "%factors.a", sum_["b" if position == 0 else "a"]
        lines = [
            f"  %factors.a = load {type}, ptr %factors",
            f"  %factors.second = getelementptr {{ {type}, {type} }}, ptr %factors, i32 0, i32 1",
            f"  %factors.b = load {type}, ptr %factors.second",
        ]
        if sum_["kind"] == "fsub":
            negated = other if position == 0 else left
            lines.append(f"  %factors.negated = fneg {type} {negated}")
            left, other = (
                (left, "%factors.negated") if position == 0 else ("%factors.negated", other)
            )
        function = f"@llvm.fmuladd.{mangled(type)}"
        lines.append(
            f"  {sum_['result']} = call {type} {function}"
            f"({type} {left}, {type} %factors.b, {type} {other})"
        )
        if f"{function}(" not in self._text:
            self._declared.add(f"declare {type} {function}({type}, {type}, {type})")
        text = self._functions[name].replace(sum_[0], "\n".join(lines))
        return _renamed(text, name, new, "ptr %factors")


class _Function:
    """A function's lines, and where it uses what."""

    def __init__(self, text: str, initialised: Mapping[str, str]) -> None:
        self.lines = text.split("\n")
        self._initialised = initialised
        self._shared: list[str] = []
        self._uses: dict[str, list[int]] = {}
        for number, line in enumerate(self.lines):
            if not _UNINTERESTING.match(line):
                for name in set(_NAME.findall(line)):
                    self._uses.setdefault(name, []).append(number)

    def text(self) -> str:
        return "\n".join([self.lines[0], *self._shared, *self.lines[1:]])

    def operator(self, number: int) -> re.Match[str]:
        """The call in a line that has one."""
        call = _OPERATOR.search(self.lines[number])
        assert call is not None
        return call

    def product(self, sum_: int, operand: str) -> int | None:
        """The line of the product that alone is in the temporary that a sum takes."""
        place = _NAME.search(operand)
        if not operand.startswith("ptr ") or operand.startswith("ptr addrspace") or place is None:
            return None
        first, *more = self._uses[place[0]]
        if more != [sum_]:
            return None
        for number in range(first - 1, 0, -1):
            call = _OPERATOR.search(self.lines[number])
            if call is not None:
                is_all = call["kind"] == "ml" and self._is_result(number, call, place[0], sum_)
                return number if is_all else None
            if not _STORED.match(self.lines[number]):
                return None
        return None

    def _is_result(self, number: int, call: re.Match[str], place: str, sum_: int) -> bool:
        """Whether a product's result goes to a temporary of the expression that the sum is in.

        What initialises a variable, and all temporaries of that, are told by one number.
        """
        stores = self._stores(number, call["type"].count(",") + 1)
        if not stores or stores[0] != place:
            return False
        of = self._initialised.get(stores[1])
        return of is None or of == self._initialised.get((self._stores(sum_, 1) or ("", ""))[1])

    def _stores(self, number: int, count: int) -> tuple[str, str] | None:
        """Where the result of a call goes, in so many parts, and the place of the last store."""
        base = ""
        for line in self.lines[number + 1 :]:
            found = _STORED.match(line)
            if found is None:
                return None
            if not base and not found["part"]:
                base = found["to"]
            count -= found["store"] is not None
            if not count:
                return base, found["place"]
        return None

    def share(self, type: str, calls: dict[int, str]) -> None:
        """Let the calls in these lines be of other functions, which share a product's factors."""
        memory = f"%factors.{len(self._shared)}"
        self._shared.append(f"  {memory} = alloca {{ {type}, {type} }}")
        for number, name in calls.items():
            line = self.lines[number]
            call = self.operator(number)
            before, after = line[: call.start("name")], line[call.end("operands") :]
            self.lines[number] = f"{before}{name}({call['operands']}, ptr {memory}{after}"


def _keeping(text: str, name: str, new: str, product: re.Match[str]) -> str:
    """The product that also keeps its factors."""
    type, a, b = product["type"], product["a"], product["b"]
    lines = [
        product[0],
        f"  store {type} {a}, ptr %factors",
        f"  %factors.second = getelementptr {{ {type}, {type} }}, ptr %factors, i32 0, i32 1",
        f"  store {type} {b}, ptr %factors.second",
    ]
    return _renamed(text.replace(product[0], "\n".join(lines)), name, new, "ptr %factors")


def _renamed(text: str, name: str, new: str, parameter: str = "") -> str:
    """A function of the headers under another name, perhaps with one parameter more."""
    head, _, body = text.partition("\n")
    head = head.replace("define linkonce_odr dso_local ", "define internal ").replace(" comdat", "")
    head = head.replace(f"@{name}(", f"@{new}(")
    if parameter:
        start, _, end = head.rpartition(")")
        head = f"{start}, {parameter}){end}"
    return f"{head}\n{body}"
