"""Functions as linked segments of closures: the form in which the VM runs them.

A segment is a run of straight-line steps and one exit. An exit moves block arguments, enters or
leaves functions, and answers with the segment to run next, or None when the invocation stops
(finished, or waiting).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..status import StatusError
from .archive import Function
from .convention import Convention
from .decode import IMPORT_BIT, Branch, Instruction, RegisterList, decode_function
from .operations import Registers, Step, build
from .pending import Pending
from .state import ModuleState, NativeFunction

if TYPE_CHECKING:
    from .interpreter import Invocation

Exit = Callable[["Invocation", Registers], "Segment | None"]


class Segment:
    """A run of steps and how it ends; `cost` is its number of instructions."""

    __slots__ = ("cost", "leave", "position", "steps")

    def __init__(self, position: int) -> None:
        self.position = position
        self.steps: tuple[Step, ...] = ()
        self.leave: Exit = _fall_off
        self.cost = 1


@dataclass(kw_only=True, slots=True)
class Code:
    """A translated function."""

    name: str
    entry: Segment
    registers: int
    value_registers: int
    argument_registers: tuple[int, ...]
    results: str
    segments: list[Segment] = field(repr=False)

    def new_registers(self) -> Registers:
        """A fresh register list: numbers are zero, references null; the last is for no use."""
        return [0] * self.value_registers + [None] * (self.registers - self.value_registers + 1)


def _fall_off(invocation: Invocation, _: Registers) -> Segment | None:
    raise StatusError("INTERNAL", f"{invocation.function_name} ran past the end of a block")


def argument_registers(
    convention: Convention, value_registers: int, ref_registers: int
) -> tuple[int, ...]:
    """Where a function finds its arguments: 64-bit values in even pairs, refs after all values.

    A function that leaves arguments unused may lack registers for them: those get a place behind
    all registers (the number of registers).
    """
    registers = []
    value = ref = 0
    nowhere = value_registers + ref_registers
    for letter in convention.arguments:
        if letter == "r":
            registers.append(value_registers + ref if ref < ref_registers else nowhere)
            ref += 1
            continue
        width = 2 if letter in "IF" else 1
        value += value & (width - 1)
        registers.append(value if value + width <= value_registers else nowhere)
        value += width
    return tuple(registers)


class Translator:
    """Translates the functions of one module, each when it is first called."""

    def __init__(self, state: ModuleState) -> None:
        self.state = state
        self._codes: dict[int, Code] = {}

    def code(self, ordinal: int) -> Code:
        """The translated function; decodes and checks it the first time."""
        found = self._codes.get(ordinal)
        if found is None:
            found = self._translate(self.state.definition.functions[ordinal])
            self._codes[ordinal] = found
        return found

    def _translate(self, function: Function) -> Code:
        definition = self.state.definition
        blocks = decode_function(definition, function)
        count = function.value_registers + function.ref_registers
        arguments = argument_registers(
            function.convention, function.value_registers, function.ref_registers
        )
        if any(function.convention.spans):
            raise StatusError(
                "INVALID_ARGUMENT",
                f"function {function.ordinal} of {definition.name} is variadic "
                f"({function.convention.text}); only imports can be",
            )
        starts = {position: Segment(position) for position in blocks}
        segments: list[Segment] = []
        order = list(blocks)
        for index, position in enumerate(order):
            following = starts[order[index + 1]] if index + 1 < len(order) else None
            segments += self._block(starts, starts[position], blocks[position], following)
        return Code(
            name=f"{definition.name}."
            + definition.function_names.get(function.ordinal, f"function_{function.ordinal}"),
            entry=starts[0],
            registers=count,
            value_registers=function.value_registers,
            argument_registers=arguments,
            results=function.convention.results,
            segments=segments,
        )

    def _block(
        self,
        starts: dict[int, Segment],
        segment: Segment,
        block: list[Instruction],
        following: Segment | None,
    ) -> list[Segment]:
        segments = [segment]
        steps: list[Step] = []
        for instruction in block:
            segment.cost += 1
            if instruction.operation.mnemonic in ("call", "call.variadic"):
                step = self._import_step(instruction)
                if step is not None:
                    steps.append(step)
                    continue
                rest = Segment(instruction.position)
                segment.steps, steps = tuple(steps), []
                segment.leave = self._internal_call(instruction, rest)
                segment = rest
                segments.append(rest)
            elif instruction.operation.ends_block:
                segment.leave = self._exit(starts, instruction)
            else:
                steps.append(build(self.state, instruction))
        segment.steps = tuple(steps)
        if not (block and block[-1].operation.ends_block) and following is not None:
            segment.leave = lambda _, __: following
        return segments

    # --- branches ---

    def _exit(self, starts: dict[int, Segment], instruction: Instruction) -> Exit:
        mnemonic, operands = instruction.operation.mnemonic, instruction.operands
        if mnemonic in ("br", "break"):
            return _jump(starts, operands[0])
        if mnemonic == "cond_break":
            return _jump(starts, operands[1])
        if mnemonic == "cond_br":
            return _conditional(operands[0], *(_jump(starts, branch) for branch in operands[1:]))
        if mnemonic == "br_table":
            index, default, cases = operands
            return _table(index, _jump(starts, default), [_jump(starts, case) for case in cases])
        if mnemonic == "yield":
            return _yield(_jump(starts, operands[0]))
        if mnemonic == "return":
            return _return(operands[0])
        return self._yieldable_call(starts, instruction)

    # --- calls ---

    def _import(self, ordinal: int) -> tuple[Convention, NativeFunction]:
        declared = self.state.definition.imports[ordinal & ~IMPORT_BIT]
        function = self.state.imports[ordinal & ~IMPORT_BIT]
        if function is not None:
            return declared.convention, function

        def missing(*_: Any) -> Any:
            raise StatusError(
                "NOT_FOUND", f"optional import `{declared.name}` not resolved and cannot be called"
            )

        return declared.convention, missing

    def _import_step(self, instruction: Instruction) -> Step | None:
        """The step of a call that leaves the module, or None for a call within it."""
        ordinal, *segments, operands, results = instruction.operands
        if not ordinal & IMPORT_BIT:
            return None
        convention, function = self._import(ordinal)
        gather = gatherer(convention, operands, segments[0] if segments else None)
        store = _storer(convention.results, results.registers)
        moved = operands.moved

        def step(r: Registers) -> None:
            arguments = gather(r)
            for register in moved:
                r[register] = None
            result = function(*arguments)
            if type(result) is Pending:
                result = result.block()
            store(r, result)

        if not convention.results and not moved:
            # The commonest calls, without the general machinery.
            def plain_step(r: Registers) -> None:
                function(*gather(r))

            return plain_step
        return step

    def _yieldable_call(self, starts: dict[int, Segment], instruction: Instruction) -> Exit:
        ordinal, *segments, operands, target, results = instruction.operands
        resume = starts[target]
        if not ordinal & IMPORT_BIT:
            return self._enter(ordinal, operands, results, resume)
        convention, function = self._import(ordinal)
        gather = gatherer(convention, operands, segments[0] if segments else None)
        store = _storer(convention.results, results.registers)
        moved = operands.moved

        def leave(invocation: Invocation, r: Registers) -> Segment | None:
            arguments = gather(r)
            for register in moved:
                r[register] = None
            result = function(*arguments)
            if type(result) is Pending:
                invocation.suspend(result, lambda value: store(r, value), resume)
                return None
            store(r, result)
            return resume

        return leave

    def _internal_call(self, instruction: Instruction, resume: Segment) -> Exit:
        ordinal, *_, operands, results = instruction.operands
        return self._enter(ordinal, operands, results, resume)

    def _enter(
        self, ordinal: int, operands: RegisterList, results: RegisterList, resume: Segment
    ) -> Exit:
        sources, moved = operands.registers, operands.moved
        function = self.state.definition.functions[ordinal]
        expected = len(function.convention.arguments)
        if len(sources) != expected:
            raise StatusError(
                "INVALID_ARGUMENT",
                f"a call of function {ordinal} passes {len(sources)} arguments, not {expected}",
            )
        store = _storer(function.convention.results, results.registers)

        def leave(invocation: Invocation, r: Registers) -> Segment:
            code = self.code(ordinal)
            callee = code.new_registers()
            for source, register in zip(sources, code.argument_registers, strict=True):
                callee[register] = r[source]
            for register in moved:
                r[register] = None
            invocation.push(code, callee, resume, store)
            return code.entry

        return leave


def _mover(branch: Branch) -> Callable[[Registers], None] | None:
    moves = tuple((a, b, move and a != b) for a, b, move in branch.moves if a != b)
    if not moves:
        return None

    # One after the other, as the compiler orders them.
    def move_arguments(r: Registers) -> None:
        for source, destination, take in moves:
            r[destination] = r[source]
            if take:
                r[source] = None

    return move_arguments


def _jump(starts: dict[int, Segment], branch: Branch) -> Exit:
    target = starts[branch.target]
    move = _mover(branch)
    if move is None:
        return lambda _, __: target

    def leave(_: Invocation, r: Registers) -> Segment:
        move(r)
        return target

    return leave


def _conditional(condition: int, yes: Exit, no: Exit) -> Exit:
    return lambda invocation, r: yes(invocation, r) if r[condition] else no(invocation, r)


def _table(index: int, default: Exit, cases: list[Exit]) -> Exit:
    def leave(invocation: Invocation, r: Registers) -> Segment | None:
        choice = r[index]
        chosen = cases[choice] if 0 <= choice < len(cases) else default
        return chosen(invocation, r)

    return leave


def _yield(jump: Exit) -> Exit:
    def leave(invocation: Invocation, r: Registers) -> None:
        invocation.suspend(None, None, jump(invocation, r))

    return leave


def _return(operands: RegisterList) -> Exit:
    registers = operands.registers

    def leave(invocation: Invocation, r: Registers) -> Segment | None:
        return invocation.pop([r[register] for register in registers])

    return leave


def _storer(results: str, registers: tuple[int, ...]) -> Callable[[Registers, Any], None]:
    """Puts what a function returned into registers; several results come as a sequence."""
    if len(results) != len(registers):
        raise StatusError(
            "INVALID_ARGUMENT", f"a call takes {len(registers)} results of a function '{results}'"
        )
    if not registers:
        return lambda r, value: None
    if len(registers) == 1:
        only = registers[0]

        def store_one(r: Registers, value: Any) -> None:
            r[only] = value

        return store_one

    def store(r: Registers, values: Any) -> None:
        for register, value in zip(registers, values, strict=True):
            r[register] = value

    return store


def gatherer(
    convention: Convention, operands: RegisterList, segments: tuple[int, ...] | None
) -> Callable[[Registers], list[Any]]:
    """Collects a call's arguments; a span becomes a list of values or of tuples."""
    registers = operands.registers
    if not convention.variadic:
        if len(registers) != len(convention.arguments):
            raise _mismatch(convention, len(registers))
        return lambda r: [r[register] for register in registers]
    if segments is None or len(segments) != len(convention.arguments):
        raise _mismatch(convention, len(registers))
    plan: list[tuple[int, int, int]] = []  # (first operand, items, width); width 0: one value
    position = 0
    for inner, is_span, count in zip(convention.arguments, convention.spans, segments, strict=True):
        width = len(inner) if is_span else 0
        plan.append((position, count if is_span else 1, width))
        position += count * width if is_span else 1
    if position != len(registers):
        raise _mismatch(convention, len(registers))

    def gather(r: Registers) -> list[Any]:
        flat = [r[register] for register in registers]
        arguments: list[Any] = []
        for start, count, width in plan:
            if width == 0:
                arguments.append(flat[start])
            elif width == 1:
                arguments.append(flat[start : start + count])
            else:
                end = start + count * width
                arguments.append(list(zip(*[iter(flat[start:end])] * width, strict=True)))
        return arguments

    return gather


def _mismatch(convention: Convention, count: int) -> StatusError:
    return StatusError(
        "INVALID_ARGUMENT", f"a call with {count} operands does not fit {convention.text}"
    )
