"""Takes from a kernel's code what LLVM would leave undefined, before anything is optimised.

LLVM may delete code that does what its IR leaves undefined: an addition that overflows, a shift by
more than the width, a division by zero, an address beyond an object. Such an error of a program
would then turn into nothing. Here each operation gets the meaning that the engines give it, so
that the optimiser computes the same of constants as the engines do of values:

* promises (`nsw`, `inbounds`, `exact`, ranges of loaded values) are dropped;
* shifts count modulo the width; conversions to integers saturate, and NaN gives 0;
* divisors that are no numbers are hidden from the optimiser, which then cannot find that one is 0;
* a function that ends without a value gives 0;
* a value that is known to be none becomes 0.
"""

from __future__ import annotations

import re

# A fixed-point division by 1: LLVM has it, but knows no rule for it. It hides its first operand.
HIDE = "llvm.udiv.fix"

_FLAG = r"(?:nuw|nsw|inbounds|nusw|exact|nneg|disjoint|samesign|inrange\([^)]*\))"
_PROMISES = re.compile(
    r"\b(add|sub|mul|shl|[al]shr|[su]div|or|trunc|zext|uitofp|icmp|getelementptr)"
    rf"((?: {_FLAG})+)(?= )"
)
_METADATA = re.compile(r", !(?:range|noundef|nonnull|align|dereferenceable) ![0-9]+")
_NOTHING = re.compile(r"\b(i\d+|half|bfloat|float|double) poison(?=[,)\s])")
_SECOND_NOTHING = re.compile(
    r"^(  %\S+ = (?!insert|shuffle|select|phi|extract)[^<\n]*?\b(?:i\d+|half|bfloat|float|double) "
    r"[^,<\n]+, )poison(?=[,\s])",
    re.MULTILINE,
)
_NONNULL = re.compile(r"\bnonnull ")
_TYPE = r"(?:i\d+|half|bfloat|float|double|<\d+ x (?:i\d+|half|bfloat|float|double)>)"
_LINE = re.compile(
    rf"  (?P<name>%\S+) = (?P<op>shl|[al]shr|[su]div|[su]rem|fpto[su]i) (?P<type>{_TYPE}) "
    r"(?P<rest>.*)"
)
_WIDENED = re.compile(r"  (?P<name>%\S+) = (?P<op>[sz]ext) (?P<type>i\d+) (?P<of>\S+) to [^,]+")
_TAIL = re.compile(r"(?:, ![a-zA-Z_.]+ ![0-9]+)*$")
_ZERO_IS_POISON = re.compile(r"(call [^@\n]*@llvm\.(?:ctlz|cttz|abs)\.[^\n]*, i1) true\)")
_STORE = re.compile(
    rf"^  store (?P<type>{_TYPE}) (?P<value>[^,]+|<[^>]*>), (?P<place>ptr addrspace.*)",
    re.MULTILINE,
)
_ACTION = re.compile(r"^  (?:store |.*\bcall )", re.MULTILINE)
_RESULT = re.compile(r"^define [^@]*?(?P<type>[<{[].*|ptr addrspace\(\d+\)|[^ ]+) @")
_INTEGERS = r"(?:i\d+|<\d+ x i\d+>)"
_HIDDEN = re.compile(
    rf"^(?P<name>  %\S+) = (?:tail )?call [^@\n]*?(?P<type>{_INTEGERS}) @{HIDE}\.\w+\("
    rf"{_INTEGERS} (?:noundef )?(?P<divisor>-?\d+|<[^>]*>|splat \([^)]*\)), {_INTEGERS} [^\n]*?\)"
    r"(?: #\d+)?(?P<tail>(?:, ![a-zA-Z_.]+ ![0-9]+)*)$",
    re.MULTILINE,
)


def defined(text: str) -> str:
    """The unoptimised module `text`, in which no operation on values is undefined."""
    text = _METADATA.sub("", _PROMISES.sub(r"\1", text))
    text = _NOTHING.sub(r"\1 zeroinitializer", _NONNULL.sub("", text))
    text = _SECOND_NOTHING.sub(r"\1zeroinitializer", text)
    text = _ZERO_IS_POISON.sub(r"\1 false)", text)
    lines: list[str] = []
    result = "void"
    widened: dict[str, re.Match[str]] = {}
    for number, line in enumerate(text.split("\n")):
        if line.startswith("define "):
            found = _RESULT.match(line)
            result = found["type"] if found else "void"
            widened = {}
        if line.startswith("  unreachable"):
            lines.append(_return(line, result))
        elif match := _LINE.match(line):
            lines += _operation(match, number, widened)
        else:
            lines.append(line)
            if wider := _WIDENED.match(line):
                widened[wider["name"]] = wider
    return "\n".join(lines)


def kept_stores(text: str) -> str:
    """The module `text`, in which even what was never set is stored, as some value."""
    lines: list[str] = []
    for number, line in enumerate(text.split("\n")):
        store = _STORE.match(line) if line.startswith("  store ") else None
        lines += _frozen(store, number) if store else [line]
    return "\n".join(lines)


def stores(text: str) -> bool:
    """Whether a module's text writes to memory that others can see."""
    return _STORE.search(text) is not None


