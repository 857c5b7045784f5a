"""A module that has something of everything, valid, and never run."""

from collections.abc import Callable

from assay.hal.module.expressions import Op
from assay.hal.module.records import (
    NONE,
    UNKNOWN,
    Argument,
    Call,
    Check,
    Copy,
    Deduce,
    Forward,
    FunctionConstant,
    If,
    Kernel,
    Place,
    Read,
    Release,
    Reserve,
    Signal,
    Stage,
    Wait,
    While,
)
from tests.support.assay_modules import I64, U32, Draft, DraftModel


def msl_kernel(draft: Draft, n: int) -> Callable[[int, int], Call]:
    """A kernel of two stages, of MSL: calls of it with an input and an output, given a size."""
    arguments = (
        Argument(0, 0, 0, NONE),
        Argument(2, 1, I64, 8),
        Argument(3, 1, U32, 0),
        Argument(4, 2, 0, 3),
    )
    stages = (
        Stage("first", NONE, arguments, (FunctionConstant(7, U32, 5),), (256, 64)),
        Stage("second", 1, (Argument(4, 0, 0, NONE), Argument(1, 1, 0, NONE)), (), ()),
    )
    draft.kernels.append(Kernel(0, "msl", 0, "two", 1, 2, 1, stages))
    number, one = len(draft.kernels) - 1, draft.const(1)
    sizes = (n, one, one)
    return lambda x, y: Call(number, (x,), (n, one), (y,), n, sizes * 2, sizes * 2)


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
    own = msl_kernel(draft, n)
    model.run(own(x, bounded))
    model.finish(y=view, z=last)
    other = DraftModel(draft, "other")
    grown = other.tensor((UNKNOWN,), Place.DYNAMIC)
    other.run(Deduce(grown, (three,)), Reserve(grown), Release(grown))
    other.finish()
    return draft
