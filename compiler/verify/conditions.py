"""Conditions of the solver, of which some are known to hold or not."""

from __future__ import annotations

from .terms import Expression


def both(*conditions: Expression) -> Expression:
    """Whether all hold."""
    from .native.building import all_of

    if any(each is False for each in conditions):
        return False
    open = [each for each in conditions if each is not True]
    return True if not open else open[0] if len(open) == 1 else all_of(open)


def one_of(*conditions: Expression) -> Expression:
    """Whether any holds."""
    from .native.building import any_of

    if any(each is True for each in conditions):
        return True
    open = [each for each in conditions if each is not False]
    return False if not open else open[0] if len(open) == 1 else any_of(open)


def negation(condition: Expression) -> Expression:
    """Whether it does not hold."""
    from .native.building import negated

    return not condition if isinstance(condition, bool) else negated(condition)


def differ(a: Expression, b: Expression) -> Expression:
    """Whether just one holds."""
    if isinstance(a, bool):
        return negation(b) if a else b
    if isinstance(b, bool):
        return negation(a) if b else a
    return a != b
