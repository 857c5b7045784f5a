"""Instructions that would go wrong are found before anything runs."""

import pytest

from assay.hal.module.file import write_module
from assay.hal.module.records import (
    NONE,
    UNKNOWN,
    Call,
    Copy,
    Deduce,
    Forward,
    If,
    Instruction,
    Place,
    Read,
    Reserve,
    Wait,
    While,
)
from assay.hal.status import StatusError
from tests.support.assay_modules import I64, Draft, DraftModel


class Case:
    """x f32[4], dynamic d f32[?], planned p f32[4], view v f32[?], whole numbers n i64[2]."""

    def __init__(self) -> None:
        self.draft = Draft()
        self.four, self.zero = self.draft.const(4), self.draft.const(0)
        self.kernel = self.draft.kernel("f", 1, 1)
        self.model = DraftModel(self.draft)
        self.x = self.model.given("x", self.four)
        self.d = self.model.tensor((UNKNOWN,), Place.DYNAMIC)
        self.p = self.model.tensor((4,), Place.PLANNED, size=16)
        self.v = self.model.tensor((UNKNOWN,), Place.VIEW)
        self.n = self.model.tensor((2,), Place.PLANNED, offset=64, size=16, element_type=I64)

    def error(self, *instructions: Instruction, output: int | None = None) -> str:
        self.model.run(*instructions)
        self.model.finish(**({} if output is None else {"y": output}))
        with pytest.raises(StatusError) as caught:
            write_module(self.draft.module(), self.draft.segments)
        return str(caught.value)


def test_reading_what_nothing_wrote() -> None:
    case = Case()
    error = case.error(Call(case.kernel, (case.p,), (), (case.p,)))
    assert "region 0, instruction 0 (Call): tensor 2 is read before anything wrote it" in error


def test_writing_a_dynamic_tensor_without_a_shape() -> None:
    case = Case()
    assert "before it has a shape and memory" in case.error(Copy(case.x, case.d))


def test_reserving_without_a_shape() -> None:
    case = Case()
    assert "has no shape yet" in case.error(Reserve(case.d))


def test_a_new_shape_ends_the_old_memory() -> None:
    case = Case()
    dims = (case.four,)
    error = case.error(Deduce(case.d, dims), Reserve(case.d), Deduce(case.d, dims), Copy(0, case.d))
    assert "instruction 3 (Copy)" in error


def test_writing_an_input() -> None:
    case = Case()
    error = case.error(Call(case.kernel, (case.x,), (), (case.x,)))
    assert "x may not be written" in error


def test_a_view_of_another_type() -> None:
    case = Case()
    other = case.model.tensor((UNKNOWN,), Place.VIEW, element_type=I64)
    assert "another type" in case.error(Forward(case.x, other, NONE, (case.four,)))


def test_reading_numbers_that_are_not_whole() -> None:
    case = Case()
    assert "has no whole numbers" in case.error(Read(case.x))


def test_an_element_that_was_not_read() -> None:
    case = Case()
    value = case.draft.code(3, case.n, 0)
    assert "used before it is read" in case.error(Deduce(case.d, (value,)))


def test_a_kernel_with_too_many_operands() -> None:
    case = Case()
    assert "does not take" in case.error(Call(case.kernel, (case.x, case.x), (), (case.p,)))


def test_a_region_that_enters_itself() -> None:
    case = Case()
    assert "in a cycle" in case.error(While(case.four, 0))


def test_a_region_that_is_entered_twice() -> None:
    case = Case()
    one = case.model.region()
    assert "two places" in case.error(If(case.four, one, one))


def test_regions_that_enter_each_other() -> None:
    case = Case()
    case.model.regions += [(While(case.zero, 2),), (While(case.zero, 1),)]
    assert "in a cycle" in case.error(While(case.zero, 1))


def test_what_only_one_branch_writes_is_not_there_behind_both() -> None:
    case = Case()
    then = case.model.region(Copy(case.x, case.p))
    assert "nothing writes output y" in case.error(If(case.four, then, NONE), output=case.p)


def test_what_a_loop_writes_may_not_be_there_behind_it() -> None:
    case = Case()
    body = case.model.region(Copy(case.x, case.p))
    assert "nothing writes output y" in case.error(While(case.zero, body), output=case.p)


def test_waiting_for_a_point_that_comes_later() -> None:
    case = Case()
    case.model.points = 1
    assert "is not signalled before" in case.error(Wait(0, 0))