def acts(text: str) -> bool:
    """Whether an optimised module's text does anything that could be seen."""
    return _ACTION.search(text) is not None


def known_divisors(text: str) -> str:
    """The optimised module `text`, in which divisors that became numbers are hidden no more."""
    return _HIDDEN.sub(_shown, text) if HIDE in text else text


def _shown(match: re.Match[str]) -> str:
    divisor = f"{match['type']} {match['divisor']}"
    if not _divides("sdiv", match["divisor"]):
        return match[0]
    return f"{match['name']} = add {divisor}, zeroinitializer{match['tail']}"


def _return(line: str, result: str) -> str:
    tail = line.removeprefix("  unreachable")
    return f"  ret void{tail}" if result == "void" else f"  ret {result} zeroinitializer{tail}"


def _frozen(store: re.Match[str], number: int) -> list[str]:
    """A store that the optimiser may not drop because its value is none."""
    name = f"%assay.stored{number}"
    location = re.search(r", !dbg ![0-9]+", store["place"])
    freeze = f"  {name} = freeze {store['type']} {store['value']}"
    return [
        freeze + (location[0] if location else ""),
        f"  store {store['type']} {name}, {store['place']}",
    ]


def _operation(match: re.Match[str], number: int, widened: dict[str, re.Match[str]]) -> list[str]:
    tail = _TAIL.search(match["rest"])
    assert tail is not None
    operands = match["rest"][: tail.start()]
    op, type = match["op"], match["type"]
    if op in ("fptosi", "fptoui"):
        value, _, target = operands.rpartition(" to ")
        name = f"@llvm.{op}.sat.{_mangled(target)}.{_mangled(type)}"
        return [f"  {match['name']} = call {target} {name}({type} {value}){tail[0]}"]
    left, right = _two(operands)
    if op in ("shl", "lshr", "ashr"):
        return _masked_shift(match, left, right, tail[0], number)
    if _divides(op, right):
        return [match[0]]
    name = f"%assay.divisor{number}"
    wider = widened.get(right)
    if op.endswith("rem") and not _is_as_narrow(widened.get(left), wider):
        wider = None  # or LLVM knew a remainder to be small, of which 0 leaves all of the dividend
    return [
        *_hidden(name, type, right, wider, tail[0]),
        f"  {match['name']} = {op} {type} {left}, {name}{tail[0]}",
    ]


def _is_as_narrow(dividend: re.Match[str] | None, divisor: re.Match[str] | None) -> bool:
    """Whether a dividend was widened from a type that is no wider than the divisor's."""
    if dividend is None or divisor is None or dividend["op"] != divisor["op"]:
        return False
    return int(dividend["type"][1:]) <= int(divisor["type"][1:])


def _hidden(
    name: str, type: str, divisor: str, wider: re.Match[str] | None, tail: str
) -> list[str]:
    """A divisor that the optimiser cannot see through, but for how it was widened."""
    if wider is not None:
        narrow, widen = wider["type"], f"{wider['op']} {wider['type']} {name}.n to {type}"
        return [*_hidden(f"{name}.n", narrow, wider["of"], None, tail), f"  {name} = {widen}{tail}"]
    one = "splat (" + type.strip("<>").rpartition(" x ")[2] + " 1)" if type[0] == "<" else "1"
    hidden = f"call {type} @{HIDE}.{_mangled(type)}({type} {divisor}, {type} {one}, i32 0)"
    return [f"  {name} = {hidden}{tail}"]


def _masked_shift(match: re.Match[str], left: str, right: str, tail: str, number: int) -> list[str]:
    type = match["type"]
    width = int(type.rstrip(">").rpartition("i")[2])
    if width & (width - 1) or (right.isdigit() and int(right) < width):
        return [match[0]]
    limit = str(width - 1) if type[0] == "i" else f"splat (i{width} {width - 1})"
    name = f"%assay.count{number}"
    return [
        f"  {name} = and {type} {right}, {limit}{tail}",
        f"  {match['name']} = {match['op']} {type} {left}, {name}{tail}",
    ]


def _divides(op: str, divisor: str) -> bool:
    """Whether a divisor is made of numbers by which all can be divided."""
    if "%" in divisor or "undef" in divisor or "poison" in divisor:
        return False
    numbers = divisor if re.fullmatch(r"-?\d+", divisor) else re.sub(r"\bi\d+\b", "", divisor)
    found = [int(number) for number in re.findall(r"-?\d+", numbers)]
    return bool(found) and not any(n == 0 or (n == -1 and op[0] == "s") for n in found)


def _two(operands: str) -> tuple[str, str]:
    """The two operands in `a, b`, of which each may be a vector in brackets."""
    depth = 0
    for at, character in enumerate(operands):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            return operands[:at], operands[at + 2 :]
    raise ValueError(operands)


def _mangled(type: str) -> str:
    """`<4 x float>` -> `v4f32`, as in names of LLVM's intrinsics."""
    count, _, element = type.strip("<>").rpartition(" x ")
    element = {"half": "f16", "float": "f32", "double": "f64", "bfloat": "bf16"}.get(
        element, element
    )
    return (f"v{count}" if count else "") + element
