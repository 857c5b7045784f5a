"""Assay modules as text, one line per record, and back: the same file, to the byte.

Records inside of others are indented below them; the bytes of segments are in base64.
"""

from __future__ import annotations

import ast
import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from ..status import invalid_argument
from . import records
from .codec import kinds
from .file import ModuleFile, write_module
from .records import INSTRUCTIONS, VERSION, Module

SUFFIX: Final = ".assay.txt"
_NESTED: Final = ("[table]", "[union]")
_INDENT: Final = 2
_BY_NAME: Final[dict[str, type[Any]]] = {
    kind.__name__: kind
    for kind in vars(records).values()
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__")
}
_PLAIN: Final = {"int": int, "long": int, "string": str, "[ubyte]": bytes}
_MOST_DIGITS: Final = 20


def to_text(file: ModuleFile) -> Iterator[str]:
    """The lines of a module. Raises StatusError for segments that are not what was written."""
    yield from _lines(replace(file.module, segments=()), 0)
    for number in range(len(file.segments)):
        data = base64.b64encode(file.segment(number)).decode()
        yield f"{' ' * _INDENT}Segment({data!r})"


def _lines(record: Any, depth: int) -> Iterator[str]:
    plain, nested = [], []
    for name, kind, _ in kinds(type(record)):
        value = getattr(record, name)
        if kind in _NESTED:
            nested += value
        else:
            plain.append(f"{name}={value!r}")
    yield f"{' ' * depth}{type(record).__name__}({', '.join(plain)})"
    for each in nested:
        yield from _lines(each, depth + _INDENT)


def from_text(text: str, name: str) -> bytes:
    """The file that text is of, `name` being what messages call it. Raises StatusError."""
    reader = _Reader(name)
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            reader.line(number, line)
    return reader.module()


class _Reader:
    """Puts records together; those that are open are the last ones of their depths."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._open: list[tuple[type[Any], dict[str, Any]]] = []
        self._segments: list[bytes] = []

    def line(self, number: int, line: str) -> None:
        """One record. Raises StatusError, saying which line is wrong."""
        indent = len(line) - len(line.lstrip(" "))
        try:
            word, values = _call(line.strip())
            if word == "Segment":
                self._segments.append(base64.b64decode(values[0], validate=True))
                return
            depth, rest = divmod(indent, _INDENT)
            self._close(depth if not rest else -1)
            self._begin(word, values)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as error:
            raise invalid_argument(f"{self._name}:{number}: {error}") from None

    def _begin(self, word: str, values: Any) -> None:
        kind = _BY_NAME.get(word)
        if kind is None or not isinstance(values, dict) or (kind is Module) != (not self._open):
            raise ValueError(f"{word} is no record that can be here")
        if kind is Module and values.get("version") != VERSION:
            raise ValueError(f"this is version {values.get('version')}; only {VERSION} can be read")
        fields = {name: how for name, how, _ in kinds(kind) if how not in _NESTED}
        if set(values) != set(fields):
            raise ValueError(f"{word} has the fields {', '.join(fields)}")
        for name, how in fields.items():
            _check(values[name], how, name)
        self._open.append((kind, values))

    def _close(self, depth: int) -> None:
        """Ends the records that are as deep as the next one, or deeper."""
        if not 0 <= depth <= len(self._open):
            raise ValueError(f"records are indented by {_INDENT} more than what they are in")
        while len(self._open) > max(depth, 1):
            kind, values = self._open.pop()
            self._put(_made(kind, values))

    def _put(self, record: Any) -> None:
        kind, values = self._open[-1]
        for name, how, item in kinds(kind):
            fits = type(record) in INSTRUCTIONS if how == "[union]" else item is type(record)
            if how in _NESTED and fits:
                values.setdefault(name, []).append(record)
                return
        raise ValueError(f"{type(record).__name__} cannot be inside of {kind.__name__}")

    def module(self) -> bytes:
        """The file of everything that was read. Raises StatusError."""
        if not self._open:
            raise invalid_argument(f"{self._name}: there is no module in it")
        try:
            self._close(1)
        except ValueError as error:
            raise invalid_argument(f"{self._name}: {error}") from None
        return write_module(_made(*self._open[0]), self._segments)


def _call(text: str) -> tuple[str, Any]:
    """(the name, keywords or the values of `name(...)`), which may only be literals."""
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise ValueError("a line is a record with its fields in brackets")
    if call.args:
        return call.func.id, [ast.literal_eval(each) for each in call.args]
    return call.func.id, {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}


def _check(value: Any, how: str, name: str) -> None:
    plain = _PLAIN.get(how)
    if plain is not None:
        fits = type(value) is plain
    else:
        item = str if how == "[string]" else int
        fits = isinstance(value, tuple) and all(type(each) is item for each in value)
    numbers: Sequence[Any] = value if isinstance(value, tuple) else (value,)
    bits = 31 if "int" in how else 63
    in_range = all(-(1 << bits) <= n < 1 << bits for n in numbers if isinstance(n, int))
    if not fits or not in_range:
        raise ValueError(f"{name} cannot be {str(value)[:_MOST_DIGITS]}")


def _made(kind: type[Any], values: dict[str, Any]) -> Any:
    nested = {name: tuple(values.get(name, ())) for name, how, _ in kinds(kind) if how in _NESTED}
    return kind(**{**values, **nested})
