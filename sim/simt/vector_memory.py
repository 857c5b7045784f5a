"""Memory accesses of 32 lanes: plain vector accesses where the offsets allow, else gathers.

Every access has a fast path behind a bounds check of all its bytes, and a slow path through a
helper that works lane by lane and names the lane that is out of bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import context as c
from .faults import UnsupportedKernel
from .ir import (
    PRIVATE_ROOTS,
    AddressRoot,
    BufferRoot,
    ConstantRoot,
    Instruction,
    PrivateRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
)
from .linear import Form, Guard
from .llvm_types import Scalar, bits, size_of
from .shape import LANES
from .vector_text import literal, shuffle_mask, vector_of, zero_of
from .windows import Group, plan

if TYPE_CHECKING:
    from .vectorise import Vectoriser

_ALL = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a root is, as LLVM operands: host pointer, bytes there, GPU address, legal range."""

    host: str
    available: str
    address: str
    low: str
    high: str


class MemoryAccess:
    """Emits loads, stores and atomics."""

    def __init__(self, vectoriser: Vectoriser) -> None:
        self.v = vectoriser
        self.text = vectoriser.text
        self._known: dict[tuple[str, object], Memory] = {}

    # -- roots ----------------------------------------------------------------------------------

    def memory(self, instruction: Instruction) -> Memory:
        """Where an access's root is."""
        root = instruction.root
        if isinstance(root, BufferRoot):
            host, available, address = self.v.argument(root.parameter)
            return Memory(host, available, address, "0", str(-1))
        if isinstance(root, ThreadgroupParameterRoot):
            host, available, address = self.v.argument(root.parameter)
            high = self.text.let(f"add i64 {address}, {available}")
            return Memory(host, available, address, address, high)
        if isinstance(root, ThreadgroupRoot):
            return self._fixed(c.ARENA, c.THREADGROUP_HANDLE, root.start, root.size)
        if isinstance(root, ConstantRoot):
            return self._fixed(c.CONSTANTS, c.CONSTANT_HANDLE, root.start, root.size)
        if isinstance(root, AddressRoot):
            return self._at_address(root, instruction)
        if isinstance(root, PrivateRoot):
            address = (c.PRIVATE_HANDLE << c.HANDLE_SHIFT) + root.start
            base = self.v.field("ptr", c.PRIVATE)
            host = self.text.let(f"getelementptr i8, ptr {base}, i64 {root.start * LANES}")
            return Memory(host, str(root.size), str(address), str(address), str(address + root.size))
        if isinstance(root, PRIVATE_ROOTS):
            address = c.PRIVATE_HANDLE << c.HANDLE_SHIFT
            size = self.v.function.private_memory
            host = self.v.field("ptr", c.PRIVATE)
            return Memory(host, str(size), str(address), str(address), str(address + size))
        host = self.v.field("ptr", c.ARENA)
        size_text = self.v.field("i64", c.ARENA_SIZE)
        address = c.THREADGROUP_HANDLE << c.HANDLE_SHIFT
        high = self.text.let(f"add i64 {size_text}, {address}")
        return Memory(host, size_text, str(address), str(address), high)

    def _fixed(self, field: int, handle: int, start: int, size: int) -> Memory:
        base = self.v.field("ptr", field)
        host = self.text.let(f"getelementptr i8, ptr {base}, i64 {start}")
        address = (handle << c.HANDLE_SHIFT) + start
        return Memory(host, str(size), str(address), str(address), str(address + size))

    def _at_address(self, root: AddressRoot, instruction: Instruction) -> Memory:
        """A buffer found through its GPU address, which must be the same for all lanes."""
        text = self.text
        address = self.v.scalar(root.address)
        address = text.let(f"freeze i64 {address}")
        handle = text.let(f"lshr i64 {address}, {c.HANDLE_SHIFT}")
        offset = text.let(f"and i64 {address}, {(1 << c.HANDLE_SHIFT) - 1}")
        table = self.v.field("ptr", c.TABLE)
        entry = text.let(f"getelementptr {{ptr, i64}}, ptr {table}, i64 {handle}")
        base = text.let(f"load ptr, ptr {entry}, align 8")
        size_at = text.let(f"getelementptr i8, ptr {entry}, i64 8")
        size = text.let(f"load i64, ptr {size_at}, align 8")
        host = text.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        available = self._saturating_subtract(size, offset)
        return Memory(host, available, address, "0", str(-1))

    def _saturating_subtract(self, left: str, right: str) -> str:
        return self.text.call("i64", "llvm.usub.sat.i64", ("i64", left), ("i64", right))

    def address_of(self, instruction: Instruction) -> str:
        """The GPU address where a root starts."""
        return self.memory(instruction).address

    # -- loads ----------------------------------------------------------------------------------

    def load(self, instruction: Instruction) -> list[str]:
        """Emit a load; returns its components, vectors if the load varies and scalars if not."""
        if instruction.components > c.MAX_COMPONENTS:
            raise UnsupportedKernel(
                f"a load of {instruction.components} elements at once", instruction.site
            )
        offset = instruction.operands[0]
        if isinstance(instruction.root, PRIVATE_ROOTS):
            return self._load_private(instruction)
        if self.v.has_varying_address(instruction):
            return self._slow_only(instruction)
        memory = self.memory(instruction)
        if not self.v.varying(instruction):
            return self._load_uniform(instruction, memory)
        form = self.v.form(offset)
        size = size_of(Scalar(instruction.element))
        groups = plan(form, size, instruction.components, writing=False) if form else None
        if form is not None and groups is not None:
            return self._load_windows(instruction, memory, form, groups, size)
        return self._gather(instruction, memory, size)

    def _limit(self, memory: Memory, size: int) -> str:
        """Offsets below this have `size` bytes."""
        return self._saturating_subtract(memory.available, str(size - 1))

    def _load_uniform(self, instruction: Instruction, memory: Memory) -> list[str]:
        text, element = self.text, instruction.element
        size = size_of(Scalar(element))
        offset = text.let(f"freeze i64 {self.v.scalar(instruction.operands[0])}")
        limit = self._limit(memory, size * instruction.components)
        inside = text.let(f"icmp ult i64 {offset}, {limit}")

        def fast() -> list[str]:
            parts = []
            for number in range(instruction.components):
                at = text.let(f"add i64 {offset}, {number * size}") if number else offset
                place = text.let(f"getelementptr i8, ptr {memory.host}, i64 {at}")
                parts.append(text.let(f"load {element}, ptr {place}, align 1"))
            return parts

        def slow() -> list[str]:
            lane = text.let(f"shl i32 1, {self._first_lane()}")
            address = text.let(f"add i64 {memory.address}, {offset}")
            self._put_addresses(self.text.splat("i64", address))
            self._call_slow("load", instruction, lane, size, memory)
            first = text.call("i32", "llvm.cttz.i32", ("i32", lane), ("i1", "false"))
            wide = text.let(f"zext i32 {first} to i64")
            parts = []
            for number in range(instruction.components):
                cell = text.let(f"add i64 {wide}, {number * LANES}")
                place = self._exchange(c.SCRATCH_VALUES)
                place = text.let(f"getelementptr {element}, ptr {place}, i64 {cell}")
                parts.append(text.let(f"load {element}, ptr {place}, align 1"))
            return parts

        return self._either(inside, fast, slow, [element] * instruction.components)

    def _first_lane(self) -> str:
        mask = self.text.mask_bits(self.v.mask)
        return self.text.call("i32", "llvm.cttz.i32", ("i32", mask), ("i1", "false"))

    def _either(self, condition, fast, slow, kinds: list[str]) -> list[str]:  # type: ignore[no-untyped-def]
        """Two ways to the same values, joined by phis."""
        text = self.text
        fast_label, slow_label, join = (text.new_label(x) for x in ("fast", "slow", "join"))
        text.do(
            f"br i1 {condition}, label %{fast_label}, label %{slow_label}, !prof !0"
        )
        text.place(fast_label)
        with self.v.side_path():
            quick = fast()
        fast_end = text.label
        text.do(f"br label %{join}")
        text.place(slow_label)
        with self.v.side_path():
            careful = slow()
        slow_end = text.label
        text.do(f"br label %{join}")
        text.place(join)
        return [
            text.let(f"phi {kind} [ {a}, %{fast_end} ], [ {b}, %{slow_end} ]")
            for kind, a, b in zip(kinds, quick, careful, strict=True)
        ]

    def _window_offsets(
        self, form: Form, groups: list[Group], memory: Memory, size: int
    ) -> tuple[list[str], str]:
        """Byte offset of every window, and whether all of them are there."""
        text = self.text
        base = self.v.scalar(form.base)
        offsets, good = [], "true"
        for group in groups:
            offset = self._group_base(base, group, group.low)
            offset = text.let(f"freeze i64 {offset}")
            limit = self._limit(memory, group.elements * size)
            good = self._both(good, text.let(f"icmp ult i64 {offset}, {limit}"))
            offsets.append(offset)
        for guard in form.guards:
            good = self._both(good, self._guard(guard))
        if good == "true":
            return offsets, good
        return offsets, text.let(f"freeze i1 {good}")

    def _group_base(self, base: str, group: Group, constant: int) -> str:
        text = self.text
        for value, factor in group.terms:
            term = text.let(f"mul i64 {self.v.scalar(value)}, {factor}")
            base = text.let(f"add i64 {base}, {term}")
        return text.let(f"add i64 {base}, {constant}") if constant else base

    def _both(self, a: str, b: str) -> str:
        return b if a == "true" else self.text.let(f"and i1 {a}, {b}")

    def _guard(self, guard: Guard) -> str:
        """Whether a narrow form did not wrap before it was extended."""
        text, form = self.text, guard.form
        type = form.base.type
        width = bits(type)
        base = text.let(f"{guard.kind} {type} {self.v.scalar(form.base)} to i64")
        good = "true"
        seen = set()
        for lane in range(LANES):
            factors = tuple(p[lane] for _, p in form.terms)
            if factors in seen:
                continue
            seen.add(factors)
            same = [
                form.lanes[x]
                for x in range(LANES)
                if tuple(p[x] for _, p in form.terms) == factors
            ]
            start = base
            for (value, _), factor in zip(form.terms, factors, strict=True):
                if factor:
                    wide = text.let(f"sext {type} {self.v.scalar(value)} to i64")
                    term = text.let(f"mul i64 {wide}, {factor}")
                    start = text.let(f"add i64 {start}, {term}")
            plain = not any(factors)
            for extreme in {min(same), max(same)}:
                if plain and extreme == 0:
                    continue
                shift = extreme + ((1 << (width - 1)) if guard.kind == "sext" else 0)
                moved = text.let(f"add i64 {start}, {shift}")
                good = self._both(good, text.let(f"icmp ult i64 {moved}, {1 << width}"))
        return good

    def _load_windows(
        self,
        instruction: Instruction,
        memory: Memory,
        form: Form,
        groups: list[Group],
        size: int,
    ) -> list[str]:
        text, element = self.text, instruction.element
        offsets, inside = self._window_offsets(form, groups, memory, size)
        kinds = [vector_of(element)] * instruction.components

        def fast() -> list[str]:
            longest = max(group.elements for group in groups)
            common = 1 << (longest - 1).bit_length() if len(groups) > 1 else longest
            windows = []
            for group, offset in zip(groups, offsets, strict=True):
                windows.append(self._window(element, memory.host, offset, group.elements, common))
            whole, length = text.concatenate(element, windows, common)
            return [
                text.shuffle(element, whole, length, _lane_sources(groups, common, number))
                for number in range(instruction.components)
            ]

        return self._either(inside, fast, lambda: self._slow_load(instruction, memory, size), kinds)

    def _window(self, element: str, host: str, offset: str, count: int, common: int) -> str:
        text = self.text
        place = text.let(f"getelementptr i8, ptr {host}, i64 {offset}")
        if count == 1:
            one = text.let(f"load {element}, ptr {place}, align 1")
            return text.let(f"insertelement {vector_of(element, common)} poison, {element} {one}, i64 0")
        window = text.let(f"load {vector_of(element, count)}, ptr {place}, align 1")
        if count == common:
            return window
        lanes = [*range(count), *([-1] * (common - count))]
        kind = vector_of(element, count)
        return text.let(f"shufflevector {kind} {window}, {kind} poison, {shuffle_mask(lanes)}")

    def _frozen_offsets(self, instruction: Instruction) -> str:
        return self.text.let(
            f"freeze {vector_of('i64')} {self.v.vector(instruction.operands[0])}"
        )

    def _inside(self, offsets: str, memory: Memory, size: int) -> tuple[str, str]:
        """(lanes that may access, whether all active ones may)."""
        text = self.text
        limit = text.splat("i64", self._limit(memory, size))
        inside = text.let(f"icmp ult {vector_of('i64')} {offsets}, {limit}")
        active = text.let(f"and {vector_of('i1')} {inside}, {self.v.mask}")
        outside = text.let(f"xor {vector_of('i1')} {active}, {self.v.mask}")
        bad = text.any(outside)
        return active, text.let(f"xor i1 {bad}, true")

    def _lane_pointers(self, host: str, offsets: str) -> str:
        return self.text.let(f"getelementptr i8, ptr {host}, {vector_of('i64')} {offsets}")

    def _gather(self, instruction: Instruction, memory: Memory, size: int) -> list[str]:
        text, element = self.text, instruction.element
        offsets = self._frozen_offsets(instruction)
        active, good = self._inside(offsets, memory, size * instruction.components)

        def fast() -> list[str]:
            # Lanes that do not take part read the root's start, which is there if any lane's is.
            kind = vector_of("i64")
            safe = text.let(
                f"select {vector_of('i1')} {active}, {kind} {offsets}, {kind} zeroinitializer"
            )
            return [
                self._gather_one(element, memory.host, safe, number * size)
                for number in range(instruction.components)
            ]

        kinds = [vector_of(element)] * instruction.components
        return self._either(good, fast, lambda: self._slow_load(instruction, memory, size), kinds)

    def _gather_one(self, element: str, host: str, offsets: str, extra: int) -> str:
        text = self.text
        start = text.let(f"getelementptr i8, ptr {host}, i64 {extra}") if extra else host
        pointers = self._lane_pointers(start, offsets)
        from .vector_text import mangled

        return text.call(
            vector_of(element),
            f"llvm.masked.gather.v{LANES}{mangled(element)}.v{LANES}p0",
            (vector_of("ptr"), pointers),
            (vector_of("i1"), "splat (i1 true)"),
            (vector_of(element), "poison"),
        )

    # -- the slow path --------------------------------------------------------------------------

    def _exchange(self, offset: int) -> str:
        scratch = self.v.field("ptr", c.SCRATCH)
        return self.text.let(f"getelementptr i8, ptr {scratch}, i64 {offset}")

    def _put_addresses(self, addresses: str) -> None:
        scratch = self.v.field("ptr", c.SCRATCH)
        self.text.do(f"store {vector_of('i64')} {addresses}, ptr {scratch}, align 8")

    def _addresses(self, instruction: Instruction, memory: Memory) -> str:
        offsets = self.v.vector(instruction.operands[0])
        start = self.text.splat("i64", memory.address)
        return self.text.let(f"add {vector_of('i64')} {start}, {offsets}")

    def _call_slow(
        self, kind: str, instruction: Instruction, mask: str, size: int, memory: Memory
    ) -> None:
        ok = self.text.call(
            "i1",
            f"assay_slow_{kind}",
            ("ptr", "%ctx"),
            ("i32", str(self.v.site(instruction))),
            ("i32", mask),
            ("i64", str(size)),
            ("i64", str(instruction.components)),
            ("i64", memory.low),
            ("i64", memory.high),
        )
        self.v.stop_unless(ok)

    def _take_values(self, element: str, components: int) -> list[str]:
        size = size_of(Scalar(element))
        return [
            self.text.let(
                f"load {vector_of(element)}, ptr "
                f"{self._exchange(c.SCRATCH_VALUES + number * size * LANES)}, align 1"
            )
            for number in range(components)
        ]

    def _slow_load(self, instruction: Instruction, memory: Memory, size: int) -> list[str]:
        self._put_addresses(self._addresses(instruction, memory))
        self._call_slow("load", instruction, self.text.mask_bits(self.v.mask), size, memory)
        return self._take_values(instruction.element, instruction.components)

    def _varying_memory(self, instruction: Instruction) -> Memory:
        """For lanes that access different buffers: any address is looked up by the helper."""
        assert isinstance(instruction.root, AddressRoot)
        return Memory("null", "0", "0", "0", str(-1))

    def _put_varying_addresses(self, instruction: Instruction) -> Memory:
        assert isinstance(instruction.root, AddressRoot)
        start = self.v.vector(instruction.root.address)
        offsets = self.v.vector(instruction.operands[0])
        self._put_addresses(self.text.let(f"add {vector_of('i64')} {start}, {offsets}"))
        return self._varying_memory(instruction)

    def _slow_only(self, instruction: Instruction) -> list[str]:
        memory = self._put_varying_addresses(instruction)
        size = size_of(Scalar(instruction.element))
        self._call_slow("load", instruction, self.text.mask_bits(self.v.mask), size, memory)
        return self._take_values(instruction.element, instruction.components)

    # -- stores ---------------------------------------------------------------------------------

    def store(self, instruction: Instruction) -> None:
        """Emit a store."""
        if instruction.components > c.MAX_COMPONENTS:
            raise UnsupportedKernel(
                f"a store of {instruction.components} elements at once", instruction.site
            )
        offset = instruction.operands[0]
        size = size_of(Scalar(instruction.element))
        if isinstance(instruction.root, PRIVATE_ROOTS):
            self._store_private(instruction)
            return
        if self.v.has_varying_address(instruction):
            memory = self._put_varying_addresses(instruction)
            self._give_values(instruction, size)
            self._call_slow("store", instruction, self.text.mask_bits(self.v.mask), size, memory)
            return
        memory = self.memory(instruction)
        if not self.v.varying(offset):
            self._store_uniform(instruction, memory, size)
            return
        form = self.v.form(offset)
        groups = plan(form, size, instruction.components, writing=True) if form else None
        if form is not None and groups is not None:
            self._store_windows(instruction, memory, form, groups, size)
        else:
            self._scatter(instruction, memory, size)

    def _when(self, condition, fast, slow) -> None:  # type: ignore[no-untyped-def]
        def quick() -> list[str]:
            fast()
            return []

        def careful() -> list[str]:
            slow()
            return []

        self._either(condition, quick, careful, [])

    def _give_values(self, instruction: Instruction, size: int) -> None:
        for number, value in enumerate(instruction.operands[1:]):
            place = self._exchange(c.SCRATCH_VALUES + number * size * LANES)
            kind = vector_of(instruction.element)
            self.text.do(f"store {kind} {self.v.vector(value)}, ptr {place}, align 1")

    def _slow_store(self, instruction: Instruction, memory: Memory, size: int) -> None:
        self._put_addresses(self._addresses(instruction, memory))
        self._give_values(instruction, size)
        self._call_slow("store", instruction, self.text.mask_bits(self.v.mask), size, memory)

    def _store_uniform(self, instruction: Instruction, memory: Memory, size: int) -> None:
        """All lanes write one place: the last active lane's value stays."""
        text, element = self.text, instruction.element
        offset = text.let(f"freeze i64 {self.v.scalar(instruction.operands[0])}")
        limit = self._limit(memory, size * instruction.components)
        inside = text.let(f"icmp ult i64 {offset}, {limit}")

        def fast() -> None:
            for number, value in enumerate(instruction.operands[1:]):
                if self.v.varying(value):
                    scalar = self._last_lane(self.v.vector(value), element)
                else:
                    scalar = self.v.scalar(value)
                at = text.let(f"add i64 {offset}, {number * size}") if number else offset
                place = text.let(f"getelementptr i8, ptr {memory.host}, i64 {at}")
                text.do(f"store {element} {scalar}, ptr {place}, align 1")

        self._when(inside, fast, lambda: self._slow_store(instruction, memory, size))

    def _last_lane(self, vector: str, element: str) -> str:
        text = self.text
        mask = text.mask_bits(self.v.mask)
        zeros = text.call("i32", "llvm.ctlz.i32", ("i32", mask), ("i1", "false"))
        lane = text.let(f"sub i32 {LANES - 1}, {zeros}")
        lane = text.let(f"and i32 {lane}, {LANES - 1}")
        return text.let(f"extractelement {vector_of(element)} {vector}, i32 {lane}")

    def _store_windows(
        self,
        instruction: Instruction,
        memory: Memory,
        form: Form,
        groups: list[Group],
        size: int,
    ) -> None:
        text, element = self.text, instruction.element
        offsets, inside = self._window_offsets(form, groups, memory, size)

        def fast() -> None:
            values = [self.v.vector(value) for value in instruction.operands[1:]]
            whole, length = text.concatenate(element, values, LANES)
            for group, offset in zip(groups, offsets, strict=True):
                owners = _window_owners(group, instruction.components)
                window = text.shuffle(
                    element, whole, length, [number * LANES + lane for lane, number in owners]
                )
                place = text.let(f"getelementptr i8, ptr {memory.host}, i64 {offset}")
                self._put_window(element, window, place, [lane for lane, _ in owners])

        self._when(inside, fast, lambda: self._slow_store(instruction, memory, size))

    def _put_window(self, element: str, window: str, place: str, owners: list[int]) -> None:
        text = self.text
        kind = vector_of(element, len(owners))
        if self.v.mask == "splat (i1 true)":
            text.do(f"store {kind} {window}, ptr {place}, align 1")
            return
        mask = text.shuffle("i1", self.v.mask, LANES, owners)
        from .vector_text import mangled

        text.call(
            "void",
            f"llvm.masked.store.v{len(owners)}{mangled(element)}.p0",
            (kind, window),
            ("ptr", place),
            (vector_of("i1", len(owners)), mask),
        )

    def _scatter(self, instruction: Instruction, memory: Memory, size: int) -> None:
        text, element = self.text, instruction.element
        if size < 4:  # no machine scatters these; the helper is as good as a row of branches
            self._slow_store(instruction, memory, size)
            return
        offsets = self._frozen_offsets(instruction)
        active, good = self._inside(offsets, memory, size * instruction.components)

        def fast() -> None:
            from .vector_text import mangled

            for number, value in enumerate(instruction.operands[1:]):
                start = memory.host
                if number:
                    start = text.let(f"getelementptr i8, ptr {memory.host}, i64 {number * size}")
                text.call(
                    "void",
                    f"llvm.masked.scatter.v{LANES}{mangled(element)}.v{LANES}p0",
                    (vector_of(element), self.v.vector(value)),
                    (vector_of("ptr"), self._lane_pointers(start, offsets)),
                    (vector_of("i1"), active),
                )

        self._when(good, fast, lambda: self._slow_store(instruction, memory, size))

    # -- private memory: rows of 4 bytes of every lane ------------------------------------------------

    def _private_rows(self, instruction: Instruction, size: int) -> tuple[str, str | None, str]:
        """(scalar offset or vector of offsets, active lanes if vector, whether all are inside)."""
        text = self.text
        memory = self.memory(instruction)
        total = size * instruction.components
        offset = instruction.operands[0]
        if not self.v.varying(offset):
            at = text.let(f"freeze i64 {self.v.scalar(offset)}")
            limit = self._limit(memory, total)
            return at, None, text.let(f"icmp ult i64 {at}, {limit}")
        offsets = self._frozen_offsets(instruction)
        active, good = self._inside(offsets, memory, total)
        return offsets, active, good

    def _load_private(self, instruction: Instruction) -> list[str]:
        element = instruction.element
        size = size_of(Scalar(element))
        memory = self.memory(instruction)
        if instruction.align < min(size, c.PRIVATE_GRANULE):
            return self._slow_load(instruction, memory, size)
        at, active, good = self._private_rows(instruction, size)

        def fast() -> list[str]:
            return [
                self._private_element(memory.host, at, active, element, number * size)
                for number in range(instruction.components)
            ]

        kinds = [vector_of(element)] * instruction.components
        return self._either(good, fast, lambda: self._slow_load(instruction, memory, size), kinds)

    def _private_element(
        self, host: str, at: str, active: str | None, element: str, extra: int
    ) -> str:
        size = size_of(Scalar(element))
        text = self.text
        if size == 8:
            low, high = (
                self._row(host, at, active, extra + step) for step in (0, c.PRIVATE_GRANULE)
            )
            wide = vector_of("i64")
            low = text.let(f"zext {vector_of('i32')} {low} to {wide}")
            high = text.let(f"zext {vector_of('i32')} {high} to {wide}")
            high = text.let(f"shl {wide} {high}, splat (i64 32)")
            return self._as("i64", element, text.let(f"or {wide} {low}, {high}"))
        row = self._row(host, at, active, extra)
        if size == 4:
            return self._as("i32", element, row)
        shift = self._shift_in_row(at, active, extra)
        row = text.let(f"lshr {vector_of('i32')} {row}, {shift}")
        narrow = f"i{8 * size}"
        row = text.let(f"trunc {vector_of('i32')} {row} to {vector_of(narrow)}")
        return self._as(narrow, element, row)

    def _as(self, source: str, target: str, vector: str) -> str:
        if source == target:
            return vector
        return self.text.let(f"bitcast {vector_of(source)} {vector} to {vector_of(target)}")

    def _shift_in_row(self, at: str, active: str | None, extra: int) -> str:
        """By how many bits an element is up in its granule, for every lane."""
        text = self.text
        kind = "i64" if active is None else vector_of("i64")
        number = (lambda n: str(n)) if active is None else (lambda n: f"splat (i64 {n})")
        place = text.let(f"add {kind} {at}, {number(extra)}")
        place = text.let(f"and {kind} {place}, {number(c.PRIVATE_GRANULE - 1)}")
        place = text.let(f"shl {kind} {place}, {number(3)}")
        if active is None:
            return text.splat("i32", text.let(f"trunc i64 {place} to i32"))
        return text.let(f"trunc {kind} {place} to {vector_of('i32')}")

    def _row_place(self, host: str, at: str, extra: int) -> str:
        text = self.text
        moved = text.let(f"add i64 {at}, {extra}") if extra else at
        row = text.let(f"lshr i64 {moved}, 2")
        place = text.let(f"mul i64 {row}, {c.PRIVATE_GRANULE * LANES}")
        return text.let(f"getelementptr i8, ptr {host}, i64 {place}")

    def _row_pointers(self, host: str, at: str, active: str, extra: int) -> str:
        text, kind = self.text, vector_of("i64")
        safe = text.let(
            f"select {vector_of('i1')} {active}, {kind} {at}, {kind} zeroinitializer"
        )
        moved = text.let(f"add {kind} {safe}, splat (i64 {extra})")
        row = text.let(f"lshr {kind} {moved}, splat (i64 2)")
        place = text.let(f"mul {kind} {row}, splat (i64 {c.PRIVATE_GRANULE * LANES})")
        columns = literal("i64", [lane * c.PRIVATE_GRANULE for lane in range(LANES)])
        place = text.let(f"add {kind} {place}, {columns}")
        return self._lane_pointers(host, place)

    def _row(self, host: str, at: str, active: str | None, extra: int) -> str:
        text = self.text
        if active is None:
            place = self._row_place(host, at, extra)
            return text.let(f"load {vector_of('i32')}, ptr {place}, align 4")
        return text.call(
            vector_of("i32"),
            f"llvm.masked.gather.v{LANES}i32.v{LANES}p0",
            (vector_of("ptr"), self._row_pointers(host, at, active, extra)),
            (vector_of("i1"), "splat (i1 true)"),
            (vector_of("i32"), "poison"),
        )

    def _store_private(self, instruction: Instruction) -> None:
        element = instruction.element
        size = size_of(Scalar(element))
        memory = self.memory(instruction)
        if instruction.align < min(size, c.PRIVATE_GRANULE):
            self._slow_store(instruction, memory, size)
            return
        at, active, good = self._private_rows(instruction, size)

        def fast() -> None:
            for number, value in enumerate(instruction.operands[1:]):
                vector = self.v.vector(value)
                self._put_private(memory.host, at, active, element, number * size, vector)

        self._when(good, fast, lambda: self._slow_store(instruction, memory, size))

    def _put_private(
        self, host: str, at: str, active: str | None, element: str, extra: int, value: str
    ) -> None:
        text = self.text
        size = size_of(Scalar(element))
        raw = self._as(element, f"i{8 * size}", value)
        if size == 8:
            kind, half = vector_of("i64"), vector_of("i32")
            low = text.let(f"trunc {kind} {raw} to {half}")
            high = text.let(f"lshr {kind} {raw}, splat (i64 32)")
            high = text.let(f"trunc {kind} {high} to {half}")
            self._put_row(host, at, active, extra, low)
            self._put_row(host, at, active, extra + c.PRIVATE_GRANULE, high)
            return
        if size < 4:
            kind = vector_of("i32")
            shift = self._shift_in_row(at, active, extra)
            wide = text.let(f"zext {vector_of(f'i{8 * size}')} {raw} to {kind}")
            moved = text.let(f"shl {kind} {wide}, {shift}")
            hole = text.let(f"shl {kind} splat (i32 {(1 << 8 * size) - 1}), {shift}")
            keep = text.let(f"xor {kind} {hole}, splat (i32 -1)")
            old = self._row(host, at, active, extra)
            old = text.let(f"and {kind} {old}, {keep}")
            raw = text.let(f"or {kind} {old}, {moved}")
        self._put_row(host, at, active, extra, raw)

    def _put_row(self, host: str, at: str, active: str | None, extra: int, row: str) -> None:
        text, kind = self.text, vector_of("i32")
        if active is not None:
            text.call(
                "void",
                f"llvm.masked.scatter.v{LANES}i32.v{LANES}p0",
                (kind, row),
                (vector_of("ptr"), self._row_pointers(host, at, active, extra)),
                (vector_of("i1"), active),
            )
            return
        place = self._row_place(host, at, extra)
        if self.v.mask != "splat (i1 true)":
            old = text.let(f"load {kind}, ptr {place}, align 4")
            row = text.let(f"select {vector_of('i1')} {self.v.mask}, {kind} {row}, {kind} {old}")
        text.do(f"store {kind} {row}, ptr {place}, align 4")

    # -- atomics --------------------------------------------------------------------------------

    def atomic(self, instruction: Instruction) -> str:
        """Emit an atomic operation of all active lanes, one after the other."""
        root = instruction.root
        if isinstance(root, (*PRIVATE_ROOTS, ConstantRoot)):
            raise UnsupportedKernel(
                "atomic operations need device or threadgroup memory", instruction.site
            )
        element = instruction.element
        size = size_of(Scalar(element))
        if self.v.has_varying_address(instruction):
            memory = self._put_varying_addresses(instruction)
        else:
            memory = self.memory(instruction)
            self._put_addresses(self._addresses(instruction, memory))
        for place, value in zip(
            (c.SCRATCH_VALUES, c.SCRATCH_SECOND), instruction.operands[1:], strict=False
        ):
            at = self._exchange(place)
            vector = self.v.vector(value)
            self.text.do(f"store {vector_of(value.type)} {vector}, ptr {at}, align {size}")
        ok = self.text.call(
            "i1",
            f"assay_{instruction.callee}",
            ("ptr", "%ctx"),
            ("i32", str(self.v.site(instruction))),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i64", memory.low),
            ("i64", memory.high),
        )
        self.v.stop_unless(ok)
        if instruction.type == "void":
            return zero_of("i32")
        return self._take_values(instruction.type, 1)[0]


def _lane_sources(groups: list[Group], stride: int, component: int) -> list[int]:
    """Where each lane's component is in the concatenated windows."""
    sources = [0] * LANES
    for number, group in enumerate(groups):
        for lane, at in zip(group.lanes, group.at, strict=True):
            sources[lane] = number * stride + at + component
    return sources


def _window_owners(group: Group, components: int) -> list[tuple[int, int]]:
    """(lane, component) of each element of a window that is written."""
    owners = [(0, 0)] * group.elements
    for lane, at in zip(group.lanes, group.at, strict=True):
        for number in range(components):
            owners[at + number] = (lane, number)
    return owners
