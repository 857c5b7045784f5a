"""A run beside the notes of its compiler."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from hypothesis import given
from hypothesis import strategies as st

from assay.hw.torq.check.declared import Declared, Deviation, Reach, deviations
from assay.hw.torq.check.ranges import ordered, size, without
from assay.hw.torq.notes import NO_NOTES, Notes, Operand, TaskNote

_PIECES = st.lists(
    st.tuples(st.integers(0, 60), st.integers(1, 9)).map(lambda p: (p[0], p[0] + p[1])), max_size=6
)
LOAD = TaskNote(operation="load x", source="input 0")
CONV, CLAMP = TaskNote(operation="conv2d of y"), TaskNote(operation="clamp of z")
NOTES = Notes(slice_programs=MappingProxyType({0x600: (CONV, CLAMP)}), transfers=(LOAD,))


def operand(*ranges: tuple[int, int], exact: bool = True) -> Operand:
    return Operand(agent="DEDR", tensor="x", memory="LRAM", ranges=ranges, exact=exact)


def found(note: TaskNote, *ranges: tuple[int, int], agent: str = "DEDR") -> list[Deviation]:
    return list(deviations(note, [Reach(agent=agent, memory="LRAM", ranges=ranges)]))


@given(_PIECES, _PIECES)
def test_what_is_left_of_ranges_is_what_the_others_lack(
    one: list[tuple[int, int]], other: list[tuple[int, int]]
) -> None:
    def held(pieces: list[tuple[int, int]]) -> set[int]:
        return {n for start, stop in pieces for n in range(start, stop)}

    left = without(ordered(one), ordered(other))
    assert held(list(left)) == held(one) - held(other)
    assert size(left) == len(held(one) - held(other))


def test_the_bytes_that_were_meant_deviate_in_nothing() -> None:
    assert found(TaskNote(operands=(operand((0, 8), (16, 24)),)), (0, 8), (16, 24)) == []


def test_bytes_too_many_and_bytes_too_few_are_told() -> None:
    (deviation,) = found(TaskNote(operands=(operand((0, 8)),)), (1, 9))
    assert (deviation.extra, deviation.missing, deviation.tensor) == (((8, 9),), ((0, 1),), "x")


def test_what_goes_by_offsets_stays_inside() -> None:
    note = TaskNote(operands=(operand((0, 100), exact=False),))
    assert found(note, (3, 5)) == []
    assert [d.extra for d in found(note, (90, 104))] == [((100, 104),)]


def test_what_goes_by_offsets_starts_where_it_was_meant_to() -> None:
    meant = replace(operand((0, 100), exact=False), unmoved=((0, 4),))
    reach = Reach(agent="DEDR", memory="LRAM", ranges=((8, 20),), unmoved=((4, 8),))
    (deviation,) = deviations(TaskNote(operands=(meant,)), [reach])
    assert (deviation.extra, deviation.missing) == (((4, 8),), ((0, 4),))


def test_an_agent_that_should_not_run_and_one_that_does_not_are_told() -> None:
    deviating = found(TaskNote(operands=(operand((0, 8)),)), (0, 4), agent="DEWR")
    assert [(d.agent, d.extra, d.missing) for d in deviating] == [
        ("DEDR", (), ((0, 8),)),
        ("DEWR", ((0, 4),), ()),
    ]


def test_a_task_of_which_no_operands_are_known_is_compared_with_nothing() -> None:
    assert found(TaskNote(operation="by hand"), (0, 4)) == []


def test_tasks_are_known_by_program_and_order() -> None:
    declared = Declared(NOTES)
    assert declared.program("SLC0", 0x600) == ""
    assert [declared.task("SLC0"), declared.task("SLC0")] == [CONV, CLAMP]
    assert declared.ended("SLC0") == "" and not declared.is_beyond("SLC0")
    assert declared.task("SLC0") is None and declared.is_beyond("SLC0")
    assert str(declared.transfer("XR")) == "load x (input 0)"


def test_programs_at_other_places_or_cut_short_or_left_out_are_told() -> None:
    declared = Declared(NOTES)
    assert declared.lacking() == "never starts what was to load x (input 0)"
    declared.transfer("XR")
    assert "never runs the slice program at 0x600 (conv2d of y, clamp of z)" in declared.lacking()
    assert declared.program("SLC1", 0x604) == "runs a program at 0x604, where its compiler put none"
    declared.program("SLC0", 0x600)
    declared.task("SLC0")
    assert declared.ended("SLC0") == "ends its program after 1 of 2 tasks"
    assert declared.lacking() == ""


def test_without_notes_nothing_is_wrong() -> None:
    declared = Declared(NO_NOTES)
    assert declared.program("SLC0", 0x600) == "" and declared.task("SLC0") is None
    assert not declared.is_beyond("SLC0") and declared.ended("SLC0") == declared.lacking() == ""
