"""Provers that are wrong on purpose, each in one way, to see that random kernels tell.

Each is named by what it takes for granted. `unsound(name)` makes the prover so while it lasts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest import mock

from assay.compiler.verify import (
    barriers,
    bounds,
    copies,
    intervals,
    kernel,
    lanes,
    races,
    ranges,
    study,
    values,
)
from assay.compiler.verify.assumed import contents
from assay.compiler.verify.initial import writers
from assay.compiler.verify.loops import Induction
from assay.compiler.verify.memory import delinearise, same_values
from assay.compiler.verify.values import Values
from assay.compiler.verify.walks import execution, skipped

Patch = tuple[Any, str, Any]


def _all_memory() -> list[Patch]:
    def separates(flag: int) -> Callable[[Any], bool]:
        return lambda block: kernel.barrier_of(block) is not None

    return [(intervals, "separates", separates)]


def _lock_step() -> list[Patch]:
    plain = races.not_in_lock_step

    def ordered(of: Any, one: Any, other: Any, here: Any, there: Any) -> Any:
        if of.apart:
            return plain(of, one, other, here, there)
        return one.access is other.access and plain(of, one, other, here, there)

    return [(races, "not_in_lock_step", ordered)]


def _never_wraps() -> list[Patch]:
    return [(ranges.Ranges, "holds", lambda self, value, reading, **named: True)]


def _once_each() -> list[Patch]:
    plain = races._Search.pairs

    def pairs(self: Any, interval: Any) -> Iterator[Any]:
        return (pair for pair in plain(self, interval) if pair[0].access is not pair[1].access)

    return [(races._Search, "pairs", pairs)]


def _same_value() -> list[Patch]:
    return [(races, "_write_the_same", lambda one, other: one.operation is other.operation)]


def _first_iteration() -> list[Patch]:
    plain = intervals.step

    def step(of: Any, source: Any, target: Any, counts: Any) -> Any:
        found = plain(of, source, target, counts)
        return frozenset((loop, counts.get(loop, count)) for loop, count in found)

    return [(intervals, "step", step)]


def _lanes_for_threads() -> list[Patch]:
    plain = barriers.divergence

    def divergence(of: Any, block: Any) -> Any:
        return plain(of, block) if of.kernel.lanes.is_varying(block.condition) else None

    return [(barriers, "divergence", divergence)]


def _no_lengths() -> list[Patch]:
    plain = delinearise.overlap

    def overlap(one: Any, other: Any) -> Any:
        return plain(replace(one, length=1), replace(other, length=1))

    return [(races, "overlap", overlap)]


def _atomics() -> list[Patch]:
    plain = races._Search.pairs

    def pairs(self: Any, interval: Any) -> Iterator[Any]:
        for pair in plain(self, interval):
            if not any(each.access.operation.is_atomic for each in pair):
                yield pair

    return [(races._Search, "pairs", pairs)]


def _induction() -> list[Patch]:
    plain = Values._induced

    def induced(self: Any, rule: Any, loop: Any, counts: Any) -> Any:
        return plain(self, Induction(rule.start, ()), loop, counts)

    return [(Values, "_induced", induced)]


def _one_byte() -> list[Patch]:
    return [(bounds, "length", lambda access: 0)]


def _one_group() -> list[Patch]:
    def within_only(within: Any, between: Any) -> Any:
        return races.races_within(within)

    return [(races, "buffer_races", within_only)]


def _columns() -> list[Patch]:
    plain = races._holds

    def holds(of: Any, before: Any) -> Any:
        plain(of, before)
        return lambda condition: True

    return [(races, "_holds", holds)]


def _no_conditions() -> list[Patch]:
    return [(execution.Execution, "conditions", lambda self, block, counts: [])]


def _some_writer() -> list[Patch]:
    plain = writers.Writer.who

    def who(self: Any, *given: Any) -> Any:
        return replace(plain(self, *given), is_one=True)

    return [(writers.Writer, "who", who)]


def _unknown_is_no() -> list[Patch]:
    plain = study.solve

    def solve(*given: Any, **named: Any) -> Any:
        found = plain(*given, **named)
        return replace(found, answer="no") if found.answer == "unknown" else found

    return [(study, "solve", solve), (ranges, "solve", solve)]


def _lanes_agree() -> list[Patch]:
    plain = Values._is_of_simdgroup

    def agree(self: Any, value: Any) -> bool:
        crosses = value.operation.crosses_lanes if hasattr(value, "operation") else False
        return crosses or plain(self, value)

    return [(Values, "_is_of_simdgroup", agree)]


def _other_guards() -> list[Patch]:
    plain = Values.taken

    def taken(self: Any, source: Any, target: Any, counts: Any) -> Any:
        found = plain(self, source, target, counts)
        is_back = any(loop.header is target for loop in self.kernel.around(source))
        if isinstance(found, bool) or is_back or source.targets[0] is target:
            return found
        return values.negation(found)

    return [(Values, "taken", taken)]


def _always_lock_step() -> list[Patch]:
    return [(lanes.Strict, "threadgroup", lambda self, study: races.threadgroup_races(study))]


def _copies_at_once() -> list[Patch]:
    return [(copies.Copies, "are_unordered", lambda self, one, other: False)]


def _copies_begin_once() -> list[Patch]:
    return [(copies.Copies, "of", lambda self, access: None)]


def _barriers_before() -> list[Patch]:
    def behind(values: Any, interval: Any, loop: Any, flag: int) -> Iterator[Any]:
        cfg, ends = values.kernel.cfg, intervals.separates(flag)
        return (block for block in cfg.order if cfg.innermost[block] is loop and ends(block))

    return [(skipped, "_behind", behind)]


def _barriers_behind() -> list[Patch]:
    return [(skipped, "_is_later", lambda values, interval, block, known: True)]


def _all_read_apart() -> list[Patch]:
    def unlike(self: Any, one: Any, other: Any) -> Iterator[Any]:
        for each in self.distinct:
            mine, theirs = self._keys(each, *one), self._keys(each, *other)
            for a, b in itertools.product(mine, theirs):
                yield values.one_of(*(x != y for x, y in zip(a.numbers, b.numbers, strict=True)))

    return [(contents.Contents, "unlike", unlike)]


def _loops_begin_alike() -> list[Patch]:
    plain = same_values._Patterns._inputs

    def inputs(self: Any, loop: Any) -> Any:
        begin = {each for phi in loop.header.phis for each in phi.operands}
        found = plain(self, loop)
        return found and [each for each in found if each not in begin]

    return [(same_values._Patterns, "_inputs", inputs)]


UNSOUND: dict[str, Callable[[], list[Patch]]] = {
    "barriers order all memory, whatever their flags": _all_memory,
    "simdgroups keep lock step with each other": _lock_step,
    "nothing wraps": _never_wraps,
    "an instruction does not meet itself": _once_each,
    "stores write the same value": _same_value,
    "iterations of a loop are one": _first_iteration,
    "what lanes agree on, threads do": _lanes_for_threads,
    "accesses are of one byte, in races": _no_lengths,
    "atomics meet nothing": _atomics,
    "variables of loops stay what they are": _induction,
    "accesses are of no bytes, in bounds": _one_byte,
    "threadgroups do not meet": _one_group,
    "columns are less than rows are long": _columns,
    "all threads come to a write": _no_conditions,
    "a guessed writer exists": _some_writer,
    "what is too hard cannot be": _unknown_is_no,
    "lanes find the same across": _lanes_agree,
    "branches are taken the other way": _other_guards,
    "lanes keep lock step in any model": _always_lock_step,
    "copies end at once": _copies_at_once,
    "copies begin once": _copies_begin_once,
    "barriers before others end what is behind these": _barriers_before,
    "barriers before a beginning are behind it": _barriers_behind,
    "distinct numbers are read by one thread each": _all_read_apart,
    "loops of all threads begin with the same": _loops_begin_alike,
}


@contextmanager
def unsound(name: str) -> Iterator[None]:
    """A prover that takes something for granted."""
    patches = [mock.patch.object(*each) for each in UNSOUND[name]()]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in reversed(patches):
            each.stop()
