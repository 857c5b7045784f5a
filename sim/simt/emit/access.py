"""What all memory accesses share: where roots are, bounds checks, windows, and the slow path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..analysis.linear_form import Form, Guard, Pattern
from ..analysis.windows import Group
from ..ir import context as c
from ..ir.llvm_types import DEVICE_SPACE, Scalar, bits, size_of
from ..ir.nodes import (
    PRIVATE_ROOTS,
    AddressRoot,
    BufferRoot,
    ConstantRoot,
    Instruction,
    PrivateRoot,
    Root,
    ShadowRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
    Value,
    is_private,
)
from ..ir.shape import LANES
from .text import vector_of
from .values import ALL

if TYPE_CHECKING:
    from .vectorise import Vectoriser


@dataclass(frozen=True, slots=True)
class Memory:
    """Where a root is, as LLVM operands: host pointer, bytes there, GPU address, legal range."""

    host: str
    available: str
    address: str
    low: str
    high: str


class Access:
    """The base of what emits loads, stores and atomics.

    Every access has a fast path behind a bounds check of all its bytes, and a slow path through a
    helper that works lane by lane and names the lane that is out of bounds.
    """

    def __init__(self, vectoriser: Vectoriser) -> None:
        self.v = vectoriser
        self.text = vectoriser.text

    def memory(self, instruction: Instruction) -> Memory:
        """Where an access's root is."""
        return self._memory_of(instruction.root)

    def _memory_of(self, root: Root | None) -> Memory:
        if isinstance(root, ShadowRoot):
            return self._shadow_of(root.of)
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
            return self._at_address(root)
        if isinstance(root, PrivateRoot):
            start = (c.PRIVATE_HANDLE << c.HANDLE_SHIFT) + root.start
            base = self.v.field("ptr", c.PRIVATE)
            host = self.text.let(f"getelementptr i8, ptr {base}, i64 {root.start * LANES}")
            return Memory(host, str(root.size), str(start), str(start), str(start + root.size))
        if isinstance(root, PRIVATE_ROOTS):
            start = c.PRIVATE_HANDLE << c.HANDLE_SHIFT
            size = self.v.function.private_memory
            host = self.v.field("ptr", c.PRIVATE)
            return Memory(host, str(size), str(start), str(start), str(start + size))
        start = c.THREADGROUP_HANDLE << c.HANDLE_SHIFT
        host, available = self.v.field("ptr", c.ARENA), self.v.field("i64", c.ARENA_SIZE)
        high = self.text.let(f"add i64 {available}, {start}")
        return Memory(host, available, str(start), str(start), high)

    def _shadow_of(self, root: Root) -> Memory:
        """The shadow of a root; without a byte if the memory is known to be initialised."""
        if isinstance(root, AddressRoot):
            return self._shadow_at(root)
        text, memory = self.text, self._memory_of(root)
        if isinstance(root, PRIVATE_ROOTS):
            host = text.let(f"getelementptr i8, ptr {memory.host}, i64 {self.v.private_bytes}")
            return replace(memory, host=host)
        if isinstance(root, BufferRoot):
            shadow = self.v.argument_shadow(root.parameter)
            return self._shadowed(memory, shadow, shadow)
        arena = self.v.field("ptr", c.ARENA)
        shadow = self.v.field("ptr", c.ARENA_SHADOW)
        places = [text.let(f"ptrtoint ptr {place} to i64") for place in (memory.host, arena)]
        offset = text.let(f"sub i64 {places[0]}, {places[1]}")
        return replace(memory, host=text.let(f"getelementptr i8, ptr {shadow}, i64 {offset}"))

    def _shadow_at(self, root: AddressRoot) -> Memory:
        """The shadow of a buffer that is found through its address; none if lanes differ in it."""
        if self.v.varying(root.address):
            return Memory("null", "0", "0", "0", "0")
        text = self.text
        memory = self._at_address(root)
        address = text.let(f"freeze i64 {self.v.scalar(root.address)}")
        handle = text.let(f"lshr i64 {address}, {c.HANDLE_SHIFT}")
        offset = text.let(f"and i64 {address}, {(1 << c.HANDLE_SHIFT) - 1}")
        table = self.v.field("ptr", c.SHADOWS)
        entry = text.let(f"getelementptr i64, ptr {table}, i64 {handle}")
        start = text.let(f"load i64, ptr {entry}, align 8")
        place = text.let(f"add i64 {start}, {offset}")
        return self._shadowed(memory, place, start)

    def _shadowed(self, memory: Memory, place: str, start: str) -> Memory:
        """The memory's shadow at `place`, without a byte if the shadow's `start` is 0."""
        host = self.text.let(f"inttoptr i64 {place} to ptr")
        there = self.text.let(f"icmp ne i64 {start}, 0")
        available = self.text.let(f"select i1 {there}, i64 {memory.available}, i64 0")
        return replace(memory, host=host, available=available)

    def _fixed(self, field: int, handle: int, start: int, size: int) -> Memory:
        base = self.v.field("ptr", field)
        host = self.text.let(f"getelementptr i8, ptr {base}, i64 {start}")
        address = (handle << c.HANDLE_SHIFT) + start
        return Memory(host, str(size), str(address), str(address), str(address + size))

    def _at_address(self, root: AddressRoot) -> Memory:
        """A buffer found through its GPU address, which must be the same for all lanes."""
        lookup = self.v.lookups.get(root.address)
        low = _lowest(root)
        if lookup is None:
            address = self.text.let(f"freeze i64 {self.v.scalar(root.address)}")
            host, available = self.look_up(address)
            return Memory(host, available, address, low, str(-1))
        host, available = self.v.scalar(lookup.host), self.v.scalar(lookup.available)
        return Memory(host, available, self.v.scalar(root.address), low, str(-1))

    def look_up(self, address: str) -> tuple[str, str]:
        """(host pointer, bytes available) of a GPU address; no bytes if there is no buffer."""
        text = self.text
        handle = text.let(f"lshr i64 {address}, {c.HANDLE_SHIFT}")
        offset = text.let(f"and i64 {address}, {(1 << c.HANDLE_SHIFT) - 1}")
        table = self.v.field("ptr", c.TABLE)
        entry = text.let(f"getelementptr {{ptr, i64}}, ptr {table}, i64 {handle}")
        base = text.let(f"load ptr, ptr {entry}, align 8")
        size_at = text.let(f"getelementptr i8, ptr {entry}, i64 8")
        size = text.let(f"load i64, ptr {size_at}, align 8")
        host = text.let(f"getelementptr i8, ptr {base}, i64 {offset}")
        return host, self.saturating_subtract(size, offset)

    def saturating_subtract(self, left: str, right: str) -> str:
        """`left - right`, 0 where that is negative."""
        return self.text.call("i64", "llvm.usub.sat.i64", ("i64", left), ("i64", right))

    def limit(self, memory: Memory, size: int) -> str:
        """Offsets below this have `size` bytes."""
        return self.saturating_subtract(memory.available, str(size - 1))

    def is_brief(self, instruction: Instruction) -> bool:
        """Whether an access goes to the helper alone, which takes less code and more time."""
        hidden = isinstance(instruction.root, ShadowRoot) and is_private(instruction.root)
        return self.v.is_brief_here and not hidden  # which the helper takes for outside

    def either(
        self,
        condition: str,
        fast: Callable[[], list[str]],
        slow: Callable[[], list[str]],
        kinds: list[str],
        *,
        unlikely: bool = False,
    ) -> list[str]:
        """Two ways to the same values, joined by phis; the first is the likely one, or not."""
        text = self.text
        weights = 1 if unlikely else 0
        fast_label, slow_label, join = (text.new_label(x) for x in ("fast", "slow", "join"))
        text.do(f"br i1 {condition}, label %{fast_label}, label %{slow_label}, !prof !{weights}")
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

    def when(
        self,
        condition: str,
        fast: Callable[[], None],
        slow: Callable[[], None],
        *,
        unlikely: bool = False,
    ) -> None:
        """Two ways to the same effect; the first is the likely one, or not."""

        def quick() -> list[str]:
            fast()
            return []

        def careful() -> list[str]:
            slow()
            return []

        self.either(condition, quick, careful, [], unlikely=unlikely)

    def window_offsets(
        self, form: Form, groups: list[Group], memory: Memory, size: int
    ) -> tuple[list[str], str]:
        """Byte offset of every window, and whether all of them are there."""
        text = self.text
        base = self.v.scalar(form.base)
        offsets, good = [], "true"
        for group in groups:
            offset = self._group_base(base, group, group.low)
            offset = text.let(f"freeze i64 {offset}")
            limit = self.limit(memory, group.elements * size)
            good = self.both(good, text.let(f"icmp ult i64 {offset}, {limit}"))
            offsets.append(offset)
        for guard in form.guards:
            good = self.both(good, self._guard(guard))
        if good == "true":
            return offsets, good
        return offsets, text.let(f"freeze i1 {good}")

    def window(self, form: Form, group: Group) -> tuple[str, str]:
        """Byte offset of a window, and whether the form holds; nothing is said about bounds."""
        offset = self._group_base(self.v.scalar(form.base), group, group.low)
        good = "true"
        for guard in form.guards:
            good = self.both(good, self._guard(guard))
        return self.text.let(f"freeze i64 {offset}"), (
            good if good == "true" else self.text.let(f"freeze i1 {good}")
        )

    def _group_base(self, base: str, group: Group, constant: int) -> str:
        text = self.text
        for value, factor in group.terms:
            term = text.let(f"mul i64 {self.v.scalar(value)}, {factor}")
            base = text.let(f"add i64 {base}, {term}")
        return text.let(f"add i64 {base}, {constant}") if constant else base

    def both(self, a: str, b: str) -> str:
        """Whether both hold; the first may be `true` as a literal."""
        return b if a == "true" else self.text.let(f"and i1 {a}, {b}")

    def _guard(self, guard: Guard) -> str:
        """Whether a narrow form did not wrap before it was extended."""
        text, form = self.text, guard.form
        type = form.base.type
        width = bits(type)
        base = text.let(f"{guard.kind} {type} {self.v.scalar(form.base)} to i64")
        good = "true"
        seen = set()
        lanes = range(len(form.lanes))
        for lane in lanes:
            factors = tuple(p[lane] for _, p in form.terms)
            if factors in seen:
                continue
            seen.add(factors)
            same = [form.lanes[x] for x in lanes if tuple(p[x] for _, p in form.terms) == factors]
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
                good = self.both(good, text.let(f"icmp ult i64 {moved}, {1 << width}"))
        return good

    def frozen_offsets(self, instruction: Instruction) -> str:
        """Byte offsets of the lanes; what was undefined is now some fixed number."""
        return self.text.let(
            f"freeze {self.text.wide('i64')} {self.v.vector(instruction.operands[0])}"
        )

    def inside(self, offsets: str, memory: Memory, size: int) -> tuple[str, str]:
        """(lanes that may access, whether all active ones may)."""
        text = self.text
        limit = text.splat("i64", self.limit(memory, size))
        inside = text.let(f"icmp ult {self.text.wide('i64')} {offsets}, {limit}")
        active = text.let(f"and {self.text.wide('i1')} {inside}, {self.v.mask}")
        outside = text.let(f"xor {self.text.wide('i1')} {active}, {self.v.mask}")
        bad = text.any(outside)
        return active, text.let(f"xor i1 {bad}, true")

    def lane_pointers(self, host: str, offsets: str) -> str:
        """Host pointers of the lanes."""
        return self.text.let(f"getelementptr i8, ptr {host}, {self.text.wide('i64')} {offsets}")

    def exchange(self, offset: int) -> str:
        """A place in the scratch memory that helpers share."""
        scratch = self.v.field("ptr", c.SCRATCH)
        return self.text.let(f"getelementptr i8, ptr {scratch}, i64 {offset}")

    def first_lane(self) -> str:
        """Number of the first active lane."""
        if self.v.mask == ALL:
            return "0"
        mask = self.text.mask_bits(self.v.mask)
        return self.text.call("i32", "llvm.cttz.i32", ("i32", mask), ("i1", "false"))

    def put_addresses(self, addresses: str) -> None:
        """Give the helper the lanes' GPU addresses."""
        scratch = self.v.field("ptr", c.SCRATCH)
        self.text.do(f"store {self.text.wide('i64')} {addresses}, ptr {scratch}, align 8")

    def put_lanes(self, offset: Value, start: str) -> None:
        """Give the helper what each lane's `offset` from `start` is, in as little code as it takes.

        That is for paths that are hardly ever taken, of which a large kernel has thousands.
        """
        line = self.v.line(offset)
        if line is None:
            wide = self.text.widened("i64", self.v.vector(offset))
            operands = (("i64", start), (vector_of("i64"), wide))
            self.text.call("void", "assay_put_at", ("ptr", "%ctx"), *operands)
            return
        base, lanes = line
        self.put_pattern(base if start == "0" else self.text.let(f"add i64 {start}, {base}"), lanes)

    def put_pattern(self, start: str, lanes: Pattern) -> None:
        """Give the helper what each lane adds to `start`."""
        pattern = self.text.pattern(lanes + (0,) * (LANES - len(lanes)))
        operands = (("i64", start), ("ptr", pattern))
        self.text.call("void", "assay_put_along", ("ptr", "%ctx"), *operands)

    def addresses(self, instruction: Instruction, memory: Memory) -> str:
        """GPU addresses that the lanes access."""
        offsets = self.v.vector(instruction.operands[0])
        start = self.text.splat("i64", memory.address)
        return self.text.let(f"add {self.text.wide('i64')} {start}, {offsets}")

    def call_slow(
        self, kind: str, instruction: Instruction, mask: str, size: int, memory: Memory
    ) -> None:
        """Let the helper do it; leaves the kernel if it cannot."""
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

    def take_values(self, element: str, components: int) -> list[str]:
        """What the helper read."""
        size = size_of(Scalar(element))
        return [
            self.text.let(
                f"load {self.text.wide(element)}, ptr "
                f"{self.exchange(c.SCRATCH_VALUES + number * size * LANES)}, align 1"
            )
            for number in range(components)
        ]

    def slow_load(self, instruction: Instruction, memory: Memory, size: int) -> list[str]:
        """Load lane by lane."""
        if isinstance(instruction.root, ShadowRoot):
            return self._load_shadow(instruction, memory, size)
        self.put_lanes(instruction.operands[0], memory.address)
        self.call_slow("load", instruction, self.text.mask_bits(self.v.mask), size, memory)
        return self.take_values(instruction.element, instruction.components)

    def _load_shadow(self, instruction: Instruction, memory: Memory, size: int) -> list[str]:
        """Lane by lane; those outside get 0, for the access itself tells what is wrong there."""
        if is_private(instruction.root):
            return ["zeroinitializer"] * instruction.components

        def careful() -> list[str]:
            self._call_shadow("load", instruction, memory, size)
            return self.take_values(instruction.element, instruction.components)

        if self.is_brief(instruction):
            return careful()
        kinds = [vector_of(instruction.element)] * instruction.components
        return self.either(
            self._has_no_shadow(memory),
            lambda: ["zeroinitializer"] * instruction.components,
            careful,
            kinds,
        )

    def _store_shadow(self, instruction: Instruction, memory: Memory, size: int) -> None:
        if is_private(instruction.root):
            return

        def careful() -> None:
            self.give_values(instruction, size)
            self._call_shadow("store", instruction, memory, size)

        if self.is_brief(instruction):
            careful()
        else:
            self.when(self._has_no_shadow(memory), lambda: None, careful)

    def _has_no_shadow(self, memory: Memory) -> str:
        """Whether memory is whole, as most buffers are: the host has filled them."""
        return self.text.let(f"icmp eq i64 {memory.available}, 0")

    def _call_shadow(self, kind: str, instruction: Instruction, memory: Memory, size: int) -> None:
        self.put_lanes(instruction.operands[0], "0")
        self.text.call(
            "void",
            f"assay_watch_shadow_{kind}",
            ("ptr", "%ctx"),
            ("ptr", memory.host),
            ("i64", memory.available),
            ("i32", self.text.mask_bits(self.v.mask)),
            ("i32", str(size)),
            ("i32", str(instruction.components)),
        )

    def _varying_memory(self, instruction: Instruction) -> Memory:
        """For lanes that access different buffers: any address is looked up by the helper."""
        assert isinstance(instruction.root, AddressRoot)
        return Memory("null", "0", "0", _lowest(instruction.root), str(-1))

    def put_varying_addresses(self, instruction: Instruction) -> Memory:
        """Addresses of lanes that access different buffers; any is looked up by the helper."""
        assert isinstance(instruction.root, AddressRoot)
        start = self.v.vector(instruction.root.address)
        offsets = self.v.vector(instruction.operands[0])
        self.put_addresses(self.text.let(f"add {self.text.wide('i64')} {start}, {offsets}"))
        return self._varying_memory(instruction)

    def give_values(self, instruction: Instruction, size: int) -> None:
        """Give the helper what to write."""
        for number, value in enumerate(instruction.operands[1:]):
            place = self.exchange(c.SCRATCH_VALUES + number * size * LANES)
            kind = self.text.wide(instruction.element)
            self.text.do(f"store {kind} {self.v.vector(value)}, ptr {place}, align 1")

    def slow_store(self, instruction: Instruction, memory: Memory, size: int) -> None:
        """Store lane by lane."""
        if isinstance(instruction.root, ShadowRoot):
            self._store_shadow(instruction, memory, size)
            return
        self.put_lanes(instruction.operands[0], memory.address)
        self.give_values(instruction, size)
        self.call_slow("store", instruction, self.text.mask_bits(self.v.mask), size, memory)


def _lowest(root: AddressRoot) -> str:
    """The lowest address that a pointer may hold: a device pointer's is that of a buffer."""
    return str(c.FIRST_BUFFER_HANDLE << c.HANDLE_SHIFT) if root.space == DEVICE_SPACE else "0"
