"""Dynamic shapes: deduced when the model runs, memory that is kept, grown and freed."""

import numpy as np
import pytest

from assay.hal.module.context import Context
from assay.hal.module.expressions import Op
from assay.hal.module.records import (
    NONE,
    UNKNOWN,
    Call,
    Check,
    Deduce,
    Forward,
    If,
    Place,
    Read,
    Reserve,
    While,
)
from assay.hal.module.run import MOST_INSTRUCTIONS
from assay.hal.status import StatusError
from tests.support.assay_modules import F32, I64, Draft, DraftModel

from .machines import array, context, given, result


def repeated() -> Draft:
    """x f32[n] and times i64[1] to y f32[n * times], as numbers in `times` say."""
    draft = Draft()
    n = draft.code(Op.SYMBOL, draft.symbol("n", 0))
    kernel = draft.kernel("tile", 1, 1)
    model = DraftModel(draft)
    x = model.given("x", n)
    times = model.given("times", draft.const(1), element_type=I64)
    y = model.tensor((UNKNOWN,), Place.DYNAMIC)
    size = draft.code(Op.DIM, x, 0, Op.VALUE, times, 0, Op.MUL)
    model.run(
        Read(times),
        Check(draft.code(Op.CONST, -1, Op.VALUE, times, 0, Op.LT), "times is negative"),
        Deduce(y, (size,)),
        Reserve(y),
        Call(kernel, (x,), (), (y,)),
    )
    model.finish(y=y)
    return draft


