"""Values of a kernel while its code is generated: where each is, as a scalar or in every lane."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ...native.llvm_host import has_wide_registers
from ..analysis.comparisons import compare_bases
from ..analysis.divergence import Divergence, analyse_divergence, escapes
from ..analysis.kept_lanes import find_needed_lanes, in_vectors
from ..analysis.linear import add_linear_forms
from ..analysis.linear_form import IOTA, ZEROS, Form, Pattern
from ..analysis.lookups import insert_lookups
from ..analysis.merge_accesses import merge_accesses
from ..analysis.packs import are_worth_it, find_packs, is_place_in_x, take_for_own
from ..analysis.promote import promote
from ..ir.cfg import Cfg, analyse, split_at_barriers
from ..ir.nodes import AddressRoot, Block, Constant, Function, Instruction, Value, clone
from ..ir.shape import LANES, Shape
from ..watch.initialisation import follow_uninitialised
from ..watch.observe_values import drop_lane_marks, observe_values
from ..watch.sites import WatchSites
from .bfloat import replace_bfloat
from .matrices.halves import InOrder, loads_of, moved_floats, right_factors
from .matrices.places import SumPlaces
from .matrices.sums import sums_in_place
from .matrices.waiting import Waiting
from .positions import fix_positions
from .slots import Entry, Slot, SlotTable
from .tape import PLACES, TAPE
from .text import TextBuilder, literal, vector_of

ALL = "splat (i1 true)"
# A kernel of more accesses to memory is mostly unrolled loops, of which no part runs often.
_MANY_ACCESSES = 256
_STORED = frozenset({"value", "escape", "moved", "shown"})  # slots that a definition fills


@dataclass(slots=True)
class Definition:
    """Where a value was emitted: what is inserted at `line` runs right after it."""

    line: int
    block: Block
    mask: str


class Values(Entry):
    """The analysed function and the code generated so far.

    Attributes:
        block: the block that is being emitted.
        mask: the lanes that run it, as an LLVM operand.
        full_mask: the lanes that live, as an LLVM operand.
        kept: the lanes that run, by their places in vectors.
        groups: of which threadgroup each is, counted from the first one that runs.
        observers: the checks that watch the kernel; empty if none does.
        sums: the sums of products of matrices that stay in memory.
        may_wait: loads whose elements only products need.
        for_products: loads whose halves become factors in the order of memory.
        tapes: whether the kernel leaves a tape of what it does.
        tapes_places: whether every access to threadgroup memory has an event in it.
        brief: whether code should be little rather than fast, as it runs only a few times: all of
            it where there are many accesses, else what is in no loop.
    """

    def __init__(
        self,
        function: Function,
        shape: Shape,
        observers: frozenset[str] = frozenset(),
        *,
        brief: bool = False,
        packed: bool = False,
    ) -> None:
        self.shape = shape
        self.observers = observers - {TAPE, PLACES}
        self.tapes = TAPE in observers
        self.tapes_places = PLACES in observers
        self._analyse(function, observers)
        self.kept, self.groups = self._find_lanes(function, packed=packed)
        super().__init__(
            TextBuilder(len(self.kept)), loads_in_blocks=bool(self.barriers) and not self.tapes
        )
        self.sites: list[Instruction | Block] = []
        self.block = self.cfg.order[0]
        self.mask = ALL
        live = max(self.kept) < shape.last_lanes
        self.full_mask = ALL if live else "%mask0"
        self._scalars: dict[Value, str] = {}
        self._vectors: dict[Value, str] = {}
        self._parts: dict[Value, list[str]] = {}
        self.slots = SlotTable(self.text)
        self.sums = SumPlaces(self, self._find_sums())
        rights = right_factors(self.function) if has_wide_registers() else frozenset()
        self.for_products = loads_of(rights | self.sums.factors)
        self.in_order: dict[Instruction, InOrder] = {}  # of these, what was loaded
        self.may_wait = self.sums.may_wait
        self.waiting: dict[Instruction, Waiting] = {}  # of these, what waits
        self._definitions: dict[Value, Definition] = {}
        self.insertions: dict[int, list[str]] = {}
        self.defined: dict[Value, str] = {}  # names as the defining blocks knew them
        self._brief = brief
        self._brief_in_loops = brief and _accesses(self.function) > _MANY_ACCESSES

    @property
    def is_brief_here(self) -> bool:
        """Whether the block that is being emitted should be little code rather than fast code."""
        return self._brief and (self._brief_in_loops or self.cfg.innermost[self.block] is None)

    def _analyse(
        self,
        function: Function,
        observers: frozenset[str],
        lanes: Pattern = IOTA,
        groups: Pattern = ZEROS,
    ) -> None:
        """Take a copy of the function, and find what its values are in so many lanes."""
        self.function = clone(function)
        if self.tapes:
            promote(self.function)
            merge_accesses(self.function)
        if any(groups):
            take_for_own(self.function)
        fix_positions(self.function, self.shape)
        replace_bfloat(self.function)
        self.watch_sites = WatchSites()
        observe_values(self.function, self.shape, observers, self.watch_sites.number)
        if observers & {"init", "shuffle"}:
            follow_uninitialised(self.function, observers, self.watch_sites.number)
        drop_lane_marks(self.function)
        self.barrier_calls: dict[Block, Instruction] = {}
        returns = self.shape.simdgroups > 1 or bool(observers)
        self.barriers = self._split_at_barriers() if returns else {}
        self._find_forms(lanes, groups)
        if compare_bases(self.function, self.cfg, self.divergence, self.linear):
            self._find_forms(lanes, groups)
        self.lookups = insert_lookups(self.function, self.cfg, self.divergence)

    def _find_forms(self, lanes: Pattern, groups: Pattern) -> None:
        """Find where lanes part, and what values are uniform but for a pattern."""
        self.cfg: Cfg = analyse(self.function)
        differs = is_place_in_x if any(groups) else lambda _: False
        self.divergence: Divergence = analyse_divergence(self.function, self.cfg, differs)
        self.linear = add_linear_forms(
            self.function, self.cfg, self.divergence, self.shape, lanes, groups
        )

    def _find_lanes(self, function: Function, *, packed: bool) -> tuple[Pattern, Pattern]:
        """The lanes that run, and how many threadgroups further each is; all if they are watched.

        Several threadgroups run at once if they may, and are better off so.
        """
        if self.observers or self.tapes:
            return IOTA, ZEROS
        analysed = (self.function, self.cfg, self.divergence, self.linear)
        needed = find_needed_lanes(*analysed, self.shape)
        kept = in_vectors(needed)
        packs = 1
        if packed and not self.barriers and len(needed) <= LANES // 2:
            packs = find_packs(self.function, len(needed), self.shape.simdgroups)
        if packs == 1:
            return kept, ZEROS[: len(kept)]
        lanes, groups = needed * packs, tuple(n for n in range(packs) for _ in needed)
        self._analyse(function, frozenset(), lanes, groups)
        if are_worth_it(self.function, self.cfg, self.divergence, self.linear):
            return lanes, groups
        self._analyse(function, frozenset())
        return kept, ZEROS[: len(kept)]

    def _find_sums(self) -> dict[Value, Instruction]:
        return sums_in_place(self.function, self.cfg, self.divergence)

    def _split_at_barriers(self) -> dict[Block, int]:
        found = split_at_barriers(self.function)
        for block in found:
            self.barrier_calls[block] = block.body.pop()
        return {block: number for number, block in enumerate(found, 1)}

    @property
    def private_bytes(self) -> int:
        """Bytes of private memory of all simdgroups that are under way at once."""
        simdgroups = self.shape.simdgroups if self.barriers else 1
        return self.function.private_memory * LANES * simdgroups

    def varying(self, value: Value) -> bool:
        """Whether lanes can hold different values where the current block uses it."""
        return self.divergence.is_varying(value) or self._escapes(value)

    def form(self, value: Value) -> Form | None:
        """The linear form of a value where the current block uses it, over the lanes that run."""
        form = self.linear.of(value, self.block)
        if form is None or len(self.kept) == len(form.lanes):
            return form
        return form.of_lanes(self.kept)

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
        """What is computed inside is not known outside: it was added last, and only added."""
        scalars, vectors, computed = (
            len(self._scalars),
            len(self._vectors),
            len(self.text.computed),
        )
        yield
        _shorten(self._scalars, scalars)
        _shorten(self._vectors, vectors)
        _shorten(self.text.computed, computed)

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

    def moved(self, value: Value, lanes: Pattern) -> str:
        """Lanes of a value, as a vector of so many; of what a loop only uses, in front of it."""
        if not has_wide_registers() or not self._is_from_before(value):
            return self._moved_here(value, lanes)
        slot = self.slots.get("moved", (value, lanes), vector_of(value.type, len(lanes)))
        return self.take(slot)

    def _moved_here(self, value: Value, lanes: Pattern) -> str:
        if isinstance(value, Instruction) and value.block is self.block:
            floats = moved_floats(self.text, value, lanes, self.in_order)
            if floats is not None:
                return floats
        return self.text.shuffle(value.type, self.vector(value), len(self.kept), lanes)

    def shown(self, value: Value) -> str | None:
        """Where a value's lanes lie in memory, of what a loop only uses; None if nowhere.

        With few registers, what has its lanes moved in front of a loop fills the stack; a pair of
        lanes that all repeat is loaded so, which takes no shuffle.
        """
        if has_wide_registers() or not self._is_from_before(value):
            return None
        slot = self.slots.get("shown", value, vector_of(value.type))
        slot.loads.add(self.block)
        return slot.place

    def _is_from_before(self, value: Value) -> bool:
        """Whether a value is computed in front of the loop that is being emitted, and loaded there.

        What waits at barriers would be saved at each.
        """
        loop = self.cfg.innermost[self.block]
        return (
            loop is not None
            and isinstance(value, Instruction)
            and value in self._definitions
            and value.block not in loop.blocks
            and self.divergence.is_varying(value)
            and not self._escapes(value)
            and not self.has_exact_form(value)
            and loop.blocks.isdisjoint(self.barriers)
        )

    def line(self, value: Value) -> tuple[str, Pattern] | None:
        """A base and what lanes add to it, if that is all there is to a value; None if not."""
        if isinstance(value, Constant) or self._escapes(value):
            return None
        if not self.divergence.is_varying(value):
            return self.scalar(value), ZEROS[: len(self.kept)]
        form = self.form(value)
        if form is None or form.guards or form.terms:
            return None
        return self.scalar(form.base), form.lanes

    def _find_vector(self, value: Value) -> str:
        if self._escapes(value):
            return self.take(self.slots.get("escape", value, self.text.wide(value.type)))
        if not self.divergence.is_varying(value):
            return self.text.splat(value.type, self.scalar(value))
        form = self.form(value)
        if form is not None and not form.guards:
            return self._materialise(value.type, form)
        return self._load(value)

    def _materialise(self, type: str, form: Form) -> str:
        """A linear form as a vector."""
        text, kind = self.text, self.text.wide(type)
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

    def _escapes(self, value: Value) -> bool:
        if not isinstance(value, Instruction) or value.block is None:
            return False
        if not self.cfg.reducible:
            return value.block is not self.block and value.block is not self.cfg.order[0]
        return escapes(value, self.block, self.cfg)

    def take(self, slot: Slot) -> str:
        """The contents of a slot."""
        slot.loads.add(self.block)
        return self.text.let(f"load {slot.type}, ptr {slot.place}")

    def put(self, slot: Slot, value: str, *, whole: bool = True) -> None:
        """Store to a slot; not `whole` if some lanes keep what they had."""
        if whole:
            slot.kills.add(self.block)
        else:
            slot.loads.add(self.block)
        self.text.do(f"store {slot.type} {value}, ptr {slot.place}")

    def _load(self, value: Value) -> str:
        """A value that another block defines, or that stays in memory."""
        if self.sums.hold(value):
            return self.sums.read(value)
        if isinstance(value, Instruction) and value.block is self.block:
            return self.defined[value]
        type = value.type if not self.divergence.is_varying(value) else self.text.wide(value.type)
        return self.take(self.slots.get("value", value, type))

    def define(self, value: Instruction, name: str, *, vector: bool) -> None:
        """Remember what an instruction was emitted as."""
        varying = self.divergence.is_varying(value)
        if vector and not varying:
            raise AssertionError(f"{value.spelling} is uniform but was emitted as lanes")
        if varying and not vector:
            name = self.text.splat(value.type, name)
        (self._vectors if varying else self._scalars)[value] = name
        self._definitions[value] = Definition(len(self.text.lines), self.block, self.mask)

    def store_requested(self) -> None:
        """Insert the stores of all slots that turned out to be needed."""
        done: set[tuple[str, object]] = set()
        while True:
            wanted = [
                (key, slot)
                for key, slot in self.slots.all.items()
                if key[0] in _STORED and key not in done
            ]
            if not wanted:
                return
            for key, slot in wanted:
                done.add(key)
                self._insert_store(*key, slot)

    def _insert_store(self, kind: str, what: object, slot: Slot) -> None:
        value, lanes = what if isinstance(what, tuple) else (what, ())
        definition = self._definitions[value]
        lines, self.text.lines = self.text.lines, []
        self.text.computed = {}
        self.block, self.mask = definition.block, definition.mask
        self._scalars, self._vectors = {}, {}
        name = self.defined.get(value)
        if name is not None:
            (self._vectors if self.divergence.is_varying(value) else self._scalars)[value] = name
        if kind == "value":
            varying = self.divergence.is_varying(value)
            self.put(slot, self.vector(value) if varying else self.scalar(value))
        elif kind == "shown":
            self.put(slot, self.vector(value))
            # Or LLVM would take the lanes from registers after all.
            self.text.do('fence syncscope("singlethread") acq_rel')
        elif kind == "moved":
            self.put(slot, self._moved_here(value, lanes))
        else:
            new = self.vector(value)
            if self.mask != ALL:
                old = self.take(slot)
                new = self.text.let(
                    f"select {self.text.mask} {self.mask}, {slot.type} {new}, {slot.type} {old}"
                )
                self.put(slot, new, whole=False)
            else:
                self.put(slot, new)
        self.insertions.setdefault(definition.line, []).extend(self.text.lines)
        self.text.lines = lines

    def has_exact_form(self, value: Instruction) -> bool:
        """Whether a uniform base and a pattern stand for a value, so that it needs no code."""
        if not self.divergence.is_varying(value):
            return False
        form = self.linear.forms.get(value)
        return form is not None and not form.guards

    def remember_linear(self, value: Instruction) -> None:
        """Note where a value that needs no code would have been."""
        self._definitions[value] = Definition(len(self.text.lines), self.block, self.mask)


def _shorten(known: dict[Any, str], count: int) -> None:
    """Forget what was added to a dictionary after it had so many entries."""
    while len(known) > count:
        known.popitem()


def _accesses(function: Function) -> int:
    return sum(each.operation.accesses_memory for each in function.instructions())
