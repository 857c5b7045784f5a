"""What kernels refuse, by which rule."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.compiler.torq.operators.products import Padding
from assay.compiler.torq.operators.quantisation import Rescale
from assay.compiler.torq.slice.errors import IllegalSliceProgram
from tests.compiler.torq import by_hand
from tests.compiler.torq.trials.convolutions import Case

from .machine import Machine, numbers


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Case(kernel=(3, 3), top=0, left=0), "does not make a plane"),
        (Case(kernel=(9, 1), top=4, left=0), "up to 7 rows"),
    ],
)
def test_what_the_hardware_cannot_do_is_refused_by_rule(case: Case, reason: str) -> None:
    machine = Machine()
    x = machine.room("x", "int8", (1, 3, 7, 9), planes=True)
    weights = numbers(0, (5, 3, *case.kernel), "int8")
    bias = numbers(0, (5,), "int32")
    output = machine.room("y", "int8", (1, 5, 7, 9), planes=True)
    with pytest.raises(IllegalSliceProgram, match=reason):
        by_hand.conv2d(
            machine.layout,
            x,
            weights,
            bias,
            output,
            padding=case.padding if case.top else Padding(),
            rescale=Rescale(multipliers=(1 << 30,), shifts=(40,)),
        )


def test_a_program_larger_than_the_memory_is_refused_with_what_it_needs() -> None:
    machine = Machine()
    with pytest.raises(IllegalSliceProgram, match="LRAM budget: 'x' needs 655360 bytes"):
        machine.room("x", "int8", (10, 256, 256))


def test_unlike_shapes_are_refused() -> None:
    machine = Machine()
    a, b = machine.room("a", "int8", (4,)), machine.room("b", "int8", (5,))
    with pytest.raises(IllegalSliceProgram, match="not alike"):
        by_hand.add(a, b, a)


def test_modes_of_the_other_format_are_refused() -> None:
    machine = Machine()
    x, f = machine.room("x", "int8", (4,)), machine.room("f", "bfloat16", (4,))
    with pytest.raises(IllegalSliceProgram, match="no FLOOR of int8"):
        by_hand.unary("FLOOR", x, x)
    with pytest.raises(IllegalSliceProgram, match="no CLZ of bfloat16"):
        by_hand.unary("CLZ", f, f)
    with pytest.raises(IllegalSliceProgram, match="cast of int8 to int8"):
        by_hand.cast(x, x)


@pytest.mark.parametrize("dtype", ["bfloat16", "float32"])
def test_floats_are_refused_by_kernels_of_integers(dtype: str) -> None:
    machine = Machine()
    layout = machine.layout
    x, y = machine.room("x", dtype, (1, 2, 2, 4)), machine.room("y", dtype, (1, 2, 2, 4))
    window = {"kernel": (1, 1), "stride": (1, 1)}
    kernels: list[Callable[[], object]] = [
        lambda: by_hand.rescale(layout, x, y, rescale=Rescale()),
        lambda: by_hand.table(layout, x, y, [0] * 513),
        lambda: by_hand.select(x, x, x, y),
        lambda: by_hand.shift("left", x, x, y),
        lambda: by_hand.max_pool2d(x, y, **window),  # type: ignore[arg-type]
        lambda: by_hand.avg_pool2d(layout, x, y, **window),  # type: ignore[arg-type]
        lambda: by_hand.reduce("argmax", x, y, 0),
        lambda: by_hand.fill(y, 7),
    ]
    for kernel in kernels:
        with pytest.raises(IllegalSliceProgram, match=f"operator: .*{dtype}"):
            kernel()


def test_float32_is_not_combined() -> None:
    machine = Machine()
    x = machine.room("x", "float32", (4,))
    with pytest.raises(IllegalSliceProgram, match="combine: float32 with float32"):
        by_hand.combine("MAX", x, x, x)


def test_an_order_that_is_none_is_refused() -> None:
    machine = Machine()
    x = machine.room("x", "int8", (2, 3))
    with pytest.raises(IllegalSliceProgram, match=r"\(0, 0\) is no order"):
        by_hand.transpose(x, x, (0, 0))


def test_a_product_of_unknown_formats_is_refused() -> None:
    machine = Machine()
    a, b = machine.room("a", "int32", (1, 2, 3)), machine.room("b", "int32", (1, 3, 4))
    with pytest.raises(IllegalSliceProgram, match="no product of int32 and int32"):
        by_hand.matmul(machine.layout, a, b, machine.room("y", "int32", (1, 2, 4)))
