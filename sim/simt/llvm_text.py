"""Reads LLVM's textual IR into plain records: one function, its globals and its debug locations.

Only what clang and LLVM's scalar optimiser write for kernels is understood; the rest is refused
with the line of IR that was not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from .llvm_types import Array, Opaque, Pointer, Scalar, Struct, Type, Vector


class IRSyntaxError(Exception):
    """A line of IR that this reader does not know."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A typed operand: a local (`%x`), a global (`@x`), a literal or a constant expression."""

    type: Type
    text: str
    parts: tuple[Operand, ...] = ()  # of an aggregate or a constant expression
    source: Type | None = None  # the type that a constant getelementptr steps through


@dataclass(slots=True)
class Record:
    """One instruction as written."""

    op: str
    name: str  # result, "" if none
    type: Type
    operands: list[Operand]
    flags: frozenset[str] = frozenset()
    predicate: str = ""
    labels: list[str] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)
    source: Type | None = None  # type that getelementptr steps through, or of the loaded memory
    align: int = 0  # of an access, or of what memset fills
    aligns: tuple[int, ...] = ()  # of what memcpy writes and reads
    callee: str = ""
    location: str = ""


@dataclass(slots=True)
class Global:
    """A global variable."""

    name: str
    type: Type
    space: int
    constant: bool
    initialiser: Operand | None


@dataclass(slots=True)
class FunctionText:
    """A function definition."""

    name: str
    parameters: list[tuple[str, Type]]
    blocks: dict[str, list[Record]]


