"""Takes from a kernel's code what LLVM would leave undefined, before anything is optimised.

LLVM may delete code that does what its IR leaves undefined: an addition that overflows, a shift by
more than the width, a division by zero, an address beyond an object. Such an error of a program
would then turn into nothing. Here each operation gets the meaning that the engines give it, so
that the optimiser computes the same of constants as the engines do of values:

* promises (`nsw`, `inbounds`, `exact`, ranges of loaded values) are dropped;
* that accesses as different types are to different places is not believed, as kernels reinterpret
  memory; nor is `restrict`, as what was handed to it may overlap; that accesses in different
  address spaces are to different places is;
* shifts count modulo the width; conversions to integers saturate, and NaN gives 0;
* divisions by what is no number are hidden from the optimiser (`divisions.py`);
* a function that ends without a value gives 0;
* a value that is known to be none becomes 0.
"""

from __future__ import annotations

import re

from ..ir.llvm_types import mangled
from .divisions import divided

_FLAG = r"(?:nuw|nsw|inbounds|nusw|exact|nneg|disjoint|samesign|inrange\([^)]*\))"
_PROMISES = re.compile(
    r"\b(add|sub|mul|shl|[al]shr|[su]div|or|trunc|zext|uitofp|icmp|getelementptr)"
    rf"((?: {_FLAG})+)(?= )"
)
_METADATA = re.compile(r", !(?:range|noundef|nonnull|align|dereferenceable) ![0-9]+")
# What is said of an access: that no access as another type goes to the same place.
_TYPED = re.compile(
    r"(?P<access>ptr(?: addrspace\((?P<space>\d+)\))? [^\s,]+(?:, align \d+)?(?:, !dbg ![0-9]+)?)"
    r", !tbaa ![0-9]+"
)
# What is said of a pointer: that nothing else reaches what it points to. A struct that a function
# fills for its caller is such a place.
_RESTRICT = re.compile(r" noalias(?! sret| writable sret)(?=[ ,])")
_OTHERWISE_TYPED = re.compile(r", !tbaa(?:\.struct)? ![0-9]+")
_KINDS = {"1": "written", "3": "written", "6": "constant"}  # by address space
_NUMBERED = re.compile(r"^!(\d+) = ", re.MULTILINE)
_NOTHING = re.compile(r"\b(i\d+|half|bfloat|float|double) poison(?=[,)\s]|$)")
_SECOND_NOTHING = re.compile(
    r"^(  %\S+ = (?!insert|shuffle|select|phi|extract)[^<\n]*?\b(?:i\d+|half|bfloat|float|double) "
    r"[^,<\n]+, )poison(?=[,\s]|$)"
)
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


def defined(text: str, *, has_types: bool = False) -> str:
    """The unoptimised module `text`, in which no operation on values is undefined.

    Args:
        text: the module.
        has_types: whether accesses of different types, and those by different pointers that are
            `restrict`, still count as being of different places, as compilers of machines count
            them.
    """
    text = _METADATA.sub("", _PROMISES.sub(r"\1", text))
    text = text if has_types else _by_space(_RESTRICT.sub("", text))
    text = _ZERO_IS_POISON.sub(r"\1 false)", text.replace(" nonnull ", " "))
    lines: list[str] = []
    result = "void"
    widened: dict[str, re.Match[str]] = {}
    for number, line in enumerate(text.split("\n")):
        if " poison" in line:
            line = _something(line)
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


def _by_space(text: str) -> str:
    """The module `text`, in which accesses are told apart by address spaces, not by types."""
    first = max(map(int, _NUMBERED.findall(text)), default=-1) + 1
    lines, tags = [f'!{first} = !{{!"assay"}}'], dict[str, int]()
    for kind in dict.fromkeys(_KINDS.values()):
        node = first + len(lines)
        lines.append(f'!{node} = !{{!"{kind}", !{first}, i64 0}}')
        lines.append(f"!{node + 1} = !{{!{node}, !{node}, i64 0}}")
        tags[kind] = node + 1

    def tagged(match: re.Match[str]) -> str:
        kind = _KINDS.get(match["space"])
        return match["access"] if kind is None else f"{match['access']}, !kind !{tags[kind]}"

    text = _OTHERWISE_TYPED.sub("", _TYPED.sub(tagged, text))
    return "\n".join([text.replace(", !kind !", ", !tbaa !"), *lines, ""])


def _something(line: str) -> str:
    """A line in which what is known to be no value is 0."""
    line = _NOTHING.sub(r"\1 zeroinitializer", line)
    return _SECOND_NOTHING.sub(r"\1zeroinitializer", line, count=1)


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
        name = f"@llvm.{op}.sat.{mangled(target)}.{mangled(type)}"
        return [f"  {match['name']} = call {target} {name}({type} {value}){tail[0]}"]
    left, right = _two(operands)
    if op in ("shl", "lshr", "ashr"):
        return _masked_shift(match, left, right, tail[0], number)
    return divided(match, left, right, tail[0], number, widened)


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


def _two(operands: str) -> tuple[str, str]:
    """The two operands in `a, b`, of which each may be a vector in brackets."""
    depth = 0
    for at, character in enumerate(operands):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            return operands[:at], operands[at + 2 :]
    raise ValueError(operands)
