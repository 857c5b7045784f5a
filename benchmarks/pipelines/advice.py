"""The note's five recommendations: what was run for each, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from .runs import (
    ALONE,
    CHIPS,
    DECODED,
    DECODERS,
    DEPTHS,
    GEMV,
    PROMPTS,
    WHOLE,
    WIDTHS,
    Result,
    Results,
    Run,
)

CONFIRMED, REFUTED, DEPENDS = "confirmed", "refuted", "depends"
_SAME: Final = 0.02
"""Times that differ by less are called the same: the model does not tell them apart."""
_HITS: Final = 0.95
"""The note's own bar for the L2."""

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows for the page, the first of which is the header."""

    title: str
    rows: Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Confirmed, refuted or depends, and the sentences that say why."""

    word: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A recommendation.

    Attributes:
        says: it, in short.
        verdict: from the results.
        tables: the runs that say so.
    """

    says: str
    verdict: Callable[[Results], Verdict]
    tables: Callable[[Results], Iterable[Table]]


def at(results: Results, form: str, chip: str, m: int, n: int, k: int) -> Result:
    """What is kept of a run."""
    return results[Run(form=form, chip=chip, m=m, n=n, k=k)]


def time_over(results: Results, pair: tuple[str, str], chip: str, m: int, n: int, k: int) -> float:
    """The time of the first form over that of the second."""
    first, second = (at(results, form, chip, m, n, k).microseconds for form in pair)
    return first / second


def by_chip(
    title: str, head: str, names: Iterable[object], cell: Callable[[object, str], str]
) -> Table:
    """A row for each name, a column for each chip."""
    rows = [[head, *CHIPS]]
    rows += [[f"{name}", *(cell(name, chip) for chip in CHIPS)] for name in names]
    return Table(title=title, rows=rows)


def _judged(ratios: Sequence[float]) -> str:
    """Of times with over times without what is recommended."""
    if all(ratio < 1 - _SAME for ratio in ratios):
        return CONFIRMED
    if all(ratio > 1 - _SAME for ratio in ratios):
        return REFUTED
    return DEPENDS


def _span(ratios: Sequence[float]) -> str:
    return f"{min(ratios):.2f} to {max(ratios):.2f}"


# 1: three stages with loaders, against two.

_LAYOUTS: Final = {512: 4096, 64: ALONE}
"""By m, how many columns: a full grid, and one threadgroup for each core."""


def _ratios(results: Results, form: str, m: int) -> dict[tuple[str, int], float]:
    pair = (form, "two_stages")
    return {
        (chip, k): time_over(results, pair, chip, m, _LAYOUTS[m], k)
        for chip in CHIPS
        for k in DEPTHS
    }


def _baseline(results: Results) -> Verdict:
    full, alone = (_ratios(results, "three_stages_divergent", m) for m in _LAYOUTS)
    plain, plain_alone = (_ratios(results, "three_stages", m) for m in _LAYOUTS)
    return Verdict(
        word=_judged([*full.values()]),
        why=(
            f"With two simdgroups that load and two that multiply, three stages take "
            f"{_span([*full.values()])} of the time of two stages where the grid fills the GPU, "
            f"and {_span([*alone.values()])} with one threadgroup for each core; there is no K "
            "from which on they are faster. Two simdgroups have the products of four to do, and "
            "while they wait nobody else of the threadgroup multiplies.\n\n"
            f"If all simdgroups do both, three stages take {_span([*plain.values()])} of the time "
            f"of two. {_residency(results)} With a core to itself, where nothing but the pipeline "
            f"hides latency, a threadgroup takes {_span([*plain_alone.values()])}: loads wait for "
            "memory where they stand, before the products, however many buffers there are. Faster "
            f"by more than 2% it is at {_better(plain_alone)}."
        ),
    )


def _residency(results: Results) -> str:
    """What a third buffer costs in threadgroups."""
    fewer, same = [], []
    for chip in CHIPS:
        two, three = (at(results, form, chip, 512, 4096, 512).resident for form in WHOLE[:2])
        if three < two:
            fewer.append(f"{chip} ({three} for {two})")
        else:
            same.append(f"{chip} ({three})")
    return (
        f"It costs where a core then holds fewer threadgroups, on {', '.join(fewer) or 'none'}; it "
        f"is the same where it holds as many, on {', '.join(same) or 'none'}. To give up "
        "threadgroups for depth does not pay."
    )


def _better(ratios: dict[tuple[str, int], float]) -> str:
    found = [f"K = {k} on {chip}" for (chip, k), ratio in ratios.items() if ratio < 1 - _SAME]
    return " and ".join(found) or "no K"


def _baseline_tables(results: Results) -> Iterable[Table]:
    titles = {512: "a grid of 512 threadgroups", 64: "one threadgroup for each core"}
    for form in ("three_stages", "three_stages_divergent"):
        for m, title in titles.items():
            found = _ratios(results, form, m)

            def cell(k: object, chip: str, found: dict[tuple[str, int], float] = found) -> str:
                assert isinstance(k, int)
                return f"{found[chip, k]:.2f}"

            yield by_chip(f"Time of `{form}` over `two_stages`, {title}", "K", DEPTHS, cell)


# 2: what the time goes into.

_GROUPS: Final = {
    "arithmetic": ("issue", "dependency"),
    "memory": ("l1", "l2", "slc", "dram", "threadgroup_memory"),
    "barriers": ("barrier",),
    "no threadgroup": ("launch", "idle"),
}


def _shares(result: Result) -> dict[str, float]:
    return {
        name: sum(result.causes.get(cause, 0.0) for cause in causes)
        for name, causes in _GROUPS.items()
    }


def _profiled(results: Results, m: int, n: int) -> dict[str, dict[str, float]]:
    form = "three_stages_divergent"
    return {chip: _shares(at(results, form, chip, m, n, 512)) for chip in CHIPS}


def _profile(results: Results) -> Verdict:
    mains = {
        chip: max(shares, key=lambda name: shares[name])
        for chip, shares in _profiled(results, 512, 4096).items()
    }
    barriers = [shares["barriers"] for shares in _profiled(results, 512, 4096).values()]
    kinds = ", ".join(f"{chip} {name}" for chip, name in mains.items())
    by_note = set(mains.values()) <= {"barriers", "memory"}
    return Verdict(
        word=CONFIRMED if by_note else REFUTED if "barriers" not in mains.values() else DEPENDS,
        why=(
            "The note asks whether barriers dominate, and the pipeline works as intended, or the "
            "latency of memory does, and it is too shallow. In a full grid most of a core's time "
            f"goes into: {kinds}; waits at barriers that nobody fills are "
            f"{min(barriers):.0%} to {max(barriers):.0%}. A core has several threadgroups, so that "
            "what one waits for, others fill: the question of the two does not arise, and neither "
            "answer says that the form is right. What does is its time beside that of others."
        ),
    )


def _profile_tables(results: Results) -> Iterable[Table]:
    for title, m, n in (("a full grid", 512, 4096), ("one threadgroup for each core", 64, ALONE)):
        found = _profiled(results, m, n)

        def cell(name: object, chip: str, found: dict[str, dict[str, float]] = found) -> str:
            return f"{found[chip][str(name)]:.0%}"

        yield by_chip(
            f"A core's time in `three_stages_divergent` at K = 512, {title}", "", _GROUPS, cell
        )


# 3: decoding.


def _decode(results: Results) -> Verdict:
    def against(form: str, other: str) -> list[float]:
        pair = (form, other)
        return [time_over(results, pair, c, m, 4096, 4096) for c in CHIPS for m in DECODED]

    whole = against("decode", "three_stages")
    depths = [*against("decode, 2 buffers", "decode"), *against("decode, 1 buffer", "decode")]
    vector = [time_over(results, ("decode", GEMV), chip, 1, 4096, 4096) for chip in CHIPS]
    resident = [at(results, "decode", chip, 512, 4096, 512).resident for chip in CHIPS]
    return Verdict(
        word=_judged(whole),
        why=(
            f"With TILE_M = 16 a product of one or four rows takes {_span(whole)} of the time with "
            f"64, and {min(resident)} to {max(resident)} threadgroups fit a core. How deep its "
            f"pipeline is matters less: with two buffers, or one, it takes {_span(depths)} of the "
            "time with three. With A alone in buffers it takes "
            f"{_span(against('decode_hybrid', 'decode'))} of the time. But no tile is best for "
            f"M = 1: a GEMV, which computes no rows of zeros, is {_span(vector)} times as fast."
        ),
    )


def _decode_tables(results: Results) -> Iterable[Table]:
    for m in DECODED:
        forms = (*DECODERS, GEMV) if m == 1 else DECODERS

        def cell(form: object, chip: str, m: int = m) -> str:
            return f"{at(results, str(form), chip, m, 4096, 4096).microseconds:.0f}"

        yield by_chip(f"Microseconds, M = {m}, N = K = 4096", "form", forms, cell)


# 4: prompts.

_PROMPT_FORMS: Final = (*WHOLE, "three_stages 32x64x32")


def _against_best(results: Results, chip: str, m: int) -> tuple[float, str]:
    """Time of three stages, all doing both, over that of the best form; and which that is."""
    times = {form: at(results, form, chip, m, 4096, 4096).microseconds for form in _PROMPT_FORMS}
    best = min(times, key=lambda form: times[form])
    return times["three_stages"] / times[best], best


def _prefill(results: Results) -> Verdict:
    found = {(chip, m): _against_best(results, chip, m) for chip in CHIPS for m in PROMPTS}
    lost = {key: (ratio, best) for key, (ratio, best) in found.items() if ratio > 1 + _SAME}
    if not lost:
        return Verdict(
            word=CONFIRMED,
            why="No other form is faster by more than 2%, without simdgroups that only load.",
        )
    worst = max(lost, key=lambda key: lost[key][0])
    special = [
        time_over(results, ("three_stages_divergent", "three_stages"), chip, m, 4096, 4096)
        for chip in CHIPS
        for m in PROMPTS
    ]
    return Verdict(
        word=REFUTED if len(lost) == len(found) else DEPENDS,
        why=(
            f"It is best, or the same, in {len(found) - len(lost)} of {len(found)} cases; at worst "
            f"({worst[0]}, M = {worst[1]}) it takes {lost[worst][0]:.2f} of the time of "
            f"`{lost[worst][1]}`. That all simdgroups are to do both is right: with loaders it "
            f"takes {_span(special)} of the time."
        ),
    )


def _prefill_tables(results: Results) -> Iterable[Table]:
    for m in PROMPTS:

        def cell(form: object, chip: str, m: int = m) -> str:
            return f"{at(results, str(form), chip, m, 4096, 4096).microseconds:,.0f}"

        yield by_chip(f"Microseconds, M = {m}, N = K = 4096", "form", _PROMPT_FORMS, cell)


# 5: the hybrid, and what L2 has of its weights.


def weights_hits(results: Results, chip: str, n: int) -> float:
    """Share of the weights that the hybrid's L1 asks L2 for, which L2 has.

    Weights are the bytes of a run without loads of x, less those of one without any loads.
    """
    weights, nothing = (
        results[Run(form="hybrid", chip=chip, m=512, n=n, k=4096, loads=loads)].bytes
        for loads in ("weights", "none")
    )
    asked = weights["l2"] - nothing["l2"]
    return 1 - (weights["slc"] - nothing["slc"]) / asked


def _hits(results: Results) -> Verdict:
    hits = {(chip, n): weights_hits(results, chip, n) for chip in CHIPS for n in WIDTHS}
    times = {
        (chip, n): time_over(results, ("hybrid", "three_stages"), chip, 512, n, 4096)
        for chip in CHIPS
        for n in WIDTHS
    }
    high = [times[key] for key, hit in hits.items() if hit > _HITS]
    low = [times[key] for key, hit in hits.items() if hit <= _HITS]
    better = [time < 1 - _SAME for time in high]
    worse = [time > 1 + _SAME for time in low]
    follows = all(better) and all(worse)
    least, most = min(hits.values()), max(hits.values())
    parts = [f"L2 has {least:.0%} to {most:.0%} of the weights that the hybrid's L1 asks it for."]
    if high:
        parts.append(f"Over 95% the hybrid takes {_span(high)} of the full triple buffer's time.")
    if low:
        parts.append(
            f"{'Elsewhere' if high else 'It is nowhere over 95%, and'} the hybrid takes "
            f"{_span(low)} of the full triple buffer's time."
        )
    parts.append(
        "Threadgroups of a row of tiles run side by side and read different weights, so L2 is "
        "asked for them again only by the next row; what a threadgroup itself reads again its L1 "
        "has. What decides is who decodes: each simdgroup of the hybrid does so for itself, by "
        "eight of its 32 lanes, where four share the work by way of threadgroup memory. Before M3, "
        "where threadgroup memory limits how many threadgroups a core holds, the hybrid's room for "
        "more of them makes up for it."
    )
    word = CONFIRMED if follows else DEPENDS if any(better) or any(worse) else REFUTED
    return Verdict(word=word, why=" ".join(parts))


def _hits_tables(results: Results) -> Iterable[Table]:
    def hit(n: object, chip: str) -> str:
        assert isinstance(n, int)
        return f"{weights_hits(results, chip, n):.0%}"

    def time(n: object, chip: str) -> str:
        assert isinstance(n, int)
        return f"{time_over(results, ('hybrid', 'three_stages'), chip, 512, n, 4096):.2f}"

    yield by_chip("L2 hit rate of the hybrid's weights, M = 512, K = 4096", "N", WIDTHS, hit)
    yield by_chip("Time of `hybrid` over `three_stages`, the same runs", "N", WIDTHS, time)


ADVICE: Final = (
    Advice(
        says="Start with the triple buffer, two simdgroups loading and two multiplying, and "
        "compare it with the double buffer.",
        verdict=_baseline,
        tables=_baseline_tables,
    ),
    Advice(
        says="Profile: if barriers dominate, the pipeline works as intended; if memory latency "
        "does, it is too shallow.",
        verdict=_profile,
        tables=_profile_tables,
    ),
    Advice(
        says="For decoding (M = 1 to 4) use TILE_M = 16: occupancy hides latency better than the "
        "pipeline.",
        verdict=_decode,
        tables=_decode_tables,
    ),
    Advice(
        says="For prompts (M = 64 to 4096) 64x64x32 in three buffers is optimal, all simdgroups "
        "doing both.",
        verdict=_prefill,
        tables=_prefill_tables,
    ),
    Advice(
        says="Measure the L2's hits for the fused kernel's weights: over 95% the hybrid is "
        "strictly superior; otherwise the full triple buffer wins.",
        verdict=_hits,
        tables=_hits_tables,
    ),
)
