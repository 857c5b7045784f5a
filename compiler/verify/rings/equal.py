"""The thread that does in a loop what another did before it, if it is the same one.

Most threads load the same part of each tile. Then values are compared most easily of one thread:
what is computed alike is the same term.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..conditions import negation
from ..counts import Count
from ..initial.writers import Writer
from ..study import Study
from ..terms import Expression
from .same import Maker

_SECONDS = 0.25
Pair = tuple[Any, Any]
"""A symbol, and what stands for it."""


def same_thread(
    study: Study, known: Sequence[Expression], writer: Writer, mine: Maker, now: Count
) -> list[Pair]:
    """A writer's symbols as those of the thread that writes before the loop.

    Args:
        study: of both.
        known: what holds of the thread that writes before the loop.
        writer: of the loop: any thread may be meant.
        mine: the thread that writes before the loop.
        now: the iteration of the loop that reads; that a loop over the first tiles is in this one
            is proved.
    """
    one, other = writer.values.thread, mine.values.thread
    places = zip(
        (*one.place, one.lane, one.simdgroup),
        (*other.place, other.lane, other.simdgroup),
        strict=True,
    )
    found = [(a.value, b.value) for a, b in places if a.constant is None]
    own = list(_own(writer, mine))
    inner = list(zip(reversed(writer.turns), reversed(own), strict=False))
    found += [(turn.free, count.term.value) for turn, count in inner]
    for count in own[: len(own) - len(inner)]:
        is_now = count.free == now.term.value
        if count.symbol and study.can([*known, negation(is_now)], _SECONDS) == "no":
            found.append((count.free, now.term.value))
    return found


def _own(writer: Writer, mine: Maker) -> Iterator[Count]:
    """Iterations of loops that the thread goes through by itself, the outermost first."""
    kernel = writer.study.kernel
    for loop in kernel.around(mine.at) if mine.at is not None else ():
        if loop not in kernel.shared:
            yield mine.counts[loop]


def substituted(term: Expression, pairs: Sequence[Pair]) -> Expression:
    """A term with what stands for symbols in their place."""
    import z3

    from ..native.building import known, terms_of

    if isinstance(term, bool) or not pairs:
        return term
    literal = terms_of(term).literal
    given = [(one, literal(other) if isinstance(other, int) else other) for one, other in pairs]
    found = z3.simplify(z3.substitute(term, *given))
    return True if z3.is_true(found) else False if z3.is_false(found) else known(found)
