"""Which memory each pointer of a kernel points into, found before its code is lowered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..ir.context import CONSTANT_HANDLE, HANDLE_SHIFT, THREADGROUP_HANDLE
from ..ir.faults import UnsupportedKernel
from ..ir.llvm_types import Pointer, align_of, size_of
from ..ir.nodes import (
    THREADGROUP_ROOTS,
    BufferRoot,
    ConstantRoot,
    PrivateArenaRoot,
    PrivateRoot,
    Root,
    ThreadgroupArenaRoot,
    ThreadgroupParameterRoot,
    ThreadgroupRoot,
)
from .constant_data import initial_data
from .llvm_records import FunctionText, ModuleText, Operand, Record
from .object_pointers import moved

_ARENA_ALIGNMENT = 16
# A threadgroup of 1024 threads then has 256 MiB.
_MOST_PRIVATE_BYTES = 256 << 10
_MOST_CONSTANT_BYTES = 16 << 20
_POINTER_OPS = ("getelementptr", "addrspacecast", "select", "phi", "freeze", "bitcast")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A kernel argument in the order of the entry function's IR parameters, all pointers."""

    name: str
    kind: Literal["buffer", "threadgroup"]
    index: int
    is_constant: bool = False  # declared const or constant
    alignment: int = 1  # what the host makes sure that its address is a multiple of