@dataclass(slots=True)
class ModuleText:
    """What was read of a module."""

    globals: dict[str, Global]
    functions: dict[str, FunctionText]
    metadata: dict[str, str]


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>c?"(?:[^"\\]|\\.)*")
    | (?P<name>[%@](?:"[^"]*"|[-$._A-Za-z0-9]+))
    | (?P<meta>![-$._A-Za-z0-9]*)
    | (?P<attribute>\#\d+)
    | (?P<number>
        [-+]?(?:0x[HRKLM]?[0-9A-Fa-f]+|f0x[0-9A-Fa-f]+|\d+\.\d*(?:e[-+]?\d+)?|\d+)
      )(?![A-Za-z0-9_.])
    | (?P<word>[A-Za-z_$.][-A-Za-z0-9_$.]*)
    | (?P<ellipsis>\.\.\.)
    | (?P<punct>[][(){}<>,=:*|])
    )""",
    re.VERBOSE,
)

_BINARY = {
    *("add", "sub", "mul", "udiv", "sdiv", "urem", "srem", "shl", "lshr", "ashr"),
    *("and", "or", "xor", "fadd", "fsub", "fmul", "fdiv", "frem"),
}
_CASTS = {
    *("trunc", "zext", "sext", "fptrunc", "fpext", "fptoui", "fptosi", "uitofp", "sitofp"),
    *("bitcast", "ptrtoint", "inttoptr", "addrspacecast", "ptrtoaddr"),
}
_FLAGS = {
    *("nuw", "nsw", "exact", "disjoint", "nneg", "samesign", "inbounds", "nusw"),
    *("fast", "contract", "reassoc", "nnan", "ninf", "nsz", "arcp", "afn"),
}
_SKIPPED_ATTRIBUTES = {
    *("noundef", "nonnull", "readonly", "readnone", "writeonly", "noalias", "zeroext", "signext"),
    *("nocapture", "returned", "immarg", "inreg", "nofree", "noext", "dead_on_unwind", "writable"),
    *("dead_on_return", "allocptr", "swiftself", "nest", "noinline"),
}
_ATTRIBUTES_WITH_ARGUMENT = {
    *("dereferenceable", "dereferenceable_or_null", "captures", "range", "sret", "byval"),
    *("initializes", "nofpclass", "elementtype", "byref", "memory"),
}


class _Line:
    """A cursor over one line's tokens."""

    def __init__(self, text: str, types: dict[str, Type]) -> None:
        self.text = text
        self.types = types
        self.tokens = list(_tokens(text))
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *wanted: str) -> bool:
        if self.peek() in wanted:
            self.at += 1
            return True
        return False

    def expect(self, wanted: str) -> None:
        if not self.accept(wanted):
            raise IRSyntaxError(
                f"expected '{wanted}' before '{self.peek()}' in: {self.text.strip()}"
            )

    def flags(self) -> frozenset[str]:
        found = set()
        while self.peek() in _FLAGS:
            flag = self.next()
            found.add(flag)
            if flag == "inrange":
                self._parenthesised()
        return frozenset(found)

    def _parenthesised(self) -> None:
        depth = 0
        while True:
            token = self.next()
            depth += (token == "(") - (token == ")")
            if depth == 0 or token == "":
                return

    def attributes(self) -> int:
        """Skip parameter attributes; returns the alignment among them, 0 if there is none."""
        align = 0
        while True:
            token = self.peek()
            if token in _SKIPPED_ATTRIBUTES or token.startswith(("#", '"')):
                self.next()
                if self.accept("="):
                    self.next()
            elif token in _ATTRIBUTES_WITH_ARGUMENT:
                self.next()
                self._parenthesised()
            elif token == "align":
                self.next()
                if self.peek() == "(":
                    self._parenthesised()
                else:
                    align = int(self.next())
            else:
                return align

    def type(self) -> Type:
        token = self.next()
        kind: Type
        if token == "<":
            if self.accept("{"):
                kind = Struct(self._fields("}"), packed=True)
                self.expect(">")
            else:
                count = int(self.next())
                self.expect("x")
                kind = Vector(count, self.type())
                self.expect(">")
        elif token == "[":
            count = int(self.next())
            self.expect("x")
            kind = Array(count, self.type())
            self.expect("]")
        elif token == "{":
            kind = Struct(self._fields("}"))
        elif token == "ptr":
            space = 0
            if self.accept("addrspace"):
                self.expect("(")
                space = int(self.next())
                self.expect(")")
            kind = Pointer(space)
        elif token.startswith("%"):
            kind = self.types[token]
        elif token in ("half", "bfloat", "float", "double") or re.fullmatch(r"i\d+", token):
            kind = Scalar(token)
        elif token in ("void", "label", "metadata", "token", "opaque"):
            kind = Opaque(token)
        else:
            raise IRSyntaxError(f"unknown type '{token}' in: {self.text.strip()}")
        return kind

    def _fields(self, close: str) -> tuple[Type, ...]:
        fields: list[Type] = []
        while not self.accept(close):
            fields.append(self.type())
            self.accept(",")
        return tuple(fields)

    def typed(self) -> Operand:
        kind = self.type()
        self.attributes()
        return self.value(kind)

    def value(self, kind: Type) -> Operand:
        token = self.next()
        if token in ("getelementptr", "addrspacecast", "bitcast", "ptrtoint", "inttoptr"):
            return self._constant_expression(kind, token)
        if token in ("add", "sub", "mul", "xor", "trunc"):
            return self._constant_expression(kind, token)
        if token == "splat":
            self.expect("(")
            part = self.typed()
            self.expect(")")
            count = kind.count if isinstance(kind, Vector) else 1
            return Operand(kind, "aggregate", (part,) * count)
        if token in ("[", "<", "{"):
            close = {"[": "]", "<": ">", "{": "}"}[token]
            if token == "<" and self.accept("{"):
                parts = self._values("}")
                self.expect(">")
            else:
                parts = self._values(close)
            return Operand(kind, "aggregate", parts)
        if token.startswith('c"'):
            return _string(kind, token)
        if token == "dso_local_equivalent":
            token = self.next()
        return Operand(kind, token)

    def _values(self, close: str) -> tuple[Operand, ...]:
        parts = []
        while not self.accept(close):
            parts.append(self.typed())
            self.accept(",")
        return tuple(parts)

    def _constant_expression(self, kind: Type, op: str) -> Operand:
        self.flags()
        if self.accept("inrange"):
            self._parenthesised()
        self.expect("(")
        source: Type | None = None
        if op == "getelementptr":
            source = self.type()
            self.expect(",")
        parts = [self.typed()]
        while self.accept(","):
            parts.append(self.typed())
        if self.accept("to"):
            self.type()
        self.expect(")")
        return Operand(kind, op, tuple(parts), source)


