"""Shape sets: one is active, the first to begin with; switching is a lookup of all inputs."""

import itertools

import numpy as np
import pytest

from assay.hal.module.context import Context
from assay.hal.module.expressions import Op
from assay.hal.module.records import UNKNOWN, Call, Deduce, Place, Reserve
from assay.hal.status import StatusError
from tests.support.assay_modules import Draft, DraftModel

from .machines import context, given, result

FUNCTIONS = {"sum": lambda a, b, y: np.copyto(y, a.sum() + b.sum(axis=0))}


def fixed(*sets: tuple[int, int]) -> Draft:
    """y f32[3] of a f32[m] and b f32[k, 3], for some (m, k)."""
    draft = Draft()
    kernel = draft.kernel("sum", 2, 1)
    for m, k in sets:
        model = DraftModel(draft, f"{m}-{k}", arena=64 * (m + 1))
        a = model.given("a", draft.const(m))
        b = model.given("b", draft.const(k), draft.const(3))
        y = model.tensor((3,), Place.PLANNED, offset=64 * m, size=12)
        model.run(Call(kernel, (a, b), (), (y,)))
        model.finish(y=y)
    return draft


def add_open(draft: Draft, low: int, high: int, multiple: int = 1) -> Draft:
    """A model for every (m, k) with both within bounds; without upper ones it is dynamic."""
    kernel = draft.kernel("sum", 2, 1)
    m, k = (draft.code(Op.SYMBOL, draft.symbol(name, low, high, multiple)) for name in "mk")
    model = DraftModel(draft, "open", arena=64)
    a, b = model.given("a", m), model.given("b", k, draft.const(3))
    if high:
        y = model.tensor((3,), Place.PLANNED, size=12)
        model.run(Call(kernel, (a, b), (), (y,)))
    else:
        y = model.tensor((UNKNOWN,), Place.DYNAMIC)
        model.run(Deduce(y, (draft.const(3),)), Reserve(y), Call(kernel, (a, b), (), (y,)))
    model.finish(y=y)
    return draft


def run(made: Context, m: int, k: int) -> None:
    a, b = np.full(m, 2, np.float32), np.ones((k, 3), np.float32)
    given(made, a=a, b=b)
    assert np.array_equal(result(made), np.full(3, 2 * m + k))


def test_the_first_set_is_active_by_default() -> None:
    made = context(fixed((4, 2), (8, 2)), FUNCTIONS)
    assert made.shapes == {"a": (4,), "b": (2, 3)} and made.model.name == "4-2"


def test_every_order_of_switches_gives_the_right_results() -> None:
    sets = [(4, 2), (8, 2), (1, 7)]
    made = context(fixed(*sets), FUNCTIONS)
    for order in itertools.permutations(sets * 2, 4):
        for m, k in order:
            run(made, m, k)
            assert made.model.name == f"{m}-{k}"


def test_switching_allocates_nothing_and_memory_is_that_of_the_largest_set() -> None:
    made = context(fixed((4, 2), (100, 2), (1, 50)), FUNCTIONS)
    held = made.memory
    assert held.arenas == 64 * 101
    assert held.inputs == 4 * 100 + 4 * 150
    for m, k in [(100, 2), (1, 50), (4, 2)] * 3:
        run(made, m, k)
    assert made.memory == held


def test_two_inputs_are_looked_up_together_in_all_combinations() -> None:
    made = context(fixed((4, 2), (8, 2), (8, 5)), FUNCTIONS)
    for m, k in ((4, 2), (8, 2), (8, 5)):
        run(made, m, k)
    made.reshape({"a": (4,)})  # waits for b
    with pytest.raises(StatusError, match=r"no shape set fits a=4, b=5x3; there are: a=4, b=2x3"):
        made.run()
    made.reshape({"b": (2, 3)})
    assert made.model.name == "4-2"


def test_one_input_after_the_other_reaches_a_set_in_either_order() -> None:
    for first, second in (("a", "b"), ("b", "a")):
        made = context(fixed((4, 2), (8, 5)), FUNCTIONS)
        shapes = {"a": (8,), "b": (5, 3)}
        made.reshape({first: shapes[first]})
        made.reshape({second: shapes[second]})
        assert made.model.name == "8-5"


