"""The order in which the reference engine lets lanes that are behind go first."""

from assay.sim.simt.ir.nodes import Block
from assay.sim.simt.oracle.order import Clock, execution_order


def _graph(**targets: str) -> dict[str, Block]:
    blocks = {name: Block(name) for name in targets}
    for name, words in targets.items():
        blocks[name].targets = [blocks[word] for word in words.split()]
    return blocks


def test_a_loop_comes_wholly_before_what_follows_it() -> None:
    # The exit is the first target, where a depth-first search would go last.
    blocks = _graph(entry="head", head="exit body", body="inner", inner="inner head", exit="")
    order = execution_order(list(blocks.values())).number
    names = sorted(blocks, key=lambda name: order[blocks[name]])
    assert names == ["entry", "head", "body", "inner", "exit"]


def test_lanes_in_different_iterations_are_told_apart() -> None:
    blocks = _graph(entry="head", head="body exit", body="head", exit="")
    order = execution_order(list(blocks.values()))
    first, second = Clock(order), Clock(order)
    path = ["entry", "head", "body", "head", "body"]
    for clock, length in ((first, 3), (second, 5)):
        for previous, name in zip([None, *path], path[:length], strict=False):
            clock.enter(blocks[name], blocks[previous] if previous else None)
    assert first.moment(blocks["body"], 0) < second.moment(blocks["body"], 0)
    second.enter(blocks["head"], blocks["body"])
    second.enter(blocks["exit"], blocks["head"])
    assert first.moment(blocks["body"], 7) < second.moment(blocks["exit"], 0)


def test_a_loop_entered_beside_its_head_still_counts() -> None:
    blocks = _graph(entry="left right", left="right", right="left exit", exit="")
    clock = Clock(execution_order(list(blocks.values())))
    for previous, name in zip(["entry", "right", "left"], ["right", "left", "right"], strict=True):
        clock.enter(blocks[name], blocks[previous])
    assert clock.moment(blocks["right"], 0)
