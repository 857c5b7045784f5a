"""Matrices of halves that products take: they become floats as memory has them.

A lane's two elements lie side by side there. Parted, they would be joined again for the products,
whose operands have their lanes in other places anyway: these are taken from the floats at once.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...analysis.linear_form import Pattern
from ...ir.nodes import Block, Function, Instruction, Value
from ...ir.operations.lanes import MMA
from ...ir.operations.memory import LOAD
from ...ir.shape import LANES
from ..text import TextBuilder, shuffle_mask, vector_of
from .operands import loaded, right_of

if TYPE_CHECKING:
    from ..access import Access

CHUNK = 16  # halves that become floats of one register
CHUNKS = 2 * LANES // CHUNK
KIND = vector_of("half", CHUNK)
_FLOATS = vector_of("float", CHUNK)


@dataclass(frozen=True, slots=True)
class InOrder:
    """What a load of two halves gave in the order of memory: vectors of `CHUNK` of them.

    `places` has for each component where in all of them each lane's is.
    """

    chunks: Sequence[str]
    places: Sequence[Pattern]

    def components(self, text: TextBuilder) -> list[str]:
        """The components of all lanes."""
        whole, length = text.concatenate("half", self.chunks, CHUNK)
        return [text.shuffle("half", whole, length, lanes) for lanes in self.places]


def fit_in_chunks(window: int, places: Sequence[Pattern]) -> bool:
    """Whether windows of so many halves make chunks, of which each half is one lane's component."""
    fits = CHUNK % window == 0 or window % CHUNK == 0
    return fits and sorted(itertools.chain(*places)) == [*range(2 * LANES)]


def in_chunks(text: TextBuilder, windows: Sequence[str], window: int) -> list[str]:
    """The chunks that windows of so many halves make."""
    if window > CHUNK:
        return [
            text.shuffle("half", each, window, range(at, at + CHUNK))
            for each in windows
            for at in range(0, window, CHUNK)
        ]
    step = CHUNK // window
    return [
        text.concatenate("half", windows[at : at + step], window)[0]
        for at in range(0, len(windows), step)
    ]


def load_in_order(
    access: Access,
    load: Instruction,
    inside: str,
    fast: Callable[[], list[str]],
    slow: Callable[[], list[str]],
    places: Sequence[Pattern],
) -> list[str]:
    """Load by two ways, of which `fast` gives chunks and `slow` components; returns the latter.

    The chunks are noted for products.
    """
    text = access.text
    chunks = access.either(
        inside, fast, lambda: _put_in_order(text, slow(), places), [KIND] * CHUNKS
    )
    ordered = InOrder(chunks, places)
    access.v.in_order[load] = ordered
    return ordered.components(text)


def _put_in_order(text: TextBuilder, parts: Sequence[str], places: Sequence[Pattern]) -> list[str]:
    """The chunks that two components of all lanes make."""
    kind = vector_of("half")
    sources = [0] * (2 * LANES)
    for component, lanes in enumerate(places):
        for lane, place in enumerate(lanes):
            sources[place] = component * LANES + lane
    return [
        text.let(
            f"shufflevector {kind} {parts[0]}, {kind} {parts[1]}, "
            f"{shuffle_mask(sources[start : start + CHUNK])}"
        )
        for start in range(0, 2 * LANES, CHUNK)
    ]


def right_factors(function: Function) -> frozenset[Value]:
    """The right factors of all products of matrices."""
    products = (each for each in function.instructions() if each.operation is MMA)
    return frozenset(factor for each in products for factor in right_of(each))


def loads_of(factors: Iterable[Value]) -> frozenset[Instruction]:
    """The loads of two halves whose floats are factors."""
    sources = (loaded(factor) for factor in factors)
    found = {source[0] for source in sources if source is not None}
    return frozenset(load for load in found if _is_pair(load))


def moved_floats(
    text: TextBuilder, value: Value, lanes: Pattern, known: Mapping[Instruction, InOrder]
) -> str | None:
    """Lanes of the float that a loaded half becomes; None if that is not what a value is.

    Nor if they come from more than one chunk: then they are moved no faster.
    """
    source = loaded(value)
    ordered = known.get(source[0]) if source is not None else None
    if source is None or ordered is None:
        return None
    load, component = source
    if not isinstance(value, Instruction) or value.block is not load.block:
        return None
    return _floats_at(text, ordered, [ordered.places[component][lane] for lane in lanes])


def floats_in_order(
    text: TextBuilder,
    factor: tuple[Value, ...],
    sources: Sequence[tuple[int, int]],
    known: Mapping[Instruction, InOrder],
    block: Block,
) -> str | None:
    """Floats of a loaded matrix, of each the lane and which of its two elements it is.

    None as in `moved_floats`, or if the matrix was loaded in another block.
    """
    found = [loaded(value) for value in factor]
    if None in found or any(v.block is not block for v in factor if isinstance(v, Instruction)):
        return None
    loads, components = zip(*(each for each in found if each is not None), strict=True)
    ordered = known.get(loads[0])
    if ordered is None or loads[0] is not loads[1] or loads[0].block is not block:
        return None
    places = [ordered.places[components[element]][lane] for lane, element in sources]
    return _floats_at(text, ordered, places)


def _floats_at(text: TextBuilder, ordered: InOrder, places: Sequence[int]) -> str | None:
    chunks = {place // CHUNK for place in places}
    if len(chunks) > 1:
        return None
    floats = text.let(f"fpext {KIND} {ordered.chunks[chunks.pop()]} to {_FLOATS}")
    return text.shuffle("float", floats, CHUNK, [place % CHUNK for place in places])


def _is_pair(load: Instruction) -> bool:
    return load.operation is LOAD and load.element == "half" and load.components == 2
