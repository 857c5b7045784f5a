"""Every instruction has a line, also where LLVM dropped it."""

from assay.sim.simt.ir.nodes import Block, Constant, Function, Instruction, Value
from assay.sim.simt.ir.operations.floats import FNEG
from assay.sim.simt.read.sites import SiteTable, complete_sites
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


def test_callers_in_a_chain_have_no_chains_of_their_own() -> None:
    """Written out, a chain would double with each call otherwise."""
    depth = 40
    metadata = {"!0": '!DIFile(filename: "k.metal")'}
    for level in range(depth):
        scope, place = f"!{100 + level}", f"!{200 + level}"
        metadata[scope] = f'!DISubprogram(name: "f{level}", file: !0)'
        outer = f", inlinedAt: !{199 + level}" if level else ""
        metadata[place] = f"!DILocation(line: {level + 1}, column: 2, scope: {scope}{outer})"
    site = SiteTable(metadata).site(f"!{199 + depth}")
    assert (site.function, site.line) == ("f39", 40)
    assert [each.line for each in site.inlined] == list(range(39, 0, -1))
    assert not any(each.inlined for each in site.inlined)
