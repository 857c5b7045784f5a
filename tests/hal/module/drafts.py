"""A module that has something of everything, valid, and never run."""

from assay.hal.module.expressions import Op
from assay.hal.module.records import (
    NONE,
    UNKNOWN,
    Call,
    Check,
    Copy,
    Deduce,
    Forward,
    If,
    Place,
    Read,
    Release,
    Reserve,
    Signal,
    Wait,
    While,
)
from tests.support.assay_modules import I64, Draft, DraftModel


def everything() -> Draft:
    draft = Draft("everything")
    rows = draft.symbol("rows", 1, 64, 4)
    weight = draft.weight("w", I64, (2,), bytes(range(16)))
    twice = draft.kernel("twice", 1, 1, 1)
    three, zero = draft.const(3), draft.const(0)
    n = draft.code(Op.SYMBOL, rows)
    model = DraftModel(draft, points=1)
    x = model.given("x", n, three)
    w = model.tensor((2,), Place.WEIGHT, where=weight, element_type=I64)
    bounded = model.tensor((UNKNOWN, 3), Place.PLANNED, size=768)
    grown = model.tensor((UNKNOWN,), Place.DYNAMIC)
    view = model.tensor((UNKNOWN, 1), Place.VIEW)
    last = model.tensor((2,), Place.PLANNED, offset=1024, size=16, element_type=I64)
    size = draft.code(Op.DIM, x, 0, Op.CONST, 3, Op.MUL, Op.VALUE, w, 1, Op.MIN)
    one = draft.const(1)
    once = draft.code(Op.CONST, 0, Op.CONST, 1, Op.LT, Op.CONST, 2, Op.CONST, 4, Op.SELECT)
    body = model.region(Copy(x, bounded))
    then = model.region(Call(twice, (x,), (one,), (bounded,)))
    model.run(
        Deduce(bounded, (n, three)),
        Read(w),
        Check(size, "no rows"),
        If(once, then, NONE),
        While(zero, body),
        Call(twice, (x,), (size,), (bounded,)),
        Signal(0, 0),
        Wait(0, 0),
        Deduce(grown, (size,)),
        Reserve(grown),
        Call(twice, (bounded,), (one,), (grown,), size),
        Forward(grown, view, zero, (size, one)),
        Copy(w, last),
    )
    model.finish(y=view, z=last)
    other = DraftModel(draft, "other")
    grown = other.tensor((UNKNOWN,), Place.DYNAMIC)
    other.run(Deduce(grown, (three,)), Reserve(grown), Release(grown))
    other.finish()
    return draft
