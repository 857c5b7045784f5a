"""What is known of symbols; a formula takes with it what is known of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.sim.simt.ir.nodes import Value

from .terms import Expression


class Facts:
    """Facts by the symbol that they are about, and formulas' symbols.

    Facts may be left out of a formula without harm: they only make it stronger.
    """

    def __init__(self, values: Iterable[Value]) -> None:
        self._numbers: dict[Value, int] = {value: at for at, value in enumerate(values)}
        self._facts: dict[int, list[Any]] = {}
        self._stated: set[tuple[int, int]] = set()
        self._symbols: dict[int, frozenset[int]] = {}
        self._order: dict[int, int] = {}  # of symbols, as they were found
        self._kept: list[Any] = []  # numbers of terms are theirs while they live

    def number_of(self, value: Value) -> int:
        """A number that stands for a value in names."""
        return self._numbers.setdefault(value, len(self._numbers))

    def state(self, symbol: Any, fact: Expression) -> None:
        """Note what is known of a symbol, or of a function's result."""
        if isinstance(fact, bool):
            return
        key = (symbol.get_id(), fact.get_id())
        if key not in self._stated:
            self._stated.add(key)
            self._kept += [symbol, fact]
            self._facts.setdefault(symbol.get_id(), []).append(fact)

    def state_all(self, symbol: Any, facts: Iterable[Expression]) -> None:
        """Note several facts."""
        for fact in facts:
            self.state(symbol, fact)

    def about(self, formulas: Iterable[Any]) -> list[Any]:
        """All facts about symbols of formulas, and about those of these facts."""
        found: list[Any] = []
        seen: set[int] = set()
        work = list(formulas)
        while work:
            for symbol in sorted(self.symbols_of(work.pop()) - seen, key=self._order.__getitem__):
                seen.add(symbol)
                facts = self._facts.get(symbol, [])
                found += facts
                work += facts
        return found

    def symbols_of(self, formula: Expression) -> frozenset[int]:
        """Numbers of a formula's terms that are symbols or results of unknown functions."""
        if isinstance(formula, int):
            return frozenset()
        if formula.get_id() not in self._symbols:
            from .native.reading import Reader

            self._kept.append(formula)
            self._find(Reader(formula.ctx_ref()), formula.as_ast())
        return self._symbols[formula.get_id()]

    def _find(self, reader: Any, term: Any) -> frozenset[int]:
        number = reader.number(term)
        known = self._symbols.get(number)
        if known is None:
            parts = [self._find(reader, each) for each in reader.parts(term)]
            mine = {number} if reader.is_unknown(term) else set()
            for each in mine:
                self._order.setdefault(each, len(self._order))
            known = self._symbols[number] = frozenset(mine).union(*parts)
        return known
