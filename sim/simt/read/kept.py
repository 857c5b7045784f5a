"""Keeps accesses to shared memory that the optimiser would drop, merge or put off to a branch.

Checks and proofs are about what the source does. A value that is read in front of the guard which
decides whether it is used is read by all threads; a store that its thread soon overwrites may be
seen in between. Vectors and structs of the language are copied as a whole through pointers of no
address space: what these were made from tells whether memory is shared.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from ..ir.llvm_types import THREADGROUP_SPACE, bits

_SPACE = r"addrspace\([1-6]\)"
_NAME = r'%(?:[-$._A-Za-z0-9]+|"[^"]*")'
# A pointer by its name, or how a constant one is made of that of an array.
_PLACE = rf"(ptr(?: {_SPACE})? (?:[%@][^,\n]+|[a-z][^\n]*\)|null|undef|poison))"
# Where no variable is.
_NOWHERE = re.compile(r"^ptr (?:null|undef|poison|inttoptr|getelementptr[^\n]*(?:null|inttoptr))\b")
_LOAD = re.compile(rf"^(  %\S+ = load )(?!volatile|atomic)([^\n]*?, {_PLACE}), align")
_STORE = re.compile(rf"^(  store )(?!volatile|atomic)([^\n]*, {_PLACE}), align")
_POINTER = re.compile(
    rf"^  (?P<name>{_NAME}) = (?P<op>addrspacecast|getelementptr|phi|select|freeze) (?P<rest>.*)$"
)
_VARIABLE = re.compile(rf"^  ({_NAME}) = alloca ")
# What a pointer of no address space is made from, by how. Only names are variables.
_SOURCES = {
    "getelementptr": re.compile(r"\bptr ([^\s,]+)"),
    "freeze": re.compile(r"\bptr ([^\s,]+)"),
    "select": re.compile(r"\bptr ([^\s,]+)"),
    "phi": re.compile(r"\[ ([^\s,]+), %"),
    "addrspacecast": re.compile(r"\bptr ([^\s,]+) to ptr$"),
}
_FROM_ANY = re.compile(rf"ptr {_SPACE} [^\n]*? to ptr\b(?! addrspace)")
_SHARED_CONSTANT = re.compile(rf"^ptr (?:addrspacecast|getelementptr)\b.*{_SPACE}")
_SHARED_POINTER = re.compile(rf"^ptr {_SPACE}")
_DIRECT_LOAD = re.compile(
    rf"^(  %\S+ = load )(?!volatile|atomic)([^\n]*?, ptr {_SPACE} )", re.MULTILINE
)
_ANY_NAME = re.compile(_NAME)
_FIXED = rf"addrspacecast \(ptr {_SPACE} [^\n]*? to ptr\)"  # a place in an array of the threadgroup
_TARGET = rf"(?:{_NAME}|{_FIXED}|@[-$.\w]+)"
_COPY = re.compile(
    r"^  (?:tail )?call void @llvm\.memcpy\.p\d+\.p\d+\.i64\("
    rf"(?P<into>ptr[^,]*?) (?P<target>{_TARGET}), "
    rf"(?P<from>ptr[^,]*?) (?P<name>{_TARGET}), i64 (?P<size>\d+), "
    r"i1 \w+\)[^!\n]*?(?P<place>, !dbg ![0-9]+)?(?:, !tbaa[^\n]*)?$"
)
_ALIGNMENT = re.compile(r" align (\d+)")
_ALIGNED = re.compile(r" (?:align \d+|dereferenceable\w*\(\d+\)|nonnull|noundef|readonly)")
_TOUCH = "__assay_touch"
_POINTED = rf"(?:{_TARGET}|(?:getelementptr|addrspacecast) [^\n]*?\)|null|undef|poison)"
_END = r"(?: #\d+)?(?P<place>, !dbg ![0-9]+)?(?:, ![^\n]*)?$"
_TOUCHED = re.compile(
    rf"^  (?:tail )?call void @{_TOUCH}\.(?P<size>\d+)\.\d+\((?P<space>ptr(?: {_SPACE})?) "
    rf"[^\n]*?(?P<pointer>{_POINTED})\){_END}"
)
_WIDE = re.compile(r"^  %\S+ = load volatile (?P<type>[^,]+), (?P<pointer>ptr[^,]*)")
_STEP = re.compile(
    rf"^  (?P<name>{_NAME}) = getelementptr (?:inbounds |nuw )*i8, "
    rf"(?P<pointer>(?P<space>ptr(?: addrspace\(\d\))?) {_NAME}), i64 (?P<at>\d+)"
)
_VECTOR = re.compile(r"<(\d+) x (\w+)>$")
_OWN_LOAD = re.compile(rf"^(  %\S+ = load )(?!volatile|atomic)([^\n]*?, ptr (?P<pointer>{_NAME}))")
_KEPT_OWN_LOAD = re.compile(r"^(  %\S+ = load )volatile ([^\n]*?, ptr %)", re.MULTILINE)
_HIDDEN = "nounwind willreturn memory(inaccessiblemem: write)"
# From one pointer to another; then bytes, address spaces, and what addresses are multiples of.
_UNSETTLED = "__assay_copy"
_UNSETTLED_COPY = re.compile(
    rf"^  (?:tail )?call void @{_UNSETTLED}\.(?P<size>\d+)\.\d+\.\d+"
    r"\.(?P<to>\d+)\.(?P<of>\d+)\("
    rf"(?P<into>ptr(?: {_SPACE})?) [^\n]*?(?P<target>{_POINTED}), "
    rf"(?P<from>ptr(?: {_SPACE})?) [^\n]*?(?P<name>{_POINTED})\){_END}"
)
_WORDS = 16  # of a load in its place
_MOST_LOADS = 64  # in the place of one copy


def mark_copies(text: str) -> str:
    """The unoptimised module `text`, with a mark where a whole struct or vector is read.

    Loads of constant and of shared memory are kept from here on, though their values be stored
    where nothing is; later ones of constant memory are parts of such copies.

    Of a copy of which a part is used, or nothing, nothing else is left. One from shared memory to
    shared memory is made by words, as it goes if both are the same. What pointers lead to that a
    function is given is known once it is inlined: `settled` sees to their copies then.
    """
    lines: list[str] = []
    declared: dict[str, str] = {}
    text = _DIRECT_LOAD.sub(r"\1volatile \2", text)
    for number, body in enumerate(_functions(text)):
        own, shared = _own(body), _shared(body)
        for at, line in enumerate(body):
            copy = _COPY.match(line) if "@llvm.memcpy" in line else None
            if copy is None or copy["name"] in own:
                lines.append(line)
                continue
            into, from_ = _ALIGNED.sub("", copy["into"]), _ALIGNED.sub("", copy["from"])
            aligned = _alignment(copy["into"]), _alignment(copy["from"])
            is_read = _is_shared(from_, copy["name"], shared)
            if is_read and _is_shared(into, copy["target"], shared):
                lines += _copied(copy, from_, into, aligned, f"%assay.copy.{number}.{at}")
                continue
            touch = f"{_TOUCH}.{copy['size']}.{_number_of(from_)}"
            declared[touch] = f"({from_} readnone) {_HIDDEN}"
            lines.append(f"  call void @{touch}({from_} {copy['name']}){copy['place'] or ''}")
            if copy["target"] in own:
                lines.append(line)
                continue
            spaces = f"{_number_of(into)}.{_number_of(from_)}"
            name = f"{_UNSETTLED}.{copy['size']}.{spaces}.{aligned[0]}.{aligned[1]}"
            declared[name] = f"({into}, {from_}) nounwind willreturn memory(argmem: readwrite)"
            passed = f"{into} {copy['target']}, {from_} {copy['name']}"
            lines.append(f"  call void @{name}({passed}){copy['place'] or ''}")
    lines += [f"declare void @{name}{rest}" for name, rest in declared.items()]
    return "\n".join(lines)


def settled(text: str) -> str:
    """The module `text`, inlined: marks stay that are about memory which threads may share, and
    copies between pointers become what they are.
    """
    lines: list[str] = []
    declared: set[str] = set()
    for number, body in enumerate(_functions(text)):
        own = _own(body)
        for at, line in enumerate(body):
            touched = _TOUCHED.match(line)
            copy = _UNSETTLED_COPY.match(line)
            if touched is not None and touched["pointer"] in own:
                continue
            if copy is None:
                lines.append(line)
            elif own.isdisjoint((copy["target"], copy["name"])):
                aligned, name = (copy["to"], copy["of"]), f"%assay.settled.{number}.{at}"
                lines += _copied(copy, copy["from"], copy["into"], aligned, name)
            else:
                into, from_ = copy["into"], copy["from"]
                name = f"@llvm.memcpy.p{_number_of(into)}.p{_number_of(from_)}.i64"
                declared.add(f"declare void {name}({into}, {from_}, i64, i1)")
                lines.append(
                    f"  call void {name}({into} align {copy['to']} {copy['target']}, "
                    f"{from_} align {copy['of']} {copy['name']}, "
                    f"i64 {copy['size']}, i1 false){copy['place'] or ''}"
                )
    known = set(re.findall(r"(?m)^declare [^\n]*@(llvm\.memcpy[.\w]+)", text))
    lines += [each for each in sorted(declared) if each.split("@")[1].split("(")[0] not in known]
    return "\n".join(lines)


def _number_of(space: str) -> str:
    """The number of an address space."""
    return re.sub(r"[^0-9]", "", space) or "0"


def keep_loads(text: str) -> str:
    """The module `text`, in which no load of shared memory goes, or is put off."""
    lines: list[str] = []
    for body in _functions(text):
        shared = _shared(body)
        lines += _loaded([_kept(line, _LOAD, shared) for line in body])
    return "\n".join(lines)


def keep_stores(text: str) -> str:
    """The module `text`, in which no store to shared memory goes for a later one of its thread."""
    lines: list[str] = []
    for body in _functions(text):
        shared = _shared(body)
        lines += [_kept(line, _STORE, shared) for line in body]
    return "\n".join(lines)


def keep_own_loads(text: str) -> str:
    """The same of what is left in a thread's own memory, which is not put into registers then."""
    lines: list[str] = []
    for body in _functions(text):
        others = _shared(body)
        for line in body:
            own = _OWN_LOAD.match(line)
            is_own = own is not None and own["pointer"] not in others
            lines.append(_OWN_LOAD.sub(r"\1volatile \2", line) if is_own else line)
    return "\n".join(lines)