def tile(x: np.ndarray, y: np.ndarray) -> None:
    y[:] = np.tile(x, len(y) // max(1, len(x)))


def run(made: Context, n: int, times: int) -> np.ndarray:
    x = np.arange(n, dtype=np.float32)
    given(made, x=x, times=np.array([times]))
    y = result(made)
    assert np.array_equal(y, np.tile(x, times))
    return y


def test_a_shape_that_depends_on_values_is_deduced_before_the_kernel_runs() -> None:
    made = context(repeated(), {"tile": tile})
    assert [run(made, 3, times).shape for times in (2, 5, 1)] == [(6,), (15,), (3,)]


def test_a_dynamic_tensor_keeps_its_memory_while_the_next_shape_fits() -> None:
    made = context(repeated(), {"tile": tile})
    run(made, 8, 8)
    held = made.memory
    for times in (1, 8, 3, 7):
        run(made, 8, times)
    assert made.memory == held


def test_it_grows_otherwise_by_a_quarter_at_least() -> None:
    made = context(repeated(), {"tile": tile})
    run(made, 100, 10)
    before = made.memory
    run(made, 101, 10)
    assert made.memory.dynamic == 5000 > 4 * 1010
    assert made.memory.dynamic >= before.dynamic


def test_its_memory_is_freed_at_unload() -> None:
    made = context(repeated(), {"tile": tile})
    run(made, 10, 10)
    assert made.memory.dynamic
    made.close()
    made.close()
    assert (made.memory.dynamic, made.memory.arenas, made.memory.inputs) == (0, 0, 0)
    with pytest.raises(StatusError, match="the context is closed"):
        made.run()


def test_growing_and_shrinking_10_000_times_leaves_the_memory_flat() -> None:
    made = context(repeated(), {"tile": tile})
    random = np.random.default_rng(0)
    given(made, x=np.ones(7, np.float32), times=np.array([40]))
    made.run()
    held = made.memory
    for times in random.integers(0, 41, 10_000):
        made.write("times", np.array([times]))
        made.run()
    assert made.memory == held


def test_empty_tensors_are_legal_and_their_calls_are_skipped() -> None:
    def never(*_: np.ndarray) -> None:
        raise AssertionError

    made = context(repeated(), {"tile": never})
    for n, times in ((0, 5), (5, 0), (0, 0)):
        assert run(made, n, times).shape == (0,)


def test_a_check_ends_the_run_with_its_message_and_the_next_run_works() -> None:
    made = context(repeated(), {"tile": tile})
    given(made, x=np.ones(2, np.float32), times=np.array([-3]))
    with pytest.raises(StatusError, match="times is negative"):
        made.run()
    run(made, 2, 3)


def test_sizes_that_overflow_end_in_an_error_and_allocate_nothing() -> None:
    made = context(repeated(), {"tile": tile})
    for times in (1 << 40, 1 << 62):
        given(made, x=np.ones(4, np.float32), times=np.array([times]))
        with pytest.raises(StatusError):
            made.run()
    assert made.memory.dynamic == 0
    run(made, 2, 3)


def forwarded() -> Draft:
    """x f32[n, 4] seen as [4 * n], and rows 1 and 2 of it."""
    draft = Draft()
    n, four = draft.code(Op.SYMBOL, draft.symbol("n", 0)), draft.const(4)
    model = DraftModel(draft)
    x = model.given("x", n, four)
    flat = model.tensor((UNKNOWN,), Place.VIEW)
    rows = model.tensor((2, 4), Place.VIEW)
    all_of_it = draft.code(Op.DIM, x, 0, Op.DIM, x, 1, Op.MUL)
    model.run(
        Forward(x, flat, NONE, (all_of_it,)),
        Forward(flat, rows, draft.const(16), (draft.const(2), four)),
    )
    model.finish(y=flat, rows=rows)
    return draft


def test_a_reshape_is_a_forward_that_moves_no_byte_of_an_external_input() -> None:
    made = context(forwarded())
    given(made, x=np.arange(12, dtype=np.float32).reshape(3, 4))
    outside = made.opened.devices[0].allocator.allocate(0, 0, 48)
    outside.write(0, np.arange(12, dtype=np.float32).tobytes())
    made.bind("x", outside)
    assert np.array_equal(result(made), np.arange(12))
    view = made.view(made.output_tensor("y"))
    assert view.buffer.storage is outside.storage
    outside.write(0, np.float32(99).tobytes())
    assert array(view)[0] == 99


def test_a_contiguous_slice_is_a_forward_with_an_offset() -> None:
    made = context(forwarded())
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    given(made, x=x)
    assert np.array_equal(result(made, "rows"), x[1:3])


def test_a_forward_outside_of_its_source_is_refused() -> None:
    made = context(forwarded())
    given(made, x=np.zeros((2, 4), np.float32))
    with pytest.raises(StatusError, match="32 bytes at 16 of tensor t1, which has 32"):
        made.run()


def counted(limit: int) -> Draft:
    """y counts up from x f32[1] while n i64[1] is less than `limit`; then the branch of the end."""
    draft = Draft()
    one = draft.const(1)
    add, count = draft.kernel("add", 1, 1), draft.kernel("count", 1, 1)
    model = DraftModel(draft)
    x = model.given("x", one)
    start = model.given("start", one, element_type=I64)
    n = model.tensor((1,), Place.PLANNED, size=8, element_type=I64)
    y = model.tensor((1,), Place.PLANNED, offset=64, size=4, element_type=F32)
    less = draft.code(Op.VALUE, n, 0, Op.CONST, limit, Op.LT)
    odd = draft.code(Op.VALUE, n, 0, Op.CONST, 2, Op.MOD)
    body = model.region(Call(count, (n,), (), (n,)), Call(add, (y,), (), (y,)), Read(n))
    then = model.region(Call(add, (y,), (), (y,)))
    same = draft.kernel("same", 1, 1)
    model.run(
        Call(same, (x,), (), (y,)),
        Call(same, (start,), (), (n,)),
        Read(n),
        While(less, body),
        If(odd, then, NONE),
    )
    model.finish(y=y)
    return draft


FUNCTIONS = {
    "add": lambda x, y: np.add(x, 1, out=y),
    "count": lambda x, y: np.add(x, 1, out=y),
    "same": lambda x, y: np.copyto(y, x),
}


def test_while_and_if_follow_values_that_are_read() -> None:
    made = context(counted(5), FUNCTIONS)
    for start, expected in ((0, 16), (4, 12), (7, 11), (8, 10)):
        given(made, x=np.array([10], np.float32), start=np.array([start]))
        assert result(made)[0] == expected


def test_a_loop_that_does_not_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.hal.module.run.MOST_INSTRUCTIONS", 1000)
    assert MOST_INSTRUCTIONS > 1000
    made = context(counted(1 << 40), FUNCTIONS)
    given(made, x=np.array([0], np.float32), start=np.array([0]))
    with pytest.raises(StatusError, match="more than 1000 instructions"):
        made.run()


def with_workspace(size: tuple[int, ...]) -> Draft:
    """y f32[n] of x f32[n], by a kernel that takes a workspace of a size."""
    draft = Draft()
    n = draft.code(Op.SYMBOL, draft.symbol("n", 0))
    kernel = draft.kernel("sum", 1, 1)
    model = DraftModel(draft)
    x = model.given("x", n)
    y = model.tensor((1,), Place.PLANNED, size=4)
    model.run(Call(kernel, (x,), (), (y,), draft.code(*size)))
    model.finish(y=y)
    return draft


def summed(x: np.ndarray, y: np.ndarray, workspace: np.ndarray) -> None:
    """Sums squares that it keeps in its workspace."""
    kept = workspace.view(np.float32)
    assert len(kept) == len(x)
    kept[:] = x * x
    y[0] = kept.sum()


def test_a_workspace_function_gives_the_bytes_that_a_kernel_gets_for_itself() -> None:
    made = context(with_workspace((Op.DIM, 0, 0, Op.CONST, 4, Op.MUL)), {"sum": summed})
    assert made.memory.workspaces == 0
    for n in (3, 8, 2):
        given(made, x=np.full(n, 2, np.float32))
        assert result(made)[0] == 4 * n
    assert made.memory.workspaces == 32


def test_a_workspace_grows_otherwise_stays_and_is_freed_at_unload() -> None:
    made = context(with_workspace((Op.DIM, 0, 0, Op.CONST, 4, Op.MUL)), {"sum": summed})
    random = np.random.default_rng(0)
    given(made, x=np.ones(100, np.float32))
    made.run()
    held = made.memory.workspaces
    for n in random.integers(0, 101, 200):
        given(made, x=np.ones(n, np.float32))
        assert result(made)[0] == n
    assert made.memory.workspaces == held == 400
    given(made, x=np.ones(101, np.float32))
    made.run()
    assert made.memory.workspaces == 500
    made.close()
    assert made.memory.workspaces == 0


def test_a_workspace_of_a_known_size_is_there_before_the_first_run() -> None:
    made = context(with_workspace((Op.CONST, 64)), {"sum": lambda x, y, w: None})
    held = made.memory
    assert held.workspaces == 64
    given(made, x=np.ones(0, np.float32))
    made.run()
    assert made.memory == held


@pytest.mark.parametrize("size", [-1, 1 << 62, 1 << 40])
def test_an_impossible_workspace_is_an_error(size: int) -> None:
    made = context(with_workspace((Op.DIM, 0, 0, Op.CONST, size, Op.MUL)), {"sum": summed})
    given(made, x=np.ones(1, np.float32))
    with pytest.raises(StatusError):
        made.run()
    assert made.memory.workspaces == 0