class RootFinder:
    """Places a kernel's variables and finds the root of each of its pointers.

    Attributes:
        roots: by the pointer's name in the IR; a pointer that several buffers reach has none.
        threadgroup_memory: bytes of threadgroup variables.
        private_memory: bytes of one thread's private arrays.
        constants: data of constant tables.
    """

    def __init__(
        self, module: ModuleText, text: FunctionText, parameters: Sequence[Parameter], name: str
    ) -> None:
        self.module = module
        self.text = text
        self.parameters = parameters
        self.name = name
        self.roots: dict[str, Root] = {}
        self.threadgroup_memory = 0
        self.private_memory = 0
        self.constants = bytearray()
        self._mixed: set[str] = set()
        self._derived = {
            record.name
            for records in text.blocks.values()
            for record in records
            if record.op in _POINTER_OPS
        }
        self._place_globals()
        self._name_parameters()
        self._place_allocas()
        self._find_roots()

    def _place_globals(self) -> None:
        for variable in self.module.globals.values():
            size = size_of(variable.type)
            align = max(align_of(variable.type), _ARENA_ALIGNMENT)
            label = variable.name.lstrip("@").strip('"')
            if variable.space == 3:
                start = -(-self.threadgroup_memory // align) * align
                self.threadgroup_memory = start + size
                self.roots[variable.name] = ThreadgroupRoot(start, size, _variable_name(label))
            elif variable.initialiser is not None and variable.constant:
                start = -(-len(self.constants) // align) * align
                if start + size > _MOST_CONSTANT_BYTES:
                    raise UnsupportedKernel(
                        f"'{_variable_name(label)}' makes {start + size} bytes of constants; at "
                        f"most {_MOST_CONSTANT_BYTES} are supported: pass them in a buffer",
                        kernel=self.name,
                    )
                self.constants.extend(bytes(start + size - len(self.constants)))
                self.roots[variable.name] = ConstantRoot(start, size, _variable_name(label))
        self._fill_constants()

    def _fill_constants(self) -> None:
        """Fill in the tables once each has a place, as they may hold each other's addresses."""
        for variable in self.module.globals.values():
            root = self.roots.get(variable.name)
            if not isinstance(root, ConstantRoot) or variable.initialiser is None:
                continue
            try:
                data = initial_data(variable.type, variable.initialiser, self._address_of)
            except ValueError as error:
                raise UnsupportedKernel(
                    f"'{root.name}' cannot be a table of constants: {error}", kernel=self.name
                ) from error
            self.constants[root.start : root.start + len(data)] = data

    def _address_of(self, pointer: Operand) -> int:
        """The address of a table of constants, or of threadgroup memory, that a table holds.

        Raises:
            ValueError: it is the address of something else.
        """
        if pointer.text in ("addrspacecast", "bitcast"):
            return self._address_of(pointer.parts[0])
        if pointer.text == "getelementptr" and pointer.source is not None:
            step, _ = moved(pointer.source, list(pointer.parts[1:]))
            return self._address_of(pointer.parts[0]) + step
        root = self.roots.get(pointer.text)
        if not isinstance(root, ConstantRoot | ThreadgroupRoot):
            raise ValueError(f"it holds the address {pointer.text:.60}, which is of no other one")
        handle = CONSTANT_HANDLE if isinstance(root, ConstantRoot) else THREADGROUP_HANDLE
        return (handle << HANDLE_SHIFT) + root.start

    def root_of_lost(self, thing: str, size: int) -> Root:
        """The root of a variable, or of a table `constant.NAME`, that the optimiser left out."""
        word, _, symbol = thing.partition(".")
        if word != "constant":
            return self._place_private(size, "a private variable")
        known = self.roots.get(f"@{symbol}")
        if known is not None:
            return known
        start = -(-len(self.constants) // _ARENA_ALIGNMENT) * _ARENA_ALIGNMENT
        self.constants.extend(bytes(start + size - len(self.constants)))
        return ConstantRoot(start, size, _variable_name(symbol or "a table"))

    def _name_parameters(self) -> None:
        for number, ((name, kind), parameter) in enumerate(
            zip(self.text.parameters, self.parameters, strict=True)
        ):
            if not isinstance(kind, Pointer):
                raise UnsupportedKernel(
                    f"argument '{parameter.name}' is not a pointer", kernel=self.name
                )
            root: Root
            if parameter.kind == "threadgroup":
                root = ThreadgroupParameterRoot(number, parameter.name)
            else:
                root = BufferRoot(
                    number, parameter.name, parameter.is_constant, parameter.alignment
                )
            self.roots[name] = root

    def _place_allocas(self) -> None:
        for records in self.text.blocks.values():
            for record in records:
                if record.op != "alloca":
                    continue
                assert record.source is not None
                size = max(size_of(record.source), 1)
                self.roots[record.name] = self._place_private(size, "a private variable")

    def _place_private(self, size: int, label: str) -> PrivateRoot:
        start = -(-self.private_memory // _ARENA_ALIGNMENT) * _ARENA_ALIGNMENT
        self.private_memory = -(-(start + size) // _ARENA_ALIGNMENT) * _ARENA_ALIGNMENT
        if self.private_memory > _MOST_PRIVATE_BYTES:
            raise UnsupportedKernel(
                f"a thread has {self.private_memory} bytes of private variables; at most "
                f"{_MOST_PRIVATE_BYTES} are supported: pass large arrays in a buffer",
                kernel=self.name,
            )
        return PrivateRoot(start, size, label)

    def _find_roots(self) -> None:
        """Find the root of every pointer that one root reaches; the rest get none."""
        pointers = [
            record
            for records in self.text.blocks.values()
            for record in records
            if record.op in _POINTER_OPS and isinstance(record.type, Pointer)
        ]
        changed = True
        while changed:
            changed = False
            for record in pointers:
                if record.name in self._mixed:
                    continue
                sources = record.operands[1:] if record.op == "select" else record.operands
                if record.op == "getelementptr":
                    sources = record.operands[:1]
                root = self._join(record, sources)
                if root is not None and root != self.roots.get(record.name):
                    self.roots[record.name] = root
                    changed = True
                elif root is None and record.name in self._mixed:
                    self.roots.pop(record.name, None)
                    changed = True

    def _join(self, record: Record, sources: list[Operand]) -> Root | None:
        joined: Root | None = None
        for source in sources:
            known = self._known_root(source)
            if known is None:
                if self._never_known(source):
                    self._mixed.add(record.name)
                    return None
                continue
            if joined is None or joined == known:
                joined = known
            elif all(isinstance(r, THREADGROUP_ROOTS) for r in (joined, known)):
                joined = ThreadgroupArenaRoot()
            elif all(isinstance(r, PrivateRoot | PrivateArenaRoot) for r in (joined, known)):
                joined = PrivateArenaRoot()
            else:
                self._mixed.add(record.name)
                return None
        return joined

    def _known_root(self, source: Operand) -> Root | None:
        if source.text in ("getelementptr", "addrspacecast", "bitcast") and source.parts:
            return self._known_root(source.parts[0])
        return self.roots.get(source.text)

    def _never_known(self, source: Operand) -> bool:
        """Whether a pointer comes from memory, a cast or a mixture, not from one named root."""
        if source.parts:
            return self._never_known(source.parts[0])
        return source.text in self._mixed or not self._is_derived(source.text)

    def _is_derived(self, name: str) -> bool:
        return name in self._derived or name in self.roots


# A variable of a function: the function's own symbol, E, the length of the name, and the name.
_LOCAL = re.compile(r"E(\d+)(?=[A-Za-z_])")
_TAIL = re.compile(r"(?:_\d+|__\d+_)?(?:\.\d+)*")


def _variable_name(symbol: str) -> str:
    """The source name inside a mangled symbol, as far as it is plain."""
    if not symbol.startswith("_Z"):
        return symbol
    for local in reversed(list(_LOCAL.finditer(symbol))):
        length, rest = int(local[1]), symbol[local.end() :]
        if rest[:length].isidentifier() and _TAIL.fullmatch(rest[length:]):
            return rest[:length]
    best = symbol
    at = 2
    while at < len(symbol):
        if symbol[at].isdigit():
            end = at
            while end < len(symbol) and symbol[end].isdigit():
                end += 1
            length = int(symbol[at:end])
            best = symbol[end : end + length]
            at = end + length
        else:
            at += 1
    return best
