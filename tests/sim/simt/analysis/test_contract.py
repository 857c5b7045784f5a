"""Which products are fused into sums."""

from assay.sim.simt.analysis.contract import contract
from assay.sim.simt.ir.nodes import Block, Constant, Function, Instruction, Value
from assay.sim.simt.ir.operations.floats import FMUL, FNEG
from assay.sim.simt.ir.operations.table import OPERATIONS


def _multiply_then(op: str, *, product_first: bool, licensed: bool = True) -> list[Instruction]:
    a, b, c = (Constant("float", text, None) for text in ("2.0", "3.0", "4.0"))
    product = Instruction(FMUL, "float", [a, b])
    operands: list[Value] = [product, c] if product_first else [c, product]
    total = Instruction(OPERATIONS[op], "float", operands)
    use = Instruction(FNEG, "float", [total])
    block = Block("entry", body=[product, total, use])
    for instruction in block.body:
        instruction.block, instruction.contract = block, licensed
    contract(Function("kernel", [block], 0, 0, b""))
    return block.body


def _names(body: list[Instruction]) -> list[str]:
    return [instruction.spelling for instruction in body]


def test_a_product_and_a_sum_become_one_operation() -> None:
    for first in (True, False):
        assert _names(_multiply_then("fadd", product_first=first)) == ["llvm.fma", "fneg"]


def test_the_subtracted_part_is_negated() -> None:
    body = _multiply_then("fsub", product_first=True)
    assert _names(body) == ["fneg", "llvm.fma", "fneg"]
    assert body[1].operands[2] is body[0]
    body = _multiply_then("fsub", product_first=False)
    assert _names(body) == ["fneg", "llvm.fma", "fneg"]
    assert body[1].operands[0] is body[0]


def test_nothing_is_fused_without_a_licence() -> None:
    body = _multiply_then("fadd", product_first=True, licensed=False)
    assert _names(body) == ["fmul", "fadd", "fneg"]
