"""Conditions of the solver, of which some are known to hold or not."""

from __future__ import annotations

from .terms import Expression


def both(*conditions: Expression) -> Expression:
    """Whether all hold."""
    import z3

    if any(each is False for each in conditions):
        return False
    open = [each for each in conditions if each is not True]
    return True if not open else open[0] if len(open) == 1 else z3.And(*open)


def one_of(*conditions: Expression) -> Expression:
    """Whether any holds."""
    import z3

    if any(each is True for each in conditions):
        return True
    open = [each for each in conditions if each is not False]
    return False if not open else open[0] if len(open) == 1 else z3.Or(*open)


def negation(condition: Expression) -> Expression:
    """Whether it does not hold."""
    import z3

    return not condition if isinstance(condition, bool) else z3.Not(condition)


def differ(a: Expression, b: Expression) -> Expression:
    """Whether just one holds."""
    if isinstance(a, bool):
        return negation(b) if a else b
    if isinstance(b, bool):
        return negation(a) if b else a
    return a != b
