import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.hal.module import expressions
from assay.hal.module.expressions import MOST_WORDS, Op, Values, check, evaluate, text
from assay.hal.status import StatusError

WORDS = st.integers(-(1 << 63), (1 << 63) - 1)


def known() -> Values:
    return Values(symbols=[7], shapes=[(2, 3)], elements={0: (10, 20)})


def test_everything_an_expression_can_be_of() -> None:
    code = (Op.SYMBOL, 0, Op.DIM, 0, 1, Op.MUL, Op.VALUE, 0, 1, Op.ADD, Op.CONST, -1, Op.SUB)
    check(code)
    assert evaluate(code, known()) == 7 * 3 + 20 + 1
    assert text(code) == "(((s0 * dim(t0, 1)) + value(t0, 1)) - -1)"


@given(a=WORDS, b=WORDS.filter(bool))
def test_division_rounds_as_its_name_says(a: int, b: int) -> None:
    def result(op: Op) -> int:
        return evaluate((Op.CONST, a, Op.CONST, b, op), Values())

    if a == -(1 << 63) and b == -1:
        with pytest.raises(StatusError, match="64 bits"):
            result(Op.FLOORDIV)
        return
    assert result(Op.FLOORDIV) * b + result(Op.MOD) == a
    assert result(Op.CEILDIV) - result(Op.FLOORDIV) == (a % b != 0)


@pytest.mark.parametrize("op", [Op.FLOORDIV, Op.CEILDIV, Op.MOD])
def test_division_by_0_is_an_error(op: Op) -> None:
    with pytest.raises(StatusError, match="by 0"):
        evaluate((Op.CONST, 1, Op.CONST, 0, op), Values())


@pytest.mark.parametrize("code", [(1 << 62, 1 << 62, Op.ADD), (1 << 40, 1 << 40, Op.MUL)])
def test_what_does_not_fit_64_bits_is_an_error(code: tuple[int, int, Op]) -> None:
    a, b, op = code
    with pytest.raises(StatusError, match="64 bits"):
        evaluate((Op.CONST, a, Op.CONST, b, op), Values())


def test_select_takes_the_second_of_three_unless_the_first_is_0() -> None:
    chosen = [
        evaluate((Op.CONST, c, Op.CONST, 5, Op.CONST, 6, Op.SELECT), Values()) for c in (0, 1)
    ]
    assert chosen == [6, 5]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ((), "leaves 0 numbers"),
        ((Op.CONST,), "ends inside of CONST"),
        ((Op.DIM, 1), "ends inside of DIM"),
        ((Op.ADD,), "finds 0 of 2"),
        ((Op.CONST, 1, Op.CONST, 2), "leaves 2 numbers"),
        ((16,), "no operation"),
        ((-1,), "no operation"),
        ((Op.CONST, 1) * MOST_WORDS, "words"),
    ],
)
def test_code_that_is_no_expression_is_refused(code: tuple[int, ...], message: str) -> None:
    with pytest.raises(StatusError, match=message):
        check(code)


@given(code=st.lists(st.integers(-2, 17), max_size=12))
def test_checked_code_gives_a_number_or_a_clear_error(code: list[int]) -> None:
    try:
        references = check(code)
    except StatusError:
        return
    if any(each.number or not 0 <= each.part < 2 for each in references):
        return  # the module's checks refuse those: there is no such tensor or symbol
    try:
        assert isinstance(evaluate(code, known()), int)
    except StatusError as error:
        assert error.message
    assert text(code)


def test_a_symbol_without_a_size_is_an_error() -> None:
    with pytest.raises(StatusError, match="no size yet"):
        evaluate((Op.SYMBOL, 0), Values(symbols=[None]))


def test_constants_are_told_from_computations() -> None:
    assert expressions.constant((Op.CONST, 5)) == 5
    assert expressions.constant((Op.SYMBOL, 0)) is None
