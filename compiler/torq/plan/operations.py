"""TorqPlan's operations: memory, buffers, what slices are to do, starts and waits.

They stand in a `torq_plan.schedule` at the end of a function, and name its tensors and operations.
What can be decided later is optional: the bytes of packed constants, and addresses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from ...graph.tosa import ops
from ..hl.types import TensorAttr
from ..hw.attributes import AddressAttr, ContentAttr, TokenType
from .attributes import (
    BufferType,
    CommandsType,
    KernelAttr,
    LyingAttr,
    MemoryType,
    MoveAttr,
    RegionAttr,
)


@irdl_op_definition
class CallerOp(IRDLOperation):
    """`%0 = torq_plan.caller 0 "input 0"`: memory of the caller's, inputs first."""

    name = "torq_plan.caller"
    number = prop_def(IntegerAttr[I64])
    title = prop_def(StringAttr)
    place = opt_prop_def(AddressAttr)
    memory = result_def(MemoryType())
    assembly_format = "$number $title (`at` $place^)? attr-dict"


@irdl_op_definition
class MemoryOp(IRDLOperation):
    """`%0 = torq_plan.memory %x : ...`: memory for a tensor of the function."""

    name = "torq_plan.memory"
    tensor = operand_def(TensorAttr)
    place = opt_prop_def(AddressAttr)
    memory = result_def(MemoryType())
    assembly_format = "$tensor `:` type($tensor) (`at` $place^)? attr-dict"


@irdl_op_definition
class PackedOp(IRDLOperation):
    """Memory for constants as a kernel reads them: its `role` says which, of what region.

    %0 = torq_plan.packed "weights" of %y : ... by #torq_plan.kernel<"convolution 64x4">
      for #torq_plan.region<[0, 0, 0, 0], [1, 8, 16, 16]>
    """

    name = "torq_plan.packed"
    role = prop_def(StringAttr)
    operator = operand_def(TensorAttr)
    kernel = prop_def(KernelAttr)
    region = prop_def(RegionAttr)
    content = opt_prop_def(ContentAttr)
    place = opt_prop_def(AddressAttr)
    memory = result_def(MemoryType())
    assembly_format = (
        "$role `of` $operator `:` type($operator) `by` $kernel `for` $region "
        "(`holds` $content^)? (`at` $place^)? attr-dict"
    )


@irdl_op_definition
class ReserveOp(IRDLOperation):
    """`%0 = torq_plan.reserve "x of clamp 0" 64 of %y : ... top`: a buffer takes its room in LRAM.

    It is the first that is free from the bottom or from the `top`. It is for an operator, or, if
    there is none, for what is only moved. `stays`: it holds a whole result.
    """

    name = "torq_plan.reserve"
    title = prop_def(StringAttr)
    size = prop_def(IntegerAttr[I64])
    operator = opt_operand_def(TensorAttr)
    stays = opt_prop_def(UnitAttr)
    top = opt_prop_def(UnitAttr)
    place = opt_prop_def(AddressAttr)
    buffer = result_def(BufferType())
    assembly_format = (
        "$title $size (`of` $operator^ `:` type($operator))? (`stays` $stays^)? (`top` $top^)? "
        "(`at` $place^)? attr-dict"
    )

    def verify_(self) -> None:
        """There are bytes."""
        if self.size.value.data < 1:
            raise VerifyException(f"a buffer of {self.size.value.data} bytes")


@irdl_op_definition
class FreeOp(IRDLOperation):
    """`torq_plan.free %0`: others may have the buffer's room."""

    name = "torq_plan.free"
    buffer = operand_def(BufferType())
    assembly_format = "$buffer attr-dict"


@irdl_op_definition
class CommandsOp(IRDLOperation):
    """What a slice is to do: tasks `first` to `stop` of a region of an operator's result.

    %0 = torq_plan.commands 0 of %y : ... by #torq_plan.kernel<"clamp">
      for #torq_plan.region<[0], [16]> tasks 0 to 1 cycles 117 in %code

    They are in the buffer `code`; `cycles` is how long they are expected to take.
    """

    name = "torq_plan.commands"
    slice_ = prop_def(IntegerAttr[I64], prop_name="slice")
    operator = operand_def(TensorAttr)
    kernel = prop_def(KernelAttr)
    region = prop_def(RegionAttr)
    first = prop_def(IntegerAttr[I64])
    stop = prop_def(IntegerAttr[I64])
    cycles = prop_def(IntegerAttr[I64])
    code = operand_def(BufferType())
    commands = result_def(CommandsType())
    assembly_format = (
        "$slice `of` $operator `:` type($operator) `by` $kernel `for` $region "
        "`tasks` $first `to` $stop `cycles` $cycles `in` $code attr-dict"
    )

    def verify_(self) -> None:
        """There is such a slice, and some tasks."""
        if self.slice_.value.data not in (0, 1):
            raise VerifyException(f"there is no slice {self.slice_.value.data}")
        if not 0 <= self.first.value.data < self.stop.value.data:
            raise VerifyException("there are no tasks to do")


class StartOp(IRDLOperation):
    """Starts a unit, whose token can be waited for."""

    @property
    def unit(self) -> str:
        """The unit that it starts."""
        return "XR"

    @property
    def uses(self) -> Sequence[SSAValue]:
        """The buffers that it reads and writes."""
        return [value for value in self.operands if isinstance(value.type, BufferType)]


@irdl_op_definition
class LoadOp(StartOp):
    """`%0 = torq_plan.load %memory to %buffer [#torq_plan.move<...>]`."""

    name = "torq_plan.load"
    memory = operand_def(MemoryType())
    buffer = operand_def(BufferType())
    moves = prop_def(ArrayAttr[MoveAttr])
    token = result_def(TokenType())
    assembly_format = "$memory `to` $buffer $moves attr-dict"


