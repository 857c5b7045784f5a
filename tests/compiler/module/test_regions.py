"""Regions for the NPU are convex, whatever the graph and the split are."""

import random
from types import SimpleNamespace

import numpy as np
import pytest

from assay.compiler.graph.symbolic.graph import Forward, Graph, Operator, Tensor
from assay.compiler.module.groups import Group, Step
from assay.compiler.module.regions import Makers, regions, steps_with

INTEGERS = np.dtype(np.int8)


def operator(kind: str, name: str, *inputs: str) -> Operator:
    node = SimpleNamespace(op_type=kind, name=name, input=inputs, output=(name,))
    return Operator(node=node, name=name, inputs=inputs, outputs=(name,))


def graph(*steps: Operator | Forward, outputs: tuple[str, ...] = ()) -> Graph:
    made = [step.target if isinstance(step, Forward) else step.outputs[0] for step in steps]
    tensors = {name: Tensor(name=name, dtype=INTEGERS, dims=(4,)) for name in ("x", *made)}
    return Graph(
        name="g",
        opsets=(),
        inputs=(tensors["x"],),
        outputs=outputs or (made[-1],),
        tensors=tensors,
        constants={"scale": np.ones((), np.float32)},
        steps=steps,
    )


def is_npu(step: Operator) -> bool:
    return bool(step.node.op_type == "Npu")


def names(groups: list[Group]) -> list[list[str]]:
    return [[each.name for each in group.operators] for group in groups]


def test_what_reads_each_other_is_one_region() -> None:
    made = graph(
        operator("Npu", "a", "x"), operator("Npu", "b", "a"), operator("Npu", "c", "a", "b")
    )
    (found,) = regions(made, is_npu)
    assert (found.takes, found.gives) == (("x",), ("c",))


def test_what_does_not_is_several() -> None:
    made = graph(operator("Npu", "a", "x"), operator("Npu", "b", "x"), outputs=("a", "b"))
    assert names(regions(made, is_npu)) == [["a"], ["b"]]


def test_a_way_out_and_back_divides_a_region() -> None:
    made = graph(
        operator("Npu", "a", "x"), operator("Cpu", "b", "a"), operator("Npu", "c", "a", "b")
    )
    assert names(regions(made, is_npu)) == [["a"], ["c"]]


def test_two_ways_that_cross_each_other_do_not_wait_in_a_circle() -> None:
    """a -> p -> d and c -> q -> b: {a, b} and {c, d} would each wait for the other."""
    made = graph(
        operator("Npu", "a", "x"),
        operator("Npu", "c", "x"),
        operator("Cpu", "p", "a"),
        operator("Cpu", "q", "c"),
        operator("Npu", "b", "a", "q"),
        operator("Npu", "d", "c", "p"),
        outputs=("b", "d"),
    )
    found = regions(made, is_npu)
    assert names(found) == [["a"], ["c"], ["b"], ["d"]]
    assert len(steps_with(made, found, lambda step: is_npu(step))) == 6


def test_dequantisers_and_views_are_done_inside_again() -> None:
    made = graph(
        operator("Npu", "a", "x"),
        operator("DequantizeLinear", "f", "a", "scale"),
        Forward(name="r", operator="Reshape", source="f", target="g"),
        operator("Npu", "b", "g"),
        operator("Cpu", "c", "f"),
        outputs=("b", "c"),
    )
    (found,) = regions(made, is_npu)
    assert (found.takes, found.gives) == (("x",), ("a", "b"))
    steps = steps_with(made, [found], is_npu)
    kinds = [step.last.node.op_type for step in steps if isinstance(step, Group)]
    assert kinds == ["Npu", "DequantizeLinear", "Cpu"]  # nobody needs the view any more


def drawn(seed: int) -> Graph:
    draw = random.Random(seed)
    known, steps = ["x"], []
    for number in range(draw.randint(2, 24)):
        kind = draw.choice(["Npu", "Npu", "Cpu", "DequantizeLinear", "Reshape"])
        name = f"t{number}"
        if kind == "Reshape":
            source = draw.choice(known)
            steps.append(Forward(name=name, operator=kind, source=source, target=name))
        else:
            few = 1 if kind == "DequantizeLinear" else draw.randint(1, 3)
            steps.append(operator(kind, name, *draw.sample(known, min(few, len(known)))))
        known.append(name)
    return graph(*steps, outputs=tuple(draw.sample(known[1:], min(2, len(known) - 1))))


@pytest.mark.parametrize("first", range(0, 400, 100))
def test_drawn_graphs_can_be_done_in_order_and_nothing_is_missing(first: int) -> None:
    for seed in range(first, first + 100):
        made = drawn(seed)
        found = regions(made, is_npu)
        steps = steps_with(made, found, is_npu)
        check_order(made, steps)
        makers = Makers(made)
        assert all(group.gives for group in found)
        for group in found:
            own = {each.name for each in group.operators}
            taken = {name for each in group.operators for name in makers.roots(each)}
            assert taken - own == set(group.takes) and set(group.gives) <= own


def check_order(made: Graph, steps: list[Step]) -> None:
    there = {"x", "scale"}
    for step in steps:
        reads = (step.source,) if isinstance(step, Forward) else step.inputs
        assert there.issuperset(reads), step
        there.update((step.target,) if isinstance(step, Forward) else step.outputs)
    assert there.issuperset(made.outputs)
