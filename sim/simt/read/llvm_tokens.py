"""Reads the tokens of a line of LLVM's textual IR: types, flags, attributes and operands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..ir.llvm_types import Array, Opaque, Pointer, Scalar, Struct, Type, Vector
from .llvm_records import IRSyntaxError, Operand

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

_FLAGS = {
    "nuw",
    "nsw",
    "exact",
    "disjoint",
    "nneg",
    "samesign",
    "inbounds",
    "nusw",
    "fast",
    "contract",
    "reassoc",
    "nnan",
    "ninf",
    "nsz",
    "arcp",
    "afn",
}
_SKIPPED_ATTRIBUTES = {
    "noundef",
    "nonnull",
    "readonly",
    "readnone",
    "writeonly",
    "noalias",
    "zeroext",
    "signext",
    "nocapture",
    "returned",
    "immarg",
    "inreg",
    "nofree",
    "noext",
    "dead_on_unwind",
    "writable",
    "dead_on_return",
    "allocptr",
    "swiftself",
    "nest",
    "noinline",
}
_ATTRIBUTES_WITH_ARGUMENT = {
    "dereferenceable",
    "dereferenceable_or_null",
    "captures",
    "range",
    "sret",
    "byval",
    "initializes",
    "nofpclass",
    "elementtype",
    "byref",
    "memory",
}


class Line:
    """A cursor over one line's tokens."""

    def __init__(self, text: str, types: dict[str, Type]) -> None:
        self.text = text
        self.types = types
        self.tokens = list(_tokens(text))
        self.at = 0

    def peek(self) -> str:
        """The next token, "" at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def next(self) -> str:
        """Take the next token, "" at the end."""
        token = self.peek()
        self.at += 1
        return token

    def accept(self, *wanted: str) -> bool:
        """Take the next token if it is a wanted one; whether it was."""
        if self.peek() in wanted:
            self.at += 1
            return True
        return False

    def expect(self, wanted: str) -> None:
        """Take the next token. Raises IRSyntaxError if it is another."""
        if not self.accept(wanted):
            raise IRSyntaxError(
                f"expected '{wanted}' before '{self.peek()}' in: {self.text.strip()}"
            )

    def flags(self) -> frozenset[str]:
        """Take the flags of an operation."""
        found = set()
        while self.peek() in _FLAGS:
            flag = self.next()
            found.add(flag)
            if flag == "inrange":
                self.skip_parenthesised()
        return frozenset(found)

    def skip_parenthesised(self) -> None:
        """Skip what stands in parentheses, with those inside."""
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
                self.skip_parenthesised()
            elif token == "align":
                self.next()
                if self.peek() == "(":
                    self.skip_parenthesised()
                else:
                    align = int(self.next())
            else:
                return align

    def type(self) -> Type:
        """Take a type. Raises IRSyntaxError for one that kernels do not use."""
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
        """Take an operand after its type and attributes."""
        kind = self.type()
        self.attributes()
        return self.value(kind)

    def value(self, kind: Type) -> Operand:
        """Take an operand whose type is known: a name, a literal or a constant expression."""
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
            self.skip_parenthesised()
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


def _string(kind: Type, token: str) -> Operand:
    data = re.sub(r"\\(\\|[0-9A-Fa-f]{2})", _unescaped, token[2:-1])
    return Operand(kind, "aggregate", tuple(Operand(Scalar("i8"), str(ord(c))) for c in data))


def _unescaped(escape: re.Match[str]) -> str:
    return "\\" if escape[1] == "\\" else chr(int(escape[1], 16))
