"""Function constants: `constant bool flag [[function_constant(0)]];`, given when compiling."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.sim.names import choices

from ..errors import CompileError
from ..source.attributes import Attributes
from ..source.lexer import TokenStream
from ..source.scopes import Scopes

ConstantValue = bool | int | float | tuple[bool | int | float, ...]
_OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.BitOr: operator.or_,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionConstant:
    """One declaration: the constant's name, its index and the text of its type."""

    name: str
    index: int
    type_name: str
    first: int
    name_index: int
    last: int


def find_constants(
    stream: TokenStream, scopes: Scopes, attributes: Attributes
) -> tuple[FunctionConstant, ...]:
    """All function constants that the text declares."""
    found: list[FunctionConstant] = []
    for statement in scopes.statements:
        words = stream.texts[statement.start : statement.end]
        # In a parameter list the attribute makes an argument depend on a constant.
        if "constant" not in words or "template" in words or "kernel" in words:
            continue
        given = attributes.within(statement.start, statement.end)
        if "function_constant" not in given:
            continue
        space = stream.texts.index("constant", statement.start)
        name = space
        while attributes.end_of_group(name + 1) is None and name + 1 < statement.end:
            name += 1
        words = [
            text
            for text in stream.texts[statement.start : name]
            if text not in ("constant", "const", "static", "constexpr", "extern")
        ]
        found.append(
            FunctionConstant(
                name=stream.texts[name],
                index=_evaluate(stream, space, given["function_constant"]),
                type_name=" ".join(words),
                first=statement.start,
                name_index=name,
                last=statement.end,
            )
        )
    return tuple(found)


def _evaluate(stream: TokenStream, place: int, text: str) -> int:
    """The integer that `text`, a sum or product of literals, stands for."""

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return int(_OPERATORS[type(node.op)](value(node.left), value(node.right)))
        raise ValueError(text)

    try:
        plain = re.sub(r"\b0+(?=\d)", "0o", re.sub(r"(?<=\d)[uUlL]+\b", "", text.strip()))
        return value(ast.parse(plain, mode="eval").body)
    except (ValueError, SyntaxError) as error:
        raise stream.error(
            place, f"the index of a function constant must be an integer literal, not '{text}'"
        ) from error


def resolve(
    constants: Sequence[FunctionConstant], values: Mapping[int | str, ConstantValue]
) -> dict[str, ConstantValue]:
    """Values by name; CompileError when a value belongs to no constant of the library."""
    by_index = {constant.index: constant.name for constant in constants}
    names = set(by_index.values())
    resolved: dict[str, ConstantValue] = {}
    for key, value in values.items():
        name = by_index.get(key) if isinstance(key, int) else key
        if name is None or name not in names:
            # Metal ignores values of indices that the function does not declare.
            if isinstance(key, int):
                continue
            known = choices(str(key), (f"{each.name} ({each.index})" for each in constants))
            raise CompileError(f"no function constant {key!r} in this library; {known}")
        resolved[name] = value
    return resolved


def rewrite_constants(
    stream: TokenStream,
    constants: Sequence[FunctionConstant],
    values: Mapping[str, ConstantValue],
) -> None:
    """Define the constants that have a value; the others become undefined external variables."""
    for constant in constants:
        for index in range(constant.first, constant.last):
            if stream.texts[index] in ("static", "extern", "constexpr"):
                stream.blank(index, index)
        if constant.name in values:
            stream.before(constant.first, "constexpr ")
            text = _literal(constant.type_name, values[constant.name])
            stream.after(constant.name_index, f" = {text}")
        else:
            stream.before(constant.first, "extern ")
            # The name shows in the bitcode if the code reads the constant.
            label = f"__assay_undefined_constant{{{constant.name}}}"
            stream.after(constant.name_index, f' __asm__("{label}")')
    names = {constant.name for constant in constants}
    for index, text in enumerate(stream.texts):
        if text == "is_function_constant_defined" and stream.texts[index + 1] == "(":
            close = stream.match[index + 1]
            name = stream.texts[close - 1]
            if name in names:
                stream.blank(index + 1, close)
                stream.set(index, "true" if name in values else "false")


def _literal(type_name: str, value: ConstantValue) -> str:
    """`value` as an expression of the type."""
    if isinstance(value, tuple):
        return f"{type_name}({', '.join(_scalar(part) for part in value)})"
    return f"({type_name})({_scalar(value)})"


def _scalar(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return (
            f"{value}ull"
            if value >= 2**63
            else f"({value}ll)"
            if value > -(2**63)
            else "(-9223372036854775807ll-1)"
        )
    if math.isnan(value):
        return '__builtin_nanf("")'
    if math.isinf(value):
        return "__builtin_inff()" if value > 0 else "(-__builtin_inff())"
    return f"({float(value).hex()}f)"
