"""Bytecode is written by the table that it is read by: both ways, whatever the program."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.hal.vm.archive import Function, Import, ModuleDefinition, read_module
from assay.hal.vm.build.assemble import assemble
from assay.hal.vm.build.module import write_module
from assay.hal.vm.convention import parse_convention
from assay.hal.vm.decode import (
    IMPORT_BIT,
    Branch,
    Instruction,
    RefOperand,
    RegisterList,
    decode_function,
)
from assay.hal.vm.isa import BY_MNEMONIC, OPERATIONS, Operation

from .doubles import compiled
from .programs import VM_FLAGS, operations_module

VALUES, REFS, TYPES, RODATA, IMPORTS, GLOBALS = 12, 5, 3, 2, 2, 4
MODEL = """\
func.func @main(%a: tensor<?x8xf32>, %n: i32) -> tensor<?x8xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> tensor<?x8xf32> : i32 {
    %y = arith.addf %x, %x : tensor<?x8xf32>
    scf.yield %y : tensor<?x8xf32>
  }
  return %r : tensor<?x8xf32>
}
"""


@pytest.mark.parametrize("program", ["model", "operations"])
def test_modules_of_the_compiler_survive_being_read_and_written(program: str) -> None:
    data = compiled(MODEL) if program == "model" else compiled(operations_module(), *VM_FLAGS)
    module = read_module(data)
    assert module.functions
    for function in module.functions:
        blocks = decode_function(module, function)
        code = module.bytecode[function.offset : function.offset + function.length]
        assert assemble(blocks, function.value_registers) == bytes(code)
    members = {0: "first.bin"} if module.rodata else {}
    written = read_module(write_module(module, members))
    # Names of functions that nobody calls from outside are not kept.
    assert written == replace(module, function_names=written.function_names)


def test_every_mnemonic_names_one_operation() -> None:
    assert len(BY_MNEMONIC) == sum(map(len, OPERATIONS.values()))


VALUE = st.integers(0, VALUES - 1)
WIDE = st.integers(0, VALUES - 2)
REF = st.builds(RefOperand, st.integers(VALUES, VALUES + REFS - 1), st.booleans())


@st.composite
def register_lists(draw: Any) -> RegisterList:
    registers = draw(st.lists(st.integers(0, VALUES + REFS - 1), max_size=6))
    moves = tuple(register >= VALUES and draw(st.booleans()) for register in registers)
    return RegisterList(tuple(registers), moves)


@st.composite
def branches(draw: Any, blocks: int) -> Branch:
    values = st.tuples(VALUE, VALUE, st.just(False))
    refs = st.tuples(*[st.integers(VALUES, VALUES + REFS - 1)] * 2, st.booleans())
    moves = draw(st.lists(values | refs, max_size=4))
    return Branch(draw(st.integers(0, blocks - 1)), tuple(moves))


def operand(kind: str, operation: Operation, blocks: int) -> st.SearchStrategy[Any]:
    kind = kind.lstrip(">")
    if kind.startswith("list:") or kind == "results":
        return register_lists()
    if kind == "target":
        return branches(blocks) if "remap" in operation.fields else st.integers(0, blocks - 1)
    is_ref = operation.mnemonic.endswith("ref")
    strategies: dict[str, st.SearchStrategy[Any]] = {
        "#i32": st.integers(-(1 << 31), (1 << 31) - 1),
        "#i64": st.integers(-(1 << 63), (1 << 63) - 1),
        "#f32": st.floats(width=32, allow_nan=False),
        "#f64": st.floats(allow_nan=False),
        "i32": VALUE,
        "f32": VALUE,
        "i64": WIDE,
        "f64": WIDE,
        "ref": REF,
        "segments": st.lists(st.integers(0, 0xFFFF), max_size=4).map(tuple),
        "count": st.lists(branches(blocks), max_size=3).map(tuple),
        "string": st.text(max_size=9),
        "type": st.integers(0, TYPES - 1),
        "rodata": st.integers(0, RODATA - 1),
        "function": st.just(0) | st.integers(0, IMPORTS - 1).map(lambda n: IMPORT_BIT | n),
        "global": st.integers(0, GLOBALS - 1 if is_ref else 4 * GLOBALS - 8),
    }
    return strategies[kind]


@st.composite
def instructions(draw: Any, operations: list[Operation], blocks: int) -> Instruction:
    operation = draw(st.sampled_from(operations))
    kinds = [kind for kind in operation.fields if kind not in ("remap", "cases")]
    return Instruction(0, operation, tuple(draw(operand(k, operation, blocks)) for k in kinds))


ENDS = [operation for operation in BY_MNEMONIC.values() if operation.ends_block]
OTHERS = [op for op in BY_MNEMONIC.values() if not op.ends_block and op.mnemonic != "block"]


@st.composite
def functions(draw: Any) -> dict[int, list[Instruction]]:
    count = draw(st.integers(1, 4))
    return {
        number: [
            *draw(st.lists(instructions(OTHERS, count), max_size=5)),
            draw(instructions(ENDS, count)),
        ]
        for number in range(count)
    }


def holding(code: bytes) -> ModuleDefinition:
    """A module of one function, with something for every number that an instruction may name."""
    nothing = parse_convention("0v_v", "made")
    function = Function(
        ordinal=0,
        convention=nothing,
        attributes={},
        offset=0,
        length=len(code),
        requirements=0,
        blocks=1,
        value_registers=VALUES,
        ref_registers=REFS,
    )
    wanted = Import(name="other.function", convention=nothing, optional=False)
    return ModuleDefinition(
        name="made",
        version=0,
        types=("i32",) * TYPES,
        dependencies=(),
        imports=(wanted,) * IMPORTS,
        exports={},
        functions=(function,),
        function_names={},
        rodata=(memoryview(b"data"),) * RODATA,
        global_bytes=4 * GLOBALS,
        global_refs=GLOBALS,
        bytecode=memoryview(code),
        attributes={},
    )


@settings(max_examples=150, deadline=None)
@given(functions())
def test_made_up_programs_survive_being_written_and_read(
    blocks: dict[int, list[Instruction]],
) -> None:
    code = assemble(blocks, VALUES)
    module = read_module(write_module(holding(code)))
    assert module == replace(holding(code), bytecode=module.bytecode)
    assert bytes(module.bytecode) == code
    read = decode_function(module, module.functions[0])
    assert assemble(read, VALUES) == code
    offsets = dict(zip(read, blocks, strict=True))
    for found, written in zip(read.values(), blocks.values(), strict=True):
        for one, other in zip(found, written, strict=True):
            assert one.operation is other.operation
            kinds = [kind for kind in one.operation.fields if kind not in ("remap", "cases")]
            operands = zip(kinds, one.operands, strict=True)
            assert [named(*each, offsets) for each in operands] == [*other.operands]


def named(kind: str, operand: Any, offsets: dict[int, int]) -> Any:
    """An operand with numbers of blocks instead of their places."""
    if kind == "count":
        return tuple(named("target", each, offsets) for each in operand)
    if kind != "target":
        return operand
    if isinstance(operand, Branch):
        return replace(operand, target=offsets[operand.target])
    return offsets[operand]
