"""Rules of MSL that C++ does not have, checked before C++ sees the program.

Clang is run in a mode in which a pointer without an address space is one to any memory, and in
which threadgroup variables may stand anywhere. What Apple's compiler refuses is refused here.
"""

from __future__ import annotations

import re

from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import Function, Scopes
from .address_spaces import KEYWORDS, declaration_start, declares_variable, parameter_ranges

_BUILTIN = re.compile(
    r"(?:packed_)?(?:u?(?:char|short|int|long)|half|bfloat|float|bool)[234]?|"
    r"(?:float|half|bfloat)[234]x[234]|u?int(?:8|16|32|64)_t|size_t|unsigned|signed|void"
)
_QUALIFIERS = frozenset({"const", "volatile", "constexpr", "static", "restrict", "__restrict"})
_STARTS = frozenset({";", "{", "}"})
_FORBIDDEN = {
    "double": "MSL has no double",
    "new": "MSL has no dynamic memory",
    "delete": "MSL has no dynamic memory",
}


def check_rules(stream: TokenStream, scopes: Scopes, attributes: Attributes) -> None:
    """Report every place that breaks a rule."""
    _Rules(stream, scopes, attributes).check()


class _Rules:
    def __init__(self, stream: TokenStream, scopes: Scopes, attributes: Attributes) -> None:
        self._stream = stream
        self._scopes = scopes
        self._attributes = attributes
        self._classes = {owner.name for owner in scopes.classes if owner.name}

    def check(self) -> None:
        self._words()
        for function in self._scopes.all_functions():
            self._parameters(function)
            self._kernel(function)
            if function.body is not None:
                self._body(function, *function.body)
        for owner in self._scopes.classes:
            for first, _ in owner.statements:
                self._declaration(first)
        for statement in self._scopes.statements:
            self._global(statement.start, statement.end)

    def _words(self) -> None:
        texts = self._stream.texts
        for index, text in enumerate(texts):
            if text not in _FORBIDDEN or self._stream.tokens[index].kind != "ident":
                continue
            if texts[index - 1] in (".", "->", "::", "operator") or (
                text == "delete" and texts[index - 1] == "="
            ):
                continue
            self._stream.report(index, f"'{text}': {_FORBIDDEN[text]}")

    def _parameters(self, function: Function) -> None:
        for first, last in parameter_ranges(self._stream, function.parameters):
            self._pointer(first, last)

    def _body(self, function: Function, first: int, last: int) -> None:
        texts = self._stream.texts
        is_kernel = "kernel" in texts[function.start : function.name_index]
        for index in range(first + 1, last):
            if texts[index - 1] in _STARTS:
                self._declaration(index)
            if texts[index] == "(":
                self._cast(index)
            if texts[index] == "threadgroup":
                self._shared_variable(index, is_kernel=is_kernel)

    def _shared_variable(self, index: int, *, is_kernel: bool) -> None:
        """Only kernels declare variables in threadgroup memory."""
        stream = self._stream
        if declaration_start(stream, index) is None or not declares_variable(stream, index):
            return
        if not is_kernel:
            stream.report(
                index,
                "non-kernel function variable cannot be declared in threadgroup address space",
            )

    def _cast(self, index: int) -> None:
        """`(float*)p`: the pointer needs an address space."""
        texts = self._stream.texts
        position = index + 1
        while texts[position] in _QUALIFIERS:
            position += 1
        following = self._stream.tokens[self._stream.match[index] + 1]
        if (
            self._is_type(position)
            and texts[position + 1] == "*"
            and texts[position + 2] == ")"
            and (following.kind == "ident" or following.original in ("(", "&"))
            and self._stream.tokens[index - 1].kind != "ident"
        ):
            self._missing(position + 1)

    def _kernel(self, function: Function) -> None:
        """A kernel returns nothing."""
        before = [
            text
            for index, text in enumerate(
                self._stream.texts[function.start : function.name_index], function.start
            )
            if not self._attributes.covers(index)
        ]
        if "kernel" in before and "void" not in before and "auto" not in before:
            self._stream.report(function.name_index, "kernel must have void return type")

    def _declaration(self, start: int) -> None:
        """A statement that begins as `float* p`: its pointer needs an address space."""
        texts = self._stream.texts
        index = start
        while texts[index] in _QUALIFIERS:
            index += 1
        if not self._is_type(index):
            return
        index += 1
        while texts[index] in _QUALIFIERS:
            index += 1
        if texts[index] in ("*", "&") and self._stream.tokens[index + 1].kind == "ident":
            name = texts[index + 1]
            if name not in KEYWORDS and texts[index + 2] in (";", "=", ",", "{", "["):
                self._missing(index)

    def _is_type(self, index: int) -> bool:
        text = self._stream.texts[index]
        return _BUILTIN.fullmatch(text) is not None or text in self._classes

    def _pointer(self, first: int, last: int) -> None:
        """A parameter that is a pointer or reference to a plain type without an address space."""
        texts = self._stream.texts
        index, typed = first, False
        while index <= last:
            group = self._attributes.end_of_group(index)
            if group is not None:
                index = group + 1
                continue
            text = texts[index]
            if text in KEYWORDS or text in ("(", "[", "=", "<", "...", "auto", "::"):
                return
            if text in ("*", "&"):
                if typed and texts[index + 1] not in KEYWORDS:
                    self._missing(index)
                return
            if self._is_type(index):
                typed = True
            elif text not in _QUALIFIERS and text not in ("struct", "class"):
                return
            index += 1

    def _missing(self, index: int) -> None:
        what = "pointer" if self._stream.texts[index] == "*" else "reference"
        self._stream.report(
            index,
            f"{what} type must have explicit address space qualifier: device, constant, "
            "threadgroup or thread",
        )

    def _global(self, start: int, end: int) -> None:
        """A variable of the program lies in constant memory."""
        texts = self._stream.texts
        words = texts[start:end]
        if "threadgroup" in words and "(" not in words:
            index = texts.index("threadgroup", start)
            if declares_variable(self._stream, index) and "using" not in words:
                self._outside(index)
        index = start
        while texts[index] in _QUALIFIERS:
            index += 1
        if "constant" in words or not self._is_type(index):
            return
        is_name = self._stream.tokens[index + 1].kind == "ident"
        if is_name and texts[index + 2] in ("=", ";", "[", "{"):
            self._outside(index + 1)

    def _outside(self, index: int) -> None:
        self._stream.report(index, "program scope variable must reside in constant address space")