def release_own_loads(text: str) -> str:
    """Takes `keep_own_loads` back."""
    return _KEPT_OWN_LOAD.sub(r"\1\2", text)


def _functions(text: str) -> Iterator[list[str]]:
    """The lines of each function, and those between."""
    body: list[str] = []
    for line in text.split("\n"):
        if line.startswith("define "):
            yield body
            body = []
        body.append(line)
    yield body


def _shared(body: list[str]) -> frozenset[str]:
    """Pointers of no address space that come from some that have one."""

    def comes(pointer: re.Match[str], known: set[str]) -> bool:
        rest = pointer["rest"]
        return bool(_FROM_ANY.search(rest) or known & set(_ANY_NAME.findall(rest)))

    return _followed(body, set(), comes)


def _own(body: list[str]) -> frozenset[str]:
    """Pointers that surely lead to a function's own variables."""

    def comes(pointer: re.Match[str], known: set[str]) -> bool:
        sources = set(_SOURCES[pointer["op"]].findall(pointer["rest"]))
        return bool(sources) and sources <= known

    variables = {match[1] for line in body if (match := _VARIABLE.match(line)) is not None}
    return _followed(body, variables, comes)


def _followed(
    body: list[str], known: set[str], comes: Callable[[re.Match[str], set[str]], bool]
) -> frozenset[str]:
    """Pointers that are known, and all that come from these."""
    made = [match for line in body if (match := _POINTER.match(line)) is not None]
    while True:
        before = len(known)
        known |= {match["name"] for match in made if comes(match, known)}
        if len(known) == before:
            return frozenset(known)


