"""Damage to the text of a pipeline, as people do it, and where a check is to point then."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from assay.foundry.products import Pipeline

BARRIER: Final = "threadgroup_barrier(mem_flags::mem_threadgroup);"
LOADS: Final = frozenset({"copy.h", "decode.h", "async.h", "words.h"})
PRODUCTS: Final = frozenset({"matrices.h", "fused.h"})


@dataclass(frozen=True)
class Mutant:
    """One damage.

    Attributes:
        name: what was done.
        damage: the text, damaged; None where a pipeline has nothing to be damaged so.
        places: files of both places that a finding must name, each any of a set.
        call: for an access beyond a buffer, whose other place is the call that asked for it: what
            stands there, where the guard is missing.
        checks: which checks may find it.
        tiles: how many tiles of k show it, whole ones or with a part of another.
        rows: of x; with whole tiles of them, what lies behind the last row is behind the buffer.
    """

    name: str
    damage: Callable[[str, Pipeline], str | None]
    places: tuple[frozenset[str], ...]
    call: str = ""
    checks: frozenset[str] = frozenset({"race"})
    tiles: float = 7.5
    rows: int = 32


def _replaced(old: str, new: str, count: int = -1) -> Callable[[str, Pipeline], str | None]:
    def damage(text: str, pipeline: Pipeline) -> str | None:
        return text.replace(old, new, count) if old in text else None

    return damage


def _of_last_barrier(new: str) -> Callable[[str, Pipeline], str | None]:
    def damage(text: str, pipeline: Pipeline) -> str | None:
        before, after = text.rsplit(BARRIER, 1)
        return before + new + after

    return damage


def _without_first_barrier(text: str, pipeline: Pipeline) -> str | None:
    return text.replace(BARRIER, "", 1) if pipeline.buffers > 1 else None


def _moved(text: str, pipeline: Pipeline) -> str | None:
    """The barrier stands between load and product."""
    if pipeline.loaders:
        return None
    before, after = text.rsplit(BARRIER, 1)
    text = before + after
    at = text.rindex("multiply", 0, text.index("store(sums, y"))
    return text[:at] + BARRIER + "\n" + text[at:]


def _moved_to_loaders(text: str, pipeline: Pipeline) -> str | None:
    """Only those who load come by the barrier."""
    if not pipeline.loaders:
        return None
    before, after = text.rsplit(BARRIER, 1)
    branch = "if (simdgroup < LOADERS) {\n"
    return (before + after).replace(branch, branch + BARRIER, 1)


def _of_weights(old: str, new: str, *, packed: bool) -> Callable[[str, Pipeline], str | None]:
    """In forms whose weights are copied packed, or in the others."""

    def damage(text: str, pipeline: Pipeline) -> str | None:
        is_right = (pipeline.weights == "packed") == packed and old in text
        return text.replace(old, new) if is_right else None

    return damage


def _decoded_too_soon(text: str, pipeline: Pipeline) -> str | None:
    """The barrier between the end of copies and those who decode them."""
    if pipeline.weights != "packed":
        return None
    at = text.rindex("wait_for_copies(")
    return text[:at] + text[at:].replace(BARRIER, "", 1)


def _next(new: str, *, buffers: int | None = None) -> Callable[[str, Pipeline], str | None]:
    """Another buffer for the tiles that are loaded ahead."""

    def damage(text: str, pipeline: Pipeline) -> str | None:
        if pipeline.buffers == 1 or buffers not in (None, pipeline.buffers):
            return None
        return text.replace(
            f"(next % {pipeline.buffers})", new.replace("BUFFERS", str(pipeline.buffers))
        )

    return damage


def _everywhere_two(text: str, pipeline: Pipeline) -> str | None:
    return text.replace("% 3)", "% 2)") if pipeline.buffers == 3 else None


def _read_one_further(text: str, pipeline: Pipeline) -> str | None:
    """In the product alone; the loads in front of the loop have the same index."""
    if pipeline.buffers == 1:
        return None
    at = text.rindex("multiply", 0, text.index("store(sums, y"))
    index = f"(tile % {pipeline.buffers})"
    return text[:at] + text[at:].replace(index, f"((tile + 1) % {pipeline.buffers})", 1)


def _without_last_columns(text: str, pipeline: Pipeline) -> str | None:
    """Where the loop loads tiles that lie as they are copied."""
    if pipeline.is_async:
        return text.replace("min(COLUMNS, columns - column)", "COLUMNS")
    return text.replace(" && column + COLUMNS <= columns", "")


BOTH: Final = (LOADS, PRODUCTS)
_SCHEDULE: Final = (frozenset({"product.h"}), frozenset({"product.h"}))
_STORE: Final = frozenset({"matrices.h"})
# A load, and the line of the loop that lets it load too much.
_GUARDED: Final = (frozenset({"copy.h", "async.h"}), frozenset({"product.h"}))

MUTANTS: Final = (
    Mutant("barrier dropped", _of_last_barrier(""), BOTH),
    Mutant(
        "barrier for some lanes",
        _of_last_barrier(f"if (lane < 16) {{ {BARRIER} }}"),
        _SCHEDULE,
        checks=frozenset({"barrier"}),
    ),
    Mutant(
        "barrier for one simdgroup",
        _of_last_barrier(f"if (simdgroup == 0) {{ {BARRIER} }}"),
        BOTH,
    ),
    Mutant("barrier moved", _moved, (LOADS, LOADS | PRODUCTS)),
    Mutant("packed words without barrier", _decoded_too_soon, (LOADS, LOADS)),
    Mutant(
        "barrier moved to those who load",
        _moved_to_loaders,
        _SCHEDULE,
        checks=frozenset({"barrier"}),
    ),
    Mutant("prologue without barrier", _without_first_barrier, BOTH),
    Mutant("loads one buffer further", _next("((next + 1) % BUFFERS)"), BOTH),
    Mutant(
        "reads one buffer further",
        _read_one_further,
        (_STORE, PRODUCTS | LOADS),
        checks=frozenset({"init", "race"}),
        tiles=1,
    ),
    Mutant("modulo 2 for 3 where it loads", _next("(next % 2)", buffers=3), BOTH),
    Mutant("modulo 2 for 3", _everywhere_two, BOTH),
    Mutant(
        "no guard of the last tile",
        _replaced("if (next < last)", "if (true)"),
        _GUARDED,
        "_tile<",
        frozenset({"bounds"}),
        rows=17,
    ),
    Mutant(
        "no guard of the last columns of x",
        _without_last_columns,
        _GUARDED,
        "_tile<",
        frozenset({"bounds"}),
    ),
    Mutant(
        "no guard of the last rows of weights",
        _of_weights("if (n < params->n && k < params->k)", "if (n < params->n)", packed=False),
        (frozenset({"program_source.metal"}), frozenset({"decode.h"})),
        "Policy::load8(",
        frozenset({"bounds"}),
    ),
    Mutant(
        "no guard of the last rows of packed weights",
        _of_weights(
            "if (n < params->n && k + down < params->k)", "if (n < params->n)", packed=True
        ),
        (frozenset({"program_source.metal"}), frozenset({"words.h"})),
        "Policy::decode8(",
        frozenset({"bounds"}),
    ),
    Mutant(
        "no guard of the last columns of y",
        _replaced("if (r < m && c < n)", "if (r < m)"),
        (_STORE, _STORE),
    ),
)
