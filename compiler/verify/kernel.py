"""A kernel made ready for proofs: its blocks, loops, barriers, and what its threads share."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from assay.sim.simt.analysis.divergence import Divergence, analyse_divergence
from assay.sim.simt.ir.cfg import Cfg, Loop, analyse, split_at_barriers
from assay.sim.simt.ir.faults import UnsupportedKernel
from assay.sim.simt.ir.llvm_types import bits
from assay.sim.simt.ir.nodes import (
    THREADGROUP_ROOTS,
    AddressRoot,
    Block,
    BufferRoot,
    Constant,
    ConstantRoot,
    Function,
    Instruction,
    PrivateRoot,
    Root,
    clone,
)
from assay.sim.simt.ir.operations.marks import UNINITIALISED
from assay.sim.simt.ir.operations.memory import LOAD
from assay.sim.simt.ir.operations.operation import Variation
from assay.sim.simt.ir.operations.positions import (
    SIMDGROUP_INDEX_IN_THREADGROUP,
    THREAD_POSITION_IN_GRID,
    THREADGROUP_POSITION_IN_GRID,
    THREADGROUPS_PER_GRID,
    THREADS_PER_GRID,
)
from assay.sim.simt.ir.operations.synchronisation import SIMDGROUP_BARRIER, THREADGROUP_BARRIER
from assay.sim.simt.run.program import Program

from .assumed.contents import Contents
from .counts import loops_behind
from .loops import Rule
from .memory.pointers import Pointers, buffers_behind, follow_pointers, is_null

Size = tuple[int, int, int]
_ALL_DIMENSIONS = frozenset(range(3))
_POSITIONS = (
    THREAD_POSITION_IN_GRID,
    THREADGROUP_POSITION_IN_GRID,
    THREADS_PER_GRID,
    THREADGROUPS_PER_GRID,
)
LOOPS = frozenset({"loops", "race", "lanes", "reads", "init", "gaps"})
_NULL = "it follows a null pointer, calls a function that is not there, or recurses too deep"


class Lack(Enum):
    """What a reading of a kernel may lack."""

    OWN = "reads of a thread's own arrays"
    READ = "reads of what nobody writes"
    SHARED = "other accesses, or barriers"


@dataclass(slots=True, eq=False)
class Kernel:
    """What proofs are about.

    Attributes:
        size: threads of a threadgroup.
        lanes: which values and branches differ between lanes of a simdgroup.
        threads: the same between threads of a threadgroup.
        written: buffers that the kernel writes to.
        shared: loops that all threads are in the same iteration of, since barriers hold them
            together.
        rules: of variables of loops, as far as they were asked for.
        is_ragged: whether the last threadgroups of a grid may not be full.
        words: byte offsets and widths of integers that are read at known places of arguments, by
            the number of the parameter.
        contents: what is assumed of the numbers in buffers.
        stored: what all that is read of arrays of the threadgroup surely lies between.
        asked: dimensions of the grid that it asks about as it is written: what else the optimiser
            sees that they do not matter for, such as a loop, it does ask about.
        lacks: what may be missing that another reading of the source has, or would have if it
            could be followed.
        behind: for each block, the loops that a thread may have been in on its way there, in the
            same iterations of the loops around both, and those around it.
    """

    name: str
    function: Function
    cfg: Cfg
    size: Size
    lanes: Divergence
    threads: Divergence
    written: frozenset[Root]
    shared: set[Loop] = field(default_factory=set)
    rules: dict[Instruction, Rule | None] = field(default_factory=dict)
    is_ragged: bool = False
    words: Mapping[int, frozenset[tuple[int, int]]] = field(default_factory=dict)
    contents: Contents = field(default_factory=Contents)
    stored: Mapping[Root, tuple[int, int]] = field(default_factory=dict)
    lacks: frozenset[Lack] = frozenset()
    asked: frozenset[int] = _ALL_DIMENSIONS
    behind: Mapping[Block, frozenset[Loop]] = field(init=False)

    def __post_init__(self) -> None:
        self.behind = loops_behind(self.cfg)

    @property
    def barriers(self) -> list[Block]:
        """Blocks that end in a barrier of the threadgroup."""
        return [block for block in self.cfg.order if barrier_of(block) is not None]

    def accesses(self) -> Iterator[Instruction]:
        """All accesses to memory."""
        return (each for each in self.function.instructions() if each.operation.accesses_memory)

    def around(self, block: Block) -> list[Loop]:
        """The loops around a block, outermost first."""
        return self.cfg.loops_of(block)[::-1]


def barrier_of(block: Block) -> Instruction | None:
    """The barrier that a block ends in."""
    last = block.body[-1] if block.body else None
    return last if last is not None and last.operation is THREADGROUP_BARRIER else None


def prepared(
    program: Program,
    size: Size,
    without: Collection[int] = (),
    pointers: Pointers | None = None,
    *,
    optimised: bool = False,
    by_simdgroup: bool = False,
    needed: bool = False,
) -> Kernel:
    """A kernel for threadgroups of a size.

    Args:
        program: the kernel.
        size: threads of a threadgroup.
        without: barriers of the threadgroup that are left out, by their places in its order.
        pointers: where pointers in arguments lead to; each to memory of its own if left out.
        optimised: whether it is read as the engines run it: short loops are unrolled.
        by_simdgroup: whether it is about threads of one simdgroup, to which barriers of the
            simdgroup are what those of the threadgroup are.
        needed: whether reads that nobody needs are left out, and variables have values.

    Raises:
        UnsupportedKernel: for what proofs cannot be about; the message says what.
    """
    marks = LOOPS - {"reads", "init"} if needed else LOOPS
    function, lacks, asked = _read(program, marks, optimised=optimised)
    follow_pointers(function, pointers, frozenset(_written(function)))
    of_threadgroup = {x for x in function.instructions() if x.operation is THREADGROUP_BARRIER}
    if by_simdgroup:
        for each in function.instructions():
            if each.operation is SIMDGROUP_BARRIER:
                each.operation = THREADGROUP_BARRIER
    split_at_barriers(function)
    cfg = analyse(function)
    if not cfg.reducible:
        raise UnsupportedKernel("it jumps into the middle of a loop", kernel=program.name)
    written = frozenset(_written(function))
    ending = [block for block in cfg.order if barrier_of(block) in of_threadgroup]
    for number in without:
        del ending[number].body[-1]
    kernel = Kernel(
        name=program.name,
        function=function,
        cfg=cfg,
        size=size,
        lanes=_between_lanes(function, cfg, written),
        threads=_between_threads(function, cfg, written),
        written=written,
        words=_words(function),
        lacks=lacks,
        asked=asked,
    )
    barriers = set(kernel.barriers)
    kernel.shared.update(loop for loop in cfg.loops if barriers & loop.blocks)
    return kernel


def _asked(function: Function) -> frozenset[int]:
    """Dimensions of the grid that a kernel asks about."""
    found: set[int] = set()
    for each in function.instructions():
        if each.operation in _POSITIONS and each.operands:
            dimension = each.operands[0]
            number = dimension.number if isinstance(dimension, Constant) else None
            found |= _ALL_DIMENSIONS if number is None else {number}
    return frozenset(found)


def _read(
    program: Program, marks: frozenset[str], *, optimised: bool
) -> tuple[Function, frozenset[Lack], frozenset[int]]:
    """A copy of the kernel, what may be missing, and the dimensions of the grid that it asks about
    as it is written; all if it cannot be read so.

    Raises:
        UnsupportedKernel: also where it surely follows a null pointer.
    """
    by_optimiser = marks - {"loops"}
    try:
        function = program.marked_function(marks)
    except UnsupportedKernel:
        return clone(_followed(program, by_optimiser)), frozenset(Lack), _ALL_DIMENSIONS
    asked = _asked(function)
    is_followed = not any(map(_is_of_nothing, function.instructions()))
    if not optimised and is_followed:
        lacks = frozenset() if "reads" in marks else frozenset({Lack.OWN})
        return clone(function), lacks, asked
    # The optimiser drops reads of a thread's own arrays that nobody needs, and puts others off.
    has_arrays = any(isinstance(each.root, PrivateRoot) for each in function.instructions())
    other = clone(_followed(program, by_optimiser))
    own = () if is_followed and not has_arrays else (Lack.OWN,)
    return other, frozenset((*own, *_lacking(function, other))), asked


def _lacking(function: Function, other: Function) -> Iterator[Lack]:
    """What another reading may lack of a kernel: what LLVM takes to be undefined it drops, with all
    that leads there.

    Which copy of an unrolled loop's access it drops is not seen; it may where it does not see that
    others have the memory.
    """
    written = frozenset(_written(function))
    there = {each.site for each in _seen(other)}
    for each in _seen(function):
        is_hidden = isinstance(each.root, AddressRoot) and each.root.space == 0
        if is_hidden or each.site not in there:
            roots = [] if each.root is None else _behind(each.root)
            is_read = bool(roots) and all(is_read_only(root, written) for root in roots)
            yield Lack.READ if is_read else Lack.SHARED


def _seen(function: Function) -> Iterator[Instruction]:
    """Barriers of a kernel, and accesses of memory that is not a thread's own."""
    for each in function.instructions():
        is_access = each.operation.accesses_memory and not isinstance(each.root, PrivateRoot)
        is_barrier = each.operation is THREADGROUP_BARRIER
        if is_barrier or (is_access and not _is_of_nothing(each)):
            yield each