def _is_shared(space: str, pointer: str, shared: frozenset[str]) -> bool:
    """Whether a copy's pointer leads to memory that threads share, none of them a table."""
    if pointer.startswith("@"):
        return space == f"ptr addrspace({THREADGROUP_SPACE})"
    return space != "ptr" or pointer in shared or pointer.startswith("addrspacecast")


def _kept(line: str, access: re.Pattern[str], shared: frozenset[str]) -> str:
    """A line whose access stays, if it is one to shared memory."""
    match = access.match(line)
    if match is None:
        return line
    pointer = match[3]
    known = (_SHARED_POINTER, _SHARED_CONSTANT, _NOWHERE)
    is_shared = any(each.match(pointer) for each in known)
    if not is_shared and pointer.removeprefix("ptr ") not in shared:
        return line
    return f"{match[1]}volatile {line[len(match[1]) :]}"


def _loaded(body: list[str]) -> Iterator[str]:
    """The lines of a function with loads in place of marks, where others do not load so much."""
    if not any(f"@{_TOUCH}." in line for line in body):
        yield from body
        return
    known = _bytes_loaded(body)
    for number, line in enumerate(body):
        touched = _TOUCHED.match(line)
        if touched is None:
            yield line
        elif not _is_known(touched, known):
            yield from _loads(touched, number)


