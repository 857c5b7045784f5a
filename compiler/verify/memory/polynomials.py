"""Terms as sums of products, so that addresses of rows and columns can be taken apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ..terms import Expression

if TYPE_CHECKING:
    from ..native.reading import Reader

Product = tuple[int, ...]
"""Numbers of the factors, sorted."""
_MOST_PRODUCTS = 200


@dataclass(frozen=True, slots=True)
class Polynomial:
    """Coefficients of products of atoms; `atoms` has the solver's term of each number."""

    products: Mapping[Product, int]
    atoms: Mapping[int, Any]

    def factors(self) -> set[int]:
        """Atoms that are in a product with another one."""
        return {atom for product in self.products if len(product) > 1 for atom in product}

    def split(self, atom: int) -> tuple[Polynomial, Polynomial] | None:
        """What an atom is multiplied with, and the rest; None if it is in a power."""
        with_it: dict[Product, int] = {}
        rest: dict[Product, int] = {}
        for product, coefficient in self.products.items():
            count = product.count(atom)
            if count > 1:
                return None
            if count:
                with_it[tuple(each for each in product if each != atom)] = coefficient
            else:
                rest[product] = coefficient
        return Polynomial(with_it, self.atoms), Polynomial(rest, self.atoms)

    def of_memory(self) -> tuple[Polynomial, Polynomial]:
        """What was read from places that are not known, or is made of that, and the rest."""
        read = {atom for atom, term in self.atoms.items() if _is_of_memory(term)}
        parts: tuple[dict[Product, int], dict[Product, int]] = {}, {}
        for product, coefficient in self.products.items():
            parts[read.isdisjoint(product)][product] = coefficient
        return Polynomial(parts[0], self.atoms), Polynomial(parts[1], self.atoms)

    def divided(self, by: int) -> Polynomial:
        """With all coefficients divided, which must go without remainder."""
        return Polynomial({p: c // by for p, c in self.products.items()}, self.atoms)

    def common(self) -> int:
        """The largest number that divides all coefficients; 0 if there are none."""
        return math.gcd(*self.products.values())

    def expression(self) -> Expression:
        """The solver's term."""
        total: Expression = 0
        order = {atom: at for at, atom in enumerate(self.atoms)}
        for product, coefficient in self.products.items():
            value: Expression = coefficient
            for atom in sorted(product, key=order.__getitem__):
                value = value * self.atoms[atom]
            total = total + value
        return total


def polynomial(term: Expression) -> Polynomial | None:
    """A term as a polynomial; None if it is too long."""
    if isinstance(term, int):
        return Polynomial(_number(term), {})
    from ..native.building import part, terms_of
    from ..native.reading import Reader

    atoms: dict[int, Any] = {}
    products = _products(Reader(term.ctx_ref()), term.as_ast(), atoms)
    if products is None:
        return None
    terms = terms_of(term)
    return Polynomial(products, {number: part(atom, terms) for number, atom in atoms.items()})


def _number(number: int) -> dict[Product, int]:
    return {(): number} if number else {}


def _products(reader: Reader, term: Any, atoms: dict[int, Any]) -> dict[Product, int] | None:
    import z3

    literal = reader.literal(term)
    if literal is not None:
        return _number(literal)
    kind = reader.operation(term)
    is_sum = kind in _sums()
    parts = [_products(reader, each, atoms) for each in reader.parts(term)] if is_sum else []
    if any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if kind == z3.Z3_OP_ADD:
        return _added(known)
    if kind == z3.Z3_OP_SUB:
        return _added([known[0], *(_times(each, {(): -1}) for each in known[1:])])
    if kind == z3.Z3_OP_UMINUS:
        return _times(known[0], {(): -1})
    if kind == z3.Z3_OP_MUL:
        found: dict[Product, int] = {(): 1}
        for each in known:
            found = _times(found, each)
        return found if len(found) <= _MOST_PRODUCTS else None
    number = reader.number(term)
    atoms[number] = term
    return {(number,): 1}


def _is_of_memory(term: Any) -> bool:
    """Whether there is an unknown function's result in a term."""
    from ..native.reading import Reader

    reader = Reader(term.ctx_ref())
    return any(
        reader.is_unknown(each) and any(reader.parts(each))
        for each in reader.all_parts(term.as_ast())
    )


@cache
def _sums() -> tuple[int, ...]:
    import z3

    return (z3.Z3_OP_ADD, z3.Z3_OP_SUB, z3.Z3_OP_UMINUS, z3.Z3_OP_MUL)


def _added(parts: Iterable[Mapping[Product, int]]) -> dict[Product, int]:
    found: dict[Product, int] = {}
    for part in parts:
        for product, coefficient in part.items():
            found[product] = found.get(product, 0) + coefficient
    return {product: coefficient for product, coefficient in found.items() if coefficient}


def _times(left: Mapping[Product, int], right: Mapping[Product, int]) -> dict[Product, int]:
    return _added({tuple(sorted(a + b)): x * y} for a, x in left.items() for b, y in right.items())