def _is_of_nothing(access: Instruction) -> bool:
    """Whether it surely follows a null pointer."""
    is_computed = access.operation.accesses_memory and isinstance(access.root, AddressRoot)
    return is_computed and is_null(access.root.address)  # type: ignore[union-attr]


def _followed(program: Program, marks: frozenset[str]) -> Function:
    """The kernel as it is read. Raises UnsupportedKernel where it surely follows a null pointer:
    what is called through an empty table, or in recursion that is cut off, is read there.
    """
    function = program.marked_function(marks)
    for each in function.instructions():
        if _is_of_nothing(each):
            raise UnsupportedKernel(_NULL, kernel=program.name, site=each.site)
    return function


def written_arguments(program: Program) -> frozenset[int] | None:
    """Numbers of the parameters behind which a kernel may write, as it is written; None if that is
    not known, so that it may be all.
    """
    try:
        written = frozenset(_written(program.marked_function(LOOPS)))
    except UnsupportedKernel:
        return None
    if any(isinstance(root, AddressRoot) for root in written):
        return None
    return frozenset(root.parameter for root in written if isinstance(root, BufferRoot))


def _written(function: Function) -> Iterator[Root]:
    """What a kernel writes to; an address if it is not known what is there."""
    for each in function.instructions():
        if each.operation.writes_memory and each.root is not None:
            yield from _behind(each.root)


