"""What a function asserts of its arguments: all that some importers leave of their types.

Modules from ONNX carry no declarations; but before anything else their functions compare each
buffer view with the element type and the shape that they were compiled for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from .. import element_type as elements
from ..status import StatusError
from .archive import Function, ModuleDefinition
from .decode import IMPORT_BIT, Instruction, RefOperand, RegisterList, decode_function
from .signature import FunctionInfo, describe

_ASSERT = "hal.buffer_view.assert"
_CALLS = ("call", "call.variadic")


def exported(module: ModuleDefinition, name: str) -> FunctionInfo:
    """What is known of an exported function; types of arguments from what it asserts of them."""
    function = module.functions[module.exports[name]]
    info = describe(name, function.convention, function.attributes)
    if "ref" not in info.arguments:
        return info
    # The function that waits for its results calls the one that does the work.
    worker = module.exports.get(f"{name}$async")
    known = asserted_types(module, function if worker is None else module.functions[worker])
    arguments = tuple(
        known.get(position, kind) if kind == "ref" else kind
        for position, kind in enumerate(info.arguments)
    )
    return replace(info, arguments=arguments)


def asserted_types(module: ModuleDefinition, function: Function) -> Mapping[int, str]:
    """Types such as `tensor<2x?xf32>` by argument, of those arguments that are asserted."""
    try:
        entry = decode_function(module, function)[0]
    except StatusError:  # told when it is run
        return {}
    return _Entry(module, function).read(entry)


class _Entry:
    """The beginning of a function: which registers hold arguments, and which hold constants."""

    def __init__(self, module: ModuleDefinition, function: Function) -> None:
        self._module = module
        letters = function.convention.arguments
        refs = [position for position, letter in enumerate(letters) if letter == "r"]
        first = function.value_registers
        self._arguments = {first + number: position for number, position in enumerate(refs)}
        self._constants: dict[int, int] = {}
        self._types: dict[int, str] = {}

    def read(self, block: list[Instruction]) -> Mapping[int, str]:
        """The types that a block asserts."""
        for instruction in block:
            self._note_assertion(instruction)
            self._note_results(instruction)
        return self._types

    def _note_assertion(self, instruction: Instruction) -> None:
        if instruction.operation.mnemonic not in _CALLS:
            return
        callee: int = instruction.operands[0]
        if not callee & IMPORT_BIT or self._module.imports[callee & ~IMPORT_BIT].name != _ASSERT:
            return
        lists = [each for each in instruction.operands if isinstance(each, RegisterList)]
        view, _, element, _, *sizes = lists[0].registers
        position, kind = self._arguments.get(view), self._constants.get(element)
        if position is None or kind is None:
            return
        known = [self._constants.get(size) for size in sizes]
        shape = "".join("?x" if size is None else f"{size}x" for size in known)
        self._types.setdefault(position, f"tensor<{shape}{elements.text(kind)}>")

    def _note_results(self, instruction: Instruction) -> None:
        """Forget what registers held that are written; remember constants."""
        operation = instruction.operation
        for kind, operand in zip(operation.fields, instruction.operands, strict=False):
            if kind == "results":
                written = list(operand.registers)
            elif kind.startswith(">"):
                written = [operand.register if isinstance(operand, RefOperand) else operand]
            else:
                continue
            for register in written:
                self._arguments.pop(register, None)
                self._constants.pop(register, None)
        if operation.mnemonic in ("const.i32", "const.i64"):
            value, register = instruction.operands
            self._constants[register] = value
        elif operation.mnemonic in ("const.i32.zero", "const.i64.zero"):
            self._constants[instruction.operands[0]] = 0
