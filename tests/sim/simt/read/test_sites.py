"""Every instruction has a line, also where LLVM dropped it."""

from assay.sim.simt.ir.nodes import Block, Constant, Function, Instruction, Value
from assay.sim.simt.ir.operations.floats import FNEG
from assay.sim.simt.read.sites import complete_sites
from assay.sim.site import Site

ONE: Value = Constant("float", "1.0", None)


def block(name: str, *lines: int) -> Block:
    made = Block(name)
    made.body = [Instruction(FNEG, "float", [ONE], Site("k.metal", line, 1)) for line in lines]
    return made


def test_what_was_merged_from_the_ends_of_two_blocks_is_where_one_of_them_ends() -> None:
    entry, left, right = block("entry", 1), block("left", 2, 3), block("right", 4)
    merged, end = block("merged", 0, 0), block("end")
    entry.targets, left.targets, right.targets = [left, right], [merged], [merged]
    merged.targets, entry.condition = [end], Constant("i1", "true", 1)
    left.predecessors = right.predecessors = [entry]
    merged.predecessors, end.predecessors = [left, right], [merged]
    for each in (entry, left, right, merged, end):
        for instruction in each.body:
            instruction.block = each
    complete_sites(Function("k", [entry, left, right, merged, end], 0, 0, b""))
    assert [each.site.line for each in merged.body] == [3, 3]
    assert merged.site.line == 3 and end.site.line == 0