def _behind(root: Root) -> Collection[Root]:
    """The buffers that a pointer leads to, if they are known, or else what it is given as."""
    buffers = buffers_behind(root.address) if isinstance(root, AddressRoot) else None
    return [root] if buffers is None else buffers


def _words(function: Function) -> Mapping[int, frozenset[tuple[int, int]]]:
    """Where integers are read at known places of arguments."""
    found: dict[int, set[tuple[int, int]]] = {}
    for each in function.instructions():
        is_integer = each.operation is LOAD and each.element.startswith("i")
        at = each.operands[0] if is_integer else None
        if isinstance(at, Constant) and at.number is not None and isinstance(each.root, BufferRoot):
            width = bits(each.element)
            places = {(at.number + n * width // 8, width) for n in range(each.components)}
            found.setdefault(each.root.parameter, set()).update(places)
    return {parameter: frozenset(places) for parameter, places in found.items()}


def is_read_only(root: Root | None, written: frozenset[Root]) -> bool:
    """Whether what is behind a root is the same for all threads at all times."""
    if isinstance(root, ConstantRoot):
        return True
    is_aliased = any(isinstance(each, AddressRoot) for each in written)
    return isinstance(root, BufferRoot) and root not in written and not is_aliased


def unshared(kernel: Kernel) -> Kernel:
    """The same kernel for threads of different threadgroups: nothing holds them together."""
    everything = Divergence(
        varying={each for each in kernel.function.instructions() if each.type != "void"},
        partial=set(kernel.cfg.order),
    )
    return replace(kernel, lanes=everything, threads=everything, shared=set())


def _between_lanes(function: Function, cfg: Cfg, written: frozenset[Root]) -> Divergence:
    def differs(instruction: Instruction) -> bool:
        """What has no value has any, and lanes that load what others write need not find the same,
        whatever they make of it.
        """
        return instruction.operation is UNINITIALISED or _may_change(instruction, written)

    return analyse_divergence(function, cfg, differs)


def _may_change(instruction: Instruction, written: frozenset[Root]) -> bool:
    """Whether it loads what others may write; of threadgroup memory that is asked for itself."""
    if instruction.operation is not LOAD or isinstance(instruction.root, THREADGROUP_ROOTS):
        return False
    return not is_read_only(instruction.root, written)


def read_by_all(kernel: Kernel) -> list[Instruction]:
    """Reads of threadgroup memory in which threads are taken to find the same, all of them or those
    of each simdgroup.
    """
    return [
        each
        for each in kernel.accesses()
        if each.operation.reads_memory
        and isinstance(each.root, THREADGROUP_ROOTS)
        and (each not in kernel.threads.varying or each not in kernel.lanes.varying)
    ]


def _between_threads(function: Function, cfg: Cfg, written: frozenset[Root]) -> Divergence:
    def differs(instruction: Instruction) -> bool:
        """What lanes of a simdgroup agree on, threads of a threadgroup need not."""
        operation = instruction.operation
        if operation is UNINITIALISED:
            return True
        if operation is LOAD:
            return _may_change(instruction, written)
        is_position = operation is SIMDGROUP_INDEX_IN_THREADGROUP
        return is_position or (operation.crosses_lanes and operation.result is not Variation.ALWAYS)

    return analyse_divergence(function, cfg, differs)