@pytest.mark.parametrize(
    "shape", [(5,), (4, 1), (), (0,), (-1,), (1 << 40,), (1 << 41,), (1,) * 30]
)
def test_a_shape_without_a_set_is_an_error_and_changes_nothing(shape: tuple[int, ...]) -> None:
    made = context(fixed((4, 2), (8, 2)), FUNCTIONS)
    with pytest.raises(StatusError):
        made.reshape({"a": shape})
    assert made.shapes["a"] == (4,)
    run(made, 4, 2)


def test_an_unknown_input_is_named_with_those_there_are() -> None:
    with pytest.raises(StatusError, match="there is no input c; there are a, b"):
        context(fixed((4, 2))).reshape({"c": (1,)})


def test_exact_sets_come_before_bounded_and_bounded_before_dynamic_ones() -> None:
    draft = add_open(add_open(fixed((8, 8)), 1, 0), 4, 64, 4)
    made = context(draft, FUNCTIONS)
    symbols = [symbol.maximum for symbol in made.opened.module.symbols]
    assert symbols == [0, 0, 64, 64]
    for m, k, model in ((8, 8, 0), (16, 8, 2), (8, 7, 1), (100, 8, 1)):
        run(made, m, k)
        assert made.active == model


@pytest.mark.parametrize(("m", "k"), [(3, 8), (8, 3), (68, 8), (8, 68), (10, 8), (8, 10), (0, 8)])
def test_bounds_hold_for_each_dimension(m: int, k: int) -> None:
    made = context(add_open(Draft(), 4, 64, 4), FUNCTIONS)
    with pytest.raises(StatusError, match=r"there are: a=m \(4..64, multiples of 4\)"):
        given(made, a=np.zeros(m, np.float32), b=np.zeros((k, 3), np.float32))
    run(made, 4, 64)


def test_bounded_models_never_allocate_again() -> None:
    made = context(add_open(Draft(), 1, 64), FUNCTIONS)
    held = made.memory
    for m, k in itertools.product((64, 1, 33), repeat=2):
        run(made, m, k)
    assert made.memory == held


def test_one_symbol_has_one_size() -> None:
    draft = Draft()
    n = draft.code(Op.SYMBOL, draft.symbol("n", 1, 9))
    model = DraftModel(draft)
    model.given("a", n)
    model.given("b", n)
    model.finish()
    made = context(draft)
    made.reshape({"a": (3,), "b": (3,)})
    made.reshape({"a": (4,)})
    with pytest.raises(StatusError, match="no shape set fits a=4, b=3"):
        made.run()


def test_an_array_of_another_shape_or_type_is_refused() -> None:
    made = context(fixed((4, 2)), FUNCTIONS)
    for wrong in (np.zeros(5, np.float32), np.zeros(4), np.zeros((4, 1), np.float32)):
        with pytest.raises(StatusError, match="input a is 4 float32, not"):
            made.write("a", wrong)


def test_static_kernels_are_bound_without_deduction() -> None:
    """Their tensors' views are made when the module is loaded, and are the same at every run."""
    made = context(fixed((4, 2)), FUNCTIONS)
    before = made.view(made.output_tensor("y"))
    run(made, 4, 2)
    assert made.view(made.output_tensor("y")) is before


@pytest.mark.parametrize("shape", [(-1,), (1 << 40,), (1 << 41,), (), (1, 1), (1 << 62,)])
def test_a_hostile_shape_of_a_dynamic_model_is_an_error_and_changes_nothing(
    shape: tuple[int, ...],
) -> None:
    made = context(add_open(Draft(), 1, 0), FUNCTIONS)
    run(made, 5, 6)
    held = made.memory
    for _ in range(3):
        with pytest.raises(StatusError):
            made.reshape({"a": shape})
            made.run()
        assert made.shapes == {"a": (5,), "b": (6, 3)}
    run(made, 5, 6)
    assert made.memory == held