def _tokens(text: str) -> Iterator[str]:
    position, end = 0, len(text.rstrip())
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            if text[position:].lstrip().startswith(";"):
                return
            raise IRSyntaxError(f"unreadable at '{text[position : position + 20]}': {text.strip()}")
        token = match.group().strip()
        position = match.end()
        yield token


_DBG = re.compile(r", !dbg (![0-9]+)")
_TYPE_DEFINITION = re.compile(r"^(%\S+) = type (.*)$", re.MULTILINE)
_TRAILING_METADATA = re.compile(r"(, ![a-zA-Z_.]+ ![0-9]+|, !srcloc ![0-9]+)+\s*(#\d+)?\s*$")
_METADATA = re.compile(r"^(![0-9]+) = (?:distinct )?(.*)$")


def read_module(text: str) -> ModuleText:
    """Read a module's text.

    Raises:
        IRSyntaxError: for a construct that kernels are not known to use.
    """
    module = ModuleText({}, {}, {})
    types = _NamedTypes(text)
    lines = iter(text.splitlines())
    for line in lines:
        if line.startswith("@"):
            variable = _read_global(line, types)
            if variable is not None:
                module.globals[variable.name] = variable
        elif line.startswith("define"):
            function = _read_function(line, lines, types)
            module.functions[function.name] = function
        elif line.startswith("!") and (match := _METADATA.match(line)):
            module.metadata[match[1]] = match[2]
    return module


def types_of(text: str) -> dict[str, Type]:
    """The named structures of a module's text."""
    return _NamedTypes(text)


def read_type_of_alloca(text: str, types: dict[str, Type]) -> Type:
    """The type at the start of what follows the word `alloca`."""
    return _Line(text, types).type()


