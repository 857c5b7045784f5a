"""Rings of buffers and redundant barriers, as text and as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.compiler.verify.answers import Obstacle
from assay.compiler.verify.rings import Need, Rings, Rotation, Tiles
from assay.sim.site import Site

from .cost import Gain


def open_rings(rings: Rings | None) -> Iterator[Obstacle]:
    """What is not proved of rings: how they go round, or that no tile is stale or lost whole."""
    for rotation in rings.rotations if rings is not None else ():
        name = f"'{rotation.array}'"
        if not rotation.is_proved:
            yield Obstacle(why=f"how {name} goes round is not proved", site=rotation.site)
        elif rotation.tiles is None:
            yield Obstacle(why=f"nothing is known of the tiles of {name}", site=rotation.site)
        elif not (rotation.tiles.are_in_order and rotation.tiles.are_read):
            states = ("stale", rotation.tiles.are_in_order), ("lost", rotation.tiles.are_read)
            which = " or ".join(state for state, is_proved in states if not is_proved)
            yield Obstacle(why=f"tiles of {name} may be {which}", site=rotation.site)


def rings_text(rings: Rings, gains: Iterable[Gain] = ()) -> list[str]:
    """A line for each iteration of each ring, and one for each barrier, with what it costs."""
    gained = {gain.site: f"; {gain}" for gain in gains}
    lines: list[str] = []
    for rotation in rings.rotations:
        lines += _rotation(rotation)
    lines += _needs(rings.needs, gained)
    if not rings.needs:
        lines.append("  barriers:  there is none, or not all is proved: none is called redundant")
    return lines


def _rotation(rotation: Rotation) -> Iterator[str]:
    period = len(rotation.written)
    yield (
        f"  ring:      '{rotation.array}', {rotation.buffers} buffers of {rotation.stride} bytes, "
        f"round in {period} iterations"
    )
    epochs = zip(rotation.written, rotation.read, rotation.idle, strict=True)
    for at, (written, read, idle) in enumerate(epochs):
        yield (
            f"    iteration k % {period} == {at}: written {_numbers(written)}, "
            f"read {_numbers(read)}, idle {_numbers(idle)}"
        )
    if rotation.ahead is not None:
        when = f"by iteration k + {rotation.ahead}" if rotation.ahead else "in the same iteration"
        yield f"    what iteration k writes is read {when}"
    if rotation.tiles is not None:
        yield from _tiles(rotation.tiles)
    if not rotation.is_proved:
        yield "    undecided: whether it goes on like that for all k"
        for site in rotation.beside:
            yield f"      {_place(site)}: this does not go round, and is not shown"
    elif rotation.is_distinct:
        yield "    proved:    for all k, no buffer is written and read in one iteration"
    else:
        yield "    proved:    for all k, as shown: some buffer is written and read in one iteration"


def _tiles(tiles: Tiles) -> Iterator[str]:
    loaded = "of each tile that is loaded in and before the loop"
    told = (
        (tiles.are_in_order, "for all k, iteration k reads what was loaded for it: none is stale"),
        (tiles.are_read, f"{loaded} some part is read: none is lost whole"),
    )
    # The reasons that follow are of what is not proved.
    for is_proved, what in sorted(told, key=lambda each: not each[0]):
        yield f"    {'proved:    ' if is_proved else 'not proved: '}{what}"
    yield from (f"      {_place(each.site)}: {each.why}" for each in tiles.obstacles)
    yield from (f"      if {_place(each.site)}: {each.why}" for each in tiles.rests_on)


def _numbers(buffers: Iterable[int]) -> str:
    return ", ".join(str(each) for each in sorted(buffers)) or "none"


def _needs(needs: Sequence[Need], gained: Mapping[Site, str]) -> Iterator[str]:
    """A line for each barrier, and one if sets of redundant ones are left that were not tried."""
    for need in needs:
        place = _among(needs, need.site)
        yield f"  barrier:   {place}: {_need(need, needs)}{gained.get(need.site, '')}"
    redundant = [each for each in needs if each.is_redundant]
    others = len(redundant) - 1
    if others > 1 and any(len(each.together) < others for each in redundant):
        yield (
            "  barriers:  of other sets than those named it is not known whether all is proved "
            "without them"
        )


def _need(need: Need, needs: Sequence[Need]) -> str:
    if not need.is_redundant:
        return "not proved to be redundant"
    told = "redundant: all is proved without it"
    if need.rests_on:
        places = ", ".join(dict.fromkeys(_place(site) for site in need.rests_on))
        told += f" if what is computed at {places} does not wrap"

    def those(some: Sequence[Site], join: str) -> str:
        noun = "that" if len(some) == 1 or join == "or" else "those"
        *others, last = [_among(needs, site) for site in some]
        return f"{noun} of {', '.join(others)} {join} {last}" if others else f"{noun} of {last}"

    if need.together:
        told += f", and without {those(need.together, 'and')} as well"
    not_without = [those(need.not_with, "or")] if need.not_with else []
    if need.not_with_all:
        not_without.append(f"{those(need.not_with_all, 'and')} at once")
    if not_without:
        told += f", but not also without {', or '.join(not_without)}"
    return told


def _among(needs: Sequence[Need], site: Site) -> str:
    """The place of a barrier, with its column if there are others in the line."""
    place = _place(site)
    is_one = sum(_place(need.site) == place for need in needs) == 1
    return place if is_one else f"{place}:{site.column}"


def _place(site: Site) -> str:
    return f"{site.file}:{site.line}"


def rings_json(rings: Rings, gains: Iterable[Gain] = ()) -> dict[str, Any]:
    """All of it as JSON has it."""
    gained = {gain.site: gain for gain in gains}
    return {
        "rotations": [
            {
                "array": each.array,
                "buffers": each.buffers,
                "bytes": each.stride,
                "written": [sorted(places) for places in each.written],
                "read": [sorted(places) for places in each.read],
                "idle": [sorted(places) for places in each.idle],
                "ahead": each.ahead,
                "proved": each.is_proved,
                "distinct": each.is_distinct,
                "beside": [{"file": site.file, "line": site.line} for site in each.beside],
                "tiles": _tiles_json(each.tiles),
            }
            for each in rings.rotations
        ],
        "barriers": [
            {
                "file": each.site.file,
                "line": each.site.line,
                "column": each.site.column,
                "redundant": each.is_redundant,
                "together": [site.line for site in each.together],
                "not_with": [site.line for site in each.not_with],
                "not_with_all": [site.line for site in each.not_with_all],
                "rests_on": [site.line for site in each.rests_on],
                "gain": _gain_json(gained.get(each.site)),
            }
            for each in rings.needs
        ],
    }


def _gain_json(gain: Gain | None) -> dict[str, Any] | None:
    if gain is None:
        return None
    if gain.cost is None:
        return {"problem": gain.problem}
    cost = gain.cost
    return {"chip": cost.chip, "before": cost.before, "after": cost.after}


def _tiles_json(tiles: Tiles | None) -> dict[str, Any] | None:
    if tiles is None:
        return None
    return {
        "in_order": tiles.are_in_order,
        "first": tiles.first,
        "read": tiles.are_read,
        "why": _obstacles_json(tiles.obstacles),
        "rests_on": _obstacles_json(tiles.rests_on),
    }


def _obstacles_json(obstacles: Iterable[Obstacle]) -> list[dict[str, Any]]:
    return [
        {"file": each.site.file, "line": each.site.line, "what": each.why} for each in obstacles
    ]