def _is_known(touched: re.Match[str], known: dict[str, set[int]]) -> bool:
    """Whether other loads read all that is marked."""
    loaded = known.get(f"{touched['space']} {touched['pointer']}", set())
    return loaded.issuperset(range(int(touched["size"])))


def _bytes_loaded(body: list[str]) -> dict[str, set[int]]:
    """Which bytes behind pointers are loaded, by the pointers, each with its space."""
    steps: dict[str, tuple[str, int]] = {}
    found: dict[str, set[int]] = {}
    for line in body:
        if (step := _STEP.match(line)) is not None:
            steps[f"{step['space']} {step['name']}"] = step["pointer"], int(step["at"])
        elif (load := _WIDE.match(line)) is not None:
            pointer, at = steps.get(load["pointer"], (load["pointer"], 0))
            found.setdefault(pointer, set()).update(range(at, at + _size(load["type"])))
    return found


def _loads(touched: re.Match[str], number: int) -> Iterator[str]:
    """Loads of as many bytes."""
    space, pointer = touched["space"], touched["pointer"]
    place, name = touched["place"] or "", f"%assay.touch.{number}"
    for at, kind in _words(int(touched["size"])):
        yield f"  {name}.at{at} = getelementptr i8, {space} {pointer}, i64 {at}{place}"
        yield f"  {name}.{at} = load volatile {kind}, {space} {name}.at{at}, align 1{place}"


def _alignment(pointer: str) -> str:
    """What a copy's address is a multiple of by its type."""
    found = _ALIGNMENT.search(pointer)
    return found[1] if found else "1"


def _copied(
    copy: re.Match[str], from_: str, into: str, aligned: tuple[str, str], name: str
) -> Iterator[str]:
    """Loads of all bytes, and stores of them; the first of each stands for the alignment of all."""
    place, words = copy["place"] or "", list(_words(int(copy["size"])))
    to, of = aligned
    for at, kind in words:
        yield f"  {name}.from{at} = getelementptr i8, {from_} {copy['name']}, i64 {at}{place}"
        source, align = f"{from_} {name}.from{at}", 1 if at else of
        yield f"  {name}.{at} = load volatile {kind}, {source}, align {align}{place}"
    for at, kind in words:
        yield f"  {name}.into{at} = getelementptr i8, {into} {copy['target']}, i64 {at}{place}"
        value, target = f"{kind} {name}.{at}", f"{into} {name}.into{at}"
        yield f"  store volatile {value}, {target}, align {1 if at else to}{place}"


def _words(size: int) -> Iterator[tuple[int, str]]:
    """Places and types of what so many bytes are made of."""
    width = 4 if size % 4 == 0 else 1
    most = max(_WORDS, -(-size // (width * _MOST_LOADS)))
    for at in range(0, size, width * most):
        count = min(most, (size - at) // width)
        yield at, f"i{8 * width}" if count == 1 else f"<{count} x i{8 * width}>"


def _size(kind: str) -> int:
    """Bytes of a number or of a vector; 0 for anything else."""
    match = _VECTOR.match(kind)
    count, element = (int(match[1]), match[2]) if match else (1, kind)
    try:
        return count * bits(element) // 8
    except (KeyError, ValueError):
        return 0