class _NamedTypes(dict[str, Type]):
    """Structures by name, read when first asked for, since they may be used before their line."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._definitions = {m[1]: m[2] for m in _TYPE_DEFINITION.finditer(text)}

    def __missing__(self, name: str) -> Type:
        definition = self._definitions.get(name, "opaque")
        kind = Opaque(name) if definition == "opaque" else _Line(definition, self).type()
        self[name] = kind
        return kind


_GLOBAL_WORDS = {
    *("private", "internal", "external", "dso_local", "local_unnamed_addr", "unnamed_addr"),
    *("linkonce_odr", "weak_odr", "linkonce", "weak", "common", "appending", "hidden"),
    *("externally_initialized", "available_externally", "protected", "extern_weak"),
}


def _read_global(text: str, types: dict[str, Type]) -> Global | None:
    line = _Line(text, types)
    name = line.next()
    line.expect("=")
    while line.peek() in _GLOBAL_WORDS:
        line.next()
    space = 0
    if line.accept("addrspace"):
        line.expect("(")
        space = int(line.next())
        line.expect(")")
    if line.peek() not in ("global", "constant"):
        return None
    constant = line.next() == "constant"
    kind = line.type()
    initialiser = None if line.peek() in (",", "") else line.value(kind)
    return Global(name, kind, space, constant, initialiser)


def _string(kind: Type, token: str) -> Operand:
    data = re.sub(r"\\(\\|[0-9A-Fa-f]{2})", _unescaped, token[2:-1])
    return Operand(kind, "aggregate", tuple(Operand(Scalar("i8"), str(ord(c))) for c in data))


def _unescaped(escape: re.Match[str]) -> str:
    return "\\" if escape[1] == "\\" else chr(int(escape[1], 16))


def _read_function(text: str, lines: Iterator[str], types: dict[str, Type]) -> FunctionText:
    line = _Line(text.split(" !dbg ")[0].rstrip("{ "), types)
    while not line.peek().startswith("@"):
        line.next()
    name = line.next()
    line.expect("(")
    parameters: list[tuple[str, Type]] = []
    while not line.accept(")"):
        kind = line.type()
        line.attributes()
        parameters.append((line.next(), kind))
        line.accept(",")
    blocks: dict[str, list[Record]] = {}
    label = f"%{len(parameters)}" if _numbered(parameters) else "%0"
    current: list[Record] | None = None
    body = iter(lines)
    for entry in body:
        if entry.startswith("}"):
            return FunctionText(name, parameters, blocks)
        stripped = entry.strip()
        if not stripped or stripped.startswith((";", "#dbg_")):
            continue
        if not entry.startswith(" "):
            label = "%" + stripped.split(":")[0]
            current = blocks.setdefault(label, [])
            continue
        if stripped.startswith("switch"):
            while not stripped.rstrip().split(", !")[0].endswith("]"):
                stripped += " " + next(body).strip()
        if current is None:
            current = blocks.setdefault(label, [])
        current.append(_read_instruction(stripped, types))
    raise IRSyntaxError(f"function {name} is cut off")


def _numbered(parameters: list[tuple[str, Type]]) -> bool:
    return all(name == f"%{i}" for i, (name, _) in enumerate(parameters))


def _read_instruction(text: str, types: dict[str, Type]) -> Record:
    match = _DBG.search(text)
    location = match[1] if match else ""
    line = _Line(_TRAILING_METADATA.sub("", text), types)
    name = ""
    if line.peek().startswith("%"):
        name = line.next()
        line.expect("=")
    op = line.next()
    while op in ("tail", "musttail", "notail"):
        op = line.next()
    record = _READERS[_reader_of(op, text)](line, op)
    record.name, record.location = name, location
    return record


def _reader_of(op: str, text: str) -> str:
    if op in _BINARY:
        return "binary"
    if op in _CASTS:
        return "cast"
    if op in _READERS:
        return op
    raise IRSyntaxError(f"instruction '{op}' is not known here: {text}")


def _binary(line: _Line, op: str) -> Record:
    flags = line.flags()
    left = line.typed()
    line.expect(",")
    return Record(op, "", left.type, [left, line.value(left.type)], flags)


def _unary(line: _Line, op: str) -> Record:
    flags = line.flags()
    operand = line.typed()
    return Record(op, "", operand.type, [operand], flags)


def _compare(line: _Line, op: str) -> Record:
    flags = line.flags()
    predicate = line.next()
    left = line.typed()
    line.expect(",")
    right = line.value(left.type)
    kind: Type = Scalar("i1")
    if isinstance(left.type, Vector):
        kind = Vector(left.type.count, kind)
    return Record(op, "", kind, [left, right], flags, predicate)


def _select(line: _Line, op: str) -> Record:
    flags = line.flags()
    condition = line.typed()
    line.expect(",")
    first = line.typed()
    line.expect(",")
    return Record(op, "", first.type, [condition, first, line.typed()], flags)


def _cast(line: _Line, op: str) -> Record:
    flags = line.flags()
    operand = line.typed()
    line.expect("to")
    return Record(op, "", line.type(), [operand], flags)


def _getelementptr(line: _Line, op: str) -> Record:
    flags = line.flags()
    source = line.type()
    operands = []
    while line.accept(","):
        operands.append(line.typed())
    kind: Type = operands[0].type
    vectors = [o.type for o in operands if isinstance(o.type, Vector)]
    if vectors and not isinstance(kind, Vector):
        kind = Vector(vectors[0].count, kind)
    return Record(op, "", kind, operands, flags, source=source)


def _alignment(line: _Line) -> int:
    while line.accept(","):
        if line.accept("align"):
            return int(line.next())
        line.next()
    return 0


def _load(line: _Line, op: str) -> Record:
    atomic = line.accept("atomic")
    line.accept("volatile")
    kind = line.type()
    line.expect(",")
    pointer = line.typed()
    flags = frozenset({"atomic"}) if atomic else frozenset()
    while line.peek() not in (",", ""):
        line.next()
    return Record(op, "", kind, [pointer], flags, align=_alignment(line))


def _store(line: _Line, op: str) -> Record:
    atomic = line.accept("atomic")
    line.accept("volatile")
    value = line.typed()
    line.expect(",")
    pointer = line.typed()
    flags = frozenset({"atomic"}) if atomic else frozenset()
    while line.peek() not in (",", ""):
        line.next()
    return Record(op, "", Opaque("void"), [value, pointer], flags, align=_alignment(line))


def _alloca(line: _Line, op: str) -> Record:
    kind = line.type()
    return Record(op, "", Pointer(0), [], source=kind, align=_alignment(line))


def _phi(line: _Line, op: str) -> Record:
    line.flags()
    kind = line.type()
    record = Record(op, "", kind, [])
    while line.accept("["):
        record.operands.append(line.value(kind))
        line.expect(",")
        record.labels.append(line.next())
        line.expect("]")
        line.accept(",")
    return record


def _branch(line: _Line, op: str) -> Record:
    record = Record(op, "", Opaque("void"), [])
    if not line.accept("label"):
        record.operands.append(line.typed())
        line.expect(",")
        line.expect("label")
    record.labels.append(line.next())
    if line.accept(","):
        line.expect("label")
        record.labels.append(line.next())
    return record


def _switch(line: _Line, op: str) -> Record:
    record = Record(op, "", Opaque("void"), [line.typed()])
    line.expect(",")
    line.expect("label")
    record.labels.append(line.next())
    line.expect("[")
    while not line.accept("]"):
        case = line.typed()
        line.expect(",")
        line.expect("label")
        record.operands.append(case)
        record.labels.append(line.next())
    return record


def _return(line: _Line, op: str) -> Record:
    operands = [] if line.accept("void") else [line.typed()]
    return Record(op, "", Opaque("void"), operands)


def _bare(line: _Line, op: str) -> Record:
    return Record(op, "", Opaque("void"), [])


def _call(line: _Line, op: str) -> Record:
    flags = line.flags()
    while line.peek() in ("fastcc", "spir_func", "ccc", "spir_kernel"):
        line.next()
    line.attributes()
    kind = line.type()
    if line.peek() == "(":  # the callee's type is written out when it is variadic
        line._parenthesised()
    callee = line.next()
    line.expect("(")
    record = Record(op, "", kind, [], flags, callee=callee)
    if callee.startswith(
        ("@llvm.dbg", "@llvm.lifetime", "@llvm.assume", "@llvm.experimental.noalias")
    ):
        return record
    aligns = []
    while not line.accept(")"):
        kind = line.type()
        aligns.append(line.attributes() or 1)
        record.operands.append(line.value(kind))
        line.accept(",")
    if callee.startswith(("@llvm.memcpy", "@llvm.memmove")):
        record.aligns = tuple(aligns[:2])
    elif callee.startswith("@llvm.memset"):
        record.align = aligns[0]
    return record


def _extractvalue(line: _Line, op: str) -> Record:
    operands = [line.typed()]
    if op == "insertvalue":
        line.expect(",")
        operands.append(line.typed())
    indices = []
    while line.accept(","):
        indices.append(int(line.next()))
    return Record(op, "", operands[0].type, operands, indices=indices)


def _elements(line: _Line, op: str) -> Record:
    operands = [line.typed()]
    while line.accept(","):
        operands.append(line.typed())
    kind = operands[0].type
    if op == "extractelement" and isinstance(kind, Vector):
        kind = kind.element
    if op == "shufflevector" and isinstance(kind, Vector):
        mask = operands[2].type
        assert isinstance(mask, Vector)
        kind = Vector(mask.count, kind.element)
    return Record(op, "", kind, operands)


def _atomicrmw(line: _Line, op: str) -> Record:
    line.accept("volatile")
    operation = line.next()
    pointer = line.typed()
    line.expect(",")
    value = line.typed()
    return Record(op, "", value.type, [pointer, value], predicate=operation)


def _cmpxchg(line: _Line, op: str) -> Record:
    line.accept("weak")
    line.accept("volatile")
    pointer = line.typed()
    line.expect(",")
    expected = line.typed()
    line.expect(",")
    desired = line.typed()
    return Record(op, "", Struct((expected.type, Scalar("i1"))), [pointer, expected, desired])


_READERS = {
    "binary": _binary,
    "cast": _cast,
    "fneg": _unary,
    "freeze": _unary,
    "icmp": _compare,
    "fcmp": _compare,
    "select": _select,
    "getelementptr": _getelementptr,
    "load": _load,
    "store": _store,
    "alloca": _alloca,
    "phi": _phi,
    "br": _branch,
    "switch": _switch,
    "ret": _return,
    "unreachable": _bare,
    "fence": _bare,
    "call": _call,
    "extractvalue": _extractvalue,
    "insertvalue": _extractvalue,
    "extractelement": _elements,
    "insertelement": _elements,
    "shufflevector": _elements,
    "atomicrmw": _atomicrmw,
    "cmpxchg": _cmpxchg,
}
