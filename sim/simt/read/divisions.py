"""Hides divisions whose divisor may be 0 from the optimiser, and shows it those that cannot be.

LLVM takes it that no divisor is 0: it drops code for one, and compares quotients by comparing
divisors (`x / y == 0` becomes `y > x`). The engines give such a division a result, and everything
that is computed of it must agree with that. So the divisor is hidden until it turns out to be a
number by which all can be divided, and so is the result.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..ir.llvm_types import mangled

# Fixed-point divisions by 1: LLVM has them, but knows no rule for them. They hide a first operand,
# divisors and results in ways of their own: a hidden 0 over a hidden 0 is no number over itself.
_DIVISOR, _RESULT = "llvm.udiv.fix", "llvm.sdiv.fix"
HIDING = (_DIVISOR, _RESULT)

_INTEGERS = r"(?:i\d+|<\d+ x i\d+>)"
_HIDDEN = re.compile(
    rf"^  (?P<name>%\S+) = (?:tail )?call [^@\n]*?(?P<type>{_INTEGERS}) @llvm\.[us]div\.fix\.\w+\("
    rf"{_INTEGERS} (?:noundef )?(?P<of>%\S+|-?\d+|<[^>]*>|splat \([^)]*\)), {_INTEGERS} [^\n]*?\)"
    r"(?: #\d+)?(?P<tail>(?:, ![a-zA-Z_.]+ ![0-9]+)*)$",
    re.MULTILINE,
)
# What stands between hidden results and divisors: changes of width, and the division.
_STEP = re.compile(
    rf"^  (?P<name>%\S+) = (?:(?:trunc|zext|sext)(?: n[a-z]+)* {_INTEGERS} (?P<of>%\S+) to .*"
    rf"|[su](?:div|rem)(?: exact)? {_INTEGERS} [^,\n]+(?:>[^,\n]*)?, (?P<by>%[^\s,]+).*)$",
    re.MULTILINE,
)


def divided(
    match: re.Match[str],
    left: str,
    right: str,
    tail: str,
    number: int,
    widened: Mapping[str, re.Match[str]],
) -> list[str]:
    """The lines for a division `match` of `left` by `right`; `tail` is what comes behind it.

    `number` makes new names its own; `widened` has the definitions of values that were widened.
    """
    op, type, name = match["op"], match["type"], match["name"]
    if _divides(op, right):
        return [match[0]]
    divisor, result = f"%assay.divisor{number}", f"%assay.divided{number}"
    wider = widened.get(right)
    narrow = _narrow(op, widened.get(left), wider)
    if op.endswith("rem") and narrow is None:
        wider = None  # or LLVM knew a remainder to be small, of which 0 leaves all of the dividend
    return [
        *_hidden(divisor, type, right, wider, tail),
        f"  {result} = {op} {type} {left}, {divisor}{tail}",
        *_hidden_result(name, type, result, narrow, tail),
    ]


def _narrow(
    op: str, dividend: re.Match[str] | None, divisor: re.Match[str] | None
) -> tuple[str, str] | None:
    """How a result may be widened from a narrower type, which both operands were widened from."""
    if dividend is None or divisor is None or dividend["op"] != divisor["op"]:
        return None
    if int(dividend["type"][1:]) > int(divisor["type"][1:]):
        return None
    if dividend["op"] == "sext" and op == "sdiv":
        return None  # the smallest number by -1
    return dividend["op"], divisor["type"]


def _hidden(
    name: str, type: str, divisor: str, wider: re.Match[str] | None, tail: str
) -> list[str]:
    """A divisor that the optimiser cannot see through, but for how it was widened."""
    if wider is None:
        return [_hide(_DIVISOR, name, type, divisor, tail)]
    narrow, widen = wider["type"], f"{wider['op']} {wider['type']} {name}.n to {type}"
    hidden = _hide(_DIVISOR, f"{name}.n", narrow, wider["of"], tail)
    return [hidden, f"  {name} = {widen}{tail}"]


def _hidden_result(
    name: str, type: str, result: str, narrow: tuple[str, str] | None, tail: str
) -> list[str]:
    """A result that the optimiser cannot see through, but for how narrow it is."""
    if narrow is None:
        return [_hide(_RESULT, name, type, result, tail)]
    widen, least = narrow
    return [
        f"  {result}.n = trunc {type} {result} to {least}{tail}",
        _hide(_RESULT, f"{result}.h", least, f"{result}.n", tail),
        f"  {name} = {widen} {least} {result}.h to {type}{tail}",
    ]


def _hide(how: str, name: str, type: str, value: str, tail: str) -> str:
    one = "splat (" + type.strip("<>").rpartition(" x ")[2] + " 1)" if type[0] == "<" else "1"
    hidden = f"@{how}.{mangled(type)}({type} {value}, {type} {one}, i32 0)"
    return f"  {name} = call {type} {hidden}{tail}"


def known_divisors(text: str) -> str:
    """The optimised module `text`, in which divisions by what became a number hide no more."""
    hidden = {match["name"]: match for match in _HIDDEN.finditer(text)}
    known = {name for name, match in hidden.items() if _divides("sdiv", match["of"])}
    if not known:
        return text
    steps = {match["name"]: match for match in _STEP.finditer(text)}
    results = {name for name, match in hidden.items() if _is_by(match["of"], steps, known)}

    def shown(match: re.Match[str]) -> str:
        if match["name"] not in known | results:
            return match[0]
        return (
            f"  {match['name']} = add {match['type']} {match['of']}, zeroinitializer"
            + (match["tail"])
        )

    return _HIDDEN.sub(shown, text)


def _is_by(value: str, steps: Mapping[str, re.Match[str]], known: set[str]) -> bool:
    """Whether a value is the result of a division by one of the `known` divisors."""
    step = steps.get(value)
    if step is None:
        return False
    if step["of"]:
        return _is_by(step["of"], steps, known)
    divisor = step["by"]
    while divisor in steps and steps[divisor]["of"]:
        divisor = steps[divisor]["of"]
    return divisor in known


def _divides(op: str, divisor: str) -> bool:
    """Whether a divisor is made of numbers by which all can be divided."""
    if "%" in divisor or "undef" in divisor or "poison" in divisor:
        return False
    numbers = divisor if re.fullmatch(r"-?\d+", divisor) else re.sub(r"\bi\d+\b", "", divisor)
    found = [int(number) for number in re.findall(r"-?\d+", numbers)]
    return bool(found) and not any(n == 0 or (n == -1 and op[0] == "s") for n in found)
