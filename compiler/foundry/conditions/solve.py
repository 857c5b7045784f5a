"""Values of variables for which conditions hold or fail, by z3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..errors import FoundryError
from .predicate import Logic, Predicate
from .variables import Domain

Witness = dict[str, int]
_LIMIT_MS: Final = 10_000


def pairs_not_apart(
    domains: Mapping[str, Domain], conditions: Sequence[Predicate]
) -> Iterator[tuple[Predicate, Predicate]]:
    """Pairs of which it is not proved that both never hold; of many it is proved fast."""
    import z3

    terms, logic, allowed = _stated(domains)
    formulas = [each.formula(terms, logic) for each in conditions]
    solver = z3.Solver()
    solver.set("timeout", _LIMIT_MS)
    solver.add(*allowed)
    for number, one in enumerate(conditions):
        solver.push()
        solver.add(formulas[number])
        for other in range(number + 1, len(conditions)):
            if solver.check(formulas[other]) != z3.unsat:
                yield one, conditions[other]
        solver.pop()


def _stated(domains: Mapping[str, Domain]) -> tuple[dict[str, Any], Logic, list[Any]]:
    """The solver's terms for variables, what conditions are built of, and what terms may be."""
    import z3

    terms: dict[str, Any] = {name: z3.Int(name) for name in domains}
    logic = Logic(z3.And, z3.Or, z3.Not, lambda value, divisor: value / divisor)
    allowed = [
        z3.And(terms[name] >= domain.least, terms[name] <= domain.most)
        for name, domain in domains.items()
    ]
    return terms, logic, allowed


def find(
    domains: Mapping[str, Domain],
    *,
    holding: Sequence[Predicate] = (),
    failing: Sequence[Predicate] = (),
) -> Witness | None:
    """The least values, in order of the variables, for which all of `holding` and none of `failing`
    hold; None when there are none. Raises FoundryError when that cannot be decided.
    """
    import z3

    terms, logic, allowed = _stated(domains)
    wanted = [each.formula(terms, logic) for each in holding]
    wanted += [z3.Not(each.formula(terms, logic)) for each in failing]
    solver = z3.Optimize()
    solver.set("timeout", _LIMIT_MS)
    solver.add(*allowed, *wanted)
    for term in terms.values():
        solver.minimize(term)
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        texts = " and ".join(repr(each.text) for each in (*holding, *failing))
        raise FoundryError(
            "conditional-undecided",
            f"whether {texts} hold together cannot be decided; products of variables are hard",
        )
    model = solver.model()
    return {name: model.eval(term, model_completion=True).as_long() for name, term in terms.items()}
