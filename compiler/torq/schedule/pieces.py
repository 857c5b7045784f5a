"""Steps cut into pieces that a channel does at a time: long ones would keep it from urgent ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..plan.attributes import Move
from .steps import LoadTile, Start, StoreTile

LONGEST = 32 << 10
"""Bytes of a load, more or less; some 7,000 cycles."""


def pieces(step: Start) -> Iterator[Start]:
    """The step, or one for each of its transfers; loads in several if they are long."""
    if isinstance(step, LoadTile):
        for move in step.moves:
            for piece in parts_of(move):
                yield replace(step, moves=(piece,))
    elif isinstance(step, StoreTile):
        for move in step.moves:
            yield replace(step, moves=(move,))
    else:
        yield step


def parts_of(move: Move) -> Iterator[Move]:
    """The transfer, or several of about the same size that move the same bytes."""
    count = -(-move.size // LONGEST)
    if count == 1:
        yield move
    elif not move.loops:
        step = -(-move.row // count)
        for start in range(0, move.row, step):
            row = min(step, move.row - start)
            yield Move(outside=move.outside + start, inside=move.inside + start, row=row)
    else:
        steps, stride = move.loops[-1]
        each, size = -(-steps // count), move.size // steps
        for start in range(0, steps, each):
            loops = (*move.loops[:-1], (min(each, steps - start), stride))
            yield Move(
                outside=move.outside + start * stride,
                inside=move.inside + start * size,
                row=move.row,
                loops=loops,
            )
