"""Conditions in Python's own notation: evaluated for values, and given to a solver as formulas.

Allowed are comparisons, `and`, `or`, `not`, `in range(...)` and `in (...)`, integers, names of
variables, `+`, `-`, `*`, and `//` and `%` by positive numbers, for which the solver's division is
Python's.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from ..errors import FoundryError
from .variables import Domain

_COMPARE: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@dataclass(frozen=True, slots=True)
class Logic:
    """What conditions are built of: plain truth values, or a solver's terms."""

    both: Callable[[list[Any]], Any]
    either: Callable[[list[Any]], Any]
    negation: Callable[[Any], Any]
    division: Callable[[Any, int], Any]


PLAIN_LOGIC: Final = Logic(all, any, operator.not_, operator.floordiv)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A condition on variables; it was checked when it was made."""

    text: str
    tree: ast.expr
    domains: Mapping[str, Domain]

    @classmethod
    def parse(cls, text: str, domains: Mapping[str, Domain]) -> Predicate:
        """Reads a condition. Raises FoundryError that points at what cannot be in one."""
        try:
            tree = ast.parse(text, mode="eval").body
        except SyntaxError as error:
            raise FoundryError("conditional-syntax", f"{text!r}: {error.msg}") from None
        found = cls(text, tree, domains)
        # All of it is visited, with values that exist, so that nothing is left to go wrong later.
        _Reader(found, {name: each.least for name, each in domains.items()}, PLAIN_LOGIC).truth(
            tree
        )
        return found

    def holds(self, values: Mapping[str, int]) -> bool:
        """Whether it is true of numbers of all variables."""
        return bool(_Reader(self, values, PLAIN_LOGIC).truth(self.tree))

    def formula(self, terms: Mapping[str, Any], logic: Logic) -> Any:
        """The condition as a solver's term over `terms` for the variables."""
        return _Reader(self, terms, logic).truth(self.tree)


class _Reader:
    """Walks a condition; what comes out is made of what stands for the variables."""

    def __init__(self, predicate: Predicate, values: Mapping[str, Any], logic: Logic) -> None:
        self._predicate = predicate
        self._values = values
        self._logic = logic

    def truth(self, node: ast.expr) -> Any:
        """A node that is true or false."""
        match node:
            case ast.BoolOp(op=op, values=parts):
                join = self._logic.both if isinstance(op, ast.And) else self._logic.either
                return join([self.truth(part) for part in parts])
            case ast.UnaryOp(op=ast.Not(), operand=part):
                return self._logic.negation(self.truth(part))
            case ast.Compare(left=left, ops=ops, comparators=others):
                sides = [left, *others]
                pairs = zip(ops, sides[:-1], sides[1:], strict=True)
                return self._logic.both([self._comparison(*pair) for pair in pairs])
            case ast.Name(id=name) if name in self._values and self._domain(node).is_truth:
                return self._values[name] == 1
        self._refuse(node, "is neither true nor false")

    def _comparison(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> Any:
        if isinstance(op, ast.In | ast.NotIn):
            among = self._membership(left, right)
            return among if isinstance(op, ast.In) else self._logic.negation(among)
        if type(op) not in _COMPARE:
            self._refuse(right, "is compared in a way that conditions do not have")
        named = next((each for each in (left, right) if self._has_names(each)), None)
        if named is None:
            return _COMPARE[type(op)](self._number(left), self._number(right))
        if not isinstance(op, ast.Eq | ast.NotEq):
            self._refuse(named, "has no order: compare it with == or !=")
        other = right if named is left else left
        return _COMPARE[type(op)](self._number(named), self._named(named, other))

    def _membership(self, left: ast.expr, right: ast.expr) -> Any:
        match right:
            case ast.Call(func=ast.Name(id="range"), args=[*bounds], keywords=[]) if (
                1 <= len(bounds) <= 2
            ):
                value, ends = self._number(left), [self._number(each) for each in bounds]
                first = ends[0] if len(ends) == 2 else 0
                return self._logic.both([first <= value, value < ends[-1]])
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                equal = [self._comparison(ast.Eq(), left, part) for part in parts]
                return self._logic.either(equal)
        self._refuse(right, "is no range(...) of one or two numbers and no (...) of values")

    def _number(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=int() as value):
                return int(value)
            case ast.Name(id=name):
                self._domain(node)
                return self._values[name]
            case ast.UnaryOp(op=ast.USub(), operand=part):
                return -self._number(part)
            case ast.BinOp(left=left, op=ast.FloorDiv() | ast.Mod() as op, right=right):
                divisor = self._divisor(right)
                value = self._number(left)
                if isinstance(op, ast.Mod):
                    return value % divisor
                return self._logic.division(value, divisor)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return _ARITHMETIC[type(op)](self._number(left), self._number(right))
        self._refuse(node, "is no number")

    def _divisor(self, node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 0:
            return int(node.value)
        self._refuse(node, "divides, and is no positive number")

    def _has_names(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and bool(self._domain(node).names)

    def _named(self, variable: ast.expr, node: ast.expr) -> Any:
        """The number that stands for a name, or another variable with the same names."""
        domain = self._domain(variable)
        if isinstance(node, ast.Constant) and node.value in domain.names:
            return domain.names.index(str(node.value))
        if isinstance(node, ast.Name) and self._domain(node).names == domain.names:
            return self._values[node.id]
        self._refuse(node, f"is none of {', '.join(map(repr, domain.names))}")

    def _domain(self, node: ast.expr) -> Domain:
        assert isinstance(node, ast.Name)
        known = self._predicate.domains
        if node.id not in known:
            self._refuse(node, f"is no variable; there are {', '.join(known)}")
        return known[node.id]

    def _refuse(self, node: ast.expr, why: str) -> NoReturn:
        part = ast.get_source_segment(self._predicate.text, node) or ast.unparse(node)
        raise FoundryError("conditional-syntax", f"{self._predicate.text!r}: {part} {why}")
