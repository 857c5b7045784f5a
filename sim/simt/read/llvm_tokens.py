"""Reads the tokens of a line of LLVM's textual IR: types, flags, attributes and operands."""

from __future__ import annotations

import re

from ..ir.llvm_types import Array, Opaque, Pointer, Scalar, Struct, Type, Vector
from .llvm_records import IRSyntaxError, Operand

_KINDS = r"""
      c?"(?:[^"\\]|\\.)*"
    | [%@](?:"[^"]*"|[-$._A-Za-z0-9]+)
    | ![-$._A-Za-z0-9]*
    | \#\d+
    | [-+]?(?:0x[HRKLM]?[0-9A-Fa-f]+|f0x[0-9A-Fa-f]+|\d+\.\d*(?:e[-+]?\d+)?|\d+)
      (?![A-Za-z0-9_.])
    | [A-Za-z_$.][-A-Za-z0-9_$.]*
    | \.\.\.
    | [][(){}<>,=:*|]
"""
_ESCAPED = re.compile(rb"\\(\\|[0-9A-Fa-f]{2})")
_TOKEN = re.compile(_KINDS, re.VERBOSE)
_TOKENS = re.compile(rf"\s*({_KINDS}| \S.*)", re.VERBOSE)  # the last: what is none, to the end

_SIMPLE_TYPES: dict[str, Type] = {
    **{name: Scalar(name) for name in ("half", "bfloat", "float", "double")},
    **{name: Scalar(name) for name in ("i1", "i8", "i16", "i32", "i64", "i128")},
    **{name: Opaque(name) for name in ("void", "label", "metadata", "token", "opaque")},
}
_PLAIN = frozenset("%-0123456789")  # how names and numbers begin
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
        self.tokens = _tokens(text)
        self.at = 0

    def peek(self) -> str:
        """The next token, "" at the end."""
        return self.tokens[self.at]

    def next(self) -> str:
        """Take the next token, "" at the end."""
        token = self.tokens[self.at]
        if token:
            self.at += 1
        return token

    def accept(self, wanted: str) -> bool:
        """Take the next token if it is the wanted one; whether it was."""
        if self.tokens[self.at] == wanted:
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
            if token[:1] in _PLAIN:
                return align
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
        simple = _SIMPLE_TYPES.get(token)
        if simple is not None:
            return simple
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
        elif re.fullmatch(r"i\d+", token):
            kind = Scalar(token)
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
        if token[:1] in _PLAIN:
            return Operand(kind, token)
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


def _tokens(text: str) -> list[str]:
    """The tokens of a line, and "" at its end. Raises IRSyntaxError."""
    tokens: list[str] = _TOKENS.findall(text)
    last = tokens[-1] if tokens else ""
    if last[:1] == ";":
        tokens.pop()
    elif last and not _TOKEN.fullmatch(last):
        raise IRSyntaxError(f"unreadable at '{last[:20]}': {text.strip()}")
    tokens.append("")
    return tokens


def _string(kind: Type, token: str) -> Operand:
    data = unescaped(token[2:-1])
    return Operand(kind, "aggregate", tuple(Operand(Scalar("i8"), str(byte)) for byte in data))


def unescaped(quoted: str) -> bytes:
    """The bytes that LLVM writes between quotes, those that are no letters as numbers."""
    return _ESCAPED.sub(_meant, quoted.encode())


def _meant(escape: re.Match[bytes]) -> bytes:
    return escape[1] if escape[1] == b"\\" else bytes.fromhex(escape[1].decode())
