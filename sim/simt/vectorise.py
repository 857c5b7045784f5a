"""The lane-vector engine's code generator: a kernel for one shape, as LLVM IR over 32 lanes.

Every block is emitted once. Lanes that part at a branch wait at their next block; the block that
comes first in the order runs next, under the mask of the lanes that wait there, so lanes meet
again by themselves. Where lanes cannot part, plain branches are emitted.

Values that other blocks use go through stack slots, which LLVM turns into registers. A barrier
saves the slots that are live and returns; the next call resumes behind it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from . import context as c
from .cfg import Cfg, analyse, split_block
from .divergence import Divergence, analyse_divergence, escapes
from .faults import UnsupportedKernel
from .ir import AddressRoot, Block, Constant, Function, Instruction, Value, clone, integer
from .linear import Form, LinearForms
from .shape import LANES, Shape
from .vector_arithmetic import Arithmetic, is_arithmetic
from .vector_lanes import LaneOperations
from .vector_memory import MemoryAccess
from .vector_text import TextBuilder, literal, vector_of, zero_of

ALL = "splat (i1 true)"
MASK = vector_of("i1")


@dataclass(slots=True)
class Code:
    """Generated code and what is needed to run it and to explain its faults."""

    text: str
    sites: list[Instruction | Block]  # by site number
    state_size: int  # bytes a simdgroup saves at barriers
    has_barriers: bool


@dataclass(slots=True)
class _Slot:
    """A stack slot and where it is used; `place` is its alloca."""

    type: str
    place: str
    loads: set[Block] = field(default_factory=set)
    kills: set[Block] = field(default_factory=set)
    saved_at: int = -1


@dataclass(slots=True)
class _Definition:
    """Where a value was emitted: what is inserted at `line` runs right after it."""

    line: int
    block: Block
    mask: str


class Vectoriser:
    """Emits one function for one shape."""

    def __init__(self, function: Function, shape: Shape) -> None:
        self.shape = shape
        self.function = clone(function)
        _fix_positions(self.function, shape)
        self.barriers = self._split_at_barriers() if shape.simdgroups > 1 else {}
        self.cfg: Cfg = analyse(self.function)
        self.divergence: Divergence = analyse_divergence(self.function, self.cfg)
        self.linear = LinearForms(self.function, self.cfg, self.divergence, shape)
        self.text = TextBuilder()
        self.memory = MemoryAccess(self)
        self.lanes = LaneOperations(self)
        self.arithmetic = Arithmetic(self.text)
        self.sites: list[Instruction | Block] = []
        self.entry: dict[str, str] = {}  # lines of the entry block, by what they load
        self.block = self.cfg.order[0]
        self.mask = ALL
        self.full_mask = ALL if shape.threads % LANES == 0 else "%mask0"
        self._scalars: dict[Value, str] = {}
        self._vectors: dict[Value, str] = {}
        self._parts: dict[Value, list[str]] = {}
        self._slots: dict[tuple[str, object], _Slot] = {}
        self._definitions: dict[Value, _Definition] = {}
        self._insertions: dict[int, list[str]] = {}
        self._barrier_lines: dict[Block, int] = {}
        self.defined: dict[Value, str] = {}  # names as the defining blocks knew them

    # -- the whole function -------------------------------------------------------------------

    def run(self) -> Code:
        """Generate the code.

        Raises:
            UnsupportedKernel: for what cannot be executed.
        """
        self.pending = self._find_pending()
        for block in self.cfg.order:
            self._emit_block(block)
        self._store_requested()
        resumes, state_size = self._save_and_resume()
        return Code(self._assemble(resumes), self.sites, state_size, bool(self.barriers))

    def _split_at_barriers(self) -> dict[Block, int]:
        barriers: dict[Block, int] = {}
        work = list(self.function.blocks)
        while work:
            block = work.pop()
            for at, instruction in enumerate(block.body):
                if instruction.callee == "threadgroup_barrier":
                    rest = split_block(self.function, block, at + 1)
                    block.body.pop()
                    barriers[block] = len(barriers) + 1
                    work.append(rest)
                    break
        return barriers

    def _find_pending(self) -> dict[Block, list[Block]]:
        """For each block, the blocks at which lanes may be waiting while it runs."""
        order, index = self.cfg.order, self.cfg.index
        if not self.cfg.reducible:
            return {block: order[1:] for block in order}
        found: dict[Block, set[Block]] = {block: set() for block in order}
        for block in order:
            if block not in self.divergence.partial and block not in self.divergence.divergent:
                continue
            for target in block.targets:
                if target not in self.divergence.partial or index[target] <= index[block]:
                    continue
                for between in order[index[block] + 1 : index[target]]:
                    found[between].add(target)
                for loop in self.cfg.loops_of(block):
                    if target not in loop.blocks:
                        for inside in loop.blocks:
                            found[inside].add(target)
        return {b: sorted(waiting, key=index.__getitem__) for b, waiting in found.items()}

    def _assemble(self, resumes: list[str]) -> str:
        body: list[str] = []
        for number, line in enumerate(self.text.lines):
            body += self._insertions.get(number, [])
            body.append(line)
        body += self._insertions.get(len(self.text.lines), [])
        first = f"b{self.cfg.index[self.cfg.order[0]]}"
        initial = self._initialise_slots()
        head = [
            "define internal i32 @simdgroup(ptr noalias %ctx, i32 %gx, i32 %gy, i32 %gz, i32 %sg, "
            "ptr %state) #0 {",
            "entry:",
            *self.text.slots,
            *self.entry.values(),
        ]
        if self.full_mask != ALL:
            head += _entry_mask(self.shape)
        head += initial
        if self.barriers:
            cases = " ".join(f"i32 {n}, label %resume{n}" for n in self.barriers.values())
            head.append("  %pc = load i32, ptr %state")
            head.append(f"  switch i32 %pc, label %{first} [ {cases} ]")
        else:
            head.append(f"  br label %{first}")
        end = ["stopped:", "  ret i32 -1", "}", *sorted(self.text.declarations)]
        return "\n".join([*head, *resumes, *body, *end])

    def _initialise_slots(self) -> list[str]:
        lines = []
        for (kind, _), slot in self._slots.items():
            if kind == "mask":
                lines.append(f"  store {MASK} zeroinitializer, ptr {slot.place}")
            elif kind == "fuel":
                lines.append(f"  store i64 {self.field('i64', c.FUEL)}, ptr {slot.place}")
            elif kind in ("escape", "incoming"):
                zero = zero_of(slot.type)
                initial = f"{slot.type} {zero}"
                if slot.type.startswith("<"):
                    initial = f"{slot.type} zeroinitializer"
                lines.append(f"  store {initial}, ptr {slot.place}")
        return lines

    # -- what the emitting parts ask for ----------------------------------------------------------

    def field(self, kind: str, offset: int) -> str:
        """A field of the context, loaded once at the start."""
        name = f"%ctx.{offset}"
        if name not in self.entry:
            self.entry[name] = (
                f"  {name}.p = getelementptr i8, ptr %ctx, i64 {offset}\n"
                f"  {name} = load {kind}, ptr {name}.p"
            )
        return name

    def argument(self, number: int) -> tuple[str, str, str]:
        """(host pointer, bytes available, GPU address) of a kernel argument."""
        table = self.field("ptr", c.ARGUMENTS)
        names = []
        for place, (kind, part) in enumerate((("ptr", "host"), ("i64", "size"), ("i64", "gpu"))):
            name = f"%arg{number}.{part}"
            names.append(name)
            if name not in self.entry:
                at = number * c.ARGUMENT_STRIDE + 8 * place
                self.entry[name] = (
                    f"  {name}.p = getelementptr i8, ptr {table}, i64 {at}\n"
                    f"  {name} = load {kind}, ptr {name}.p"
                )
        return names[0], names[1], names[2]

    def varying(self, value: Value) -> bool:
        """Whether lanes can hold different values where the current block uses it."""
        return self.divergence.is_varying(value) or self._escapes(value)

    def form(self, value: Value) -> Form | None:
        """The linear form of a value where the current block uses it."""
        return self.linear.of(value, self.block)

    def site(self, what: Instruction | Block) -> int:
        """The number by which faults refer to an instruction or a loop."""
        self.sites.append(what)
        return len(self.sites) - 1

    def has_varying_address(self, instruction: Instruction) -> bool:
        """Whether lanes may access different buffers."""
        return isinstance(instruction.root, AddressRoot) and self.varying(instruction.root.address)

    def stop_unless(self, ok: str) -> None:
        """Leave the kernel if a helper reported a fault."""
        label = self.text.new_label("ok")
        self.text.do(f"br i1 {ok}, label %{label}, label %stopped, !prof !0")
        self.text.place(label)

    @contextmanager
    def side_path(self) -> Iterator[None]:
        """What is computed inside is not known outside."""
        scalars, vectors = dict(self._scalars), dict(self._vectors)
        yield
        self._scalars, self._vectors = scalars, vectors

    def scalar(self, value: Value) -> str:
        """A uniform value as an LLVM operand."""
        if isinstance(value, Constant):
            return value.literal
        known = self._scalars.get(value)
        if known is None:
            known = self._scalars[value] = self._load(value)
        return known

    def vector(self, value: Value) -> str:
        """A value in every lane, as an LLVM operand."""
        if isinstance(value, Constant):
            return f"splat ({value.type} {value.literal})"
        known = self._vectors.get(value)
        if known is None:
            known = self._vectors[value] = self._find_vector(value)
        return known

    def _find_vector(self, value: Value) -> str:
        if self._escapes(value):
            return self._take(self._slot("escape", value, vector_of(value.type)))
        if not self.divergence.is_varying(value):
            return self.text.splat(value.type, self.scalar(value))
        form = self.form(value)
        if form is not None and not form.guards:
            return self._materialise(value.type, form)
        return self._load(value)

    def _materialise(self, type: str, form: Form) -> str:
        """A linear form as a vector."""
        text, kind = self.text, vector_of(type)
        base_known = isinstance(form.base, Constant) and form.base.number == 0
        if base_known:
            result = literal(type, form.lanes)
            if result.startswith("<"):
                result = text.let(f"add {kind} {result}, zeroinitializer")
        else:
            result = text.splat(type, self.scalar(form.base))
            if any(form.lanes):
                result = text.let(f"add {kind} {result}, {literal(type, form.lanes)}")
        for value, pattern in form.terms:
            term = text.splat(type, self.scalar(value))
            scaled = text.let(f"mul {kind} {term}, {literal(type, pattern)}")
            result = text.let(f"add {kind} {result}, {scaled}")
        return result

    # -- slots ----------------------------------------------------------------------------------

    def _escapes(self, value: Value) -> bool:
        if not isinstance(value, Instruction) or value.block is None:
            return False
        if not self.cfg.reducible:
            return value.block is not self.block and value.block is not self.cfg.order[0]
        return escapes(value, self.block, self.cfg)

    def _slot(self, kind: str, key: object, type: str) -> _Slot:
        slot = self._slots.get((kind, key))
        if slot is None:
            slot = self._slots[kind, key] = _Slot(type, self.text.slot(type))
        return slot

    def _take(self, slot: _Slot) -> str:
        slot.loads.add(self.block)
        return self.text.let(f"load {slot.type}, ptr {slot.place}")

    def _put(self, slot: _Slot, value: str, *, whole: bool = True) -> None:
        if whole:
            slot.kills.add(self.block)
        else:
            slot.loads.add(self.block)
        self.text.do(f"store {slot.type} {value}, ptr {slot.place}")

    def _load(self, value: Value) -> str:
        """A value that another block defines."""
        if isinstance(value, Instruction) and value.block is self.block:
            return self.defined[value]
        type = value.type if not self.divergence.is_varying(value) else vector_of(value.type)
        return self._take(self._slot("value", value, type))

    def _define(self, value: Instruction, name: str, *, vector: bool) -> None:
        varying = self.divergence.is_varying(value)
        if vector and not varying:
            raise AssertionError(f"{value.op} {value.callee} is uniform but was emitted as lanes")
        if varying and not vector:
            name = self.text.splat(value.type, name)
        (self._vectors if varying else self._scalars)[value] = name
        self._definitions[value] = _Definition(len(self.text.lines), self.block, self.mask)

    def _store_requested(self) -> None:
        """Insert the stores of all slots that turned out to be needed."""
        done: set[tuple[str, object]] = set()
        while True:
            wanted = [
                (key, slot)
                for key, slot in self._slots.items()
                if key[0] in ("value", "escape") and key not in done
            ]
            if not wanted:
                return
            for key, slot in wanted:
                done.add(key)
                assert isinstance(key[1], Instruction)
                self._insert_store(key[0], key[1], slot)

    def _insert_store(self, kind: str, value: Instruction, slot: _Slot) -> None:
        definition = self._definitions[value]
        lines, self.text.lines = self.text.lines, []
        self.block, self.mask = definition.block, definition.mask
        self._scalars, self._vectors = {}, {}
        name = self.defined.get(value)
        if name is not None:
            (self._vectors if self.divergence.is_varying(value) else self._scalars)[value] = name
        if kind == "value":
            varying = self.divergence.is_varying(value)
            self._put(slot, self.vector(value) if varying else self.scalar(value))
        else:
            new = self.vector(value)
            if self.mask != ALL:
                old = self._take(slot)
                new = self.text.let(
                    f"select {MASK} {self.mask}, {slot.type} {new}, {slot.type} {old}"
                )
                self._put(slot, new, whole=False)
            else:
                self._put(slot, new)
        self._insertions.setdefault(definition.line, []).extend(self.text.lines)
        self.text.lines = lines

    # -- blocks ---------------------------------------------------------------------------------

    def _emit_block(self, block: Block) -> None:
        self.block = block
        self._scalars, self._vectors = {}, {}
        self.text.place(f"b{self.cfg.index[block]}")
        self._enter(block)
        for phi in block.phis:
            self._emit_phi(phi)
        for phi in block.phis:
            if self._has_exact_form(phi):
                self._remember_linear(phi)
        for instruction in block.body:
            try:
                self._emit_instruction(instruction)
            except UnsupportedKernel as error:
                raise UnsupportedKernel(
                    error.reason, error.site, self.function.name
                ) from error
        if block in self.barriers:
            self._emit_barrier(block)
        else:
            self._emit_branch(block)

    def _enter(self, block: Block) -> None:
        if block not in self.divergence.partial:
            self.mask = self.full_mask
            return
        slot = self._slot("mask", block, MASK)
        self.mask = self._take(slot)
        self.text.do(f"store {MASK} zeroinitializer, ptr {slot.place}")

    def _has_exact_form(self, value: Instruction) -> bool:
        if not self.divergence.is_varying(value):
            return False
        form = self.linear.forms.get(value)
        return form is not None and not form.guards

    def _emit_phi(self, phi: Instruction) -> None:
        if self._has_exact_form(phi):
            return
        vector = self.divergence.is_varying(phi)
        type = vector_of(phi.type) if vector else phi.type
        name = self._take(self._slot("incoming", phi, type))
        self._define(phi, name, vector=vector)
        self.defined[phi] = name

    def _remember_linear(self, value: Instruction) -> None:
        self._definitions[value] = _Definition(len(self.text.lines), self.block, self.mask)

    def _emit_instruction(self, instruction: Instruction) -> None:
        if self._has_exact_form(instruction):
            self._remember_linear(instruction)
            return
        if instruction.op == "load":
            self._finish_load(instruction, self.memory.load(instruction))
        elif instruction.op == "component":
            source = instruction.operands[0]
            name = self._parts[source][instruction.index]
            self._finish(instruction, name, self.divergence.is_varying(source))
        elif instruction.op == "store":
            self.memory.store(instruction)
        elif instruction.op == "address":
            self._finish(instruction, self.memory.address_of(instruction), False)
        elif instruction.op == "select":
            self._emit_select(instruction)
        elif instruction.op == "intrinsic":
            self._emit_intrinsic(instruction)
        elif is_arithmetic(instruction):
            vector = any(self.varying(o) for o in instruction.operands)
            vector = vector or self.divergence.is_varying(instruction)
            get = self.vector if vector else self.scalar
            operands = [get(o) for o in instruction.operands]
            name = self.arithmetic.emit(instruction, operands, LANES if vector else 0)
            self._finish(instruction, name, vector)
        else:
            raise UnsupportedKernel(f"'{instruction.op}' is not supported", instruction.site)

    def _finish(self, instruction: Instruction, name: str, vector: bool) -> None:
        self._define(instruction, name, vector=vector)
        self.defined[instruction] = (
            self._vectors if self.divergence.is_varying(instruction) else self._scalars
        )[instruction]

    def _finish_load(self, instruction: Instruction, parts: list[str]) -> None:
        self._parts[instruction] = parts
        self._finish(instruction, parts[0], self.divergence.is_varying(instruction))

    def _emit_select(self, instruction: Instruction) -> None:
        condition, first, second = instruction.operands
        if not any(self.varying(o) for o in instruction.operands):
            name = self.text.let(
                f"select i1 {self.scalar(condition)}, {instruction.type} {self.scalar(first)}, "
                f"{instruction.type} {self.scalar(second)}"
            )
            self._finish(instruction, name, False)
            return
        kind = vector_of(instruction.type)
        chooser = (
            f"{MASK} {self.vector(condition)}"
            if self.varying(condition)
            else f"i1 {self.scalar(condition)}"
        )
        name = self.text.let(
            f"select {chooser}, {kind} {self.vector(first)}, {kind} {self.vector(second)}"
        )
        self._finish(instruction, name, True)

    def _emit_intrinsic(self, instruction: Instruction) -> None:
        name = instruction.callee
        if name.startswith("atomic_"):
            result = self.memory.atomic(instruction)
            if instruction.type != "void":
                self._finish(instruction, result, True)
            return
        if name in ("threadgroup_barrier", "simdgroup_barrier", "fence"):
            return  # lanes run in lock step, simdgroups one after the other
        position = self._uniform_position(instruction)
        if position is not None:
            self._finish(instruction, position, False)
            return
        lanes = self._lane_position(instruction)
        if lanes is not None:
            self._finish(instruction, lanes, True)
            return
        emitted = self.lanes.emit(instruction)
        if emitted is None:
            raise UnsupportedKernel(f"operation '{name}' is not supported", instruction.site)
        self._finish(instruction, *emitted)

    def _uniform_position(self, instruction: Instruction) -> str | None:
        name = instruction.callee
        if name == "simdgroup_index_in_threadgroup":
            return "%sg"
        table = {"threadgroups_per_grid": c.THREADGROUPS, "threads_per_grid": c.THREADS}
        if name == "threadgroup_position_in_grid" or name in table:
            dimension = instruction.operands[0]
            assert isinstance(dimension, Constant) and dimension.number is not None
            if name in table:
                return self.field("i32", table[name] + 4 * dimension.number)
            return ("%gx", "%gy", "%gz")[dimension.number]
        return None

    def _lane_position(self, instruction: Instruction) -> str | None:
        """A thread position that has no simple pattern: computed from the thread's index."""
        name = instruction.callee
        text, kind = self.text, vector_of("i32")
        iota = literal("i32", list(range(LANES)))
        if name == "thread_index_in_simdgroup":
            return text.let(f"add {kind} {iota}, zeroinitializer")
        if name in ("matrix_row", "matrix_column"):
            from .shape import matrix_column, matrix_row

            pick = matrix_row if name == "matrix_row" else matrix_column
            row = literal("i32", [pick(lane) for lane in range(LANES)])
            return text.let(f"add {kind} {row}, zeroinitializer")
        first = text.let(f"mul i32 %sg, {LANES}")
        index = text.let(f"add {kind} {text.splat('i32', first)}, {iota}")
        if name == "thread_index_in_threadgroup":
            return index
        if name not in ("thread_position_in_threadgroup", "thread_position_in_grid"):
            return None
        dimension = instruction.operands[0]
        assert isinstance(dimension, Constant) and dimension.number is not None
        axis = dimension.number
        for inner in range(axis):
            index = text.let(f"udiv {kind} {index}, splat (i32 {self.shape.size[inner]})")
        if axis < 2:
            index = text.let(f"urem {kind} {index}, splat (i32 {self.shape.size[axis]})")
        if name == "thread_position_in_threadgroup":
            return index
        group = ("%gx", "%gy", "%gz")[axis]
        start = text.let(f"mul i32 {group}, {self.shape.nominal[axis]}")
        return text.let(f"add {kind} {index}, {text.splat('i32', start)}")

    # -- branches -------------------------------------------------------------------------------

    def _emit_branch(self, block: Block) -> None:
        if not block.targets:
            self._go(block, [])
        elif len(block.targets) == 1:
            self._leave(block, block.targets[0], self.mask, None)
            self._go(block, block.targets)
        elif block in self.divergence.divergent:
            self._part(block)
        else:
            self._choose(block)

    def _choose(self, block: Block) -> None:
        """All lanes that are here go the same way."""
        text = self.text
        assert block.condition is not None
        labels = [text.new_label("edge") for _ in block.targets]
        condition = self.scalar(block.condition)
        text.do(f"br i1 {condition}, label %{labels[0]}, label %{labels[1]}")
        for label, target in zip(labels, block.targets, strict=True):
            text.place(label)
            with self.side_path():
                self._leave(block, target, self.mask, None)
                self._go(block, [target])

    def _part(self, block: Block) -> None:
        """Lanes may go different ways."""
        text = self.text
        assert block.condition is not None
        condition = self.vector(block.condition)
        taken = text.let(f"and {MASK} {self.mask}, {condition}")
        rest = text.let(f"xor {MASK} {self.mask}, {taken}")
        for target, mask in zip(block.targets, (taken, rest), strict=True):
            self._leave(block, target, mask, mask)
        self._go(block, block.targets)

    def _leave(self, block: Block, target: Block, mask: str, some: str | None) -> None:
        """Carry values and lanes along an edge; `some` is the mask if it may be empty."""
        if self.cfg.index[target] <= self.cfg.index[block]:
            self._burn_fuel(target, mask)
        self._pass_phis(block, target, mask)
        if target not in self.divergence.partial:
            return
        slot = self._slot("mask", target, MASK)
        if len(target.predecessors) == 1 and self._same_loop(block, target):
            self._put(slot, mask)
        else:
            waiting = self._take(slot)
            self._put(slot, self.text.let(f"or {MASK} {waiting}, {mask}"), whole=False)

    def _same_loop(self, block: Block, target: Block) -> bool:
        return self.cfg.reducible and self.cfg.innermost[block] is self.cfg.innermost[target]

    def _pass_phis(self, block: Block, target: Block, mask: str) -> None:
        place = target.predecessors.index(block)
        passed: list[tuple[_Slot, str]] = []
        for phi in target.phis:
            if self._has_exact_form(phi):
                continue
            vector = self.divergence.is_varying(phi)
            type = vector_of(phi.type) if vector else phi.type
            value = phi.operands[place]
            name = self.vector(value) if vector else self.scalar(value)
            passed.append((self._slot("incoming", phi, type), name))
        blend = target in self.divergence.joins and mask != ALL
        for slot, name in passed:
            if blend and slot.type.startswith("<"):
                old = self._take(slot)
                name = self.text.let(
                    f"select {MASK} {mask}, {slot.type} {name}, {slot.type} {old}"
                )
            self._put(slot, name, whole=not blend)

    def _burn_fuel(self, header: Block, mask: str) -> None:
        text = self.text
        loop = next((lp for lp in self.cfg.loops if lp.header is header), None)
        blocks = loop.blocks if loop is not None else {header}
        cost = sum(len(b.body) + 1 for b in blocks)
        slot = self._slot("fuel", None, "i64")
        left = text.let(f"sub i64 {self._take(slot)}, {cost}")
        self._put(slot, left, whole=False)
        empty = text.let(f"icmp slt i64 {left}, 0")
        out, on = text.new_label("empty"), text.new_label("on")
        text.do(f"br i1 {empty}, label %{out}, label %{on}, !prof !1")
        text.place(out)
        bits = text.mask_bits(mask)
        text.call(
            "void",
            "assay_runaway",
            ("ptr", "%ctx"),
            ("i32", str(self.site(header))),
            ("i32", bits),
        )
        text.do("br label %stopped")
        text.place(on)

    def _go(self, block: Block, targets: list[Block]) -> None:
        """Jump to the first block at which lanes wait."""
        text, index = self.text, self.cfg.index
        sure = targets[0] if len(targets) == 1 else None
        candidates = sorted({*self.pending[block], *targets}, key=index.__getitem__)
        for candidate in candidates:
            if candidate is sure or candidate not in self.divergence.partial:
                text.do(f"br label %b{index[candidate]}")
                return
            if candidate is candidates[-1] and targets:
                text.do(f"br label %b{index[candidate]}")  # somebody must be somewhere
                return
            waiting = text.any(self._take(self._slot("mask", candidate, MASK)))
            following = text.new_label("next")
            text.do(f"br i1 {waiting}, label %b{index[candidate]}, label %{following}")
            text.place(following)
        text.do("ret i32 0")

    # -- barriers -------------------------------------------------------------------------------

    def _emit_barrier(self, block: Block) -> None:
        (following,) = block.targets
        self._leave(block, following, self.mask, None)
        self._barrier_lines[block] = len(self.text.lines)
        self.text.do(f"store i32 {self.barriers[block]}, ptr %state")
        self.text.do("ret i32 1")

    def _save_and_resume(self) -> tuple[list[str], int]:
        """Fill in what each barrier saves; returns the resuming blocks and the state's size."""
        live_in = self._liveness()
        size, resumes = 64, []
        for block, number in self.barriers.items():
            (following,) = block.targets
            live = [slot for slot in self._slots.values() if slot.place in live_in[following]]
            saves, loads = [], []
            for slot in live:
                if slot.saved_at < 0:
                    slot.saved_at = size
                    size += -(-_stored_size(slot.type) // 64) * 64
                name = f"%save{number}.{slot.place[1:]}"
                at = f"getelementptr i8, ptr %state, i64 {slot.saved_at}"
                saves += [
                    f"  {name} = load {slot.type}, ptr {slot.place}",
                    f"  {name}.p = {at}",
                    f"  store {slot.type} {name}, ptr {name}.p, align 4",
                ]
                loads += [
                    f"  {name}.q = {at}",
                    f"  {name}.r = load {slot.type}, ptr {name}.q, align 4",
                    f"  store {slot.type} {name}.r, ptr {slot.place}",
                ]
            line = self._barrier_lines[block]
            self._insertions.setdefault(line, []).extend(saves)
            go = f"  br label %b{self.cfg.index[following]}"
            resumes += [f"resume{number}:", *loads, go]
        return resumes, size

    def _liveness(self) -> dict[Block, set[str]]:
        live: dict[Block, set[str]] = {block: set() for block in self.cfg.order}
        uses: dict[Block, set[str]] = {block: set() for block in self.cfg.order}
        kills: dict[Block, set[str]] = {block: set() for block in self.cfg.order}
        for slot in self._slots.values():
            for block in slot.loads:
                uses[block].add(slot.place)
            for block in slot.kills:
                kills[block].add(slot.place)
        following = {block: self._successors(block) for block in self.cfg.order}
        changed = True
        while changed:
            changed = False
            for block in reversed(self.cfg.order):
                after = set[str]().union(*(live[t] for t in following[block]))
                new = uses[block] | (after - kills[block])
                if new != live[block]:
                    live[block] = new
                    changed = True
        return live

    def _successors(self, block: Block) -> list[Block]:
        """Where the simdgroup can go next, which is more than where this block's lanes go."""
        return [*block.targets, *self.pending[block]]


def _stored_size(type: str) -> int:
    if not type.startswith("<"):
        return 8
    element = type.split(" x ")[1].rstrip(">")
    if element == "i1":
        return LANES // 8
    width = {"half": 16, "bfloat": 16, "float": 32, "double": 64}.get(element)
    if width is None:
        width = int(element[1:])
    return LANES * (1 << (width - 1).bit_length()) // 8 if width > 8 else LANES


def _entry_mask(shape: Shape) -> list[str]:
    """The live lanes: all but in the last simdgroup."""
    rest = (1 << shape.last_lanes) - 1
    return [
        f"  %last = icmp eq i32 %sg, {shape.simdgroups - 1}",
        f"  %live = select i1 %last, i32 {rest}, i32 -1",
        f"  %mask0 = bitcast i32 %live to {MASK}",
    ]


def _fix_positions(function: Function, shape: Shape) -> None:
    """Replace sizes that the specialisation knows by constants."""
    known: dict[Value, Constant] = {}
    for instruction in function.instructions():
        if instruction.op != "intrinsic":
            continue
        number = _known_position(instruction, shape)
        if number is not None:
            known[instruction] = integer("i32", number)
    for block in function.blocks:
        block.body = [i for i in block.body if i not in known]
        for instruction in block.instructions():
            instruction.operands = [known.get(o, o) for o in instruction.operands]
        if block.condition is not None:
            block.condition = known.get(block.condition, block.condition)


def _known_position(instruction: Instruction, shape: Shape) -> int | None:
    name = instruction.callee
    if name == "simdgroups_per_threadgroup":
        return shape.simdgroups
    if name == "dispatch_simdgroups_per_threadgroup":
        return shape.nominal_simdgroups
    if name == "simdgroup_index_in_threadgroup" and shape.simdgroups == 1:
        return 0
    if name in ("threads_per_threadgroup", "dispatch_threads_per_threadgroup"):
        dimension = instruction.operands[0]
        if not isinstance(dimension, Constant) or dimension.number is None:
            raise UnsupportedKernel(f"'{name}' needs a constant dimension", instruction.site)
        sizes = shape.size if name == "threads_per_threadgroup" else shape.nominal
        return sizes[dimension.number]
    return None