@irdl_op_definition
class StoreOp(StartOp):
    """`%0 = torq_plan.store %buffer to %memory [#torq_plan.move<...>]`."""

    name = "torq_plan.store"
    buffer = operand_def(BufferType())
    memory = operand_def(MemoryType())
    moves = prop_def(ArrayAttr[MoveAttr])
    token = result_def(TokenType())
    assembly_format = "$buffer `to` $memory $moves attr-dict"

    @property
    def unit(self) -> str:
        """The channel to XRAM."""
        return "XW"


@irdl_op_definition
class LoadCommandsOp(StartOp):
    """`%0 = torq_plan.load_commands %commands`: brings them to their buffer."""

    name = "torq_plan.load_commands"
    commands = operand_def(CommandsType())
    place = opt_prop_def(AddressAttr)
    token = result_def(TokenType())
    assembly_format = "$commands (`at` $place^)? attr-dict"

    @property
    def uses(self) -> Sequence[SSAValue]:
        """The buffer of the commands."""
        return [described(self.commands).code]


@irdl_op_definition
class RunOp(StartOp):
    """A slice does what commands say, with tensors in buffers:

    %0 = torq_plan.run %commands with (%x, %result) lying [#torq_plan.lying<...>, ...]
    """

    name = "torq_plan.run"
    commands = operand_def(CommandsType())
    tensors = var_operand_def(BufferType())
    lying = prop_def(ArrayAttr[LyingAttr])
    token = result_def(TokenType())
    assembly_format = "$commands `with` `(` $tensors `)` `lying` $lying attr-dict"

    @property
    def unit(self) -> str:
        """The slice."""
        return f"SLC{described(self.commands).slice_.value.data}"

    @property
    def uses(self) -> Sequence[SSAValue]:
        """The buffers of the commands, and of all that they read and write."""
        return [described(self.commands).code, *self.tensors]

    def verify_(self) -> None:
        """A buffer for each tensor."""
        roles = [each.data.role for each in self.lying]
        if len(roles) != len(self.tensors) or len(set(roles)) != len(roles):
            raise VerifyException("each tensor has a name of its own and a buffer")


def described(commands: SSAValue) -> CommandsOp:
    """The operation that says what commands do. Raises VerifyException."""
    if not isinstance(commands.owner, CommandsOp):
        raise VerifyException("there is nothing that says what these commands do")
    return commands.owner


@irdl_op_definition
class WaitOp(IRDLOperation):
    """`torq_plan.wait %token`: goes on when that is done."""

    name = "torq_plan.wait"
    token = operand_def(TokenType())
    assembly_format = "$token attr-dict"


@irdl_op_definition
class ScheduleOp(IRDLOperation):
    """What is done for a function, in order; the most bytes of LRAM at a time, once it is known."""

    name = "torq_plan.schedule"
    peak = opt_prop_def(IntegerAttr[I64])
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    assembly_format = "(`peak` $peak^)? $body attr-dict"

    def verify_(self) -> None:
        """It ends a function. All is made before it is used; commands are run once; units are
        started when they are idle, and waited for; what is freed is used no more."""
        if not isinstance(self.next_op, ReturnOp):
            raise VerifyException("a schedule is the last thing before a function returns")
        _check_order(self.body.block, self.parent)
        runs = Counter(op.commands for op in self.body.block.ops if isinstance(op, RunOp))
        said = [op for op in self.body.block.ops if isinstance(op, CommandsOp)]
        if any(runs[op.commands] != 1 for op in said):
            raise VerifyException("commands are run once")
        under_way: dict[str, SSAValue] = {}
        freed: set[SSAValue] = set()
        for op in self.body.block.ops:
            if isinstance(op, StartOp):
                _start(op, under_way)
                if not freed.isdisjoint(op.uses):
                    raise VerifyException(f"{op.name} uses a buffer that is free")
            elif isinstance(op, WaitOp):
                unit = op.token.owner.unit if isinstance(op.token.owner, StartOp) else ""
                if under_way.pop(unit, None) is not op.token:
                    raise VerifyException("waits for what has ended")
            elif isinstance(op, FreeOp):
                if op.buffer in freed:
                    raise VerifyException("frees a buffer that is free")
                freed.add(op.buffer)
            elif not isinstance(op, CallerOp | MemoryOp | PackedOp | ReserveOp | CommandsOp):
                raise VerifyException(f"{op.name} is nothing that is scheduled")
        if under_way:
            raise VerifyException(f"nothing waits for the end of {', '.join(under_way)}")


def schedule_of(function: FuncOp) -> ScheduleOp | None:
    """The schedule at the end of a function, if it has one."""
    found = (op for op in ops.body(function).ops if isinstance(op, ScheduleOp))
    return next(found, None)


def _start(op: StartOp, under_way: dict[str, SSAValue]) -> None:
    if op.unit in under_way:
        raise VerifyException(f"{op.unit} is started, and nothing has waited for its end")
    under_way[op.unit] = op.results[0]


def _check_order(block: Block, function: Block | None) -> None:
    known: set[SSAValue] = set()
    for op in block.ops:
        for value in op.operands:
            outside = value.owner if isinstance(value.owner, Block) else value.owner.parent
            if value not in known and (outside is block or outside is not function):
                raise VerifyException(f"{op.name} uses what is only made behind it")
        known.update(op.results)


OPERATIONS: list[type[Operation]] = [
    ScheduleOp,
    CallerOp,
    MemoryOp,
    PackedOp,
    ReserveOp,
    FreeOp,
    CommandsOp,
    LoadOp,
    StoreOp,
    LoadCommandsOp,
    RunOp,
    WaitOp,
]
