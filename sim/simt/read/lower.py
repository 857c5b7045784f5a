"""From LLVM's IR as read to the engines' IR: scalars, roots and offsets, plain branches."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.faults import UnsupportedKernel
from ..ir.llvm_types import Pointer, Scalar, leaves
from ..ir.nodes import Block, Constant, Function, Instruction, Value, link_predecessors
from ..ir.operations.calls import CALL, PARAMETER, RETURN
from ..ir.operations.control import PHI
from ..ir.operations.operation import Operation
from ..ir.operations.table import INSTRUCTIONS
from ..ir.passes import rewrites
from .apart import PREFIX as APART
from .intrinsics import lower_call
from .llvm_records import FunctionText, ModuleText, Operand, Record
from .lower_base import Address, Lowered
from .lower_values import ValueLowering
from .roots import Parameter
from .switches import Switch

_LOG_BUFFER = "@__assay_log_buffer"


@rewrites
def lower(module: ModuleText, entry: str, parameters: Sequence[Parameter], name: str) -> Function:
    """Lower the entry function, into which everything it calls has been inlined.

    Raises:
        UnsupportedKernel: for what the engines cannot execute, with the source line.
    """
    text = module.functions.get("@" + entry)
    if text is None:
        raise UnsupportedKernel(f"the compiled module has no function '{entry}'", kernel=name)
    if len(text.parameters) != len(parameters):
        raise UnsupportedKernel(
            f"the compiled function has {len(text.parameters)} parameters, its description "
            f"{len(parameters)}",
            kernel=name,
        )
    _bind_hidden_arguments(text)
    lowering = Lowering(module, text, parameters, name)
    function = lowering.run()
    waiting = list(lowering.called)
    while waiting:
        callee = waiting.pop()
        if callee not in function.apart:
            apart = ApartLowering(module, module.functions["@" + callee], name)
            function.apart[callee] = apart.run()
            function.apart[callee].apart = function.apart
            waiting += apart.called
    return function


def _bind_hidden_arguments(text: FunctionText) -> None:
    """Replace calls that ask for what the source does not name, the buffer that os_log writes its
    records into, by the last parameter of a kernel that logs.
    """
    if not text.parameters:
        return
    name, kind = text.parameters[-1]
    for records in text.blocks.values():
        for record in records:
            if record.op == "call" and record.callee == _LOG_BUFFER:
                record.op, record.callee = "addrspacecast", ""
                record.operands = [Operand(kind, name)]


class Lowering(ValueLowering):
    """Lowers a whole function."""

    def __init__(
        self, module: ModuleText, text: FunctionText, parameters: Sequence[Parameter], name: str
    ) -> None:
        super().__init__(module, text, parameters, name)
        self.phis: list[tuple[Record, list[Instruction]]] = []
        self.extra: dict[str, list[Block]] = {}  # blocks a switch was split into, by its label
        self.homes: dict[Block, Block] = {}  # such a block -> the block that had the switch
        self.called: dict[str, None] = {}  # functions that stand apart

    def run(self) -> Function:
        """Lower the function."""
        for label in self.text.blocks:
            self.blocks[label] = Block(label.lstrip("%"))
        order = self._order()
        for label in order:
            self.block = self.blocks[label]
            for record in self.text.blocks[label]:
                self.site = self.sites.site(record.location)
                self._lower_record(record)
            self.ends[label] = self.block
        blocks = self._collect_blocks(order)
        link_predecessors(blocks)
        self._fill_phis(set(order))
        return Function(
            self.name,
            blocks,
            self.memory.threadgroup_memory,
            self.memory.private_memory,
            bytes(self.memory.constants),
        )

    def _order(self) -> list[str]:
        """Reverse post-order of the labels, so that definitions come before uses."""
        labels = {label: records[-1].labels for label, records in self.text.blocks.items()}
        entry = next(iter(self.text.blocks))
        seen, order = {entry}, []
        stack = [(entry, iter(labels[entry]))]
        while stack:
            label, successors = stack[-1]
            for successor in successors:
                if successor not in seen:
                    seen.add(successor)
                    stack.append((successor, iter(labels[successor])))
                    break
            else:
                order.append(label)
                stack.pop()
        return order[::-1]

    def _collect_blocks(self, order: list[str]) -> list[Block]:
        blocks: list[Block] = []
        for label in order:
            blocks.append(self.blocks[label])
            blocks.extend(self.extra.get(label, []))
        return blocks

    def _lower_record(self, record: Record) -> None:
        handler = getattr(self, f"_op_{record.op}", None)
        if handler is not None:
            handler(record)
        elif record.op in ("atomicrmw", "cmpxchg", "fence"):
            raise self.fail(f"'{record.op}' written with compiler builtins is not supported")
        else:
            self._elementwise(record, self._operation(record.op))

    def _operation(self, name: str) -> Operation:
        operation = INSTRUCTIONS.get(name)
        if operation is None:
            raise self.fail(f"the compiler emitted '{name}', which is not supported")
        return operation

    def _op_phi(self, record: Record) -> None:
        phis, results = [], list[Lowered]()
        for kind in leaves(record.type):
            name = kind.name if isinstance(kind, Scalar) else "i64"
            phi = Instruction(PHI, name, [], self.site)
            phi.block = self.block
            self.block.phis.append(phi)
            phis.append(phi)
            if isinstance(kind, Pointer):
                if not isinstance(record.type, Pointer):
                    raise self.fail("a vector of pointers is not supported")
                results.append(self._pointer_result(record, phi))
            else:
                results.append(phi)
        self.phis.append((record, phis))
        self.values[record.name] = results

    def _fill_phis(self, reachable: set[str]) -> None:
        for record, phis in self.phis:
            assert phis[0].block is not None
            incoming: dict[Block, list[Lowered]] = {}
            for label, operand in zip(record.labels, record.operands, strict=True):
                if label in reachable:
                    self.block = self.ends[label]
                    incoming[self.ends[label]] = self.operand(operand)
            self._fill(record, phis, incoming)

    def _fill(
        self, record: Record, phis: list[Instruction], incoming: dict[Block, list[Lowered]]
    ) -> None:
        root = self.roots.get(record.name)
        for number, phi in enumerate(phis):
            assert phi.block is not None
            for predecessor in phi.block.predecessors:
                value = incoming[self.homes.get(predecessor, predecessor)][number]
                if isinstance(value, Address):
                    self.block = predecessor
                    value = self._in_root(value, root)
                phi.operands.append(value)

    def _op_br(self, record: Record) -> None:
        self.block.site = self.site
        if record.operands:
            first, second = (self.blocks[label] for label in record.labels)
            if first is second:
                self.block.targets = [first]
            else:
                self.block.condition = self.scalar(record.operands[0])
                self.block.targets = [first, second]
        else:
            self.block.targets = [self.blocks[record.labels[0]]]

    def _op_switch(self, record: Record) -> None:
        """Becomes comparisons, most of them in blocks of their own."""
        default, *targets = (self.blocks[label] for label in record.labels)
        subject = self.scalar(record.operands[0])
        home = self.block
        values = [self.scalar(case) for case in record.operands[1:]]
        cases = [(_number_of(value), target) for value, target in zip(values, targets, strict=True)]
        if not cases:
            home.targets = [default]
            return
        extra: list[Block] = []
        Switch(subject, default, self.site, home.name, extra.append).lower(home, cases)
        self.homes |= dict.fromkeys(extra, home)
        label = next(label for label, block in self.blocks.items() if block is home)
        self.extra[label] = extra

    def _op_ret(self, record: Record) -> None:
        self.block.site = self.site
        self.block.targets = []

    _op_unreachable = _op_ret

    def _op_call(self, record: Record) -> None:
        if record.callee.startswith("@" + APART):
            self._call_apart(record)
        else:
            lower_call(self, record)

    def _call_apart(self, record: Record) -> None:
        """A call of a function that stands apart."""
        assert isinstance(record.type, Scalar)
        operands = [self.scalar(operand) for operand in record.operands]
        made = self.emit(CALL, record.type.name, *operands)
        made.function = record.callee[1:]
        self.called[made.function] = None
        self.values[record.name] = [made]


def _number_of(value: Value) -> int:
    assert isinstance(value, Constant) and value.number is not None
    return value.number


class ApartLowering(Lowering):
    """Lowers a function that stands apart, which takes and gives numbers."""

    def __init__(self, module: ModuleText, text: FunctionText, name: str) -> None:
        super().__init__(module, FunctionText(text.name, [], text.blocks), (), name)
        self._parameters: list[Instruction] = []
        for index, (parameter, kind) in enumerate(text.parameters):
            assert isinstance(kind, Scalar)
            made = Instruction(PARAMETER, kind.name, [])
            made.index = index
            self._parameters.append(made)
            self.values[parameter] = [made]

    def run(self) -> Function:
        """Lower the function."""
        function = super().run()
        first = function.blocks[0]
        for parameter in self._parameters:
            parameter.block = first
        first.body = [*self._parameters, *first.body]
        return function

    def _op_ret(self, record: Record) -> None:
        self.emit(RETURN, "void", self.scalar(record.operands[0]))
        super()._op_ret(record)
