"""What the verifier refuses, and that it looks behind every pass."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import assay.sim.simt
from assay.sim.simt.ir import passes
from assay.sim.simt.ir.nodes import (
    Block,
    BufferRoot,
    ConstantRoot,
    Function,
    Instruction,
    integer,
    link_predecessors,
)
from assay.sim.simt.ir.operations.control import PHI
from assay.sim.simt.ir.operations.conversions import TRUNC
from assay.sim.simt.ir.operations.integers import ADD, ICMP
from assay.sim.simt.ir.operations.lanes import SIMD_SUM
from assay.sim.simt.ir.operations.memory import COMPONENT, LOAD, STORE
from assay.sim.simt.ir.operations.number import U32
from assay.sim.simt.ir.operations.positions import THREAD_INDEX_IN_SIMDGROUP
from assay.sim.simt.ir.passes import PASSES, rewrites
from assay.sim.simt.ir.verify import InvalidFunction, verify

ROOT = Path(__file__).parents[4]
ZERO = integer("i64", 0)


def put(block: Block, made: Instruction) -> Instruction:
    made.block = block
    (block.phis if made.operation is PHI else block.body).append(made)
    return made


class Program:
    """A loop: entry, head with a phi, body, end."""

    def __init__(self) -> None:
        blocks = [Block(name) for name in ("entry", "head", "body", "end")]
        self.entry, self.head, self.body, self.end = blocks
        self.entry.targets, self.head.targets = [self.head], [self.body, self.end]
        self.body.targets = [self.head]
        link_predecessors(blocks)
        self.lane = put(self.entry, Instruction(THREAD_INDEX_IN_SIMDGROUP, "i32", []))
        self.load = put(self.entry, Instruction(LOAD, "i32", [ZERO]))
        self.load.root, self.load.components = BufferRoot(0, "a"), 2
        self.phi = put(self.head, Instruction(PHI, "i32", []))
        test = put(self.head, Instruction(ICMP, "i1", [self.phi, self.lane]))
        test.predicate = "ult"
        self.head.condition = test
        self.sum = put(self.body, Instruction(ADD, "i32", [self.phi, integer("i32", 1)]))
        self.phi.operands = [self.load, self.sum]
        self.store = put(self.end, Instruction(STORE, "void", [ZERO, self.phi]))
        self.store.root, self.store.element = BufferRoot(0, "a"), "i32"
        self.function = Function("loop", blocks, 0, 0, b"")


def test_a_loop_is_valid() -> None:
    verify(Program().function)


def _narrow(p: Program) -> None:
    put(p.end, Instruction(TRUNC, "i64", [p.lane]))


def _component(p: Program) -> None:
    put(p.entry, Instruction(COMPONENT, "i32", [p.load])).index = 2


def _cluster(p: Program) -> None:
    put(p.end, Instruction(SIMD_SUM, "i32", [p.lane, p.lane], None, U32))


def _kind(p: Program) -> None:
    put(p.end, Instruction(SIMD_SUM, "i32", [p.lane, integer("i32", 32)]))


def _type(p: Program) -> None:
    p.sum.operands[1] = integer("i64", 1)


def _undefined(p: Program) -> None:
    p.entry.body.reverse()
    p.lane.operation, p.lane.operands = ADD, [p.sum, p.sum]


def _other_way(p: Program) -> None:
    p.store.operands[1] = p.sum


def _edge(p: Program) -> None:
    p.phi.operands.reverse()


def _ways(p: Program) -> None:
    p.phi.operands.pop()


def _constant_memory(p: Program) -> None:
    p.store.root = ConstantRoot(0, 4, "table")


def _no_root(p: Program) -> None:
    p.load.root = None


def _elements(p: Program) -> None:
    p.store.components = 2


def _home(p: Program) -> None:
    p.sum.block = p.end


def _condition(p: Program) -> None:
    p.head.condition = None


def _predecessor(p: Program) -> None:
    p.head.predecessors.pop()


def _phi_place(p: Program) -> None:
    p.head.body.append(p.head.phis.pop())


def _lost(p: Program) -> None:
    p.function.blocks.append(Block("nowhere"))


CASES: dict[Callable[[Program], None], str] = {
    _narrow: "block 'end', 'trunc': gives 64 bits from 32",
    _component: "'component': is number 2 of 2",
    _cluster: "'simd_sum_u32': takes a literal as operand 1",
    _kind: "'simd_sum': does not exist for None",
    _type: "block 'body', 'add': takes i32 as operand 1, not i64",
    _undefined: "uses 'add' of block 'body' before it is there",
    _other_way: "block 'end', 'store': uses 'add' of block 'body' before it is there",
    _edge: "'phi': uses 'add' of block 'body' before it is there",
    _ways: "'phi': 1 operands, 2 ways",
    _constant_memory: "'store': accesses table, which it may not",
    _no_root: "'load': has no root",
    _elements: "'store': stores i32 as 2 i32",
    _home: "it is said to be in another block",
    _condition: "block 'head': 2 targets and condition None",
    _predecessor: "'head' does not have it among its predecessors",
    _phi_place: "phis come first, and nothing else does",
    _lost: "block 'nowhere': nothing leads to it",
}


@pytest.mark.parametrize("spoil", CASES, ids=lambda spoil: spoil.__name__.strip("_"))
def test_what_is_not_valid_is_refused_with_its_place(spoil: Callable[[Program], None]) -> None:
    program = Program()
    spoil(program)
    with pytest.raises(InvalidFunction) as caught:
        verify(program.function)
    assert "kernel 'loop', block '" in str(caught.value)
    assert CASES[spoil] in str(caught.value)


def test_the_pass_that_left_it_so_is_named() -> None:
    def drop(function: Function) -> None:
        function.blocks[0].body.clear()

    name = f"{drop.__module__}.{drop.__qualname__}"
    try:
        with pytest.raises(InvalidFunction, match=r"after .*drop: uses 'thread_index"):
            rewrites(drop)(Program().function)
    finally:
        del PASSES[name]


def test_tests_verify_behind_every_pass() -> None:
    assert passes._check is verify


def test_no_pass_is_forgotten() -> None:
    """Whatever takes a function and gives nothing changes it."""
    for module in pkgutil.walk_packages(assay.sim.simt.__path__, "assay.sim.simt."):
        importlib.import_module(module.name)
    assert {*changes(), "assay.sim.simt.analysis.linear.add_linear_forms"} <= PASSES.keys()


def changes() -> Iterator[str]:
    for path in sorted((ROOT / "sim" / "simt").rglob("*.py")):
        module = ".".join(("assay", *path.relative_to(ROOT).with_suffix("").parts))
        for node in ast.parse(path.read_text()).body:
            public = isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
            if public and _is_pass(node) and f"{module}.{node.name}" not in NO_PASSES:
                yield f"{module}.{node.name}"


def _is_pass(node: ast.FunctionDef) -> bool:
    first = node.args.args[0].annotation if node.args.args else None
    takes = isinstance(first, ast.Name) and first.id == "Function"
    return takes and isinstance(node.returns, ast.Constant) and node.returns.value is None


# They take a function to look at it or to run it.
NO_PASSES = {
    "assay.sim.simt.ir.verify.verify",
    "assay.sim.simt.oracle.engine.run_reference",
    "assay.sim.simt.oracle.interleaved.run_interleaved",
}
